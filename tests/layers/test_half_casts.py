"""half to fixed point and back: golden against whole-number arithmetic, C++ against golden, its mutants."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes, FixedType, Overflow, Rounding
from hlsgen.base.floating import HALF
from hlsgen.base.half_conversion import fixed_from_half, half_from_fixed
from hlsgen.csim.compiler import reference_headers
from hlsgen.emit.constants import header_files
from hlsgen.emit.environment import source_text
from hlsgen.layers.base import Tensor
from hlsgen.layers.cast import Cast
from tests.support.halves import rational_half
from tests.support.header_programs import INCLUDE, STRICT, compile_program
from tests.support.layers.exact import fixed_types

ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
TYPES = (
    FixedType(16, 6),
    FixedType(16, 6, True, Rounding.RND, Overflow.SAT),
    FixedType(8, 1, False, Rounding.RND_CONV, Overflow.SAT),
    FixedType(8, 3, True, Rounding.RND_INF, Overflow.SAT_SYM),
    FixedType(12, 20, True, Rounding.RND_ZERO, Overflow.SAT),
    FixedType(40, 17, False, Rounding.TRN_ZERO, Overflow.SAT_ZERO),
    FixedType(64, 41, True, Rounding.RND_MIN_INF, Overflow.SAT),
    FixedType(64, 30, False, Rounding.RND, Overflow.SAT),
    FixedType(1, 1, True, Rounding.TRN, Overflow.SAT),
    FixedType(2, -20, False, Rounding.RND, Overflow.SAT),
    FixedType(9, 30),
    FixedType(63, 2, True, Rounding.RND, Overflow.SAT),
)


def floor_shift(whole: int, places: int, mode: Rounding) -> int:
    """whole * 2**-places as a whole number, by Python's integers."""
    exact = Fraction(whole) / Fraction(2) ** places
    floor = exact.numerator // exact.denominator
    rest = exact - floor
    if mode is Rounding.TRN or not rest:
        return floor
    if mode is Rounding.TRN_ZERO:
        return floor + (exact < 0)
    if rest != Fraction(1, 2):
        return floor + (rest > Fraction(1, 2))
    up = {
        Rounding.RND: True,
        Rounding.RND_INF: exact > 0,
        Rounding.RND_ZERO: exact < 0,
        Rounding.RND_MIN_INF: False,
        Rounding.RND_CONV: floor % 2 == 1,
    }
    return floor + up[mode]


def fixed_by_bits(bits: int, type_: FixedType) -> int:
    """The code of a half, from its bits."""
    negative, exponent, fraction = bits >> 15, bits >> 10 & 31, bits & 1023
    # of one bit the reference keeps the minimum
    symmetric = type_.overflow is Overflow.SAT_SYM and type_.signed and type_.width > 1
    lowest = -type_.max_code if symmetric else type_.min_code
    if exponent == 31:
        return 0 if fraction else (lowest if negative else type_.max_code)
    whole = 0 if exponent == 0 else (1024 + fraction) << (exponent - 1)
    code = floor_shift(-whole if negative else whole, 24 - type_.fraction, type_.rounding)
    if type_.min_code <= code <= type_.max_code and code >= lowest:
        return code
    if type_.overflow is Overflow.SAT_ZERO:
        return 0
    if type_.overflow is Overflow.WRAP:
        return (code - type_.min_code) % (1 << type_.width) + type_.min_code
    return min(max(code, lowest), type_.max_code)


def half_by_fractions(code: int, type_: FixedType) -> float:
    exact = Fraction(code) / Fraction(2) ** type_.fraction
    return math.copysign(rational_half(exact), exact) if exact else 0.0


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_golden_from_half(type_: FixedType) -> None:
    every = range(0, 1 << 16, 7) if type_.overflow is not Overflow.WRAP else range(0, 1 << 16, 31)
    some = np.array([*every, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7BFF, 0xFBFF, 0x0400, 0x83FF], np.uint16)
    found = fixed_from_half(some.view(np.float16), type_)
    assert [int(code) for code in found] == [fixed_by_bits(int(bits), type_) for bits in some]


def codes_to_convert(type_: FixedType) -> Codes:
    """Codes of every size, ends, and neighbours of powers of two and of halves' ties."""
    rng = np.random.default_rng(3)
    found = {0, type_.min_code, type_.max_code}
    for power in range(type_.width):
        for near in (-3, -1, 0, 1, 2):
            tie = (1 << power) + (1 << max(power - 11, 0))
            found |= {(1 << power) + near, -(1 << power) + near, tie + near, -tie + near}
        found |= {int(one) for one in rng.integers(-(1 << min(power, 62)), 1 << min(power, 62), 20)}
    inside = sorted(one for one in found if type_.min_code <= one <= type_.max_code)
    return np.array(inside, np.int64 if type_.max_code < 1 << 63 else object)


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_golden_to_half(type_: FixedType) -> None:
    codes = codes_to_convert(type_)
    found = half_from_fixed(codes, type_)
    assert found.dtype == np.float16
    want = np.array([half_by_fractions(int(code), type_) for code in codes]).astype(np.float16)
    np.testing.assert_array_equal(found.view(np.uint16), want.view(np.uint16))


@given(type_=fixed_types(64), bits=st.integers(0, 0xFFFF), data=st.data())
def test_golden_of_any_type(type_: FixedType, bits: int, data: st.DataObject) -> None:
    if type_.overflow is not Overflow.WRAP_SM:
        (code,) = fixed_from_half(np.array([bits], np.uint16).view(np.float16), type_)
        assert int(code) == fixed_by_bits(bits, type_)
    code = data.draw(st.integers(type_.min_code, type_.max_code))
    (half,) = half_from_fixed(np.array([code], object if code >= 1 << 63 else np.int64), type_)
    want = np.float16(half_by_fractions(code, type_))
    assert half.view(np.uint16) == want.view(np.uint16)


def test_what_a_half_holds_comes_back() -> None:
    """All halves but NaN, through a type that holds them all."""
    wide = FixedType(41, 17)
    finite = ALL[np.isfinite(ALL)]
    flushed = np.where(np.abs(finite.astype(float)) < 2.0**-14, np.copysign(np.float16(0), finite), finite)
    back = half_from_fixed(fixed_from_half(finite, wide), wide)
    np.testing.assert_array_equal(back, flushed)


def test_before_types_are_chosen_a_cast_changes_nothing() -> None:
    layer = Cast(name="x_to_half", source=Tensor(shape=(1, 1, 2), type=FixedType(16, 6)), result_type=HALF)
    assert layer.golden(np.array([[[[1, -3]]]])).dtype == np.float16


PROGRAM = r"""
#include <cstdio>
#include "hlsgen/half_fixed.h"

template <typename T, bool SIGNED, bool SYMMETRIC, int FRACTION>
void both(const char *path) {
    for (int bits = 0; bits < 1 << 16; ++bits) {
        half x = 0;
        hlsgen::set_bits<16>(x, ap_uint<16>(bits));
        const T y = hlsgen::fixed_from_half<T, SIGNED, SYMMETRIC>(x);
        const unsigned long long code = hlsgen::bits_of<T::width>(y).to_uint64();
        std::fwrite(&code, 8, 1, stdout);
    }
    std::FILE *file = std::fopen(path, "rb");
    unsigned long long code;
    while (std::fread(&code, 8, 1, file) == 1) {
        T x = 0;
        hlsgen::set_bits<T::width>(x, ap_uint<T::width>(code));
        const half y = hlsgen::half_from_fixed<T, SIGNED, FRACTION>(x);
        const unsigned long long bits = hlsgen::bits_of<16>(y).to_uint64();
        std::fwrite(&bits, 8, 1, stdout);
    }
    std::fclose(file);
}

int main() {
CALLS
}
"""


def conversions(
    folder: Path,
    flags: list[str],
    edit: tuple[str, str] = ("", ""),
    types: Sequence[FixedType] = TYPES,
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """All halves and many codes of all `types` through the C++, and golden."""
    text = source_text("hls/hlsgen/half_fixed.h")
    assert edit[0] in text
    files = {**header_files(("static.h", "lanes.h", "dot.h"), half=True)}
    files["src/hlsgen/half_fixed.h"] = text.replace(*edit, 1) if edit[0] else text
    calls, want = [], []
    for number, type_ in enumerate(types):
        path, codes = folder / f"codes{number}", codes_to_convert(type_)
        path.write_bytes(unsigned(codes, 64).tobytes())
        cpp = (
            f"{type_.cpp}, {int(type_.signed)}, {int(type_.lowest_code != type_.min_code)}, {type_.fraction}"
        )
        calls.append(f'    both<{cpp}>("{path}");')
        want.append(unsigned(fixed_from_half(ALL, type_), type_.width))
        want.append(half_from_fixed(codes, type_).view(np.uint16).astype(np.uint64))
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    source = PROGRAM.replace("CALLS", "\n".join(calls))
    flags = ["-std=c++14", "-O1", f"-I{folder / 'src'}", *flags]
    done = subprocess.run(
        [str(compile_program(folder, "casts", source, *flags))], capture_output=True, check=True
    )
    return np.frombuffer(done.stdout, np.uint64), np.concatenate(want)


def unsigned(codes: Codes, width: int) -> NDArray[np.uint64]:
    return np.array([int(code) % (1 << width) for code in codes], np.uint64)


PLAIN = [f"-I{INCLUDE / 'common'}", f"-I{INCLUDE / 'fast'}"]
FEW = [TYPES[number] for number in (3, 5, 7, 8)]
"""With and without sign, symmetric, of one bit and of 64."""


def test_cpp_equals_golden(tmp_path: Path) -> None:
    found, want = conversions(tmp_path, [*STRICT, "-Wno-unknown-pragmas", *PLAIN])
    np.testing.assert_array_equal(found, want)


def test_cpp_equals_golden_with_the_reference_headers(tmp_path: Path) -> None:
    folder = reference_headers()
    if folder is None:
        pytest.skip("the reference ap headers (hls4ml wheel) are not installed")
    flags = ["-DNDEBUG", f"-I{INCLUDE / 'common'}", "-isystem", str(folder)]
    found, want = conversions(tmp_path, flags, types=FEW)
    np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize(
    "edit",
    [
        ("if (exponent != 0) {", "{"),
        ("exponent.to_int() - 1", "exponent.to_int()"),
        ("if (fraction == 0) end", "end"),
        ("(SYMMETRIC ? 1 : 0)", "0"),
        ("rest == tie && significand[0]", "rest == tie"),
        ("zero || field < LEAST", "zero"),
        ("field >= INFINITE) bits", "field > 2 * INFINITE) bits"),
        ("if (negative) bits = bits + SIGN;", ""),
    ],
    ids=lambda one: one[0],
)
def test_faults_are_caught(edit: tuple[str, str], tmp_path: Path) -> None:
    found, want = conversions(tmp_path, PLAIN, edit, FEW[:3])
    assert found.shape == want.shape and not np.array_equal(found, want)
