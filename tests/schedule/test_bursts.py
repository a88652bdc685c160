"""Requests of AXI ports: the depths of loops with bursts and without, as public reports have them.

A request to read takes 7 cycles, from 2023.1 on 8, and 63 more in the flow of kernels; one to write takes 1,
its answer 5, 68 in the flow of kernels. In state 1 the loop counts, and an address is made.
"""

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
SOURCE = Path(__file__).with_name("bursts.cpp")
MEASURED = [
    # charisvt/lab1 (readB, writeC), nav-jk/hardware_acc, jichengzh/fpt_LLM: count, read or load, store
    ("in_order", "2022.2", False, 3),
    ("in_order", "2023.2", True, 3),
    ("of_any_length", "2022.2", False, 3),
    # Arun-66/AN50_ZCU104 (norm1), devanshj1996: the nest is one burst
    ("all_rows", "2022.2", False, 3),
    # charisvt/lab1 (readA): count, 7 of the request, the word, store
    ("every_second", "2022.2", False, 10),
    # LiuHanpei, Arun-66: 8 of the request from 2023.1 on
    ("every_second", "2023.1", False, 11),
    # Marcolbr2001/ACA_PROJECT (load_data_a): volatile words
    ("one_by_one", "2023.2", False, 11),
    # Marui-9/swiglu: latency=64
    ("late", "2024.2", False, 74),
    # SeungahLEE0820/xacc_2022, nightt5879/xilinx_fpga_class: 70 and 71 in the flow of kernels
    ("every_second", "2022.2", True, 73),
    ("every_second", "2024.2", True, 74),
]
ASKED_FOR = ["under_a_condition", "read_and_written", "two_of_one_port", "rows", "every_second"]
"""By UG1448, Burst Inference Failure 1 to 9, and the messages of csynth reports."""


@functools.cache
def front_end() -> FrontEnd:
    return compile_to_ir([SOURCE])


@functools.cache
def schedules(version: str, kernel_flow: bool, widest: int | None = None) -> dict[str, LoopSchedule]:
    from hlsgen.schedule.analysis import schedule_part

    target = Target(
        part="xczu7ev", clock_ns=10.0, version=version, kernel_flow=kernel_flow, axi_widest_bits=widest
    )
    front = front_end()
    parts = [schedule_part(part, front.pragmas, target) for part in parts_of(front.ir, "", front.pragmas)]
    return {loop.function: loop for part in parts for loop in part.loops if loop.label == "work"}


@pytest.mark.parametrize(("function", "version", "kernel_flow", "depth"), MEASURED)
def test_the_depth_is_that_of_reports(function: str, version: str, kernel_flow: bool, depth: int) -> None:
    loop = schedules(version, kernel_flow)[function]
    assert (loop.likely, loop.depth) == (1, depth), loop.operations


@pytest.mark.parametrize("function", ASKED_FOR)
def test_what_keeps_a_burst_from_being_joined_asks_for_each_word(function: str) -> None:
    short, long = (schedules("2023.2", flow)[function] for flow in (False, True))
    assert long.likely == short.likely
    assert long.depth - short.depth in (63, 126)  # of reads or writes, and of both one behind the other


@pytest.mark.parametrize("function", ["in_order", "of_any_length", "all_rows", "bias"])
def test_a_burst_is_asked_for_before_the_loop(function: str) -> None:
    short, long = (schedules("2023.2", flow)[function] for flow in (False, True))
    assert long.depth == short.depth


@pytest.mark.parametrize(("function", "narrow"), [("sixteen_read", 16), ("sixteen_written", 16)])
def test_the_flow_of_kernels_joins_neighbouring_words(function: str, narrow: int) -> None:
    """ihsanalhafiz/Alveo_FPGA_Design_Workshop, InputBlackBoxOutput/Systolic-Matrix-Multiplier (II 1, words of
    512 bits), Arun-66/AN50_ZCU104 in the flow of IP (27 words of an iteration: II 27)."""
    assert [schedules("2023.2", flow)[function].likely for flow in (False, True)] == [narrow, 1]


def test_words_are_joined_where_their_address_tells_that_they_begin_at_a_wide_one() -> None:
    """hash-func/Staged_LSH table_serch.cpp:1201 (2020.2): four words of 32 bits from `song / 128 * 128` on
    have II 1 and depth 3."""
    kernels = schedules("2020.2", True)
    assert [kernels[function].likely for function in ("a_song", "from_anywhere")] == [1, 4]
    assert kernels["a_song"].depth == 3


def test_words_that_a_flattened_loop_moves_do_not_stay() -> None:
    """xz-bruh-bwe/EE_278, 2023.1: the bias and all of a window in each iteration, II 26 and 51."""
    loop = schedules("2023.1", True)["windows"]
    assert loop.trips == 6 * 280
    assert (loop.interval, loop.likely) == (6, 6), loop.reasons
    assert not any("stay" in reason for reason in loop.reasons)


def test_words_that_may_come_to_be_wide_ones_are_told_apart() -> None:
    """In the flow of kernels four words side by side may be one word; in that of IP there are no wide words,
    and of several arrays' words there never are (tiagolascasas/heterogeneous-vitis-apps, 2024.1: II 2)."""
    for function, kernel_flow, decided in [
        ("from_anywhere", True, None),
        ("from_anywhere", False, 4),
        ("five_from_anywhere", True, 5),
        ("windows_of_four", True, 4),
        ("sum_of_one_port", True, 2),
    ]:
        loop = schedules("2024.1", kernel_flow)[function]
        assert (loop.interval, loop.likely) == (decided, decided or 4), (function, loop.reasons)
        assert any("carries a word each way in a cycle" in reason for reason in loop.reasons)


def test_a_project_says_how_wide_words_may_become() -> None:
    """UG1399, config_interface -m_axi_max_widen_bitwidth, where no pragma says it."""
    wide = [schedules("2023.2", True, bits)["sixteen_read"].likely for bits in (0, 128, 512)]
    assert wide == [16, 4, 1]
    assert schedules("2023.2", True, 512)["sixteen_in_fours"].likely == 4


def test_a_pragma_says_how_wide_words_may_become() -> None:
    """UG1399, max_widen_bitwidth: 16 words of 32 bits in words of 128 are four."""
    assert schedules("2023.2", True)["sixteen_in_fours"].likely == 4


def test_volatile_words_are_joined_up_to_2020_2_alone() -> None:
    """Deep-In-Sight/getphasemap2 getPhaseMap.cpp:96 (log of 2020.2, flow of IP): "burst reads of length 384
    and bit width 32" of `volatile uint16 *`, II 1. Marcolbr2001/ACA_PROJECT, 2023.2: each is asked for."""
    assert [schedules(version, False)["neighbours"].likely for version in ("2020.2", "2023.2")] == [1, 2]


def test_up_to_2022_1_a_remainder_tells_where_the_bursts_of_a_nest_begin() -> None:
    """Ritarka/8893Lab2 (store_output_tile_to_DRAM, 2022.1.2): `urem` of 11 bits, 15 cycles, in a nest of rows
    of 20 words; none where rows are a power of two."""
    assert "urem 9x9" in schedules("2022.1", False)["rows_of_twenty"].operations
    assert "urem 9x9" not in schedules("2022.2", False)["rows_of_twenty"].operations
    assert not any("urem" in name for name in schedules("2022.1", False)["rows"].operations)
    # as in the report, where 15 states are of 11 bits: the remainder, request, word, 5 of the answer
    assert schedules("2022.1", False)["rows_of_twenty"].depth == (9 + 4) + 1 + 1 + 5


def test_words_of_one_iteration_follow_one_another() -> None:
    """Arun-66/AN50_ZCU104 (conv2, M1): 27 words of an iteration in a burst are 27 cycles."""
    loop = schedules("2022.2", False)["fours"]
    assert (loop.likely, loop.depth) == (4, 6)  # count, four words, store


def test_words_of_an_unrolled_loop_are_not_read_before() -> None:
    """tiagolascasas/heterogeneous-vitis-apps edgedetect.cpp:54, 98 and 142 (2024.1): nine pixels and nine
    coefficients of one port have II 18, and the report has their bursts within the iteration."""
    loop = schedules("2024.1", False)["taps"]
    assert (loop.likely, loop.operations["axi_read 8"]) == (6, 6)
