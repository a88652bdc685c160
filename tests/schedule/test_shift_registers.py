"""`ap_shift_reg`: one action a cycle, and the delay that public reports give its read."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from hlsgen.schedule.component import Target
from hlsgen.schedule.front_end import compile_to_ir
from hlsgen.schedule.processes import parts_of
from hlsgen.schedule.results import LoopSchedule
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = Path(__file__).with_name("shift_registers.cpp")
READ_NS = 0.61
"""`memshiftread` on virtexuplus of grade 2, of 1 to 61 bits (three repositories, 2021.1 to 2023.1)."""


@functools.cache
def schedules() -> dict[str, LoopSchedule]:
    from hlsgen.schedule.analysis import schedule_part

    # the part, clock and release of Alezander9/ML_FPGAonPixel's networks from hls4ml
    target = Target(part="xcvu13p-flga2577-2-e", clock_ns=5.0, version="2023.1", kernel_flow=False)
    front = compile_to_ir([SOURCE])
    assert front.dropped == ()
    parts = [schedule_part(part, front.pragmas, target) for part in parts_of(front.ir, "", front.pragmas)]
    return {loop.function: loop for part in parts for loop in part.loops}


@pytest.mark.parametrize(
    ("function", "interval"), [("rows_above", 1), ("two_rows", 1), ("looked_into", 1), ("moved_twice", 2)]
)
def test_a_register_moves_once_a_cycle(function: str, interval: int) -> None:
    loop = schedules()[function]
    assert loop.likely == interval, loop.reasons
    assert loop.unknown_calls == ()


def test_the_chain_is_that_of_public_reports() -> None:
    """hls4ml's pooling there: fifo_read memshiftread(0.61) icmp select, and again for the second row."""
    chain = [(step.kind, step.bits, step.ns) for step in schedules()["rows_above"].chain]
    assert ("shift_register", 16, READ_NS) in chain
    kinds = [kind for kind, _, _ in chain]
    assert kinds.index("fifo_read") < kinds.index("shift_register") < kinds.index("icmp", 2)


def test_registers_in_a_row_add_up() -> None:
    chain = schedules()["two_rows"].chain
    assert sum(step.ns for step in chain if step.kind == "shift_register") == pytest.approx(2 * READ_NS)
