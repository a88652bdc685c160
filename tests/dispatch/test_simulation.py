"""Random applications on random nodes: what every schedule keeps to, what is promised, what is proven."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.dispatch.capacity import capacity
from hlsgen.dispatch.figures import figures, spans
from hlsgen.dispatch.node import SECOND, Application, Node, Task
from hlsgen.dispatch.policies import POLICIES, Policy, Ready
from hlsgen.dispatch.simulation import Run, arrivals
from tests.support.dispatching import application, check_run, ran, task

TYPES = ("cpu", "fft", "zip")


@st.composite
def applications(draw: st.DrawFn, name: str) -> Application:
    tasks: list[Task] = []
    for number in range(draw(st.integers(1, 6))):
        others = draw(st.dictionaries(st.sampled_from(TYPES[1:]), st.integers(1, 40), max_size=2))
        earlier = st.sets(st.sampled_from(range(number)), max_size=3) if number else st.just(set())
        tasks.append(
            Task(
                name=f"t{number}",
                kind=draw(st.sampled_from(("conv", "gemm"))),
                nanoseconds={"cpu": draw(st.integers(1, 40)), **others},
                after=tuple(sorted(draw(earlier))),
            )
        )
    return Application(
        name=name,
        tasks=tuple(tasks),
        rate=SECOND / draw(st.sampled_from((1, 7, 30, 200))),
        instances=draw(st.integers(1, 6)),
        poisson=draw(st.booleans()),
    )


loads = st.tuples(applications("one"), applications("two"))
nodes = st.fixed_dictionaries({"cpu": st.integers(1, 3), "fft": st.integers(0, 2), "zip": st.integers(0, 1)})
runs = {"node": nodes, "load": loads, "policy": st.sampled_from(POLICIES), "by_kind": st.booleans()}


@settings(max_examples=150, deadline=None)
@given(**runs, seed=st.integers(0, 5))
def test_a_schedule_keeps_to_its_rules(
    node: dict[str, int], load: Sequence[Application], policy: str, by_kind: bool, seed: int
) -> None:
    run = ran(node, load, policy, by_kind=by_kind, seed=seed)
    check_run(run)
    assert ran(node, load, policy, by_kind=by_kind, seed=seed) == run


@settings(max_examples=80, deadline=None)
@given(node=nodes, load=loads, policy=st.sampled_from(POLICIES))
def test_no_run_beats_what_is_proven_of_all(
    node: dict[str, int], load: Sequence[Application], policy: str
) -> None:
    """N instances in the proportion of their rates take N / capacity; a critical path takes its length."""
    even = [replace(one, rate=load[0].rate, instances=load[0].instances) for one in load]
    run = ran(node, even, policy)
    most = capacity(run.node, even)
    found = figures(run, policy, most)
    span = max(end for _, end in spans(run)) - run.instances[0].arrival
    assert span >= len(run.instances) * SECOND / most.rate * (1 - 1e-6)
    assert all(0 <= share <= 1 for share in found.busy.values())
    for instance, (_, end) in zip(run.instances, spans(run), strict=True):
        assert end - instance.arrival >= critical_path(even[instance.application], run.node)


def critical_path(one: Application, node: Node) -> int:
    ends: list[int] = []
    for each in one.tasks:
        least = min(takes for type_, takes in each.nanoseconds.items() if node.counts.get(type_, 0))
        ends.append(least + max((ends[at] for at in each.after), default=0))
    return max(ends)


@settings(max_examples=80, deadline=None)
@given(node=nodes, load=loads, policy=st.sampled_from(("EFT", "ETF", "HEFT_RT")))
def test_who_looks_at_finish_times_leaves_nothing_better_idle(
    node: dict[str, int], load: Sequence[Application], policy: str
) -> None:
    """When a task waits at an element, none that is idle then, and stays so, would have ended it earlier."""
    run = ran(node, load, policy)
    elements = run.node.elements
    for one in run.executions:
        takes = run.applications[run.instances[one.instance].application].tasks[one.task].nanoseconds
        for at, element in enumerate(elements):
            if one.start == one.ready or element.type not in takes:
                continue
            end = one.ready + takes[element.type]
            used = any(
                other.element == at and other.end > one.ready and other.ready <= one.ready
                for other in run.executions
            )
            assert used or end >= one.end


@settings(max_examples=80, deadline=None)
@given(load=loads, node=nodes)
def test_met_never_takes_a_slower_type(load: Sequence[Application], node: dict[str, int]) -> None:
    run = ran(node, load, "MET")
    for one in run.executions:
        takes = run.applications[run.instances[one.instance].application].tasks[one.task].nanoseconds
        there = [cost for type_, cost in takes.items() if node[type_]]
        assert takes[run.node.elements[one.element].type] == min(there)


@settings(max_examples=100, deadline=None)
@given(
    costs=st.lists(
        st.tuples(*[st.one_of(st.none(), st.integers(1, 9))] * 3).filter(any), min_size=1, max_size=5
    ),
    now=st.integers(0, 5),
)
def test_etf_takes_the_first_of_all_pairs_each_time(costs: list[tuple[int | None, ...]], now: int) -> None:
    """Against the definition, written out over all pairs."""
    ready = [Ready(key=(0, at), estimates=each, mean=1) for at, each in enumerate(costs)]
    policy = Policy.kinds["ETF"](Node(counts={"cpu": 2, "fft": 1}).elements, 0)
    policy.available = [3, 0, 7]
    available, left, wanted = [3, 0, 7], list(ready), []
    while left:
        pairs = [
            (max(now, available[at]) + takes, left.index(one), at)
            for one in left
            for at, takes in enumerate(one.estimates)
            if takes is not None
        ]
        end, place, at = min(pairs)
        available[at] = end
        wanted.append((left.pop(place), at))
    assert policy.assign(ready, now) == wanted
    assert policy.available == available


def best_makespan(one: Application, node: Node) -> int:
    """The shortest of all schedules of an instance, by trying every order and every element."""
    best = 10**9
    count = len(one.tasks)
    for order in itertools.permutations(range(count)):
        if any(
            order.index(at) > order.index(later) for later in range(count) for at in one.tasks[later].after
        ):
            continue
        for choice in itertools.product(range(len(node.elements)), repeat=count):
            free = [0] * len(node.elements)
            ends = [0] * count
            for number in order:
                takes = one.tasks[number].nanoseconds.get(node.elements[choice[number]].type)
                if takes is None:
                    break
                start = max([free[choice[number]], *(ends[at] for at in one.tasks[number].after)])
                ends[number] = free[choice[number]] = start + takes
            else:
                best = min(best, max(ends))
    return best


def test_against_the_best_of_all_schedules() -> None:
    """No policy beats it; on this one HEFT_RT reaches it, and SIMPLE does not."""
    one = application(
        task("a", {"cpu": 9, "fft": 3}),
        task("b", {"cpu": 7, "fft": 2}, 0),
        task("c", {"cpu": 4}, 0),
        task("d", {"cpu": 6, "fft": 2}, 1, 2),
    )
    node = Node(counts={"cpu": 1, "fft": 1})
    best = best_makespan(one, node)
    made = {
        name: spans(run)[0][1] - run.instances[0].arrival for name in POLICIES for run in [run_of(one, name)]
    }
    assert min(made.values()) == best == made["HEFT_RT"] == 9
    assert made["SIMPLE"] > best


def run_of(one: Application, policy: str) -> Run:
    return ran({"cpu": 1, "fft": 1}, one, policy)


def test_capacity_by_hand() -> None:
    """Two CPUs at 10 and an FFT at 5 for one task: 2/10 + 1/5 a nanosecond, all of them busy."""
    one = application(task("a", {"cpu": 10, "fft": 5}))
    found = capacity(Node(counts={"cpu": 2, "fft": 1}), [one])
    assert found.rate == pytest.approx(0.4 * SECOND)
    assert found.full == ("cpu", "fft")
    only = capacity(Node(counts={"cpu": 2, "fft": 0}), [one])
    assert (only.rate, only.full) == (pytest.approx(0.2 * SECOND), ("cpu",))


def test_capacity_of_two_applications_in_their_proportion() -> None:
    """Three of a for one of b on a CPU: 4 arrivals take 3 * 10 + 50."""
    a = application(task("a", {"cpu": 10}), name="a", rate=3.0)
    b = application(task("b", {"cpu": 50}), name="b", rate=1.0)
    assert capacity(Node(counts={"cpu": 1}), [a, b]).rate == pytest.approx(4 / 80 * SECOND)


@pytest.mark.parametrize("policy", ["EFT", "ETF", "HEFT_RT"])
def test_a_busy_node_reaches_its_capacity(policy: str) -> None:
    one = application(
        task("a", {"cpu": 9500, "fft": 1800}),
        task("b", {"cpu": 9500, "fft": 1800}),
        task("c", {"cpu": 1200, "zip": 300}, 0, 1),
        task("d", {"cpu": 9500, "fft": 1800}, 2),
        rate=6e5,
        instances=300,
    )
    run = ran({"cpu": 3, "fft": 1, "zip": 1}, one, policy)
    found = figures(run, policy, capacity(run.node, [one]))
    assert found.saturated
    assert 0.98 * found.capacity.rate < found.completed <= found.capacity.rate


def test_arrivals_are_periodic_or_poisson() -> None:
    even = application(task("a", {"cpu": 1}), rate=1e6, instances=4)
    assert [one.arrival for one in arrivals([even], 0)] == [1000, 2000, 3000, 4000]
    poisson = replace(even, poisson=True, instances=20_000)
    times = np.array([one.arrival for one in arrivals([poisson], 5)])
    gaps = np.diff(times)
    assert times[0] == 1000
    # the mean and the deviation of an exponential distribution are equal
    assert gaps.mean() == pytest.approx(1000, rel=0.03)
    assert gaps.std() == pytest.approx(1000, rel=0.03)
    assert [one.arrival for one in arrivals([poisson], 5)] == list(times)
    assert [one.arrival for one in arrivals([poisson], 6)] != list(times)
    slower = [one.arrival for one in arrivals([replace(poisson, rate=1e5)], 5)]
    assert slower[:50] == pytest.approx([10 * one for one in times[:50]], abs=10)


def test_figures_by_hand() -> None:
    """Arrivals at 1,000, 2,000 and 3,000 ns; each takes 1,500 on one CPU: ends 2,500, 4,000 and 5,500."""
    one = application(task("a", {"cpu": 1500}), rate=1e6, instances=3)
    run = ran({"cpu": 1}, one, "EFT")
    found = figures(run, "EFT", capacity(run.node, [one]))
    assert [end for _, end in spans(run)] == [2500, 4000, 5500]
    assert found.makespan_us == 4.5
    assert (found.response.mean, found.response.largest) == (2.0, 2.5)
    assert found.response.percentiles == pytest.approx((2.0, 2.45, 2.49))
    assert found.queued_us == pytest.approx(0.5)
    assert found.busy == {"cpu1": 1.0}
    assert found.arrived == pytest.approx(1e6)
    assert found.completed == pytest.approx(3 / 5.5e-6)
    assert found.saturated
