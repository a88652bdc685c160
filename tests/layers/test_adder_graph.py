"""A constant matrix times a vector as adders: exact for any weights, with at most an adder a signed digit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.layers.adder_graph import (
    BLOCK_DIGITS,
    Adder,
    AdderGraph,
    Interval,
    Term,
    adder_graph,
    digit_count,
    signed_digits,
)


@given(st.integers(-(1 << 20), 1 << 20))
def test_signed_digits(number: int) -> None:
    """They add up to the number, and no two are next to each other."""
    digits = signed_digits(number)
    assert sum(sign << shift for shift, sign in digits) == number
    shifts = [shift for shift, _ in digits]
    assert all(later - one > 1 for one, later in zip(shifts, shifts[1:], strict=False))
    assert digit_count(np.array([number])) == len(digits) <= max(1, number.bit_length() // 2 + 1)


matrices = st.builds(
    lambda seed, rows, columns, bits, zeros: (
        np.random.default_rng(seed).integers(-(1 << bits), 1 << bits, (rows, columns), endpoint=True)
        * (np.random.default_rng(seed + 1).random((rows, columns)) >= zeros)
    ),
    st.integers(0, 1 << 30),
    st.integers(1, 9),
    st.integers(1, 12),
    st.integers(0, 9),
    st.sampled_from([0.0, 0.5, 0.9]),
)
reaches = st.sampled_from(
    [Interval(0, 1), Interval(-1, 0), Interval(0, 3), Interval(-2, 1), Interval(-128, 127)]
)


@settings(deadline=None, max_examples=60)
@given(matrices, reaches)
def test_any_matrix(weights: np.ndarray, reach: Interval) -> None:
    """Exact at the ends of the range too, each sum within its own, in the order in which they are needed."""
    graph = adder_graph(weights, (reach,) * weights.shape[1])
    generator = np.random.default_rng(0)
    inputs = generator.integers(reach.low, reach.high, (40, weights.shape[1]), endpoint=True)
    inputs[:20] = np.where(generator.random((20, weights.shape[1])) < 0.5, reach.low, reach.high)
    np.testing.assert_array_equal(graph.of(inputs), inputs @ weights.T)
    assert graph.count <= max(0, digit_count(weights))
    for number, adder in enumerate(graph.adders):
        first = len(graph.inputs)
        assert max(adder.left.signal, adder.right.signal) < first + number
        assert adder.left.sign == 1 and min(adder.left.shift, adder.right.shift) == 0
    _assert_ranges(graph)


def _assert_ranges(graph: AdderGraph) -> None:
    """Every signal's range holds what its coefficients can reach, worked out from the coefficients."""
    count = len(graph.inputs)
    rows = list(np.eye(count, dtype=np.int64))
    low, high = (np.array([getattr(one, end) for one in graph.inputs]) for end in ("low", "high"))
    for adder in graph.adders:
        left, right = (one.sign * (rows[one.signal] << one.shift) for one in (adder.left, adder.right))
        rows.append(left + right)
        positive, negative = np.maximum(rows[-1], 0), np.minimum(rows[-1], 0)
        assert adder.range.low <= positive @ low + negative @ high
        assert adder.range.high >= positive @ high + negative @ low


@pytest.mark.parametrize(
    ("low", "high", "bits"), [(0, 0, 0), (0, 3, 2), (0, 4, 3), (-1, 0, 1), (-4, 3, 3), (-5, 3, 4)]
)
def test_bits_of_a_range(low: int, high: int, bits: int) -> None:
    assert Interval(low, high).bits == bits


def test_what_sums_share_is_added_once() -> None:
    """x0 + x1 in three sums, once with the other sign and once four times as large: 1 + 2 adders."""
    weights = np.array([[1, 1, 0], [-1, -1, 1], [4, 4, 1], [0, 0, 8]])
    graph = adder_graph(weights, (Interval(0, 3),) * 3)
    assert graph.count == len(graph.adders) == 3
    assert graph.adders[0] == Adder(Term(0), Term(1), Interval(0, 6), 1)
    assert graph.outputs[3] == Term(2, 3)
    assert graph.depth == 2


def test_sums_without_weights_or_of_negative_ones() -> None:
    graph = adder_graph(np.array([[0, 0], [-1, -2], [-4, 0]]), (Interval(-2, 1),) * 2)
    assert graph.outputs[0] is None
    assert graph.outputs[2] == Term(0, 2, -1)
    assert (len(graph.adders), graph.negated, graph.count) == (1, 2, 3)


def test_bits_that_are_added() -> None:
    """x0 + 4 x1 of 2 bits each: nothing to add, but for a carry chain of the upper bits."""
    reach = (Interval(0, 3), Interval(0, 3))
    assert adder_graph(np.array([[1, 1]]), reach).bits == 3
    assert adder_graph(np.array([[1, 2]]), reach).bits == 3
    assert adder_graph(np.array([[1, 4]]), reach).bits == 2
    assert adder_graph(np.array([[4, -1]]), reach).bits == 5  # a borrow may come from the lowest bit on
    assert adder_graph(np.array([[1, -4]]), reach).bits == 3


def test_registers_between_steps() -> None:
    """A sum of eight in a tree of three: two levels, then two sums of four wait, and the result."""
    graph = adder_graph(np.ones((1, 8), np.int64), (Interval(0, 1),) * 8)
    assert (graph.depth, graph.count) == (3, 7)
    assert graph.held_bits(3) == 4  # the result, before what follows
    assert graph.held_bits(2) == 6  # two sums of 3 bits
    assert graph.held_bits(1) == 4 * 2 + 2 * 3 + 4


def test_long_sums_are_taken_in_parts() -> None:
    weights = np.random.default_rng(0).integers(-1, 1, (3, 5 * BLOCK_DIGITS), endpoint=True)
    graph = adder_graph(weights, (Interval(0, 1),) * weights.shape[1])
    inputs = np.random.default_rng(1).integers(0, 1, (9, weights.shape[1]), endpoint=True)
    np.testing.assert_array_equal(graph.of(inputs), inputs @ weights.T)
    assert graph.count < digit_count(weights)
