"""fixed.py against `ap_fixed` itself: the reference headers of the hls4ml wheel, compiled once."""

from __future__ import annotations

import importlib.util
import itertools
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.excess import Excess, counting_excess
from hlsgen.base.fixed import (
    FixedType,
    FloatType,
    Overflow,
    Rounding,
    accumulator_type,
    parse_type,
    product_type,
    sum_type,
    tight_accumulator,
)
from tests.casts import overflowing

MODES = tuple(itertools.product(Rounding, Overflow))


def ufixed(width: int, integer: int) -> FixedType:
    return FixedType(width, integer, signed=False)


# For these all 35 pairs of modes are compared, for the others below one overflow mode per rounding.
PAIRS_ALL_MODES = (
    (FixedType(16, 6), FixedType(8, 4)),
    (FixedType(16, 6), ufixed(8, 3)),
    (ufixed(16, 6), FixedType(8, 4)),
    (FixedType(8, 4), FixedType(12, 3)),
    (FixedType(64, 32), FixedType(40, 12)),
)
PAIRS = PAIRS_ALL_MODES + (
    (ufixed(8, 8), ufixed(6, 7)),
    (ufixed(8, 8), FixedType(8, 8)),
    (FixedType(8, 0), FixedType(8, -3)),
    (FixedType(8, 12), FixedType(12, 8)),
    (FixedType(64, 20), FixedType(32, 10)),
    (ufixed(64, 32), ufixed(64, 40)),
    (FixedType(64, 0), ufixed(64, 30)),
    (FixedType(63, 40), FixedType(64, 32)),
    (FixedType(33, 3), FixedType(17, 1)),
    (FixedType(5, 1), FixedType(5, 1)),
    (FixedType(4, 30), FixedType(6, -10)),
    (FixedType(4, -10), FixedType(6, 30)),
    (FixedType(4, -10), ufixed(6, 30)),
    (FixedType(1, 1), FixedType(1, 1)),
    (FixedType(8, 4), FixedType(1, 1)),
    (FixedType(8, 4), ufixed(1, 0)),
    (FixedType(128, 40), FixedType(24, 12)),
    (FixedType(65, 30), FixedType(64, 30)),
    (FixedType(70, 35), FixedType(100, 50)),
    (ufixed(100, 20), FixedType(64, 64)),
    (ufixed(12, -2), FixedType(7, -5)),
    (FixedType(40, 16), FixedType(16, 6)),
)
ENCODED = (
    FixedType(8, 4),
    ufixed(8, 3),
    FixedType(16, -3),
    FixedType(12, 30),
    FixedType(64, 20),
    ufixed(64, 40),
    FixedType(1, 1),
    FixedType(90, 45),
)
OPERANDS = (
    FixedType(16, 6),
    ufixed(8, 3),
    ufixed(8, 12),
    FixedType(24, -2, True, Rounding.RND, Overflow.SAT),
    FixedType(33, 20),
    ufixed(5, -4),
)

PROGRAM = r"""
#include <ap_fixed.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

typedef unsigned long long u64;
template <class X> void put(const X& x) {
    const int w = X::width;
    std::printf("%llx:%llx\n", w > 64 ? (u64)x.range(w - 1, w > 64 ? 64 : 0).to_uint64() : 0ull,
                (u64)x.range(w > 64 ? 63 : w - 1, 0).to_uint64());
}
template <class S> void set(S& s, u64 hi, u64 lo) {
    const int w = S::width;
    if (w > 64) s.range(w - 1, w > 64 ? 64 : 0) = hi;
    s.range(w > 64 ? 63 : w - 1, 0) = lo;
}
template <class S, class D> void cast(int count) {
    for (u64 hi, lo; count > 0 && std::scanf("%llx:%llx", &hi, &lo) == 2; --count) {
        S s; set(s, hi, lo);
        D d = s;
        put(d);
    }
}
template <class D> void encode(int count) {
    for (u64 hi, lo; count > 0 && std::scanf("%llx:%llx", &hi, &lo) == 2; --count) {
        double value; std::memcpy(&value, &lo, sizeof value);
        D d = value;
        put(d);
    }
}
template <class S> void decode(int count) {
    for (u64 hi, lo; count > 0 && std::scanf("%llx:%llx", &hi, &lo) == 2; --count) {
        S s; set(s, hi, lo);
        const double value = s.to_double();
        std::memcpy(&lo, &value, sizeof lo);
        std::printf("0:%llx\n", lo);
    }
}
template <class Expected, class Got> void same(int) {
    std::printf("0:%d\n", int(std::is_same<Expected, Got>::value));
}

int main() {
    for (int index, count; std::scanf("%d %d", &index, &count) == 2;) {
        switch (index) {
CASES
        }
    }
    return 0;
}
"""


def with_modes(target: FixedType, rounding: Rounding, overflow: Overflow) -> FixedType:
    return FixedType(target.width, target.integer, target.signed, rounding, overflow)


def some_modes(target: FixedType, index: int) -> list[FixedType]:
    """The target with all modes it supports (index < 5), or with each rounding and rotating overflows."""
    overflows = list(Overflow)
    modes = MODES if index < 5 else [(r, overflows[(i + index) % 5]) for i, r in enumerate(Rounding)]
    return [with_modes(target, *m) for m in modes if target.signed or m[1] is not Overflow.WRAP_SM]


CASTS = [(s, t) for i, (s, t0) in enumerate(PAIRS) for t in some_modes(t0, i)] + [
    # The very same type is a copy, even of a code that sat_sym would change.
    (with_modes(FixedType(5, 1), Rounding.RND, Overflow.SAT_SYM),) * 2
]
ENCODES = [t for i, t0 in enumerate(ENCODED) for t in some_modes(t0, i)]
DECODES = sorted({pair[0] for pair in PAIRS}, key=str)
RESULTS = list(itertools.product(OPERANDS, OPERANDS))

Ask = Callable[[str, list[int]], list[int]]


def queries() -> dict[str, str]:
    """Every question to the program, by the name the tests use, and the call that answers it."""
    calls = {f"cast {s} {t}": f"cast<{s.cpp}, {t.cpp}>(count)" for s, t in CASTS}
    calls |= {f"encode {t}": f"encode<{t.cpp}>(count)" for t in ENCODES}
    calls |= {f"decode {s}": f"decode<{s.cpp}>(count)" for s in DECODES}
    for a, b in RESULTS:
        for symbol, result in (("*", product_type(a, b)), ("+", sum_type(a, b))):
            got = f"decltype({a.cpp}() {symbol} {b.cpp}())"
            calls[f"{a} {symbol} {b}"] = f"same<{result.cpp}, {got} >(count)"
    return calls


@pytest.fixture(scope="session")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Compiles the program and returns a function: name of a query, inputs -> outputs (all as bits)."""
    spec = importlib.util.find_spec("hls4ml")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("hls4ml is not installed: no reference ap_ headers to compare with")
    headers = Path(spec.submodule_search_locations[0]) / "templates" / "vivado" / "ap_types"
    folder = tmp_path_factory.mktemp("reference")
    calls = queries()
    cases = "\n".join(f"case {index}: {call}; break;" for index, call in enumerate(calls.values()))
    (folder / "reference.cpp").write_text(PROGRAM.replace("CASES", cases), encoding="utf-8")
    # NDEBUG: the reference asserts on shifts by more than the width, though it handles them.
    command = [
        "g++",
        "-std=c++14",
        "-O0",
        "-w",
        "-DNDEBUG",
        f"-I{headers}",
        "reference.cpp",
        "-o",
        "reference",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    numbers = {name: index for index, name in enumerate(calls)}

    def answer(name: str, bits: list[int]) -> list[int]:
        words = "\n".join(f"{x >> 64:x}:{x & (2**64 - 1):x}" for x in bits)
        request = f"{numbers[name]} {len(bits)}\n{words}\n"
        output = subprocess.run(
            [str(folder / "reference")], input=request, capture_output=True, text=True, check=True
        )
        lines = (line.split(":") for line in output.stdout.splitlines())
        return [int(high, 16) << 64 | int(low, 16) for high, low in lines]

    return answer


def as_bits(codes: Any, kind: FixedType) -> list[int]:
    return [int(code) & (2**kind.width - 1) for code in codes]


def as_array(codes: list[int], kind: FixedType) -> Any:
    return np.array(codes, dtype=np.int64 if kind.max_code < 2**63 else object)


def interesting_codes(source: FixedType, target: FixedType) -> list[int]:
    """Boundaries of the source, and of the target with halves and quarters around them; random codes."""
    shift = source.fraction - target.fraction
    ends = (source.min_code, source.max_code, 0)
    near = {end + d for end in ends for d in (-2, -1, 0, 1, 2)}
    edges = (target.min_code, target.max_code, 0, 2 * target.min_code, 2 * target.max_code, 3, -4)
    for edge, quarter in itertools.product(edges, range(-10, 11)):
        scaled = 4 * edge + quarter  # in quarters of the target's resolution
        exact = scaled << shift if shift >= 0 else scaled >> -shift
        near |= {(exact >> 2) + d for d in (-1, 0, 1)}
    rng = np.random.default_rng(1)
    for _ in range(60):
        wide = int.from_bytes(rng.bytes(16), "little") >> int(rng.integers(0, 128))
        near |= {wide & source.max_code, source.min_code + (wide & source.max_code)}
    return sorted(code for code in near if source.min_code <= code <= source.max_code)


@pytest.mark.parametrize(("source", "target"), CASTS, ids=str)
def test_cast_equals_ap_fixed(ask: Ask, source: FixedType, target: FixedType) -> None:
    codes = interesting_codes(source, target)
    expected = ask(f"cast {source} {target}", as_bits(codes, source))
    result = target.cast(as_array(codes, source), source)
    assert result.dtype == (np.int64 if target.max_code < 2**63 else object)
    assert as_bits(result, target) == expected
    assert all(target.min_code <= code <= target.max_code for code in result)
    # Python integers instead of int64 must make no difference.
    assert as_bits(target.cast(np.array(codes, dtype=object), source), target) == expected


def interesting_doubles(kind: FixedType) -> list[float]:
    quarters = [q / 4 for q in range(-13, 14)]
    edges = [0.0, float(kind.min_code), float(kind.max_code), 2.0 * kind.min_code, 3.0 * kind.max_code]
    values = [(edge + q) * kind.resolution for edge in edges for q in quarters]
    tiny = [5e-324, 1e-310, 2.3e-308, 1e-40]
    huge = [1.7976931348623157e308, 1e300, 2.0**700, 3.0 * 2.0**600]
    values += [sign * x for sign in (-1, 1) for x in (0.0, *tiny, *huge)]
    rng = np.random.default_rng(2)
    values += (rng.standard_normal(60) * 2.0 ** rng.integers(-20, 20, 60) * 2.0**kind.integer).tolist()
    return values


@pytest.mark.parametrize("kind", ENCODES, ids=str)
def test_encode_equals_ap_fixed_of_double(ask: Ask, kind: FixedType) -> None:
    values = interesting_doubles(kind)
    bits = [int.from_bytes(struct.pack("<d", value), "little") for value in values]
    expected = ask(f"encode {kind}", bits)
    assert as_bits(kind.encode(values), kind) == expected
    small = [v for v in values if abs(v) < 100 * kind.resolution]
    assert kind.encode(small).tolist() == [int(kind.encode(v)) for v in small]


@pytest.mark.parametrize("kind", DECODES, ids=str)
def test_decode_equals_to_double(ask: Ask, kind: FixedType) -> None:
    codes = interesting_codes(kind, kind)
    expected = ask(f"decode {kind}", as_bits(codes, kind))
    values = kind.decode(as_array(codes, kind))
    assert [int.from_bytes(struct.pack("<d", value), "little") for value in values] == expected


@pytest.mark.parametrize(("a", "b"), RESULTS, ids=str)
def test_result_types_are_those_of_cpp(ask: Ask, a: FixedType, b: FixedType) -> None:
    assert ask(f"{a} * {b}", []) == [1]
    assert ask(f"{a} + {b}", []) == [1]


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
    with counting_excess() as found:
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
    assert Excess.of_values(type_, inside).outside == 0
    counted = Excess.of_values(type_, inside + beyond)
    assert (counted.values, counted.outside) == (8, 5)
    assert Excess.of_values(FixedType(8, 512), [1e300]).outside == 0


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
    with pytest.raises(ValueError, match="float16 is not supported"):
        FloatType(16)


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
