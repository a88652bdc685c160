"""Indices that are a part of a counter, as i / 2 of one that counts by 2."""

from __future__ import annotations

import functools
from pathlib import Path

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.results import LoopSchedule, Tier
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = Path(__file__).with_name("parts_of_counters.cpp")
TARGET = Target(part="xc7z020-clg400-1", clock_ns=10.0, version="2023.1", kernel_flow=False)


@functools.cache
def scheduled(top: str) -> LoopSchedule:
    (loop,) = schedule_component(Component(top=top, files=(SOURCE,), target=TARGET)).loops
    return loop


def test_each_copy_writes_a_bank_of_its_own() -> None:
    """akshaya-bhat/UnderWaterCommunications: II 1 (2022.2 and 2023.1), here 8 before."""
    loop = scheduled("halves")
    assert (loop.likely, loop.tier) == (1, Tier.SHOWN)
    assert {bank.runtime for bank in loop.banks} == {False}


def test_a_loop_may_end_in_the_middle_of_a_round() -> None:
    """akshaya-bhat/UnderWaterCommunications (receiver.cpp:187, 2022.2): II 1, here 32 before."""
    loop = scheduled("halves_with_a_rest")
    assert (loop.likely, loop.tier, loop.trips) == (1, Tier.SHOWN, 18)
    assert {bank.runtime for bank in loop.banks} == {False}


def test_the_distance_is_that_of_the_parts() -> None:
    """i / 2 - 1 is what i / 2 was in the iteration before, whatever i counts by."""
    recurrence = scheduled("of_the_one_before").recurrence
    assert recurrence is not None
    assert (recurrence.distance, recurrence.assumed) == (1, False)


def test_what_is_no_whole_part_stays_unknown() -> None:
    loop = scheduled("thirds")
    assert loop.recurrence is None or loop.recurrence.assumed
    assert loop.interval is None or loop.interval > 1
