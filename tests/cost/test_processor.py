"""A shared processor beside its compiled code: every loop has II 1, and the model counts what there is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlsgen.base.output import write_files
from hlsgen.cost.processor import processor_resources
from hlsgen.emit.shared import processor_files
from hlsgen.hardware.processor import Processor
from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import KernelSchedule, schedule_component
from hlsgen.targets.board import load_board
from tests.support.schedule_ir import needs_llvm
from tests.support.shared_processor import SIGNED

SMALL = replace(SIGNED, rows=5, lanes=8, pixel_depth=1024, weight_depth=128, fabric_lanes=0, pool_columns=0)
FLOATING = replace(
    SMALL, rows=3, lanes=4, activation_bits=32, weight_bits=32, fabric_lanes=2, pool_columns=0, floating=True
)
PROCESSORS = {
    "packed": SMALL,
    "everything": replace(SMALL, unsigned=True, fabric_lanes=2, pool_columns=56, tables=True, scales=True),
    "extra": replace(SMALL, extra_lanes=6, carried_words=512, fabric_lanes=4),
    "windows": replace(
        SMALL,
        unsigned=True,
        window_columns=113,
        window_results=112,
        window_products=True,
        window_largest=True,
    ),
    "wide": replace(
        SMALL,
        rows=3,
        activation_bits=16,
        weight_bits=16,
        window_columns=57,
        window_results=56,
        window_products=True,
    ),
    "floating": FLOATING,
}


def scheduled(processor: Processor, folder: Path, part: str) -> KernelSchedule:
    """The emitted kernel's loops and what it takes, at 300 MHz."""
    write_files(folder, processor_files(processor, name="net", source="test"))
    component = Component(
        top="net",
        files=(folder / "src/net.cpp",),
        target=Target(part=part, version="2024.2", clock_ns=10 / 3),
        include_folders=(folder / "src",),
    )
    return schedule_component(component)


@needs_llvm
@pytest.mark.parametrize("name", PROCESSORS)
@pytest.mark.parametrize("board", ["u200", "zcu102"])
def test_every_loop_has_ii_1_within_the_clock(name: str, board: str, tmp_path: Path) -> None:
    found = scheduled(PROCESSORS[name], tmp_path / "build", load_board(board).part)
    assert len(found.loops) >= 10
    assert found.findings() == []
    assert {loop.interval for loop in found.loops} == {1}


@needs_llvm
@pytest.mark.parametrize("name", ["packed", "everything", "windows", "extra", "floating"])
def test_what_is_counted_is_in_the_code(name: str, tmp_path: Path) -> None:
    """LUTs of csynth between half and all of what the operations give, whose sums are wider than need be;
    memories but for those of ports, and DSPs but for addresses, products in logic cells apart.
    """
    processor = PROCESSORS[name]
    board = load_board("zcu102")
    model = processor_resources(processor, board.terms.of("csynth"))
    usage = scheduled(processor, tmp_path / "build", board.part).usage.csynth
    assert 0.49 <= model.lut / usage.lut <= 1.05
    assert model.ff == pytest.approx(usage.ff, rel=0.5)
    in_fabric = 0 if processor.floating else processor.rows * processor.fabric_lanes * processor.lanes
    assert abs(model.dsp + in_fabric - usage.dsp) <= 60
    assert model.bram18 == pytest.approx(usage.bram18, rel=0.2)
