"""A discrete-event simulation: arrivals, rounds of the policy, elements with queues.

At an instant what ends is seen first, by element, then what arrives; the tasks that this makes ready stand
in that order in one round of the policy. Deciding takes no time.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from hlsgen.dispatch.node import SECOND, Application, Estimates, Node
from hlsgen.dispatch.policies import Policy, Ready


@dataclass(frozen=True, kw_only=True)
class Instance:
    """An application that has arrived. id: in the order of arrival."""

    id: int
    application: int
    arrival: int


@dataclass(frozen=True, kw_only=True)
class Execution:
    """A task of an instance as it ran: nanoseconds at which it was ready, began and ended."""

    instance: int
    task: int
    element: int
    ready: int
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a simulation gives: every task once, by start and then by element."""

    node: Node
    applications: tuple[Application, ...]
    instances: tuple[Instance, ...]
    executions: tuple[Execution, ...]


def arrivals(applications: Sequence[Application], seed: int) -> tuple[Instance, ...]:
    """When what arrives: as in CEDR, the first instance of each application after one mean gap.

    A Poisson stream of an application depends on the seed and its place alone, and has the same numbers at
    every rate.
    """
    times: list[tuple[int, int]] = []
    for place, one in enumerate(applications):
        gap = SECOND / one.rate
        gaps = np.full(one.instances, gap)
        if one.poisson:
            draw = np.random.default_rng([seed, place])
            gaps[1:] = gap * draw.exponential(size=one.instances - 1)
        times += [(round(float(when)), place) for when in np.cumsum(gaps)]
    return tuple(
        Instance(id=number, application=place, arrival=when)
        for number, (when, place) in enumerate(sorted(times))
    )


def simulate(
    node: Node, applications: Sequence[Application], policy: str, *, seed: int, estimates: Estimates
) -> Run:
    """Runs what arrives to its end. Every task has an element that runs it."""
    arriving = arrivals(applications, seed)
    chosen = Policy.kinds[policy](node.elements, seed)
    state = _State(node, applications, arriving, estimates)
    while state.events:
        now = state.events[0][0]
        state.see(now)
        if state.ready:
            for ready, at in chosen.assign(state.take_ready(), now):
                state.queues[at].append(ready.key)
        state.begin(now)
    done = sorted(state.executions, key=attrgetter("start", "element"))
    return Run(node=node, applications=tuple(applications), instances=arriving, executions=tuple(done))


class _State:
    """The node at work. A task's key: its instance and its place in the application."""

    def __init__(
        self,
        node: Node,
        applications: Sequence[Application],
        arriving: Sequence[Instance],
        estimates: Estimates,
    ) -> None:
        self.elements = node.elements
        self.applications = applications
        self.of = [one.application for one in arriving]
        # by application and task
        self.known = [[self._known(by_type) for by_type in each] for each in estimates]
        # time, ends before arrivals, element or instance
        self.events: list[tuple[int, int, int]] = [(one.arrival, 1, one.id) for one in arriving]
        heapq.heapify(self.events)
        self.waits_for: dict[int, list[int]] = {}
        self.ready: list[tuple[int, int]] = []
        self.ready_at: dict[tuple[int, int], int] = {}
        self.queues: list[deque[tuple[int, int]]] = [deque() for _ in self.elements]
        self.running: list[Execution | None] = [None for _ in self.elements]
        self.executions: list[Execution] = []

    def _known(self, by_type: Mapping[str, int]) -> tuple[tuple[int | None, ...], int]:
        """What a policy is told of a task: by element, and the mean over types."""
        each = tuple(by_type.get(one.type) for one in self.elements)
        return each, sum(by_type.values()) // len(by_type)

    def see(self, now: int) -> None:
        """What happens at this instant."""
        while self.events and self.events[0][0] == now:
            _, arrives, which = heapq.heappop(self.events)
            if arrives:
                tasks = self.applications[self.of[which]].tasks
                self.waits_for[which] = [len(task.after) for task in tasks]
                self._become_ready([(which, at) for at, task in enumerate(tasks) if not task.after], now)
            else:
                self._end(which, now)

    def _end(self, element: int, now: int) -> None:
        done = self.running[element]
        assert done is not None
        self.running[element] = None
        self.executions.append(done)
        waiting = self.waits_for[done.instance]
        for later in self.applications[self.of[done.instance]].before[done.task]:
            waiting[later] -= 1
            if not waiting[later]:
                self._become_ready([(done.instance, later)], now)

    def _become_ready(self, keys: list[tuple[int, int]], now: int) -> None:
        self.ready += keys
        self.ready_at.update((key, now) for key in keys)

    def take_ready(self) -> list[Ready]:
        """The tasks that wait for the policy, which they then do no more."""
        keys, self.ready = self.ready, []
        found = []
        for instance, task in keys:
            estimates, mean = self.known[self.of[instance]][task]
            found.append(Ready(key=(instance, task), estimates=estimates, mean=mean))
        return found

    def begin(self, now: int) -> None:
        """Idle elements take the next task of their queues."""
        for at, queue in enumerate(self.queues):
            if queue and self.running[at] is None:
                instance, task = queue.popleft()
                takes = self.applications[self.of[instance]].tasks[task].nanoseconds
                end = now + takes[self.elements[at].type]
                ready = self.ready_at.pop((instance, task))
                self.running[at] = Execution(
                    instance=instance, task=task, element=at, ready=ready, start=now, end=end
                )
                heapq.heappush(self.events, (end, 0, at))
