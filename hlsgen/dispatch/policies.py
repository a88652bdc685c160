"""The policies of CEDR: which element runs each of the tasks that are ready.

Each assigns all ready tasks in a round, since CEDR queues tasks at elements that are busy ("Enable Queueing",
which its own configuration sets). Communication counts zero.

Source: what CEDR's API runtime does (github UA-RCL/CEDR, src-api/scheduler.cpp of December 2023), ties and
what is kept between rounds included.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hlsgen.dispatch.node import Element
from hlsgen.dispatch.random_engine import shuffle


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A task that may begin. key: whose it is.

    estimates: by element, in nanoseconds; None where it cannot run. mean: over all types that can run it.
    """

    key: tuple[int, int]
    estimates: tuple[int | None, ...]
    mean: int


Assigned = list[tuple[Ready, int]]
"""Tasks with the place of their element, in the order in which they are queued."""


class Policy(ABC):
    """What assigns ready tasks, and remembers what CEDR remembers from round to round."""

    kinds: ClassVar[dict[str, type[Policy]]] = {}
    timed: ClassVar[bool] = False
    """Whether it looks at when elements will be done."""

    def __init_subclass__(cls, *, name: str) -> None:
        Policy.kinds[name] = cls

    def __init__(self, elements: Sequence[Element], seed: int) -> None:
        self.elements = elements
        self.seed = seed
        self.next = 0
        """The element that round robin begins with."""
        self.available = [0] * len(elements)
        """When each is believed to be done with what it has: never corrected, as in CEDR."""

    @abstractmethod
    def assign(self, ready: Sequence[Ready], now: int) -> Assigned:
        """An element for every task; each can run on one of them."""

    def finish(self, task: Ready, at: int, now: int) -> int | None:
        """When the task would end on an element; None: it cannot run there."""
        takes = task.estimates[at]
        return None if takes is None else max(now, self.available[at]) + takes

    def book(self, task: Ready, at: int, now: int) -> None:
        """Adds the task to what the element has."""
        finish = self.finish(task, at, now)
        assert finish is not None
        self.available[at] = finish

    def earliest(self, task: Ready, order: Sequence[int], now: int) -> tuple[int, int]:
        """When the task can end and on which element; of equal ones the first of `order`."""
        found = [(end, at) for at in order if (end := self.finish(task, at, now)) is not None]
        return min(found, key=lambda pair: pair[0])


class Simple(Policy, name="SIMPLE"):
    """Round robin over all elements; those that cannot run a task are passed over."""

    def assign(self, ready: Sequence[Ready], now: int) -> Assigned:
        return [(task, self.turn(task)) for task in ready]

    def turn(self, task: Ready) -> int:
        while True:
            at = self.next
            self.next = (at + 1) % len(self.elements)
            if task.estimates[at] is not None:
                return at


class Random(Simple, name="RANDOM"):
    """The ready tasks in random order, then as SIMPLE: with the same seed again in every round."""

    def assign(self, ready: Sequence[Ready], now: int) -> Assigned:
        order = list(ready)
        shuffle(order, self.seed)
        return super().assign(order, now)


class MinimumExecutionTime(Policy, name="MET"):
    """The type of element that takes least, the last of equal ones; round robin among its elements."""

    def assign(self, ready: Sequence[Ready], now: int) -> Assigned:
        return [(task, self.turn(task)) for task in ready]

    def turn(self, task: Ready) -> int:
        backwards = range(len(self.elements) - 1, -1, -1)
        able = [(takes, at) for at in backwards if (takes := task.estimates[at]) is not None]
        _, best = min(able, key=lambda pair: pair[0])
        while True:
            at = self.next
            self.next = (at + 1) % len(self.elements)
            if self.elements[at].type == self.elements[best].type:
                return at


class EarliestFinishTime(Policy, name="EFT"):
    """Each task in turn where it ends first; of equal elements the last."""

    timed = True

    def assign(self, ready: Sequence[Ready], now: int) -> Assigned:
        backwards = range(len(self.elements) - 1, -1, -1)
        found: Assigned = []
        for task in ready:
            _, at = self.earliest(task, backwards, now)
            self.book(task, at, now)
            found.append((task, at))
        return found


class EarliestTimeToFinish(Policy, name="ETF"):
    """Again and again the task and element that end first of all pairs; of equal ones the first task, and of
    its elements the first.
    """

    timed = True

    def assign(self, ready: Sequence[Ready], now: int) -> Assigned:
        left = list(ready)
        forwards = range(len(self.elements))
        found: Assigned = []
        while left:
            # tasks of the same estimates end alike: the first of them speaks for the others
            first: dict[tuple[int | None, ...], int] = {}
            for place, task in enumerate(left):
                first.setdefault(task.estimates, place)
            ends = [(self.earliest(left[place], forwards, now), place) for place in first.values()]
            (_, at), place = min(ends, key=lambda one: (one[0][0], one[1]))
            self.book(left[place], at, now)
            found.append((left.pop(place), at))
        return found


class HeterogeneousEarliestFinishTime(Policy, name="HEFT_RT"):
    """The task of the largest mean time first, each where it ends first; of equal elements the first.

    The mean is over all types that can run the task, in the node or not. Tasks of equal means keep their
    order (CEDR's sort says nothing of that).
    """

    timed = True

    def assign(self, ready: Sequence[Ready], now: int) -> Assigned:
        forwards = range(len(self.elements))
        found: Assigned = []
        for task in sorted(ready, key=lambda one: -one.mean):
            _, at = self.earliest(task, forwards, now)
            self.book(task, at, now)
            found.append((task, at))
        return found


POLICIES = tuple(Policy.kinds)
"""Their names, as CEDR's configuration has them."""
