"""A shared processor beside its compiled code: every loop has II 1, and the model counts what there is."""

from __future__ import annotations

import functools
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from hlsgen.base.output import write_files
from hlsgen.cost.processor import processor_resources
from hlsgen.emit.shared import processor_files
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


@functools.cache
def scheduled(name: str, board: str) -> KernelSchedule:
    """The emitted kernel's loops and what it takes, at 300 MHz; of floats on a ZCU102 at its own 200, as an
    adder of that family may take longer than the sums leave it at 300 (docs/schedule.md)."""
    slow = board == "zcu102" and PROCESSORS[name].floating
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "build"
        write_files(folder, processor_files(PROCESSORS[name], name="net", source="test"))
        component = Component(
            top="net",
            files=(folder / "src/net.cpp",),
            target=Target(part=load_board(board).part, version="2024.2", clock_ns=5.0 if slow else 10 / 3),
            include_folders=(folder / "src",),
        )
        return schedule_component(component)


@needs_llvm
@pytest.mark.parametrize(
    ("name", "board"), [*((name, "zcu102") for name in PROCESSORS), ("packed", "u200"), ("floating", "u200")]
)
def test_every_loop_has_ii_1_within_the_clock(name: str, board: str) -> None:
    """At 300 MHz integers take longest on a ZCU102; floats are at 300 MHz on a U200 alone."""
    found = scheduled(name, board)
    assert len(found.loops) >= 10
    assert found.findings() == []
    assert {loop.interval for loop in found.loops} == {1}


@needs_llvm
@pytest.mark.parametrize("name", PROCESSORS)
def test_what_is_counted_is_in_the_code(name: str) -> None:
    """Cells of csynth by the model and by the operations; memories but for those of ports."""
    model = processor_resources(PROCESSORS[name], load_board("zcu102").terms.of("csynth"))
    usage = scheduled(name, "zcu102").usage.csynth
    assert 0.8 <= model.lut / usage.lut <= 1.25
    assert 0.77 <= model.ff / usage.ff <= 1.25
    assert abs(model.dsp - usage.dsp) <= 10
    assert model.bram18 == pytest.approx(usage.bram18, rel=0.2)
