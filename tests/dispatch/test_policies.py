"""Schedules that were worked by hand, one or more for each policy; what is kept between rounds, and ties."""

from __future__ import annotations

from hlsgen.dispatch.node import Node, kind_estimates
from hlsgen.dispatch.policies import POLICIES, Policy, Ready
from hlsgen.dispatch.random_engine import shuffle
from tests.support.dispatching import application, check_run, ran, rows, task

DIAMOND = application(
    task("a", {"cpu": 10, "fft": 4}),
    task("b", {"cpu": 6, "fft": 9}, 0),
    task("c", {"cpu": 8}, 0),
    task("d", {"cpu": 5, "fft": 3}, 1, 2),
)
NODE = {"cpu": 2, "fft": 1}


def schedule(policy: str) -> list[tuple[str, str, int, int]]:
    run = ran(NODE, DIAMOND, policy)
    check_run(run)
    return rows(run)


def test_the_policies_are_those_of_cedr() -> None:
    assert POLICIES == ("SIMPLE", "RANDOM", "MET", "EFT", "ETF", "HEFT_RT")


def test_simple() -> None:
    """Round robin: cpu1, cpu2, then c passes fft1, which cannot run it; d goes on with cpu2."""
    assert schedule("SIMPLE") == [
        ("a", "cpu1", 0, 10),
        ("c", "cpu1", 10, 18),
        ("b", "cpu2", 10, 16),
        ("d", "cpu2", 18, 23),
    ]


def test_met() -> None:
    """The cheapest type: a and d on the FFT, b and c on a CPU, the second from where the first left off."""
    assert schedule("MET") == [
        ("a", "fft1", 0, 4),
        ("b", "cpu1", 4, 10),
        ("c", "cpu2", 4, 12),
        ("d", "fft1", 12, 15),
    ]


def test_met_waits_for_its_type_though_others_are_idle() -> None:
    both = application(task("a", {"cpu": 5, "fft": 4}), task("b", {"cpu": 5, "fft": 4}))
    assert rows(ran({"cpu": 1, "fft": 1}, both, "MET")) == [("a", "fft1", 0, 4), ("b", "fft1", 4, 8)]


def test_met_takes_the_last_of_equal_types() -> None:
    one = application(task("a", {"cpu": 5, "fft": 5, "zip": 7}))
    assert rows(ran({"cpu": 1, "fft": 1, "zip": 1}, one, "MET")) == [("a", "fft1", 0, 5)]


def test_eft() -> None:
    """Of equal elements the last: b goes to cpu2, c to cpu1."""
    assert schedule("EFT") == [
        ("a", "fft1", 0, 4),
        ("c", "cpu1", 4, 12),
        ("b", "cpu2", 4, 10),
        ("d", "fft1", 12, 15),
    ]


def test_etf_takes_pairs_in_the_order_in_which_they_end() -> None:
    """x, y and z are ready at once: y on the FFT ends first of all pairs, then z on a CPU, then x."""
    three = application(
        task("x", {"cpu": 9, "fft": 8}), task("y", {"cpu": 7, "fft": 2}), task("z", {"cpu": 4, "fft": 3})
    )
    assert rows(ran({"cpu": 1, "fft": 1}, three, "ETF")) == [
        ("z", "cpu1", 0, 4),
        ("y", "fft1", 0, 2),
        ("x", "fft1", 2, 10),
    ]
    # EFT asks in their order: x takes the FFT, so y ends first on the CPU; z ends at 11 on either
    assert rows(ran({"cpu": 1, "fft": 1}, three, "EFT")) == [
        ("y", "cpu1", 0, 7),
        ("x", "fft1", 0, 8),
        ("z", "fft1", 8, 11),
    ]


def test_heft_rt_begins_with_the_largest_mean() -> None:
    """Means 3, 9 and 6: y, z, x. y takes the FFT to 8, z the CPU to 5, x ends at 8 there, at 11 after y."""
    three = application(
        task("x", {"cpu": 3, "fft": 3}), task("y", {"cpu": 10, "fft": 8}), task("z", {"cpu": 5, "fft": 7})
    )
    assert rows(ran({"cpu": 1, "fft": 1}, three, "HEFT_RT")) == [
        ("z", "cpu1", 0, 5),
        ("y", "fft1", 0, 8),
        ("x", "cpu1", 5, 8),
    ]


def test_the_mean_of_heft_rt_counts_types_that_are_not_there() -> None:
    """On the node's own types x is longer, with the GPU's 1,000 y is: y goes first and x waits."""
    two = application(task("x", {"cpu": 6}), task("y", {"cpu": 5, "gpu": 1000}))
    assert [name for name, *_ in rows(ran({"cpu": 1}, two, "HEFT_RT"))] == ["y", "x"]


def test_heft_rt_takes_the_first_of_equal_elements() -> None:
    one = application(task("a", {"cpu": 5}))
    assert rows(ran({"cpu": 3}, one, "HEFT_RT")) == [("a", "cpu1", 0, 5)]
    assert rows(ran({"cpu": 3}, one, "ETF")) == [("a", "cpu1", 0, 5)]
    assert rows(ran({"cpu": 3}, one, "EFT")) == [("a", "cpu3", 0, 5)]


def test_random_shuffles_and_then_goes_round() -> None:
    """In the order of GNU's shuffle, of which tests/dispatch/test_random_engine.py asks g++; 0 seeds as 1."""
    order = [0, 1, 2, 3]
    shuffle(order, 0)
    assert order == [2, 3, 1, 0]
    four = application(*(task(f"t{number}", {"cpu": 5}) for number in range(4)))
    found = rows(ran({"cpu": 4}, four, "RANDOM"))
    assert [name for name, *_ in found] == [f"t{number}" for number in order]
    assert rows(ran({"cpu": 4}, four, "RANDOM", seed=1)) == found
    assert rows(ran({"cpu": 4}, four, "RANDOM", seed=2)) != found


def ready(number: int, *estimates: int | None) -> Ready:
    known = [one for one in estimates if one is not None]
    return Ready(key=(0, number), estimates=estimates, mean=sum(known) // len(known))


def test_round_robin_goes_on_in_the_next_round() -> None:
    elements = Node(counts={"cpu": 3}).elements
    policy = Policy.kinds["SIMPLE"](elements, 0)
    assert [at for _, at in policy.assign([ready(0, 1, 1, 1), ready(1, 1, 1, 1)], 0)] == [0, 1]
    assert [at for _, at in policy.assign([ready(2, 1, 1, 1), ready(3, 1, 1, 1)], 5)] == [2, 0]


def test_what_was_booked_counts_until_now_passes_it() -> None:
    elements = Node(counts={"cpu": 2}).elements
    policy = Policy.kinds["HEFT_RT"](elements, 0)
    assert [at for _, at in policy.assign([ready(0, 10, 10)], 0)] == [0]
    assert [at for _, at in policy.assign([ready(1, 10, 10)], 5)] == [1]
    assert policy.available == [10, 15]
    assert [at for _, at in policy.assign([ready(2, 10, 10)], 12)] == [0]
    assert policy.available == [22, 15]


def test_estimates_by_kind_mislead_as_in_cedr() -> None:
    """A kind has a single number: b looks like 55 and not like 100, so EFT queues c behind it."""
    three = application(
        task("a", {"cpu": 10}, kind="conv"),
        task("b", {"cpu": 100}, kind="conv"),
        task("c", {"cpu": 20}, kind="gemm"),
    )
    assert kind_estimates([three])[0] == [{"cpu": 55}, {"cpu": 55}, {"cpu": 20}]
    # a on cpu2 and b on cpu1 seem to end together, and of equal elements EFT takes the last
    blind = ran({"cpu": 2}, three, "EFT", by_kind=True)
    assert rows(blind) == [("b", "cpu1", 0, 100), ("a", "cpu2", 0, 10), ("c", "cpu2", 10, 30)]
    swapped = application(three.tasks[1], three.tasks[0], three.tasks[2])
    blind = ran({"cpu": 2}, swapped, "EFT", by_kind=True)
    assert ("c", "cpu2", 100, 120) in rows(blind)
    seeing = ran({"cpu": 2}, swapped, "EFT")
    assert ("c", "cpu1", 10, 30) in rows(seeing)
