"""Words of ports and arrays that a chosen pointer leads to, with the II that public designs have."""

from __future__ import annotations

import functools
from pathlib import Path

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.results import LoopSchedule
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = Path(__file__).with_name("chosen_memories.cpp")


@functools.cache
def loop_of(top: str, version: str) -> LoopSchedule:
    """The loop with the label `work`."""
    target = Target(part="xc7k325t-ffg900-2", clock_ns=10.0, version=version, kernel_flow=False)
    kernel = schedule_component(Component(top=top, files=(SOURCE,), target=target))
    return next(loop for loop in kernel.loops if loop.label == "work")


def test_fields_of_a_struct_are_one_word_of_whichever_port_a_switch_chooses() -> None:
    """McKelvey-Engineering-CSE/adapt_fpga preprocess.cpp:389, 2021.1: three fields of one of five, II 1."""
    assert loop_of("fields_of_one_of_several", "2021.1").likely == 1


def test_what_arrays_that_are_swapped_carry_is_that_of_their_port() -> None:
    """mohammedshuhad/Hotspot3D 3D.cpp:115, 2020.2.2: II 15, which hangs on the answer to the last write; as
    an array on the chip, which it was taken for, it would have been 3 or less."""
    loop = loop_of("parts_in_turn", "2020.2")
    assert loop.interval is None
    assert loop.between[1] > 3
    assert any("waits for the answer to the last write" in reason for reason in loop.reasons)


def test_a_word_of_one_of_two_arrays_is_read_in_both() -> None:
    """asandeep1/FPGA_ECE8893 lab2/top.cpp:111, 2025.1: `ping ? mem_A[i][j] : mem_B[i][j]` and two writes
    under conditions have II 2 for the limited ports of mem_B, which nothing splits."""
    loop = loop_of("from_one_to_the_other", "2025.1")
    assert loop.likely == 2
    assert any("1 reads and 2 writes" in reason for reason in loop.reasons), loop.reasons


def test_a_word_of_one_of_four_arrays_is_read_in_each() -> None:
    loop = loop_of("one_of_four", "2024.1")
    assert loop.likely == 2
    assert any("3 reads and 0 writes of a bank of first" in reason for reason in loop.reasons), loop.reasons
