"""fixed.py by arithmetic of its own: shapes, what is lost, names of types, accumulators, properties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType, FloatType, Overflow, Rounding, accumulator_type, tight_accumulator
from hlsgen.base.overflow_count import OverflowCount, counting_overflow
from hlsgen.base.type_text import parse_type
from tests.support.casts import as_array, overflowing, ufixed


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (2, 3, 4)])
def test_shapes_are_kept(shape: tuple[int, ...]) -> None:
    for kind in (FixedType(8, 4), ufixed(64, 64), FixedType(8, 4, True, Rounding.RND, Overflow.WRAP_SM)):
        codes = kind.encode(np.zeros(shape))
        assert codes.shape == shape
        assert FixedType(90, 40).cast(codes, kind).shape == shape
        assert FixedType(6, 4).cast(codes, kind).shape == shape
        assert kind.decode(codes).shape == shape
        assert kind.wrap(codes).shape == shape


def test_blocks_join_seamlessly() -> None:
    codes = np.arange(-(2**16), 2**16)
    result = FixedType(8, 8, True, Rounding.TRN, Overflow.SAT).cast(codes, FixedType(20, 20))
    np.testing.assert_array_equal(result, np.clip(codes, -128, 127))
    assert not np.shares_memory(FixedType(20, 20).cast(codes, FixedType(20, 20)), codes)


def test_casts_tell_what_does_not_fit_after_rounding() -> None:
    source, codes = FixedType(16, 8), np.array([127 * 256 + 127, 127 * 256 + 128, -128 * 256, 0])
    assert overflowing(FixedType(8, 8), codes, source) == 0
    assert overflowing(FixedType(8, 8, True, Rounding.RND), codes, source) == 1
    assert overflowing(FixedType(8, 8, True, Rounding.RND, Overflow.SAT_SYM), codes, source) == 2
    assert overflowing(ufixed(8, 8), codes, source) == 1
    assert overflowing(FixedType(70, 30), codes, source) == 0


@pytest.mark.parametrize("overflow", [one for one in Overflow if one is not Overflow.WRAP_SM])
@pytest.mark.parametrize("signed", [True, False])
def test_what_is_lost_is_counted_over_all_blocks(overflow: Overflow, signed: bool) -> None:
    """Against every code of 18 bits, which are two blocks and more, in ordinary arithmetic."""
    source, type_ = FixedType(18, 10), FixedType(8, 8, signed, Rounding.TRN, overflow)
    codes = np.arange(-(2**17), 2**17)
    with counting_overflow() as found:
        got = type_.cast(codes, source)
    floor = codes // 256
    low = 0 if not signed else -127 if overflow is Overflow.SAT_SYM else -128
    beyond = np.maximum(floor - (127 if signed else 255), low - floor)
    (one,) = found.values()
    assert (one.values, one.outside, one.furthest) == (2**18, (beyond > 0).sum(), beyond.max())
    assert one.lost == ((floor - got) ** 2).sum() and one.power == (floor**2).sum()


@pytest.mark.parametrize("width", [8, 60, 61, 64])
@pytest.mark.parametrize("signed", [True, False])
def test_values_are_compared_with_the_range_before_they_are_limited(width: int, signed: bool) -> None:
    type_ = FixedType(width, 3, signed, Rounding.RND, Overflow.SAT)
    top, low = (4.0, -4.0) if signed else (8.0, 0.0)
    inside, beyond = [low, 0.0, top / 2], [top, 2 * top, 1e30, low - 1, -1e30]
    assert OverflowCount.of_values(type_, inside).outside == 0
    counted = OverflowCount.of_values(type_, inside + beyond)
    assert (counted.values, counted.outside) == (8, 5)
    assert OverflowCount.of_values(FixedType(8, 512), [1e300]).outside == 0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_encode_refuses_what_is_not_a_number(value: float) -> None:
    for kind in (FixedType(8, 4), FloatType()):
        with pytest.raises(ValueError, match="NaN and infinity"):
            kind.encode([0.0, value])


def test_codes_are_integers() -> None:
    with pytest.raises(TypeError, match="codes are integers, not float64"):
        FixedType(8, 4).decode(np.array([1.0]))
    assert ufixed(64, 64).decode(np.array([2**64 - 1], dtype=np.uint64)) == 2.0**64


def test_containers() -> None:
    bits = {1: 8, 8: 8, 9: 16, 17: 32, 33: 64, 64: 64, 65: 128, 128: 128}
    assert {width: FixedType(width, 1).container_bits for width in bits} == bits
    assert FixedType(12, 4).dtype == np.int16
    assert ufixed(33, 4).dtype == np.uint64
    with pytest.raises(ValueError, match="fixed<65,4> has no NumPy container"):
        _ = FixedType(65, 4).dtype


@pytest.mark.parametrize(
    ("text", "expected", "cpp"),
    [
        ("fixed<16,6>", FixedType(16, 6), "ap_fixed<16, 6>"),
        (" ufixed < 8 , 8 > ", ufixed(8, 8), "ap_ufixed<8, 8>"),
        (
            "ufixed<8,8,rnd,sat>",
            FixedType(8, 8, False, Rounding.RND, Overflow.SAT),
            "ap_ufixed<8, 8, AP_RND, AP_SAT>",
        ),
        (
            "fixed<64,-3,rnd_min_inf>",
            FixedType(64, -3, True, Rounding.RND_MIN_INF),
            "ap_fixed<64, -3, AP_RND_MIN_INF, AP_WRAP>",
        ),
        ("float32", FloatType(), "float"),
    ],
)
def test_parse_type(text: str, expected: FixedType | FloatType, cpp: str) -> None:
    assert parse_type(text) == expected
    assert parse_type(str(expected)) == expected
    assert expected.cpp == cpp


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int<8>", r'"int<8>": unknown number type "int"; write "fixed<W,I>"'),
        ("", "is not a number type"),
        ("fixed<16,6", "is not a number type"),
        ("fixed<16,6> x", "is not a number type"),
        ("fixed", "takes 2 to 4 parameters, not 0"),
        ("fixed<16>", "takes 2 to 4 parameters, not 1"),
        ("fixed<16,6,rnd,sat,0>", "takes 2 to 4 parameters, not 5"),
        ("fixed<0,0>", r"width 0 is outside 1\.\.64"),
        ("fixed<-4,2>", r"width -4 is outside 1\.\.64"),
        ("fixed<65,6>", r"width 65 is outside 1\.\.64"),
        ("fixed<8,900>", "integer bits 900 are outside -512..512"),
        ("fixed<8.5,6>", 'width "8.5" is not a whole number'),
        ("fixed<8,>", 'integer bits "" is not a whole number'),
        ("fixed<8,4,round>", 'unknown rounding mode "round"; use one of trn, trn_zero, rnd, rnd_zero'),
        ("fixed<8,4,rnd,clip>", 'unknown overflow mode "clip"; use one of wrap, wrap_sm, sat'),
        ("ufixed<8,4,trn,wrap_sm>", "wrap_sm needs a signed type"),
        ("float32<8>", "float32 takes no parameters"),
        ("float64", 'unknown number type "float64"'),
        ("__import__('os')", "is not a number type"),
    ],
)
def test_parse_type_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_type(text)


def test_float32() -> None:
    kind = FloatType()
    np.testing.assert_array_equal(kind.encode([0.1, -2.0]), np.array([0.1, -2.0], dtype=np.float32))
    assert kind.decode(kind.encode(0.5)) == 0.5
    assert kind.container_bits == 32
    assert kind.dtype == np.dtype(np.float32)
    with pytest.raises(ValueError, match="exceeds the range of float32"):
        kind.encode(1e39)
    with pytest.raises(ValueError, match="float8 is not supported"):
        FloatType(8)


SMALL = tuple(FixedType(w, i, s) for w, i, s in itertools.product((1, 2, 3), (0, 2), (True, False)))


@pytest.mark.parametrize("terms", [1, 2, 3, 5])
@pytest.mark.parametrize("bias", [None, FixedType(3, 1), FixedType(4, -2), ufixed(5, 5)], ids=str)
def test_accumulator_is_exact_and_minimal(terms: int, bias: FixedType | None) -> None:
    for activation, weight in itertools.product(SMALL, SMALL):
        result = accumulator_type(activation, weight, terms, bias)
        assert result.signed
        assert result.fraction == max(activation.fraction + weight.fraction, bias.fraction if bias else -99)
        products = {
            x * w
            for x in range(activation.min_code, activation.max_code + 1)
            for w in range(weight.min_code, weight.max_code + 1)
        }
        sums = {0}
        for _ in range(terms):
            sums = {total + product for total in sums for product in products}
        unit = result.fraction - activation.fraction - weight.fraction
        totals = {total << unit for total in sums}
        if bias is not None:
            biases = range(bias.min_code, bias.max_code + 1)
            totals = {total + (b << result.fraction - bias.fraction) for total in totals for b in biases}
        assert result.min_code <= min(totals) and max(totals) <= result.max_code
        narrower = FixedType(max(result.width - 1, 1), 1)
        assert result.width == 1 or min(totals) < narrower.min_code or max(totals) > narrower.max_code


def test_tight_accumulator() -> None:
    assert tight_accumulator(-128, 127, 4) == FixedType(8, 4)
    assert tight_accumulator(-128, 128, 4) == FixedType(9, 5)
    assert tight_accumulator(-129, 0, -2) == FixedType(9, 11)
    assert tight_accumulator(0, 0, 0) == FixedType(1, 1)
    with pytest.raises(ValueError, match="min_sum 2 exceeds max_sum 1"):
        tight_accumulator(2, 1, 0)
    with pytest.raises(ValueError, match="width 131 is outside"):
        tight_accumulator(0, 2**130 - 1, 0)
    with pytest.raises(ValueError, match="terms is 0"):
        accumulator_type(FixedType(8, 4), FixedType(8, 4), 0)


@st.composite
def fixed_types(draw: st.DrawFn) -> FixedType:
    signed = draw(st.booleans())
    overflow = draw(st.sampled_from([o for o in Overflow if signed or o is not Overflow.WRAP_SM]))
    width, integer = draw(st.integers(1, 80)), draw(st.integers(-20, 60))
    return FixedType(width, integer, signed, draw(st.sampled_from(Rounding)), overflow)


@given(fixed_types(), fixed_types(), st.data())
@settings(deadline=None, max_examples=300)
def test_cast_properties(source: FixedType, target: FixedType, data: st.DataObject) -> None:
    codes = as_array(
        data.draw(st.lists(st.integers(source.min_code, source.max_code), min_size=1, max_size=5)), source
    )
    once = target.cast(codes, source)
    np.testing.assert_array_equal(target.cast(once, target), once)
    plain = FixedType(target.width, target.integer, target.signed)
    if target.overflow is not Overflow.SAT_SYM or target.lowest_code <= min(once):
        np.testing.assert_array_equal(target.cast(once, plain), once)
    wide = (
        FixedType(128, 128 - max(source.fraction, 0))
        if source.integer + max(source.fraction, 0) < 128
        else None
    )
    # of the very same type a value is copied, even the least code, which sat_sym would not give
    copied = source == target and target.overflow is Overflow.SAT_SYM
    if wide is not None and not copied:
        np.testing.assert_array_equal(target.cast(wide.cast(codes, source), wide), once)


def test_a_copy_keeps_the_least_code_that_sat_sym_does_not_give() -> None:
    kind = FixedType(3, 0, True, Rounding.RND_ZERO, Overflow.SAT_SYM)
    least = np.array([-4])
    assert kind.cast(least, kind).tolist() == [-4]
    assert kind.cast(least, FixedType(3, 0)).tolist() == [-3]


@given(fixed_types(), st.floats(-1, 1))
@settings(deadline=None, max_examples=300)
def test_encoding_is_within_the_resolution(kind: FixedType, share: float) -> None:
    value = abs(share) * kind.max_code * kind.resolution
    if kind.width > 50 or value / kind.resolution > kind.max_code - 1:
        return
    error = abs(float(kind.decode(kind.encode(value))) - value)
    assert error < kind.resolution
    if kind.rounding not in (Rounding.TRN, Rounding.TRN_ZERO):
        assert error <= kind.resolution / 2


@given(fixed_types(), st.data())
@settings(deadline=None)
def test_encode_inverts_decode(kind: FixedType, data: st.DataObject) -> None:
    code = data.draw(st.integers(max(kind.lowest_code, -(2**53)), min(kind.max_code, 2**53)))
    assert int(kind.encode(kind.decode(as_array([code], kind)))[0]) == code
