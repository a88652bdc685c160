"""Why no assignment exists: which limit, if it were not there, would let one be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hlsgen.base.errors import DesignError
from hlsgen.base.errors import Problem as Mistake
from hlsgen.partitioning.assign import assign
from hlsgen.partitioning.problem import Device, Problem


def why_impossible(design: str, problem: Problem) -> DesignError:
    """The error that says what binds: a task that no device can do, else the limits without which it goes."""
    names = ", ".join(one.name for one in problem.devices)
    for task, name in enumerate(problem.tasks):
        if not any(one.most_rate(task) for one in problem.devices):
            message = f"{design}: no device can compute {name} (there are {names})"
            return DesignError(Mistake(message=message, fix="a CPU among the devices: cpu: {kind: cpu}"))
    freed = [
        text
        for number, device in enumerate(problem.devices)
        for text, other in _freed(device)
        if assign(_with(problem, number, other)).rate
    ]
    if not freed:
        message = f"{design}: no assignment keeps all limits of {names}, and no single one is to blame"
        return DesignError(Mistake(message=message, fix="a CPU with room for the whole network"))
    message = f"{design}: no assignment keeps all limits; what binds is {', or '.join(freed)}"
    return DesignError(Mistake(message=message, fix="more of it, or another device beside"))


def _with(problem: Problem, number: int, device: Device) -> Problem:
    return replace(problem, devices=(*problem.devices[:number], device, *problem.devices[number + 1 :]))


def _freed(device: Device) -> Iterator[tuple[str, Device]]:
    """The device without each of its limits, and the limit in words."""
    if math.isfinite(device.memory):
        needed = sum(device.bytes_held)
        sizes = f"{device.memory / 1e6:,.4g} MB for tasks that hold {needed / 1e6:,.4g} MB together"
        yield f"the memory of {device.name}: {sizes}", replace(device, memory=math.inf)
    if math.isfinite(device.to_bytes) or math.isfinite(device.from_bytes):
        yield f"the link of {device.name}", replace(device, to_bytes=math.inf, from_bytes=math.inf)
    if device.capacity is not None:
        endless = np.full_like(device.capacity, 1e15)
        yield f"the resources of {device.name}", replace(device, capacity=endless)
