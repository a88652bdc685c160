"""Real numbers as codes: exact or near as far as is said, and in the narrowest types."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hlsgen.base.coded import (
    Coded,
    by_filter,
    code_type,
    exactly,
    fraction_bits,
    held,
    narrowest,
    nearly,
    on_grid,
    power_of_two,
    trailing_zeros,
)
from hlsgen.base.fixed import FixedType


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=8), st.integers(-30, 30))
@settings(max_examples=80, deadline=None)
def test_exact_types_are_exact_and_narrow(codes: list[int], exponent: int) -> None:
    values = np.ldexp(np.array(codes, np.float64), exponent)
    found = exactly(values, either_sign=True)
    np.testing.assert_array_equal(found.values, values)
    if np.any(values):
        narrower = FixedType(found.type.width - 1, found.type.integer - 1)
        coarser = FixedType(found.type.width - 1, found.type.integer)
        beyond = np.abs(values).max() > narrower.max_code * narrower.resolution
        assert beyond and not np.array_equal(coarser.decode(coarser.encode(values)), values)
    assert fraction_bits(values) == (found.type.fraction if np.any(values) else 0)


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=6))
@settings(max_examples=80, deadline=None)
def test_near_types_keep_24_bits(numbers: list[float]) -> None:
    values = np.array(numbers, np.float64)
    found = nearly(values, either_sign=True)
    assert found.type.width <= 25
    assert np.abs(found.values - values).max() <= 2.0**-24 * np.abs(values).max()


def test_near_types_are_exact_where_25_bits_do() -> None:
    values = np.array([0.75, -3.0, 2.0**-20])
    np.testing.assert_array_equal(nearly(values).values, values)
    assert nearly(values, most_fraction=4).type.fraction <= 4
    assert narrowest(np.zeros(3), either_sign=True) == FixedType(1, 1)
    assert narrowest(np.zeros(3)) == FixedType(1, 1, False)


@given(st.integers(-200, 200), st.integers(0, 300))
def test_code_types_are_the_narrowest(low: int, extent: int) -> None:
    type_ = code_type(low, low + extent, 0)
    assert type_.lowest_code <= low and low + extent <= type_.max_code
    smaller = FixedType(max(1, type_.width - 1), max(1, type_.width - 1), type_.signed)
    assert type_.width == 1 or not (smaller.min_code <= low and low + extent <= smaller.max_code)
    assert code_type(-127, 127, 0).lowest_code == -127 and code_type(-128, 127, 0).lowest_code == -128


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=6), st.integers(2, 30))
@example([1 - 2.0**-24], 10)
@settings(max_examples=80, deadline=None)
def test_near_codes_have_their_bits_and_no_greater_error(numbers: list[float], bits: int) -> None:
    """In rational arithmetic."""
    found = nearly(numbers, bits)
    codes, step = found.codes.tolist(), Fraction(2) ** -found.type.fraction
    largest = max(map(abs, codes))
    assert largest < 1 << bits and found.type.width <= bits + 1
    for code, value in zip(codes, numbers, strict=True):
        assert abs(code * step - Fraction(value)) <= largest * step / (1 << bits)


@pytest.mark.parametrize(
    ("codes", "either_sign", "type_"),
    [
        ([3], False, "ufixed<2,0>"),
        ([3], True, "fixed<3,1>"),
        ([-4], False, "fixed<3,1>"),
        ([-4], True, "fixed<4,2>"),
        ([0], False, "ufixed<1,-1>"),
        ([0], True, "fixed<1,-1>"),
        ([-1], False, "fixed<1,-1>"),
    ],
)
def test_types_that_hold_either_sign(codes: list[int], either_sign: bool, type_: str) -> None:
    assert str(held(np.array(codes), 2, either_sign=either_sign)) == type_


def test_numbers_too_far_apart_for_one_type() -> None:
    with pytest.raises(ValueError, match="width"):
        narrowest([1e-30, 60.0])


def test_bits_of_numbers() -> None:
    found = power_of_two(np.array([0.25, 8.0]))
    assert found is not None and found.tolist() == [-2, 3]
    for other in (0.0, -1.0, 3.0):
        assert power_of_two(np.array([1.0, other])) is None
    assert on_grid([0.25, -3.0], 2) and not on_grid([0.125], 2) and not on_grid([math.nan], 0)
    assert on_grid(1e308, 60) and not on_grid(math.inf, 0)
    assert trailing_zeros(np.array([12, -8, 0])) == 2 and trailing_zeros(np.zeros(2, np.int64)) == 0


def test_scales_of_filters() -> None:
    found = by_filter(np.array([[0.5, 0.0, 0.5], [0.0, 0.0, 0.0]]))
    assert found is not None and found.tolist() == [0.5, 0.0]
    assert by_filter(np.array([[0.5, 0.25]])) is None


def test_the_scale_beside_codes_is_part_of_the_values() -> None:
    coded = Coded(codes=np.array([[1, -2]]), type=FixedType(4, 2), scale=np.array([[3.0]]))
    assert coded.values.tolist() == [[0.75, -1.5]]
