"""Cells of whole kernels: public reports, and the rules that they show."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from hlsgen.schedule.areas import Areas
from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.delays import Delays
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.nest_cells import flattening
from hlsgen.schedule.usage import Usage
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = Path(__file__).with_name("usage.cpp")
ZYNQ = Target(part="xc7z020-clg400-1", clock_ns=10.0, version="2024.2", kernel_flow=False)
ALVEO = Target(part="xcu200-fsgd2104-2-e", clock_ns=10 / 3, version="2024.2", kernel_flow=False)


@functools.cache
def usage(top: str, target: Target = ALVEO) -> Usage:
    return schedule_component(Component(top=top, files=(SOURCE,), target=target)).usage


def test_a_public_report_is_met() -> None:
    """The vendor's tutorial, as csynth reported it. (Addresses and choices before ports are too many here:
    the arrays are the top's own, which the tool does not split.)"""
    found = usage("matrices", ZYNQ).csynth
    assert found.lut == pytest.approx(374, rel=0.3)
    assert found.ff == pytest.approx(135, rel=0.25)
    assert (found.dsp, found.bram18) == (2, 0)


def test_a_sum_is_balanced_unless_the_source_says_no() -> None:
    """As a tree half of the products stand alone, and in pairs; as a chain all but one share a DSP with its
    sum. Either way a DSP is taken for each."""
    tree, chain = usage("dot_balanced"), usage("dot_as_written")
    assert tree.csynth.dsp == chain.csynth.dsp == 16
    sums_behind_the_pairs = 7
    more = tree.by_kind["operations"].lut - chain.by_kind["operations"].lut
    assert more >= sums_behind_the_pairs * 32


def test_what_is_called_twice_is_built_once() -> None:
    once, twice = usage("once"), usage("one_after_the_other")
    assert once.csynth.dsp == 3
    assert twice.by_kind["operations"].dsp == 3
    assert twice.by_kind["registers"].ff < 2 * once.by_kind["registers"].ff + 64


def test_cores_are_shared_over_an_interval() -> None:
    """12 products with II 4: three cores of three DSPs, an adder of two."""
    assert usage("shared_cores").csynth.dsp == 3 * 3 + 2


def test_words_from_a_constant_array_are_as_wide_as_its_values() -> None:
    """Two values up to 7: a sum of 4 bits and a comparison, not of 32."""
    operations = usage("few_values").by_kind["operations"].lut
    counter = 2 * (7 + 7)
    assert operations - counter < 2 * (4 + 7) + 2 * 8


def test_a_stream_between_processes_is_counted_once() -> None:
    areas = Areas(delays=ALVEO.delays)
    assert usage("two_processes").by_kind["FIFOs"] == areas.stream(2, 32)


def test_the_estimate_says_what_it_is() -> None:
    found = usage("once")
    assert found.routed.lut_low <= found.routed.lut <= found.routed.lut_high
    data = found.as_json()
    assert data["csynth"]["lut"] == sum(cells["lut"] for cells in data["csynth_by_kind"].values())
    assert set(data) == {"csynth", "csynth_by_kind", "uncounted_by_csynth", "routed", "without"}


def test_memories_as_reports_have_them() -> None:
    """Words, bits and where they lie: rows of public reports of both families."""
    kria = Areas(delays=Delays(part="xck26-sfvc784-2LV-c", version="2022.1", clock_ns=10.0))
    card = Areas(delays=ALVEO.delays)
    assert [kria.chosen_storage(*size) for size in ((30, 32), (64, 16), (64, 15))] == [
        "lutram",
        "bram",
        "lutram",
    ]
    assert [card.chosen_storage(*size) for size in ((128, 32), (160, 32), (512, 8))] == [
        "lutram",
        "bram",
        "bram",
    ]
    assert kria.array(243, 32, "lutram", 2).lut == 122
    assert kria.array(243, 32, "lutram", 2).ff == 64
    assert card.array(256, 8, "lutram", 1).lut == 33
    assert kria.stream(2, 32) == kria.stream(8, 4)
    assert (kria.stream(2, 32).lut, kria.stream(2, 32).ff) == (67, 99)


def test_what_stands_behind_an_inner_loop_is_counted() -> None:
    """A product of 32 x 32 bits, of which 32 are kept: three DSPs, as `mul_32s_32s_32` of reports."""
    assert usage("behind_a_loop").csynth.dsp == 3


def test_a_nest_of_a_variable_inner_bound_is_one_loop() -> None:
    """A counter of 64 bits and its end, and choices of each counter's next value, but none of the eight
    registers, which the iterations of both loops hand on."""
    areas = Areas(delays=ALVEO.delays)
    once = usage("carried_through").by_kind["operations"].lut
    counters = flattening(32, areas).lut
    assert counters < once < counters + 8 * 32


def test_a_test_of_the_sign_is_a_wire() -> None:
    """A choice of 8 bits, a counter, 64-bit addresses; a comparison of 32 bits would take 39 more."""
    assert usage("sign_chooses").by_kind["operations"].lut < 8 + 4 * (7 + 7) + 71


def test_a_pragma_binds_a_product_of_a_number_type() -> None:
    assert usage("in_logic_cells").csynth.dsp == 0
    assert usage("in_logic_cells").by_kind["operations"].lut > 60


def test_a_loop_around_processes_keeps_none_of_their_variables() -> None:
    """Eight registers of 32 bits in the pipeline and where they are written, not in the loop around too."""
    assert 2 * 8 * 32 <= usage("processes_in_a_loop").by_kind["registers"].ff < 3 * 8 * 32
