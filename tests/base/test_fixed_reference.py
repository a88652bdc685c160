"""fixed.py against `ap_fixed` itself: the reference headers of the hls4ml wheel, compiled once.

The headers of C-simulation and those of schedules are asked the same: conversions in all modes, and the types
of results. Their arithmetic is judged by tests/csim/test_fast_headers.py.
"""

from __future__ import annotations

import functools
import itertools
import struct
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hlsgen.base.fixed import (
    FixedType,
    Overflow,
    Rounding,
    product_type,
    sum_type,
)
from tests.support.casts import as_array, ufixed
from tests.support.header_programs import INCLUDE, compile_program, reference_include
from tests.support.schedule_headers import compile_with_schedule_headers, needs_clang

MODES = tuple(itertools.product(Rounding, Overflow))


PAIRS_ALL_MODES = (
    (FixedType(16, 6), FixedType(8, 4)),
    (FixedType(16, 6), ufixed(8, 3)),
)
PAIRS = PAIRS_ALL_MODES + (
    (ufixed(16, 6), FixedType(8, 4)),
    (FixedType(8, 4), FixedType(12, 3)),
    (FixedType(64, 32), FixedType(40, 12)),
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
    """The target with all modes it supports (the first), or with each rounding and rotating overflows."""
    overflows = list(Overflow)
    turns = tuple((r, overflows[(i + index) % 5]) for i, r in enumerate(Rounding))
    modes = MODES if index < len(PAIRS_ALL_MODES) else turns
    return [with_modes(target, *m) for m in modes if target.signed or m[1] is not Overflow.WRAP_SM]


CASTS = [(s, t) for i, (s, t0) in enumerate(PAIRS) for t in some_modes(t0, i)] + [
    # The very same type is a copy, even of a code that sat_sym would change.
    (with_modes(FixedType(5, 1), Rounding.RND, Overflow.SAT_SYM),) * 2
]
ENCODES = [t for i, t0 in enumerate(ENCODED) for t in some_modes(t0, i)]
DECODES = sorted({pair[0] for pair in PAIRS}, key=str)
RESULTS = list(itertools.product(OPERANDS, OPERANDS))

Ask = Callable[[str, list[int]], list[int]]


@functools.cache
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
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with the reference headers."""
    # NDEBUG: the reference asserts on shifts by more than the width, though it handles them.
    flags = ("-std=c++14", "-O0", "-w", "-DNDEBUG", f"-I{reference_include()}")
    return compile_program(tmp_path_factory.mktemp("reference"), "reference", source_text(), *flags)


@pytest.fixture
def ask(reference: Path) -> Ask:
    """Name of a query, inputs -> outputs (all as bits)."""
    return lambda name, bits: answers(reference, {name: bits})[0]


def source_text() -> str:
    cases = "\n".join(f"case {index}: {call}; break;" for index, call in enumerate(queries().values()))
    return PROGRAM.replace("CASES", cases)


@functools.cache
def numbers_of_queries() -> dict[str, int]:
    return {name: index for index, name in enumerate(queries())}


def answers(program: Path, asked: Mapping[str, list[int]]) -> list[list[int]]:
    numbers = numbers_of_queries()
    request = ""
    for name, bits in asked.items():
        request += f"{numbers[name]} {len(bits)}\n"
        request += "".join(f"{x >> 64:x}:{x & (2**64 - 1):x}\n" for x in bits)
    output = subprocess.run([str(program)], input=request, capture_output=True, text=True, check=True).stdout
    lines = iter(output.splitlines())
    words = [[next(lines).split(":") for _ in bits or [0]] for bits in asked.values()]
    assert next(lines, None) is None
    return [[int(high, 16) << 64 | int(low, 16) for high, low in each] for each in words]


def as_bits(codes: Any, kind: FixedType) -> list[int]:
    return [int(code) & (2**kind.width - 1) for code in codes]


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
    far = [2.0**exponent for exponent in range(60, 1020, 13)]  # shifts by far more than any type has bits
    values += [sign * x for sign in (-1, 1) for x in (0.0, *tiny, *huge, *far)]
    rng = np.random.default_rng(2)
    values += (rng.standard_normal(60) * 2.0 ** rng.integers(-20, 20, 60) * 2.0**kind.integer).tolist()
    return values


def bits_of_doubles(values: Iterable[float]) -> list[int]:
    return [int.from_bytes(struct.pack("<d", value), "little") for value in values]


@pytest.mark.parametrize("kind", ENCODES, ids=str)
def test_encode_equals_ap_fixed_of_double(ask: Ask, kind: FixedType) -> None:
    values = interesting_doubles(kind)
    expected = ask(f"encode {kind}", bits_of_doubles(values))
    assert as_bits(kind.encode(values), kind) == expected
    small = [v for v in values if abs(v) < 100 * kind.resolution]
    assert kind.encode(small).tolist() == [int(kind.encode(v)) for v in small]


@pytest.mark.parametrize("kind", DECODES, ids=str)
def test_decode_equals_to_double(ask: Ask, kind: FixedType) -> None:
    codes = interesting_codes(kind, kind)
    expected = ask(f"decode {kind}", as_bits(codes, kind))
    values = kind.decode(as_array(codes, kind))
    assert bits_of_doubles(values) == expected


@pytest.mark.parametrize(("a", "b"), RESULTS, ids=str)
def test_result_types_are_those_of_cpp(ask: Ask, a: FixedType, b: FixedType) -> None:
    assert ask(f"{a} * {b}", []) == [1]
    assert ask(f"{a} + {b}", []) == [1]


def asked_of_headers() -> dict[str, list[int]]:
    asked = {f"cast {s} {t}": as_bits(interesting_codes(s, t), s) for s, t in CASTS}
    asked |= {f"encode {kind}": bits_of_doubles(interesting_doubles(kind)) for kind in ENCODES}
    asked |= {f"decode {kind}": as_bits(interesting_codes(kind, kind), kind) for kind in DECODES}
    return asked | {f"{a} {symbol} {b}": [] for a, b in RESULTS for symbol in "*+"}


@pytest.mark.parametrize("headers", ["fast", pytest.param("schedule", marks=needs_clang)])
def test_our_headers_answer_as_the_reference(reference: Path, headers: str, tmp_path: Path) -> None:
    if headers == "fast":
        flags = ("-std=c++11", "-O0", f"-I{INCLUDE / 'fast'}")
        program = compile_program(tmp_path, headers, source_text(), *flags)
    else:
        program = compile_with_schedule_headers(tmp_path, headers, source_text())
    asked = asked_of_headers()
    given = (answers(one, asked) for one in (program, reference))
    for name, ours, theirs in zip(asked, *given, strict=True):
        assert ours == theirs, name
