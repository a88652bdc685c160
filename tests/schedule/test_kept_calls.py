"""Functions that are pipelined by themselves, in pipelines: what shares a window with them is undecided."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm

# as hls4ml has it: abdennour-GUESSOUM/Lenet5-hls4ml, 2023.2: II 3 and 6
SOURCE = """#include <hls_stream.h>
static void shift(int (&window)[4], int x) {
    MOVES
    for (int i = 0; i < 3; ++i) window[i] = window[i + 1];
    window[3] = x;
}
static int dense(const int (&window)[4]) {
    SUMS
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += window[i] * (i + 3);
    return sum;
}
void top(hls::stream<int> &in, hls::stream<int> &out) {
    for (int i = 0; i < 64; ++i) {
#pragma HLS PIPELINE II=1
        static int window[4];
#pragma HLS array_partition variable=window complete
        shift(window, in.read());
        out.write(dense(window));
    }
}
"""
TARGET = Target(part="xczu9eg-ffvb1156-2-e", clock_ns=5.0, version="2023.2", kernel_flow=False)
PIPELINE, OFF, NONE = "\n#pragma HLS PIPELINE\n", "\n#pragma HLS PIPELINE off\n", ""


@pytest.mark.parametrize(
    ("moves", "sums", "interval"),
    [
        (PIPELINE, PIPELINE, None),
        (NONE, PIPELINE, None),
        (NONE, NONE, 1),
        (OFF, OFF, 1),
    ],
)
def test_a_window_that_is_kept(tmp_path: Path, moves: str, sums: str, interval: int | None) -> None:
    file = tmp_path / "top.cpp"
    file.write_text(SOURCE.replace("MOVES", moves).replace("SUMS", sums))
    (loop,) = schedule_component(Component(top="top", files=(file,), target=TARGET)).loops
    assert loop.interval == interval
    if interval is None:
        assert loop.estimate == 1 and "pipelined by themselves" in loop.reasons[0]
        assert not loop.misses_target


def test_before_vitis_a_call_gives_its_registers_back(tmp_path: Path) -> None:
    """Judge: hftsoi/sparse-pixels, 2020.1."""
    file = tmp_path / "top.cpp"
    file.write_text(SOURCE.replace("MOVES", PIPELINE).replace("SUMS", PIPELINE))
    for version, interval in (("2020.1", 1), ("2020.2", None)):
        target = replace(TARGET, version=version)
        (loop,) = schedule_component(Component(top="top", files=(file,), target=target)).loops
        assert loop.interval == interval


def test_a_function_of_words_alone_keeps_nothing_up(tmp_path: Path) -> None:
    file = tmp_path / "top.cpp"
    file.write_text(
        """static int scaled(int x, int y) {
#pragma HLS pipeline II=1
    return x * y + 3;
}
void top(const int in[64], int out[64]) {
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        out[i] = scaled(in[i], i);
    }
}
"""
    )
    (loop,) = schedule_component(Component(top="top", files=(file,), target=TARGET)).loops
    assert loop.interval == 1 and not loop.kept_calls
