"""What the cost model counts is what the emitted code has, after all loops are unrolled."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.cost.conv_instance import instance_resources
from hlsgen.cost.resources import arithmetic_resources
from hlsgen.hardware.conv_folding import Folding
from hlsgen.layers import winograd
from hlsgen.layers.conv2d import Conv2d
from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import KernelSchedule, schedule_component
from tests.support.kernels import U200, conv, emit_kernel
from tests.support.schedule_ir import needs_llvm

LAYER = conv(
    (4, 12, 10), 4, input_type="fixed<8,3>", weight_type="fixed<5,1>", result_type="fixed<20,8>", bias=False
)
PACKED = 27
"""Bits of two words beside each other; 24 where the upper has fewer."""


def scheduled(layer: Conv2d, folding: Folding, folder: Path) -> KernelSchedule:
    """The kernel's loops and what it takes, from its compiled code."""
    emit_kernel(layer, folding, folder)
    (source,) = (path for path in folder.rglob("*.cpp") if not path.name.endswith("_tb.cpp"))
    component = Component(
        top="conv",
        files=(source,),
        target=Target(part="xcu200-fsgd2104-2-e", version="2024.2", clock_ns=10 / 3),
        include_folders=(source.parent,),
    )
    return schedule_component(component)


def operations(folding: Folding, folder: Path) -> dict[str, int]:
    """Of the loop that computes, by kind and widths."""
    loops = scheduled(LAYER, folding, folder).loops
    (found,) = (loop.operations for loop in loops if loop.label == "iterations")
    return found


def products(found: dict[str, int], least: int) -> int:
    """Those with an operand of at least so many bits, and none that is an address."""
    pairs = [(kind.split()[1].split("x"), count) for kind, count in found.items() if kind.startswith("mul ")]
    return sum(count for (a, b), count in pairs if least <= int(a) <= PACKED and int(b) <= 18)


@needs_llvm
@pytest.mark.parametrize(
    "folding",
    [
        pytest.param(Folding(rows=2, pe=4, simd=2), id="direct"),
        pytest.param(Folding(rows=4, pe=4, simd=2, algorithm="winograd"), id="winograd"),
    ],
)
def test_a_dsp_for_each_product_of_the_code(folding: Folding, tmp_path: Path) -> None:
    found = operations(folding, tmp_path)
    kernel = emit_kernel(LAYER, folding, tmp_path / "again")
    assert kernel.mapping.arithmetic == "packed"
    assert products(found, 22) == arithmetic_resources(kernel.mapping, U200.terms).dsp
    per_pass = {"direct": 4 // 2 * 18 * 2, "winograd": winograd.POINTS * 6 * 4}
    assert products(found, 22) == per_pass[folding.algorithm], "as by hand"


NARROW = {"input_type": "fixed<8,1>", "weight_type": "fixed<8,1>", "result_type": "fixed<8,3,rnd,sat>"}
WIDE = {"input_type": "fixed<16,6>", "weight_type": "fixed<16,2>", "result_type": "fixed<16,6,rnd,sat>"}


@needs_llvm
@pytest.mark.parametrize(
    ("types", "folding", "least"),
    [
        pytest.param(NARROW, Folding(rows=5, pe=4, simd=2), 0.7, id="two products a DSP"),
        pytest.param(NARROW, Folding(rows=4, pe=4, simd=2, algorithm="winograd"), 0.65, id="winograd"),
        pytest.param(WIDE, Folding(rows=6, pe=2, simd=1), 0.7, id="sixteen bits"),
        pytest.param({}, Folding(rows=4, pe=4, simd=1, fabric_pe=2), 0.7, id="float"),
    ],
)
def test_luts_are_those_of_the_operations(
    types: dict[str, str], folding: Folding, least: float, tmp_path: Path
) -> None:
    """csynth's LUTs by the model's structure and by the operations of the code, which share only the terms of
    operators. Index arithmetic and the choices of banks were half of an instance, and in no term; those of
    Winograd's tiles still are in none.
    """
    layer = conv((16, 64, 64), 16, **types)
    schedule = scheduled(layer, folding, tmp_path)
    assert all(loop.interval == 1 and not loop.rolled for loop in schedule.loops)
    usage = schedule.usage
    mapping = emit_kernel(layer, folding, tmp_path / "again").mapping
    assert usage is not None
    counted = instance_resources(mapping, U200.terms.of("csynth")).lut
    assert least < counted / usage.csynth.lut < 1.15
