"""An assignment's rates as routes: which device computes each task of a frame, and how many frames go so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hlsgen.partitioning.problem import Assignment


@dataclass(frozen=True, kw_only=True)
class Route:
    """devices: by task, the number of its device. rate: frames a second."""

    devices: tuple[int, ...]
    rate: float


def routes_of(found: Assignment) -> tuple[Route, ...]:
    """Routes whose rates add up to the assignment's at every task and device, the largest first.

    A frame stays on its device as far as this computes as much of the next task: so no more is moved than
    the assignment says. Each route empties a share, so there are at most as many as shares.
    """
    left = np.array(found.shares, float)
    least = found.rate * 1e-9
    routes: list[Route] = []
    while found.rate and left[0].sum() > least:
        way: list[int] = []
        rate = np.inf
        for task in range(len(left)):
            here = _next(left, task, way, rate)
            way.append(here)
            rate = min(rate, _stays(left, task, way))
        for task, device in enumerate(way):
            left[task, device] = max(0.0, left[task, device] - rate)
        left[left < least] = 0
        routes.append(Route(devices=tuple(way), rate=float(rate)))
    return tuple(sorted(routes, key=lambda one: -one.rate))


def _next(left: np.ndarray, task: int, way: list[int], rate: float) -> int:
    """The device of the last task if it has any of this one, else that with most to take over."""
    if way and left[task, way[-1]] > 0:
        return way[-1]
    gain = left[task] - (left[task - 1] if task else 0)
    return int(np.argmax(np.where(left[task] > 0, gain, -np.inf)))


def _stays(left: np.ndarray, task: int, way: list[int]) -> float:
    """What can go on so: where devices change, only what the one before does not need and the next lacks."""
    here = float(left[task, way[-1]])
    if task and way[-1] != way[-2]:
        before, after = way[-2], way[-1]
        spare = float(left[task - 1, before] - left[task, before])
        lacking = float(left[task, after] - left[task - 1, after])
        return min(here, spare if spare > 0 else here, lacking if lacking > 0 else here)
    return here
