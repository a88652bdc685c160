"""Functions that are pipelined as a whole, and what their calls leave to each other."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from hlsgen.schedule.component import Target
from hlsgen.schedule.front_end import compile_to_ir
from hlsgen.schedule.processes import parts_of
from hlsgen.schedule.results import LoopSchedule, Tier
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = Path(__file__).with_name("calls.cpp")
TARGET = Target(part="xcu200-fsgd2104-2-e", clock_ns=10 / 3, version="2023.2", kernel_flow=False)


@functools.cache
def schedules(top: str) -> list[LoopSchedule]:
    from hlsgen.schedule.analysis import schedule_part

    front = compile_to_ir([SOURCE])
    parts = parts_of(front.ir, top, front.pragmas)
    return [loop for part in parts for loop in schedule_part(part, front.pragmas, TARGET).loops]


@pytest.mark.parametrize("top", ["sum_of_delayed", "moved_by_the_library", "weighted"])
def test_a_delay_line_is_registers(top: str) -> None:
    (found,) = schedules(top)
    assert (found.interval, found.tier) == (1, Tier.SHOWN), found.reasons
    assert "line" not in [bank.array for bank in found.banks], "registers have no ports"


def test_what_a_call_writes_is_not_lost() -> None:
    (found,) = schedules("counted")
    (bank,) = found.banks
    assert (bank.reads, bank.writes) == (2, 1)
    assert found.tier is not Tier.SHOWN, "the next call may read the word that this one writes"


def test_a_sum_of_floats_waits_for_the_last_call() -> None:
    (found,) = schedules("added_up")
    assert found.between[0] > 1 and found.tier is not Tier.SHOWN


def test_a_loop_in_place_of_a_pipeline_is_likely() -> None:
    outer, inner = schedules("rolled_within")
    assert outer.tier is Tier.UNDECIDED
    assert (inner.interval, inner.tier) == (1, Tier.LIKELY)
    assert "the pipeline around it cannot be made" in inner.reasons[-1]


def test_a_burst_that_is_asked_for_in_the_loop_that_reads_it_is_likely() -> None:
    (found,) = schedules("asked_and_read")
    assert (found.interval, found.tier) == (1, Tier.LIKELY)


def test_a_flushed_pipeline_with_a_memory_is_likely() -> None:
    for top in ("flushed_alone", "stalled_with_a_memory"):
        (found,) = schedules(top)
        assert (found.interval, found.tier) == (1, Tier.SHOWN)
    (found,) = schedules("flushed_with_a_memory")
    assert (found.interval, found.tier) == (1, Tier.LIKELY)


def test_a_bank_whose_writes_are_lost_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever takes them away: here nobody says that the next call reads them."""
    from hlsgen.schedule import analysis, sites

    def ended(*given: Any) -> str:
        lines = sites.without_marks(*given).splitlines()
        return "\n".join(line for line in lines if f"call void @{sites.LEFT}(" not in line)

    monkeypatch.setattr(analysis, "without_marks", ended)
    (found,) = schedules.__wrapped__("sum_of_delayed")
    assert found.tier is Tier.UNDECIDED
    assert any("the source writes line" in reason for reason in found.reasons)
