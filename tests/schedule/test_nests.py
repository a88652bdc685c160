"""Which nests are one loop, and what their counters cost: as reports of public designs have it."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from hlsgen.schedule.analysis import schedule_part
from hlsgen.schedule.component import Target
from hlsgen.schedule.front_end import FrontEnd, compile_to_ir
from hlsgen.schedule.processes import parts_of
from hlsgen.schedule.results import LoopSchedule
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = Path(__file__).with_name("nests.cpp")
SMALL = "xczu3eg-sbva484-1-i"


@functools.cache
def front_end() -> FrontEnd:
    return compile_to_ir([SOURCE])


@functools.cache
def labelled(version: str, part: str = SMALL, clock_ns: float = 3.0) -> dict[str, LoopSchedule]:
    """The loops that have a label, by it."""
    target = Target(part=part, clock_ns=clock_ns, version=version, kernel_flow=False)
    front = front_end()
    parts = parts_of(front.ir, "", front.pragmas)
    loops = (loop for one in parts for loop in schedule_part(one, front.pragmas, target).loops)
    return {loop.label: loop for loop in loops if loop.label}


def counts(loop: LoopSchedule, kind: str) -> int:
    return sum(count for name, count in loop.operations.items() if name.startswith(kind))


def test_counters_of_a_nest_that_a_clock_is_too_fast_for() -> None:
    """2020.2 at 3 ns, of which 2.19 are left (meicale/Acc_DeCNN_on_FPGA, four loops): a counter of 32 bits is
    compared, chosen and added to in 1.11 + 0.52 + 1.20 ns, II 2; where nothing reads it the tool counts the
    nest's iterations alone, II 1."""
    loops = labelled("2020.2")
    assert (loops["bytes_again"].likely, loops["counted_alone"].likely) == (2, 1)
    recurrence = loops["bytes_again"].recurrence
    assert recurrence is not None
    assert [step.kind for step in recurrence.steps] == ["phi", "icmp", "select", "add"]


def test_a_slower_clock_has_the_time() -> None:
    loops = labelled("2020.2", clock_ns=5.0)
    assert {loop.likely for name, loop in loops.items() if name != "with_a_return"} == {1}


@pytest.mark.parametrize("version", ["2020.2", "2024.2"])
def test_which_nests_are_one_loop(version: str) -> None:
    """Where a loop that stays apart has its own counter alone, a nest chooses among two values: rows of
    SeppeBudenaers/HAC_PXL_2024 (2023.2, two conditions), columns of Zichu26/fgpa_convolution_acceleration
    (2024.2) are one, channels under a condition of LearnRookie/FPGA_cnn (2022.1) are not."""
    loops = labelled(version)
    chosen = {label for label, loop in loops.items() if counts(loop, "select")}
    assert chosen == {"bytes_again", "rows_of_blocks", "one_loop"}


def test_only_constant_bounds_tell_how_often_a_nest_runs() -> None:
    loops = labelled("2022.2")
    assert loops["one_loop"].trips == 4096
    assert loops["kept_apart"].trips == loops["kept_apart_within"].trips == loops["with_a_return"].trips == 64
    assert {loops[name].trips for name in ("bytes_again", "rows_of_blocks", "triangle")} == {None}
