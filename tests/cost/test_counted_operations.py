"""What the cost model counts is what the emitted code has, after all loops are unrolled."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import pytest

from hlsgen.cost.conv_instance import instance_resources
from hlsgen.cost.resources import arithmetic_resources
from hlsgen.hardware.conv2d import ConvMapping
from hlsgen.hardware.conv_folding import Folding
from hlsgen.layers import winograd
from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import KernelSchedule, schedule_component
from tests.support.kernels import U200, conv, emit_kernel
from tests.support.schedule_ir import needs_llvm

PACKED = 27
"""Bits of two words beside each other; 24 where the upper has fewer."""


NARROW = {"input_type": "fixed<8,1>", "weight_type": "fixed<8,1>", "result_type": "fixed<8,3,rnd,sat>"}
WIDE = {"input_type": "fixed<16,6>", "weight_type": "fixed<16,2>", "result_type": "fixed<16,6,rnd,sat>"}
FEW_BITS = {"input_type": "fixed<8,3>", "weight_type": "fixed<5,1>", "result_type": "fixed<20,8>"}
"""Two products a DSP for Winograd's too, whose weights become wider."""
KERNELS = {
    "packed": (NARROW, Folding(rows=5, pe=4, simd=2)),
    "winograd": (NARROW, Folding(rows=4, pe=4, simd=2, algorithm="winograd")),
    "packed winograd": (FEW_BITS, Folding(rows=4, pe=4, simd=2, algorithm="winograd")),
    "sixteen bits": (WIDE, Folding(rows=6, pe=2, simd=1)),
    "float": ({}, Folding(rows=4, pe=4, simd=1, fabric_pe=2)),
}


@functools.cache
def scheduled(name: str) -> tuple[ConvMapping, KernelSchedule]:
    """A kernel's structure, and its loops and what it takes from its compiled code."""
    types, folding = KERNELS[name]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        kernel = emit_kernel(conv((16, 64, 64), 16, **types), folding, folder)
        (source,) = (path for path in folder.rglob("*.cpp") if not path.name.endswith("_tb.cpp"))
        component = Component(
            top="conv",
            files=(source,),
            target=Target(part="xcu200-fsgd2104-2-e", version="2024.2", clock_ns=10 / 3),
            include_folders=(source.parent,),
        )
        return kernel.mapping, schedule_component(component)


def products(found: dict[str, int], least: int) -> int:
    """Those with an operand of at least so many bits, and none that is an address."""
    pairs = [(kind.split()[1].split("x"), count) for kind, count in found.items() if kind.startswith("mul ")]
    return sum(count for (a, b), count in pairs if least <= int(a) <= PACKED and int(b) <= 18)


@needs_llvm
@pytest.mark.parametrize(
    ("name", "by_hand"), [("packed", 4 // 2 * 18 * 5), ("packed winograd", winograd.POINTS * 6 * 4)]
)
def test_a_dsp_for_each_product_of_the_code(name: str, by_hand: int) -> None:
    mapping, schedule = scheduled(name)
    (found,) = (loop.operations for loop in schedule.loops if loop.label == "iterations")
    assert mapping.arithmetic == "packed"
    assert products(found, 22) == arithmetic_resources(mapping, U200.terms).dsp == by_hand


@needs_llvm
@pytest.mark.parametrize(
    ("name", "least"), [("packed", 0.7), ("winograd", 0.65), ("sixteen bits", 0.7), ("float", 0.7)]
)
def test_luts_are_those_of_the_operations(name: str, least: float) -> None:
    """csynth's LUTs by the model's structure and by the operations of the code, which share only the terms of
    operators. Index arithmetic and the choices of banks were half of an instance, and in no term; those of
    Winograd's tiles still are in none.
    """
    mapping, schedule = scheduled(name)
    assert all(loop.interval == 1 and not loop.rolled for loop in schedule.loops)
    usage = schedule.usage
    assert usage is not None
    counted = instance_resources(mapping, U200.terms.of("csynth")).lut
    assert least < counted / usage.csynth.lut < 1.15
