"""Layers in SLRs: what is said to fit nowhere fits nowhere, by trying every choice."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from hlsgen.explore.over_slrs import in_runs, may_run, unpackable
from hlsgen.search.board_limits import KINDS

PRICES = np.ones(len(KINDS))
AMOUNT = st.tuples(*[st.integers(0, 6)] * len(KINDS))


def fits_somewhere(costs: list[np.ndarray], limits: list[np.ndarray]) -> bool:
    """Whether one of all choices of an option and an SLR for each layer keeps to the limits."""
    for picks in product(*(range(len(one)) for one in costs)):
        taken = [one[pick] for one, pick in zip(costs, picks, strict=True)]
        for places in product(range(len(limits)), repeat=len(costs)):
            sums = [np.zeros(len(KINDS), np.int64) for _ in limits]
            for amount, place in zip(taken, places, strict=True):
                sums[place] = sums[place] + amount
            if all((used <= limit).all() for used, limit in zip(sums, limits, strict=True)):
                return True
    return False


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(AMOUNT, min_size=1, max_size=2), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(1, 12), *[st.integers(0, 12)] * (len(KINDS) - 1)), min_size=2, max_size=3),
)
def test_what_is_unpackable_fits_nowhere(
    options: list[list[tuple[int, ...]]], room: list[tuple[int, ...]]
) -> None:
    costs = [np.array(one, np.int64) for one in options]
    limits = [np.array(one, np.int64) for one in room]
    if unpackable(costs, limits, PRICES):
        assert not fits_somewhere(costs, limits)


def runs_fit(costs: list[np.ndarray], limits: list[np.ndarray]) -> bool:
    """Whether some choice of options, cut into a run for each limit in turn, keeps to the limits."""
    for picks in product(*(range(len(one)) for one in costs)):
        taken = [one[pick] for one, pick in zip(costs, picks, strict=True)]
        for cuts in product(range(len(costs) + 1), repeat=len(limits) - 1):
            edges = [0, *sorted(cuts), len(costs)]
            parts = [sum(taken[a:b], np.zeros(len(KINDS), np.int64)) for a, b in pairwise(edges)]
            if all((part <= limit).all() for part, limit in zip(parts, limits, strict=True)):
                return True
    return False


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.lists(AMOUNT, min_size=1, max_size=2), min_size=1, max_size=5),
    st.lists(st.tuples(*[st.integers(0, 14)] * len(KINDS)), min_size=1, max_size=3),
)
def test_runs_that_may_not_be_fit_nowhere(
    options: list[list[tuple[int, ...]]], room: list[tuple[int, ...]]
) -> None:
    """In either order, as the search asks; and what does fit is found."""
    costs = [np.array(one, np.int64) for one in options]
    limits = [np.array(one, np.int64) for one in room]
    forward, backward = runs_fit(costs, limits), runs_fit(costs, limits[::-1])
    event(f"fits {forward}, may {may_run(costs, limits)}")
    assert may_run(costs, limits) or not forward
    assert may_run(costs, limits[::-1]) or not backward
    assert (in_runs(costs, limits, PRICES) is not None) == (forward or backward)


@pytest.mark.parametrize("layers", [14, 15, 16, 60])
def test_runs_are_ruled_out_where_mixed_options_do_not_fit(layers: int) -> None:
    """A layer takes 4 of one kind or of another, and an SLR has 10 of each: five layers at most."""
    first, second = np.zeros((2, len(KINDS)), np.int64)
    first[0], second[-1] = 4, 4
    limit = np.full(len(KINDS), 10)
    assert may_run([np.stack([first, second])] * layers, [limit] * 3) == (layers <= 15)


def test_three_layers_that_fit_two_slrs_in_sum_alone() -> None:
    layer = np.array([[6] * len(KINDS)], np.int64)
    limit = np.array([10] * len(KINDS), np.int64)
    assert unpackable([layer] * 3, [limit, limit], PRICES), "18 of 20, but none can lie across"
    assert not unpackable([layer] * 2, [limit, limit], PRICES)
