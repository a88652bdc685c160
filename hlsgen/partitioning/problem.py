"""The assignment as plain numbers: what every task takes on every device, and what devices and links hold.

After deliverable D4.8 of the TEXTAROSSA project, section 2.6, with what it leaves open: units, the way in
and out, memory of activations, and devices where every task has hardware of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Option:
    """A layer as hardware of its own. seconds: between frames. cost: of each kind of resource."""

    seconds: float
    cost: Vector


@dataclass(frozen=True, kw_only=True, eq=False)
class Device:
    """What computes tasks.

    seconds: of each task a frame, infinite where the device has nothing for it. A device computes one task
    at a time, unless it has `options`: then every layer of every task has hardware of its own, one of these
    (by task, by layer of it, by option), all work at once, and what is chosen costs at most `capacity`.
    instances: copies of all of it, whose options' seconds and costs are of one and `capacity` too.
    whole: it computes all tasks or none.
    coded: it computes on codes of fixed-point types, where others have floating point.
    seconds_into, seconds_out: of a CPU, of a number into its code and of a code into its number; 0: that it
    takes nothing, or is no CPU.
    bytes_held: of each task's weights and buffers, where the device computes it; memory: what it has, bytes.
    to_bytes, from_bytes: that its link brings and takes away a second; infinite: it works in the host's
    memory.
    """

    name: str
    seconds: tuple[float, ...]
    bytes_held: tuple[float, ...]
    memory: float = math.inf
    to_bytes: float = math.inf
    from_bytes: float = math.inf
    options: tuple[tuple[tuple[Option, ...], ...], ...] | None = None
    capacity: Vector | None = None
    instances: int = 1
    whole: bool = False
    coded: bool = False
    seconds_into: float = 0.0
    seconds_out: float = 0.0

    @property
    def converts(self) -> bool:
        """Whether it is a CPU whose time conversions take."""
        return self.seconds_into > 0 and self.seconds_out > 0

    def most_rate(self, task: int) -> float:
        """Frames a second of which the device computes a task at the most, if it does nothing else."""
        if self.options is None:
            return 1 / self.seconds[task]
        layers = self.options[task]
        if not all(layers):
            return 0.0
        return self.instances / max(min(one.seconds for one in layer) for layer in layers)


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """tasks: their names, in their order. bytes_between: of a frame before the first and behind each.

    values_between: numbers of a frame there that become codes where the next task is on a device that is
    coded and the last on none, or numbers again the other way round: in the time of the CPUs that convert, if
    there are some. 0 before the first task and behind the last: frames come and results go as codes.
    """

    tasks: tuple[str, ...]
    bytes_between: tuple[float, ...]
    devices: tuple[Device, ...]
    values_between: tuple[float, ...] = ()

    @property
    def most_rate(self) -> float:
        """Frames a second that no assignment exceeds: of the task that all devices together do slowest."""
        every = range(len(self.tasks))
        return min(sum(device.most_rate(task) for device in self.devices) for task in every)


@dataclass(frozen=True, kw_only=True, eq=False)
class Assignment:
    """rate: frames a second. shares: [tasks, devices], frames a second of which each device computes a task.

    held: whose weights lie where. picks: by device with options, task and layer the option chosen, for the
    tasks that it computes. bound: no assignment has a larger rate. proven: `rate` is it, to the solver's gap.
    binds: what the rate would be larger without, with the same weights and hardware, the strongest first.
    converted: by device that converts, the numbers a second that it makes codes, and the codes numbers.
    """

    rate: float
    shares: Vector
    held: NDArray[np.bool_]
    picks: dict[str, dict[int, tuple[int, ...]]]
    bound: float
    proven: bool
    binds: tuple[str, ...]
    converted: Mapping[str, tuple[float, float]] = field(default_factory=dict)
