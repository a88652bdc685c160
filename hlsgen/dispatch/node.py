"""What a simulation is of: elements, and applications whose tasks they run, in whole nanoseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

SECOND = 1_000_000_000
"""Nanoseconds."""
MICROSECOND = 1_000


@dataclass(frozen=True, kw_only=True)
class Element:
    """A CPU core or an accelerator, which runs one task at a time. index: from 0 among those of its type."""

    type: str
    index: int

    @property
    def name(self) -> str:
        """The name in traces: CEDR counts from 1."""
        return f"{self.type}{self.index + 1}"


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task of an application. kind: what CEDR calls its API. after: tasks, by place, that end before it.

    nanoseconds: by type of element, for every type that can run it, in the node or not; all positive.
    """

    name: str
    kind: str
    nanoseconds: Mapping[str, int]
    after: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Application:
    """A directed acyclic graph of tasks, each after those it waits for; it arrives `instances` times.

    rate: arrivals a second. poisson: gaps are exponential with that mean, else equal.
    frames: of a network, in an instance.
    """

    name: str
    tasks: tuple[Task, ...]
    rate: float
    instances: int
    poisson: bool = False
    frames: int = 1

    @cached_property
    def before(self) -> tuple[tuple[int, ...], ...]:
        """By task, the tasks that wait for it."""
        found: list[list[int]] = [[] for _ in self.tasks]
        for at, task in enumerate(self.tasks):
            for earlier in task.after:
                found[earlier].append(at)
        return tuple(map(tuple, found))


@dataclass(frozen=True, kw_only=True)
class Node:
    """The elements, in CEDR's order: all of a type, then all of the next."""

    counts: Mapping[str, int]

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        return tuple(
            Element(type=type_, index=index) for type_, count in self.counts.items() for index in range(count)
        )

    @property
    def text(self) -> str:
        """As `--resources` takes it."""
        return ",".join(f"{type_}={count}" for type_, count in self.counts.items())

    def can_run(self, task: Task) -> bool:
        """Whether an element that is there runs the task."""
        return any(self.counts.get(type_, 0) for type_ in task.nanoseconds)


Estimates = Sequence[Sequence[Mapping[str, int]]]
"""By application and task what a policy believes that the task takes, in nanoseconds by type of element."""


def own_estimates(applications: Sequence[Application]) -> Estimates:
    """Each task takes what it takes."""
    return [[task.nanoseconds for task in one.tasks] for one in applications]


def kind_estimates(applications: Sequence[Application]) -> Estimates:
    """As CEDR has it, a single number for each kind and type of element: here the mean of all its calls.

    Calls count as often as they arrive in an instance of each application; at least a nanosecond.
    """
    sums: dict[tuple[str, str], list[int]] = {}
    for one in applications:
        for task in one.tasks:
            for type_, takes in task.nanoseconds.items():
                sums.setdefault((task.kind, type_), []).append(takes)
    means = {key: max(1, sum(each) // len(each)) for key, each in sums.items()}
    return [
        [{type_: means[task.kind, type_] for type_ in task.nanoseconds} for task in one.tasks]
        for one in applications
    ]
