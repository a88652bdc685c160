"""half: its operations by rational arithmetic of their own, and numbers that are too small or too large."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.floating import HALF
from hlsgen.base.quantise import quantised
from hlsgen.base.type_text import parse_type
from tests.support.halves import EXTREMES, flushed, rational_half

BITS = st.one_of(st.integers(0, 0xFFFF), st.sampled_from(EXTREMES))


@settings(max_examples=2000, deadline=None)
@given(BITS, BITS)
def test_operations_round_once(left: int, right: int) -> None:
    a, b = (flushed(np.array(bits, np.uint16).view(np.float16)) for bits in (left, right))
    if not (np.isfinite(a) and np.isfinite(b)):
        return
    singles = np.float32(a), np.float32(b)
    for exact, single in (
        (Fraction(float(a)) + Fraction(float(b)), singles[0] + singles[1]),
        (Fraction(float(a)) * Fraction(float(b)), singles[0] * singles[1]),
    ):
        got = HALF.stored(HALF.rounded(np.asarray(single, np.float32)))
        if exact:
            assert float(got) == rational_half(exact)
        else:
            assert float(got) == 0 and np.signbit(got) == np.signbit(single)


def test_numbers_too_small_are_zeros_of_their_sign() -> None:
    least = 2.0**-14
    edge = least - 2.0**-26
    below = float(np.nextafter(np.float32(edge), np.float32(0)))
    given = [least, edge, below, -least / 2, 1e-30, -1e-30]
    got = HALF.encode(given)
    np.testing.assert_array_equal(got, np.array([least, least, 0, 0, 0, 0], np.float16))
    np.testing.assert_array_equal(np.signbit(got), [False, False, False, True, False, True])
    np.testing.assert_array_equal(HALF.rounded(np.array(given, np.float32)), got.astype(np.float32))


def test_numbers_too_large() -> None:
    with pytest.raises(ValueError, match="exceeds the range of half"):
        HALF.encode(65520.0)
    assert HALF.encode(65519.0) == HALF.largest == 65504
    assert np.isinf(HALF.rounded(np.array([65520.0], np.float32)))
    with pytest.raises(Exception, match="leaves the range of half; the largest is 70000") as refused:
        quantised([70000.0], HALF, "x")
    assert "65504" in str(refused.value)


def test_there_is_one_nan() -> None:
    with np.errstate(invalid="ignore"):
        values = np.array([np.inf, -np.inf, np.nan], np.float32) * np.float32(0)
    np.testing.assert_array_equal(HALF.stored(values).view(np.uint16), [0x7E00] * 3)


def test_its_name() -> None:
    assert parse_type(" half ") == HALF and str(HALF) == HALF.cpp == "half"
    assert HALF.dtype == np.float16 and HALF.width == HALF.container_bits == 16
    assert HALF.literal(0.1) == "0.099975586f"
    with pytest.raises(ValueError, match="half takes no parameters"):
        parse_type("half<16>")
