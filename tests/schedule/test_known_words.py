"""Words that an iteration knows, banks that are chosen once, partitions of several dimensions: the II of
public reports (UCLA-VAST/Stream-HLS, 2023.2, xcu280, 300 MHz, where the source names no other)."""

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
SOURCE = Path(__file__).with_name("known_words.cpp")
REPORTED = {
    "contraction": 1,
    "two_steps": 1,
    "zeros": 1,
    "two_dimensions": 1,
    "of_interface": 2,
    "over_blocks": 1,
    "axi_lite": 1,
}
COUNTED = {
    # three accesses of two ports, by the documentation; nothing may be left out
    "read_between": ("a", 1, 2),
    # each index has a bank of its own for both words, the two indices may meet in it
    "two_starts": ("v", 0, 2),
}


@functools.cache
def schedules() -> dict[str, LoopSchedule]:
    from hlsgen.schedule.analysis import schedule_part

    target = Target(part="xcu280-fsvh2892-2L-e", clock_ns=3.33, version="2023.2", kernel_flow=False)
    front = compile_to_ir([SOURCE])
    assert front.dropped == ()
    parts = [schedule_part(part, front.pragmas, target) for part in parts_of(front.ir, "", front.pragmas)]
    return {loop.function: loop for part in parts for loop in part.loops}


@pytest.mark.parametrize("function", list(REPORTED))
def test_the_interval_is_that_of_reports(function: str) -> None:
    loop = schedules()[function]
    assert loop.likely == REPORTED[function], loop.reasons


@pytest.mark.parametrize("function", list(COUNTED))
def test_what_may_be_another_word_counts(function: str) -> None:
    array, reads, writes = COUNTED[function]
    (bank,) = [bank for bank in schedules()[function].banks if bank.array == array]
    assert (bank.reads, bank.writes) == (reads, writes)


def test_a_part_of_a_word_does_not_overwrite_the_others() -> None:
    assert schedules()["parts"].operations["store 16"] == 2
