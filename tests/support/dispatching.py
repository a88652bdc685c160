"""Applications and runs for the tests of hlsgen/dispatch, and what any run must keep to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hlsgen.dispatch.node import SECOND, Application, Node, Task, kind_estimates, own_estimates
from hlsgen.dispatch.simulation import Run, simulate

AT_ONCE = float(SECOND)
"""A rate at which the first instance arrives after a nanosecond."""


def task(name: str, costs: Mapping[str, int], *after: int, kind: str = "") -> Task:
    return Task(name=name, kind=kind or name, nanoseconds=costs, after=after)


def application(*tasks: Task, name: str = "app", rate: float = AT_ONCE, instances: int = 1) -> Application:
    return Application(name=name, tasks=tasks, rate=rate, instances=instances)


def ran(
    node: Mapping[str, int],
    applications: Application | Sequence[Application],
    policy: str,
    *,
    seed: int = 0,
    by_kind: bool = False,
) -> Run:
    several = [applications] if isinstance(applications, Application) else list(applications)
    known = (kind_estimates if by_kind else own_estimates)(several)
    return simulate(Node(counts=node), several, policy, seed=seed, estimates=known)


def rows(run: Run) -> list[tuple[str, str, int, int]]:
    """Each task with its element, begin and end; time counts from the first arrival."""
    zero = run.instances[0].arrival
    return [
        (
            run.applications[run.instances[one.instance].application].tasks[one.task].name
            + (str(one.instance) if len(run.instances) > 1 else ""),
            run.node.elements[one.element].name,
            one.start - zero,
            one.end - zero,
        )
        for one in run.executions
    ]


def check_run(run: Run) -> None:
    """Checks, apart from the simulation, what every schedule must keep to."""
    ends: dict[tuple[int, int], int] = {}
    for one in run.executions:
        key = (one.instance, one.task)
        assert key not in ends, "a task runs twice"
        ends[key] = one.end
        takes = run.applications[run.instances[one.instance].application].tasks[one.task].nanoseconds
        assert one.end - one.start == takes[run.node.elements[one.element].type]
    for instance in run.instances:
        tasks = run.applications[instance.application].tasks
        assert all((instance.id, at) in ends for at in range(len(tasks))), "a task never runs"
    for one in run.executions:
        instance = run.instances[one.instance]
        before = run.applications[instance.application].tasks[one.task].after
        earliest = max([instance.arrival, *(ends[one.instance, at] for at in before)])
        assert one.ready == earliest <= one.start
    for at in range(len(run.node.elements)):
        there = sorted((one for one in run.executions if one.element == at), key=lambda one: one.start)
        for earlier, later in zip(there, there[1:], strict=False):
            assert earlier.end <= later.start, "two tasks at once on an element"
            # its queue is first come, first served, and it does not rest while it holds something
            assert earlier.ready <= later.ready
            assert later.start == max(earlier.end, later.ready)
