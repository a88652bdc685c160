"""Memories with copies, with two ports, and those that the tool splits for pipelines that no pragma asks for:
by what public reports say of each kind."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = Path(__file__).with_name("copies.cpp")


@functools.cache
def intervals(top: str, version: str) -> set[int | None]:
    """The II of the loops with the label `work`."""
    target = Target(part="xc7z020-clg400-1", clock_ns=10.0, version=version, kernel_flow=False)
    kernel = schedule_component(Component(top=top, files=(SOURCE,), target=target))
    return {loop.likely for loop in kernel.loops if loop.label == "work"}


@pytest.mark.parametrize(
    ("top", "version", "interval", "report"),
    [
        ("read_often", "2020.2", 1, "ZhengmingHu/HLS_MNIST pool.cpp:27: 4 reads, RAM_1WnR"),
        ("read_often", "2023.1", 1, "akshaya-bhat/UnderWaterCommunications: arr_I is a RAM_1WnR"),
        (
            "read_often_of_a_static",
            "2023.1",
            8,
            "akshaya-bhat/UnderWaterCommunications receiver.cpp:264: 16 reads of the static matched_I",
        ),
        (
            "written_at_four_places",
            "2021.2",
            4,
            "FinancialEngineerLab/HLS_Final_Channel_Model Rayleigh.cpp:69: 8 reads of H_rvd, a ram_t2p",
        ),
        ("copies_of_words", "2022.2", 16, "ZDAutomotive/DL-HLS-adapted mac_logger.cpp:100: 16 bus reads"),
        ("two_words_of_one", "2020.2", 2, "eecysu/GraFlex bfs_scatter.cpp:57: a ram_2p writes at one port"),
        ("copies_of_structures", "2022.2", 1, "a word of the memory, by the documentation of aggregate"),
        ("rows_assigned", "2024.1", 5, "dingdingye/GIM_Diabetes top.cpp:82: 10 stores of y_train, 2 ports"),
        ("copies_of_a_place", "2022.2", 16, "ZDAutomotive/DL-HLS-adapted mac_logger.cpp:100: 16 bus reads"),
        ("rows_chosen", "2020.2", 1, "onioncc/GNN_Acc GIN_compute.cpp:248: 9 reads of 173 banks"),
        ("ring_of_rows", "2023.2", 1, "basmundhopk/FX-Correlator pfb_compute.cpp:31: ram_1p of four banks"),
        ("ring_of_rows_read_where_it_is_written", "2023.2", 2, "two accesses of a bank with one port"),
        ("four_sums", "2024.2", 1, "yuan0404/CS-Project_... kernel_forward.cpp:29: partial[i % 4]"),
        ("reduced_in_place", "2024.1", 1, "0K-Chinmay/ML_KEM-on-PYNQ-board-using-HLS poly.cpp:147"),
        ("sums_in_counted_turn", "2024.2", 1, "yuan0404/CS-Project_... kernel_forward.cpp:262: acc[i]"),
        ("halves_in_turn", "2022.2", 2, "shinepsunny/SpectralBlaze fft.cpp:273: 8 reads of two banks"),
        ("indices_without_sign", "2022.2", 2, "ZDAutomotive/DL-HLS-adapted can.c:219: 4 writes, 2 ports"),
        ("lines", "2023.2", 1, "shayan-naghizadeh/train2fpga cnn.cpp:45: local_input is split by itself"),
        ("window_around", "2024.2", 1, "hhhhjjjtt/HLS-CNN-MNIST conv_layer.h:50: IN is nine memories"),
        ("one_line", "2021.1", 1, "NithinKenMaran/FPGA-2D-convolution-accelerator: linebuf_V_2, RAM_1WnR"),
        ("ten_sums", "2020.2", 10, "nerearmartin/HLS-CNN-PYNQ-RealTime dense.cc:49: 10 reads, 10 writes"),
        ("called_twice", "2022.1", 5, "Ritarka/8893Lab2 3866d7ea71 conv_7x7.cpp:38: 49 reads, II 25"),
        ("called_with_constants", "2022.2", 1, "reopeo/xilinx cnn.c:90: maxpool2d.1 of a RAM_1WnR"),
        ("called_once", "2022.1", 1, "Ritarka/8893Lab2 5b76aa5c5d: X_buf of conv_7x7 is a RAM_1WnR"),
        ("reached_by_the_host", "2023.1", 2, "rkarn/LLM_NN_FPGA nn.cpp:28: output[i] /= sum, limited ports"),
        (
            "coefficients_of_the_host",
            "2022.1",
            11,
            "whywhytellmewhy/SOC-design FIR.cpp:22, with a break",
        ),
        (
            "moved_pointers",
            "2022.1",
            2,
            "IGUCHItaiga dec.c:123: *dst++ = *a++ ^ *b++, AXI-lite",
        ),
        ("moved_pointers_apart", "2022.1", 1, "IGUCHItaiga dec.c:123: the same of local arrays"),
        (
            "sums_under_a_condition",
            "2023.1",
            4,
            "florentcournoyer16/PMC RNI.cpp:87: MEMBRANE[j] += w",
        ),
        ("filled_by_a_module", "2020.2", 4, "mohammedshuhad/Hotspot3D memory-opt: 7 reads of temp_inner"),
        ("filled_in_place", "2020.2", 1, "mohammedshuhad/Hotspot3D buffer: 7 reads, memcpy in place"),
        ("rows_written_in_part", "2022.1", 2, "gabizon103/ece6775-final layer.h:98: 3 reads of input_0"),
        ("table_read_often", "2020.2", 1, "nerearmartin/HLS-CNN-PYNQ-RealTime: dense_weights is a ROM"),
        ("rows_apart", "2020.2", 1, "kop123meter/ese532_final LZW_new.cpp:298: hash_table in dimension 1"),
        ("pooled_rows", "2022.2", 1, "caseyyang23/FPGA-MINIST-CNN cnn_accel.cpp:71: `cyclic factor=2`"),
        ("copies_by_factor", "2022.1", 1, "diqingz/llm_hls attention_hls.cpp:150: `cyclic factor=8`"),
        ("neighbours", "2023.1", 1, "PakYatHui/SRCNN conv1.cpp:87: in_tile is split cyclically by 9 and 9"),
    ],
)
def test_the_interval_is_that_of_reports(top: str, version: str, interval: int, report: str) -> None:
    assert intervals(top, version) == {interval}, report


def test_a_bank_is_read_where_the_iteration_before_may_have_written_it() -> None:
    """Vignesh-Er/ARM-SOC_PS-5_TEST_BENCHERS cnn_accelerator.cpp:457, 2024.2: II 2 for a sum in the words of a
    cyclic split, in whose banks the address stays for sixteen iterations."""
    assert intervals("sums_in_turn", "2024.2") == {None}


@pytest.mark.parametrize("top", ["reduced_in_place", "sums_in_counted_turn"])
def test_before_2024_1_nobody_knows_of_words_that_a_counter_chooses(top: str) -> None:
    assert intervals(top, "2022.1") == {None}


def test_sums_that_take_turns_too_soon_wait() -> None:
    """An addition takes longer than the two iterations between those of one sum."""
    assert intervals("two_sums", "2024.2") == {None}


def test_a_chain_through_shifts_of_words_may_let_the_interval_grow() -> None:
    """necst/pynqrypt pynqrypt.cpp:48, 2022.2: II 2 where two `lshr` of 2,048 bits stand between
    two iterations; without them it would have been 1."""
    assert intervals("substituted_twice", "2022.2") == {None}
