"""Schedules of random iterations: nothing waits too little, and no interval is less than the one found."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.schedule.iteration import Carried, Node, Region
from hlsgen.schedule.modulo import Schedule, Scheduler, without_chains
from hlsgen.schedule.operation import Operation, Timing

BUDGET = 2.4
CASES = settings(max_examples=150, deadline=None)
OPERATION = Operation(kind="add", widths=(8, 8), result=8)
TIMINGS = [
    None,
    Timing(cycles=0, first_ns=0.0, last_ns=0.0),
    Timing(cycles=0, first_ns=0.9, last_ns=0.0),
    Timing(cycles=0, first_ns=2.0, last_ns=0.0),
    Timing(cycles=1, first_ns=1.2, last_ns=1.2),
    Timing(cycles=2, first_ns=0.5, last_ns=2.3),
]


@dataclass(frozen=True)
class Iteration:
    """A region, and the timing of each of its nodes."""

    region: Region
    timings: list[Timing | None]

    @property
    def scheduler(self) -> Scheduler:
        return Scheduler(self.region, self.timings, BUDGET)


def region_of(nodes: list[Node], carried: list[Carried]) -> Region:
    return Region("top", None, nodes, carried, [], set(), ["body"], {"body": []})


@st.composite
def iterations(draw: st.DrawFn, most: int = 9) -> Iteration:
    count = draw(st.integers(1, most))
    nodes = []
    for index in range(count):
        before = list(range(index))
        after = draw(st.lists(st.sampled_from(before), max_size=2, unique=True)) if before else []
        behind = draw(st.lists(st.sampled_from(before), max_size=1)) if before else []
        cycles = draw(st.integers(0, 1))
        nodes.append(Node(index, OPERATION, None, "body", after, [(one, cycles) for one in behind]))
    edge = st.builds(
        Carried,
        source=st.integers(0, count - 1),
        target=st.integers(0, count - 1),
        distance=st.integers(1, 3),
        through=st.just("register"),
        assumed=st.just(False),
        cycles=st.sampled_from([None, None, 0, 1]),
        late=st.integers(0, 1),
    )
    carried = draw(st.lists(edge, max_size=3))
    timings = draw(st.lists(st.sampled_from(TIMINGS), min_size=count, max_size=count))
    return Iteration(region_of(nodes, carried), timings)


def holds(iteration: Iteration, cycles: tuple[int, ...], interval: int) -> bool:
    """Whether every operation may start in the cycle that it is given."""
    finishes: list[tuple[int, float]] = []
    for node, timing, cycle in zip(iteration.region.nodes, iteration.timings, cycles, strict=True):
        if any(finishes[one][0] > cycle for one in node.after):
            return False
        if any(cycles[one] + least > cycle for one, least in node.behind):
            return False
        ns = max((finishes[one][1] for one in node.after if finishes[one][0] == cycle), default=0.0)
        if timing is None:
            finishes.append((cycle, ns))
        elif ns and ns + timing.first_ns > BUDGET + 1e-9:
            return False
        elif timing.cycles:
            finishes.append((cycle + timing.cycles, timing.last_ns))
        else:
            finishes.append((cycle, ns + timing.first_ns))
    for edge in iteration.region.carried:
        last = finishes[edge.source][0] + edge.late
        ready = last if edge.cycles is None else cycles[edge.source] + edge.cycles
        if cycles[edge.target] < ready - interval * edge.distance:
            return False
    return True


@CASES
@given(iterations())
def test_nothing_starts_before_what_it_waits_for(iteration: Iteration) -> None:
    found = iteration.scheduler.least(1)
    assert found is not None
    assert holds(iteration, tuple(cycle for cycle, _ in found.starts), found.interval)
    assert found.depth == 1 + max(cycle for cycle, _ in found.finishes)
    ns, end = found.longest
    assert ns == max(ns for _, ns in found.finishes) <= BUDGET
    chain = found.chain(end)
    assert chain[-1] == end
    # each waits for the one before, in the cycle in which that one is done
    for before, after in itertools.pairwise(chain):
        assert before in iteration.region.nodes[after].after
        assert found.finishes[before] == found.starts[after]


@settings(max_examples=100, deadline=None)
@given(iterations(most=4))
def test_no_interval_is_less(iteration: Iteration) -> None:
    found = iteration.scheduler.least(1)
    assert found is not None
    cycles = range(8)
    count = len(iteration.region.nodes)
    for interval in range(1, found.interval):
        assert not any(holds(iteration, one, interval) for one in itertools.product(cycles, repeat=count))


@settings(max_examples=300, deadline=None)
@given(iterations(), st.integers(1, 12))
def test_haste_misses_no_interval(iteration: Iteration, interval: int) -> None:
    """A circle that gains is one that no round ends; without it the schedules are the same."""
    hasty = iteration.scheduler.at(interval, patient=False)
    assert hasty == iteration.scheduler.at(interval)


@CASES
@given(iterations(), st.integers(1, 4))
def test_an_interval_that_is_asked_for_is_no_less(iteration: Iteration, asked: int) -> None:
    least, found = iteration.scheduler.least(1), iteration.scheduler.least(asked)
    assert least is not None
    assert found is not None
    assert found.interval == max(asked, least.interval)
    assert found.depth <= least.depth


def chain(length: int, timing: Timing, distance: int = 1) -> Iteration:
    """A register, and operations from it back to it."""
    nodes = [
        Node(index, OPERATION, None, "body", [index - 1] if index else []) for index in range(length + 1)
    ]
    register = Timing(cycles=0, first_ns=0.0, last_ns=0.0)
    carried = [Carried(length, 0, distance, "register")]
    return Iteration(region_of(nodes, carried), [register] + [timing] * length)


@pytest.mark.parametrize(
    ("length", "timing", "distance", "interval"),
    [
        (1, Timing(cycles=6, first_ns=2.3, last_ns=2.3), 1, 7),
        (1, Timing(cycles=6, first_ns=2.3, last_ns=2.3), 7, 1),
        (1, Timing(cycles=6, first_ns=2.3, last_ns=2.3), 4, 2),
        (2, Timing(cycles=0, first_ns=1.2, last_ns=0.0), 1, 1),
        (3, Timing(cycles=0, first_ns=1.2, last_ns=0.0), 1, 2),
        (1, Timing(cycles=80, first_ns=1.0, last_ns=1.0), 1, 81),
        (5, Timing(cycles=77, first_ns=1.0, last_ns=1.0), 1, 386),
        (5, Timing(cycles=77, first_ns=1.0, last_ns=1.0), 5, 78),
    ],
)
def test_a_chain_back_to_its_register(length: int, timing: Timing, distance: int, interval: int) -> None:
    found = chain(length, timing, distance).scheduler.least(1)
    assert found is not None
    assert found.interval == interval


def test_a_register_that_nothing_can_feed_in_time_has_no_interval() -> None:
    assert chain(3, Timing(cycles=2000, first_ns=1.0, last_ns=1.0)).scheduler.least(1) is None


def test_a_long_shift_register_waits_for_its_first_word_alone() -> None:
    taps = 200
    nodes = [Node(0, OPERATION, None, "body")]
    nodes += [Node(index, OPERATION, None, "body") for index in range(1, taps + 1)]
    carried = [Carried(index, index + 1, 1, "register") for index in range(taps)]
    register = Timing(cycles=0, first_ns=0.0, last_ns=0.0)
    read = Timing(cycles=3, first_ns=1.2, last_ns=1.2)
    found = Iteration(region_of(nodes, carried[::-1]), [read] + [register] * taps).scheduler.least(1)
    assert found is not None
    assert found.interval == 1


def test_the_edges_that_block_an_interval_are_named() -> None:
    scheduler = chain(1, Timing(cycles=6, first_ns=2.3, last_ns=2.3)).scheduler
    assert scheduler.at(6) is None
    assert scheduler.blocking == {0}
    assert isinstance(scheduler.at(7), Schedule)


def test_without_chains_only_cycles_remain() -> None:
    found = without_chains(TIMINGS)
    assert found[0] is None
    assert [one.cycles for one in found if one] == [one.cycles for one in TIMINGS if one]
    assert all(one.first_ns == one.last_ns == 0 for one in found if one)


def test_only_what_waits_for_a_pushed_register_is_placed_anew() -> None:
    """An accumulation beside hundreds of operations of unrolled code: its rounds cost what it costs."""
    beside, slow = 500, Timing(cycles=30, first_ns=1.0, last_ns=1.0)
    others = [Node(index, OPERATION, None, "body", [index - 1] if index else []) for index in range(beside)]
    accumulation = [
        Node(beside, OPERATION, None, "body"),
        Node(beside + 1, OPERATION, None, "body", [beside]),
    ]
    carried = [Carried(beside + 1, beside, distance=1, through="register", late=0)]
    placed: list[int] = []

    class Counted(Scheduler):
        def _place(self, index: int, found: Schedule, floor: int) -> None:
            placed.append(index)
            super()._place(index, found, floor)

    timings = [TIMINGS[2]] * beside + [None, slow]
    found = Counted(region_of([*others, *accumulation], carried), timings, BUDGET).least(1)
    assert found is not None and found.interval == 30
    assert placed.count(0) == 1
    assert len(placed) < beside + 2 + 2 * 60 * 30  # two nodes, at most 60 rounds, 29 intervals too short


def test_a_circle_of_pushes_is_seen_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two registers that wait for one another: 60 rounds of a large body each took minutes."""
    slow = Timing(cycles=40, first_ns=1.0, last_ns=1.0)
    nodes = [Node(index, OPERATION, None, "body", [index - 1] if index % 2 else []) for index in range(4)]
    carried = [Carried(1, 2, distance=1, through="register"), Carried(3, 0, distance=1, through="register")]
    register = Timing(cycles=0, first_ns=0.0, last_ns=0.0)
    scheduler = Iteration(region_of(nodes, carried), [register, slow] * 2).scheduler
    rounds = []
    move = Scheduler._move
    monkeypatch.setattr(Scheduler, "_move", lambda *arguments: rounds.append(move(*arguments)))
    assert scheduler.at(40, patient=False) is None
    assert len(rounds) <= 2
    assert scheduler.at(41, patient=False) is not None
