"""Loops that wait for registers: the II that reports of public designs have, by release, part and clock."""

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
SOURCE = Path(__file__).with_name("recurrences.cpp")
ZYNQ, ZU3, K26 = "xc7z020-clg484-1", "xczu3eg-sbva484-1-i", "xck26-sfvc784-2LV-c"
MEASURED = [
    # Crazy-James26/HeteroCL_Transformer 2a5cd52: PE_LOOP, `pipeline II=1`: an adder of 4 cycles, whose
    # register is written in the last of them, 8.84 ns where 7.3 are left
    ("summed", "2022.1", ZYNQ, 10.0, None, 4),
    # kop123meter/ese532_final 7accc09: my_hash, `pipeline II=1`
    ("hashed", "2020.2", ZU3, 6.67, None, 1),
    # angerpro1411/TECTONIC 2700313: uf_find, which nobody asked to pipeline, keeps within the budget
    ("root_of", "2023.1", ZYNQ, 10.0, None, 2),
    # alanlo980510/HLS_LabC eeef48e: cordic_loop: each way writes the register, no choice stands before it
    ("rotated", "2022.1", ZYNQ, 10.0, 5.39, 1),
    # Marui-9/swiglu 148bbb1: GATE_PASS1: elements in registers are read while they are written
    ("greatest_of_lanes", "2025.1", K26, 4.0, 1.08, 1),
    # Varsenaiga/VitisOptimization 48b4a45: Convolution1_loop, a remainder of 128: no division
    ("turned", "2021.1", ZYNQ, 10.37, None, 1),
    # Team-Diseno-de-Alto-Nivel/mp6160-riscv-dfs-accelerator 92215c0: VITIS_LOOP_71_1, whose bound is the
    # product of two members that it does not write: known before it begins, depth 1
    ("cleared", "2024.1", K26, 4.0, 0.5, 1),
    # Lpopvil/MiniProject_ES 65f91dc: loop1 of hw_act_layer3, depth 3 as well: what a comparison of one cycle
    # chooses the next one takes in that cycle
    ("greatest", "2020.2", "xczu3eg-sbva484-1-e", 10.0, None, 1),
    # Crinstaniev/ParticleCoverHLS: VITIS_LOOP_203_2 of patch.cxx: where a branch writes it, too
    ("greatest_of_patch", "2020.2", "xcvu11p-flga2577-1-e", 10.0, None, 1),
    # PengXuanyao/hls_cordic d368b16: loop: one of two writes in any case, so that the word is kept
    ("stepped", "2020.2", ZYNQ, 10.0, None, 1),
    # ransaraw98/DNN_HLS 3b76c68: COMPUTE_P1_COMPUTE_P1_INNER: a sum that begins anew is no accumulator's, and
    # waits for the choice in front of an iteration too
    ("sums_of_columns", "2020.2", "xc7z010-clg400-1", 10.0, None, 6),
    # jehigh-sd/LTE_Cell_Search sss_corr.cpp:51: a difference takes an adder of two cycles of 10.5 ns
    ("sum_and_difference", "2020.2", "xczu28dr-ffvg1517-2-e", 16.0, None, 2),
    # reopeo/xilinx cnn.c:76, and bird-wizard/WES_237C dft.cpp:17, of words of a memory: neither the choice in
    # front nor the write behind fits
    ("products_of_rows", "2024.1", "xc7z020-clg400-1", 10.0, None, 6),
    ("sums_of_rows", "2022.2", "xc7z020-clg400-1", 10.0, None, 6),
    # ssfortynine/GraduationDesign 1694c0f: rnn.cpp:116, fadd_32ns_32ns_32_5_full_dsp, whose register is
    # written in the last of its cycles
    ("products_of_rows", "2023.1", "xczu5eg-sfvc784-1-e", 10.0, None, 4),
    # CG4002-Team-9/Gesture-AI core.cpp:91: an adder of 3 cycles of 6.43 ns, with a choice in front
    ("products_of_rows", "2022.2", "xczu3eg-sbva484-2-i", 10.0, None, 4),
    # Crazy-James26/HeteroCL_Transformer, bert_layer_dct_int8.prj: l_k and l_j14
    ("products_in_banks", "2022.1", "xc7z020clg484-1", 10.0, None, 1),
    ("means_of_rows", "2022.1", "xc7z020clg484-1", 10.0, None, 4),
    # abyanzaim6000-source/LENET5_FPGA dense_c5.cpp:14: where that does not fit, in the next
    ("products_of_rows", "2025.2", "xc7z020iclg484-1L", 10.0, None, 5),
]


@functools.cache
def front_end() -> FrontEnd:
    return compile_to_ir([SOURCE])


@functools.cache
def schedules(
    version: str, part: str, clock_ns: float, uncertainty_ns: float | None
) -> dict[str, LoopSchedule]:
    target = Target(
        part=part, clock_ns=clock_ns, uncertainty_ns=uncertainty_ns, version=version, kernel_flow=False
    )
    front = front_end()
    found = [schedule_part(part, front.pragmas, target) for part in parts_of(front.ir, "", front.pragmas)]
    return {loop.function: loop for part in found for loop in part.loops if loop.label == "work"}


@pytest.mark.parametrize(("function", "version", "part", "clock", "uncertainty", "interval"), MEASURED)
def test_the_interval_is_that_of_reports(
    function: str, version: str, part: str, clock: float, uncertainty: float | None, interval: int
) -> None:
    loop = schedules(version, part, clock, uncertainty)[function]
    assert loop.likely == interval, loop.reasons


def test_a_chain_beyond_the_budget_is_said() -> None:
    """The report of PE_LOOP has 8.844 ns: the adder's last stage and the write of the register."""
    loop = schedules("2022.1", ZYNQ, 10.0, None)["summed"]
    assert not loop.fits_budget
    assert loop.chain_ns == pytest.approx(8.844, abs=0.05)
    assert any("where the clock leaves 7.30" in finding for finding in loop.findings())


def test_a_pipeline_that_nobody_asked_for_keeps_within_the_budget() -> None:
    asked, by_itself = (schedules("2020.2", ZU3, 6.67, None)[name] for name in ("hashed", "hashed_by_itself"))
    assert by_itself.automatic and by_itself.fits_budget and by_itself.estimate == asked.between[1] > 1
    assert not asked.automatic and not asked.fits_budget


def test_a_word_that_the_inner_loop_keeps_stands_between_the_loops() -> None:
    """The same log: "Cannot flatten loop 'l_sum_i14' (kernel.cpp:365:23): the outer loop is not a perfect
    loop"; l_k has depth 5."""
    found = schedules("2022.1", "xc7z020clg484-1", 10.0, None)
    assert found["means_of_rows"].trips == found["products_in_banks"].trips == 768
    assert found["products_in_banks"].depth == 5


def test_a_register_of_an_array_costs_no_cycle_of_its_own() -> None:
    """FinancialEngineerLab/HLS_Final_Channel_Model 4650469 (2021.2): QRD.cpp:268 has II 27 with divisions of
    as many cycles: the quotient is read in the cycle in which it is written."""
    loop = schedules("2022.1", ZYNQ, 10.0, None)["divided"]
    assert loop.likely == 32 + 3


def test_a_bound_that_is_a_quotient_is_known_before_the_loop() -> None:
    """shinepsunny/SpectralBlaze (2022.2) fft.cpp:273: n / m stands in its condition, its depth is 4."""
    found = schedules("2022.2", ZYNQ, 10.0, None)
    assert found["bounded"].likely == 1
    assert found["bounded"].depth <= 4
    assert found["divided_at_times"].depth > 32


def test_quotients_of_powers_of_two_are_no_divisions() -> None:
    loop = schedules("2022.1", ZYNQ, 10.0, None)["halved"]
    assert not any(kind.startswith("sdiv") for kind in loop.operations)
    assert loop.depth < 8


def test_an_interval_is_no_longer_than_the_iteration() -> None:
    """Logs have `Target II = 4, Final II = 3, Depth = 3` (DGGua/cgcn 478682c), and the like in all but one of
    63 loops of four repositories that are below their target. How long an iteration is is an estimate, which
    nine of twelve loops of weiQAQwei/zynq_cnn, 2025.1, showed to be off."""
    loop = schedules("2022.1", ZYNQ, 10.0, None)["copied"]
    assert loop.between == (loop.depth, loop.depth) and loop.depth < 64
    assert loop.interval is None and not loop.misses_target
    assert loop.reasons == ("the II is about 3 where 64 is asked for: as long as an iteration, an estimate",)


def test_a_table_has_no_more_ports_than_the_interval_needs() -> None:
    """Akylon/ltc_acceleration 1c4caf72: seventeen reads of a table, whose RTL has two ports, keep the II of
    10 that is asked for, with iterations of 13 cycles."""
    loop = schedules("2022.2", K26, 3.333, None)["weighed"]
    assert (loop.likely, loop.depth) == (10, 13)


def test_a_choice_and_the_next_comparison_share_a_cycle_only_where_they_fit() -> None:
    loop = schedules("2020.2", "xczu3eg-sbva484-1-e", 5.0, None)["greatest"]
    assert loop.between == (2, 3) and loop.interval is None


def test_products_that_may_share_multipliers_leave_a_long_interval_open() -> None:
    loop = schedules("2022.2", K26, 3.333, None)["shared"]
    assert loop.interval is None
    assert "17 products share multipliers" in loop.reasons[0]
