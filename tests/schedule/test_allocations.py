"""Cores that `allocation` pragmas limit: those of the function that a pragma stands in, and no others."""

from __future__ import annotations

from pathlib import Path

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.results import LoopSchedule
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
# as hls4ml's accelerator wrappers have it: layers within a loop over the frames of a batch
KERNEL = """
static void scaled(const short in[64], short out[64]) {
#pragma HLS allocation operation instances=mul limit=1
    scale: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        out[i] = in[i] * in[i] + 3 * in[i] * out[i];
    }
}
static void weighed(const short in[64], const short weights[64], int out[64]) {
    weigh: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        out[i] = in[i] * weights[i] + in[i] * in[i] * weights[i];
    }
}
void top(const short in[8][64], const short weights[64], int out[8][64]) {
    short middle[64] = {0};
    frames: for (int frame = 0; frame < 8; ++frame) {
        scaled(in[frame], middle);
        weighed(middle, weights, out[frame]);
    }
}
"""


def loops(folder: Path) -> dict[str, LoopSchedule]:
    (folder / "top.cpp").write_text(KERNEL, encoding="utf-8")
    target = Target(part="xcu55c-fsvh2892-2L-e", clock_ns=5.0, version="2022.2", kernel_flow=False)
    component = Component(top="top", files=(folder / "top.cpp",), target=target)
    return {loop.label: loop for loop in schedule_component(component).loops}


def test_a_function_that_a_loop_around_calls_limits_its_own_cores_alone(tmp_path: Path) -> None:
    """alex-yang-upenn/accelerator_wrapper (hls4ml, 2022.2): the products of a layer were counted against what
    its neighbour may have, II 17 for 1."""
    found = loops(tmp_path)
    assert found["scale"].between[0] > 1
    assert any("where a pragma allows 1" in reason for reason in found["scale"].reasons)
    assert found["weigh"].likely == 1, found["weigh"].reasons
