"""What the vendor's compiler makes of nests, constants and calls, as reports of public designs say."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from hlsgen.schedule.component import Target
from hlsgen.schedule.front_end import FrontEnd, compile_to_ir
from hlsgen.schedule.processes import parts_of
from hlsgen.schedule.results import LoopSchedule
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = Path(__file__).with_name("decided_nests.cpp")

LOOPS = [  # with II and iterations
    ("computed_bound", "work", 1, 6),
    ("printed", "work", 1, 100),
    ("same_word", "outer", 16, 128),
    ("word_before", "outer", 16, 128),
    ("moved", "inner", 1, 2048),
    ("narrow_counters", "outer", 32, 64),
    ("means", "inner", 5, 100),
    ("sums", "inner", 4, 100),
    ("called_beside", "beside", 1, 100),
    ("called_alone", "around", 4, 100),
    ("reordered", "outer", 1, 32),
    ("small_product", "outer", 1, 2),
    ("absorbed", "work", 4, 17),
    ("parts_of_a_word", "work", 1, 64),
]


@functools.cache
def front_end() -> FrontEnd:
    return compile_to_ir([SOURCE])


@functools.cache
def labelled() -> dict[str, dict[str, LoopSchedule]]:
    """The loops that have a label, by function and label: a U55C at 200 MHz, as MachSuite's reports."""
    from hlsgen.schedule.analysis import schedule_part

    target = Target(part="xcu55c-fsvh2892-2L-e", clock_ns=5.0, version="2022.2", kernel_flow=False)
    front = front_end()
    found: dict[str, dict[str, LoopSchedule]] = {}
    for part in parts_of(front.ir, "", front.pragmas):
        for loop in schedule_part(part, front.pragmas, target).loops:
            if loop.label:
                found.setdefault(loop.function, {})[loop.label] = loop
    return found


@pytest.mark.parametrize(("function", "label", "interval", "trips"), LOOPS)
def test_the_loop_has_the_ii_of_the_report(function: str, label: str, interval: int, trips: int) -> None:
    found = labelled()[function]
    assert list(found) == [label]
    assert (found[label].likely, found[label].trips) == (interval, trips)


def test_a_pragma_about_an_array_stands_beside_the_inner_loop() -> None:
    assert list(labelled()["split_within"]) == ["outer"]
    assert labelled()["split_within"]["outer"].trips == 64


def test_what_two_counters_may_share_is_undecided() -> None:
    loop = labelled()["other_index"]["work"]
    assert loop.interval is None
    assert loop.reasons[0].startswith("the II is 1 or more: whether h is read where it was written")


def test_an_index_that_is_read_is_as_unknown_to_the_tool() -> None:
    assert (labelled()["read_index"]["work"].likely or 0) > 1


def test_an_index_below_a_variable_of_a_struct_stays_in_its_array() -> None:
    loop = labelled()["ends_by_a_word"]["work"]
    assert loop.interval == 2 and "the condition that ends the loop" in loop.reasons[0]


def test_copies_of_one_index_under_branches_are_one() -> None:
    assert labelled()["tile"]["work"].likely == 1


def test_registers_that_an_index_chooses_may_be_the_last_iterations() -> None:
    loop = labelled()["adds_to_chosen"]["work"]
    assert loop.interval is None
    assert loop.reasons[0].startswith("the II is 1 or more: whether sums is read where it was written")
    assert loop.between[1] > 1


def test_a_word_that_a_port_reads_and_writes_may_wait_for_the_answer() -> None:
    loop = labelled()["scaled"]["work"]
    assert loop.interval is None
    assert loop.reasons[0].startswith("the II is 1 or more: whether a read of words waits for the answer")
    assert loop.recurrence is not None
    kinds = [step.kind for step in loop.recurrence.steps]
    assert (kinds[0], kinds[-1]) == ("axi_read_request", "axi_write_response")


def test_a_copy_has_the_pragma_of_the_branch_that_is_left() -> None:
    """Winterslife/FPGA-acceleration-for-Tensorized-Transformer-Training (2024.1): each of 32 elements
    of an array pipelines the loop that is left of two, with II 1; here the outer one had up to 32. Nor does
    the pragma of another loop promise anything of the word that one of them writes again and again."""
    found = labelled()["elements"]
    assert {label: loop.likely for label, loop in found.items()} == {"rows": 1, "words": 1, "sums": 1}
