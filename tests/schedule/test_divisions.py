"""Divisions by constants: products and shifts, as public RTL has them. And products of which bits are cut."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.results import KernelSchedule, LoopSchedule
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
TARGET = Target(part="xcu200-fsgd2104-2-e", clock_ns=10 / 3, version="2023.2", kernel_flow=False)
DIVISIONS = ("udiv", "sdiv", "urem", "srem")


def kernel_of(tmp_path: Path, word: str, value: str, target: Target = TARGET) -> KernelSchedule:
    """A kernel that writes a value made of words x[i], y[i] and z[i]."""
    file = tmp_path / "top.cpp"
    file.write_text(
        f"""void top(const {word} x[64], const {word} y[64], const int z[64], int out[64]) {{
    for (int i = 0; i < 64; ++i) {{
#pragma HLS pipeline II=1
        out[i] = {value};
    }}
}}
"""
    )
    return schedule_component(Component(top="top", files=(file,), target=target))


def loop_of(tmp_path: Path, word: str, value: str) -> LoopSchedule:
    """The only loop of such a kernel."""
    (loop,) = kernel_of(tmp_path, word, value).loops
    return loop


@pytest.mark.parametrize(
    ("word", "value", "product"),
    [
        ("unsigned", "x[i] / 3", "mul 32x34"),  # mul_32ns_34ns_65: JunsangYooUSC/RESNET18_KV260 among others
        ("unsigned", "x[i] / 7", "mul 32x34"),
        ("int", "x[i] / 3", "mul 32x34"),  # mul_32s_34ns_65
        ("int", "x[i] / -10", "mul 32x34"),
        ("unsigned short", "x[i] / 10", "mul 16x18"),  # mul_16ns_18ns_33: projetoChi2p/ursa
        ("unsigned char", "x[i] / 11", "mul 8x10"),  # mul_8ns_10ns_17: Tianze0918/lab4
    ],
)
def test_a_quotient_by_a_constant_is_a_product(tmp_path: Path, word: str, value: str, product: str) -> None:
    loop = loop_of(tmp_path, word, value)
    assert loop.operations.get(product) == 1
    assert not any(operation.startswith(DIVISIONS) for operation in loop.operations)
    assert loop.depth < 10


@pytest.mark.parametrize(
    ("word", "value", "operation"),
    [
        ("unsigned", "x[i] % 3", "urem 32x2"),  # urem_32ns_3ns_2_36_1
        ("unsigned", "x[i] / y[i]", "udiv 32x32"),
        ("int", "x[i] / y[i]", "sdiv 32x32"),
    ],
)
def test_remainders_and_other_quotients_are_divisions(
    tmp_path: Path, word: str, value: str, operation: str
) -> None:
    loop = loop_of(tmp_path, word, value)
    assert loop.operations.get(operation) == 1
    assert loop.depth > 32


@pytest.mark.parametrize("value", ["x[i] / 8", "x[i] % 64"])
def test_powers_of_two_need_neither(tmp_path: Path, value: str) -> None:
    loop = loop_of(tmp_path, "int", value)
    assert not any(one.startswith((*DIVISIONS, "mul")) for one in loop.operations)


def test_the_sign_of_a_quotient_is_put_back(tmp_path: Path) -> None:
    """The product is negated before bits are cut from it, and what is cut after that."""
    signed, unsigned = loop_of(tmp_path, "int", "x[i] / 3"), loop_of(tmp_path, "unsigned", "x[i] / 3")
    assert signed.operations["sub 65x65"] == signed.operations["sub 32x32"] == 1
    assert signed.operations["select 32x32"] == 2
    assert not any(one.startswith(("sub", "select")) for one in unsigned.operations)
    assert signed.depth >= unsigned.depth


@pytest.mark.parametrize("cut", ["(({}) >> 8)", "(({}) << 4)", "(({}) & 0xfff0)"])
def test_a_product_of_which_bits_are_cut_shares_no_dsp_with_a_sum(tmp_path: Path, cut: str) -> None:
    """Of 1,249 products that a sum reads through a part of them none shares its DSP in public reports, of
    those that it reads whole most do: their registers cost a cycle here."""
    product = "x[i] * y[i]"
    whole = loop_of(tmp_path, "short", f"{product} + z[i]")
    parts = loop_of(tmp_path, "short", f"{cut.format(product)} + z[i]")
    assert (whole.depth, parts.depth) == (5, 4)


def test_a_sum_of_which_bits_are_cut_is_no_half_of_a_sum_of_three(tmp_path: Path) -> None:
    """The half of a sum of three of 32 bits has 32 LUTs, a sum of its own 39."""
    slow = replace(TARGET, clock_ns=10.0)
    whole, parts = (
        kernel_of(tmp_path, "int", value, slow).usage.by_kind["operations"].lut
        for value in ("(x[i] + y[i]) + z[i]", "((x[i] + y[i]) >> 1) + z[i]")
    )
    assert parts - whole == 2 * 39 - 2 * 32
