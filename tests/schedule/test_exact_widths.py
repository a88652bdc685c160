"""Each operation of the ap_ types is one instruction of the width that hardware has."""

from __future__ import annotations

import math
import re
import struct
from fractions import Fraction
from pathlib import Path

import pytest

from hlsgen.schedule.exact_widths import in_memory_form, memory_width, with_exact_widths
from tests.support.schedule_ir import body, front_end_of, needs_llvm, optimised

CASES = {
    # expression of int7 a, int9 b, uint5 c, uint100 w, fixed<16,6> f, fixed<8,3,RND,SAT> g, int n:
    # the type of the result, and the operations that it takes, with their widths
    "product": ("ap_int<16>", "a * b", ["mul i16"]),
    "sum": ("ap_int<10>", "a + b", ["add i10"]),
    "difference": ("ap_int<8>", "c - c * 2", None),
    "mixed_sum": ("ap_int<8>", "a + c", ["add i8"]),
    "signed_compare": ("bool", "a < b", ["icmp i9"]),
    "mixed_compare": ("bool", "a < c", ["icmp i7"]),
    "constant_compare": ("bool", "c == 20", ["icmp i5"]),
    "bits": ("ap_uint<4>", "w.range(71, 68)", []),
    "part": ("ap_uint<9>", "(c, w.range(3, 0))", None),
    "joined": ("ap_uint<12>", "(c, a)", None),
    "logic": ("ap_uint<5>", "c & ap_uint<5>(w)", ["and i5"]),
    "fixed_product": ("ap_fixed<24, 9>", "f * g", ["mul i24"]),
    "fixed_sum": ("ap_fixed<17, 7>", "f + g", ["add i17"]),
    "wide": ("ap_uint<101>", "w + 1u", ["add i101"]),
    "bit": ("bool", "w[70]", []),
    "zero_bits": ("bool", "w.or_reduce()", ["icmp i100"]),
    "divided": ("ap_uint<5>", "c / ap_uint<5>(w)", ["udiv i5"]),
    "floating": ("float", "float(1.5f) * n", ["sitofp i32", "fmul float"]),
    "halves": ("half", "half(h) * half(h)", ["fmul half"]),
}
FREE = {"trunc", "sext", "zext", "ret", "load", "store", "br", "alloca", "getelementptr", "freeze", "phi"}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> str:
    arguments = (
        "ap_int<7> a, ap_int<9> b, ap_uint<5> c, ap_uint<100> w, ap_fixed<16, 6> f, "
        "ap_fixed<8, 3, AP_RND, AP_SAT> g, int n, half h"
    )
    functions = [
        f"{result} of_{name}({arguments}) {{ return {expression}; }}"
        for name, (result, expression, _) in CASES.items()
    ]
    source = "#include <ap_fixed.h>\n#include <ap_int.h>\n" + "\n".join(functions) + "\n"
    return optimised(front_end_of(tmp_path_factory.mktemp("widths"), source).ir)


def operations(function: str) -> list[str]:
    """Instructions that cost something, which shifts by constants do not, with the type of an operand."""
    found = []
    for line in function.splitlines():
        if re.search(r" = (?:shl|lshr|ashr) [^,]*, \d+", line):
            continue
        instruction = re.match(
            r"  (?:%\S+ = )?(?:tail )?(\w+)(?: [a-z]+)*? (?:i1 %\S+, )?(i\d+|half|float|double)\b", line
        )
        if instruction and instruction[1] not in FREE:
            found.append(f"{instruction[1]} {instruction[2]}")
    return found


@needs_llvm
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[2] is not None])
def test_an_operation_has_its_width(compiled: str, name: str) -> None:
    assert operations(body(compiled, f"of_{name}")) == CASES[name][2]


@needs_llvm
@pytest.mark.parametrize("name", ["part", "joined"])
def test_wiring_is_wiring(compiled: str, name: str) -> None:
    """Concatenations are shifts by constants, masks and disjoint ors."""
    for operation in operations(body(compiled, f"of_{name}")):
        assert operation.split()[0] in ("or", "and"), operation


@needs_llvm
def test_a_shift_either_way_is_a_choice(tmp_path: Path) -> None:
    """By a count of unknown sign; a count without sign has one direction."""
    source = (
        "#include <ap_int.h>\n"
        "ap_uint<16> either(ap_uint<16> x, ap_int<4> n) { return x << n; }\n"
        "ap_uint<16> up(ap_uint<16> x, ap_uint<4> n) { return x << n; }\n"
    )
    ir = optimised(front_end_of(tmp_path, source).ir)
    assert "br " not in body(ir, "either")
    assert {"shl i16", "lshr i16", "select i16"} <= set(operations(body(ir, "either")))
    assert operations(body(ir, "up")) == ["shl i16"]


@needs_llvm
def test_numbers_come_and_go_at_their_widths(compiled: str) -> None:
    header = body(compiled, "of_product").splitlines()[0]
    assert " i16 @" in header
    assert re.findall(r"\b(i\d+|half) (?:noundef )?%", header) == [
        "i7",
        "i9",
        "i5",
        "i100",
        "i16",
        "i8",
        "i32",
        "half",
    ]


def test_no_machine_is_named() -> None:
    module = (
        'target datalayout = "e-m:e-p:64:64-n32:64-S128"\ntarget triple = "wasm64-unknown"\n'
        'attributes #0 = { mustprogress "target-cpu"="x" "target-features"="+a" "no-trapping-math"="true" }\n'
    )
    found = with_exact_widths(module)
    assert "-n32" not in found and "wasm" not in found and "target-features" not in found
    assert '"no-trapping-math"="true"' in found


def test_numbers_are_kept_in_one_way() -> None:
    module = (
        "  store i7 %x, ptr %p, align 1, !dbg !3\n"
        "  %0 = load i130, ptr %q, align 8\n"
        "  store i32 %y, ptr %r, align 4\n"
    )
    assert in_memory_form(module).splitlines() == [
        "  %inmemory0 = zext i7 %x to i8",
        "  store i8 %inmemory0, ptr %p, align 1, !dbg !3",
        "  %inmemory1 = load i192, ptr %q, align 8",
        "  %0 = trunc i192 %inmemory1 to i130",
        "  store i32 %y, ptr %r, align 4",
    ]


@needs_llvm
def test_tables_are_constants(tmp_path: Path) -> None:
    """Which arithmetic apart from the headers' gives: rounded down, the high bits dropped."""
    values = [0.0, 0.1, -0.1, 1.999, -31.96875, 31.96875, 40.5, -1e-9, 1e-9, 123456.789, -0.03125]
    listed = ", ".join(map(repr, values))
    source = (
        "#include <ap_fixed.h>\n"
        f"ap_fixed<11, 6> down[] = {{{listed}}};\n"
        f"ap_fixed<11, 6> of_floats[] = {{{', '.join(f'{value!r}f' for value in values)}}};\n"
        f"ap_fixed<11, 6, AP_RND_CONV> to_even[] = {{{listed}}};\n"
    )
    ir = front_end_of(tmp_path, source).ir

    def wrapped(code: int) -> int:
        return (code + 1024) % 2048 - 1024

    def table(name: str) -> list[int]:
        found = re.search(rf"^@{name} = [^\n]*(?:global|constant) [^\n]*", ir, re.MULTILINE)
        assert found is not None
        numbers = re.findall(r"\{ i16 \} (?:\{ i16 (-?\d+) \}|zeroinitializer)", found[0])
        return [int(number or 0) for number in numbers]

    exact = [Fraction(value) * 32 for value in values]
    single = [Fraction(struct.unpack("f", struct.pack("f", value))[0]) * 32 for value in values]
    assert table("down") == [wrapped(math.floor(value)) for value in exact]
    assert table("of_floats") == [wrapped(math.floor(value)) for value in single]
    assert table("to_even") == [wrapped(round(value)) for value in exact]


@needs_llvm
@pytest.mark.parametrize("width", [1, 7, 8, 9, 24, 33, 64, 65, 72, 130, 192, 200, 513])
def test_clang_keeps_numbers_as_we_say(tmp_path: Path, width: int) -> None:
    source = f"void top(unsigned _BitInt({width}) *x) {{ *x = *x + 1; }}\n"
    found = set(re.findall(r"(?:load|store) (i\d+)", front_end_of(tmp_path, source).ir))
    assert found == {f"i{memory_width(width)}"}
