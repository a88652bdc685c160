"""The macros of the vendor's tool, as the compilations in its public logs have them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.predefined import predefined_macros
from tests.support.schedule_ir import needs_llvm

SOURCE = """#if !defined(__SYNTHESIS__) || !defined(__HLS_SYN__) || !defined(AESL_SYN)
#error code for simulation
#endif
#ifdef __VITIS_HLS__
#define FIRST 1
#else
#define FIRST 2
#endif
#ifdef __DSP48E1__
#define NEXT 3
#else
#define NEXT 5
#endif
void top(const int in[64], int out[64]) {
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=FIRST*NEXT
        out[i] = in[i];
    }
}
"""


@pytest.mark.parametrize(
    ("part", "version", "macros"),
    [
        ("xcu200-fsgd2104-2-e", "2024.2", {"__VITIS_HLS__", "__DSP48E2__"}),
        ("xczu9eg-ffvb1156-2-e", "2020.2", {"__VITIS_HLS__", "__DSP48E2__"}),
        ("xcku115-flvb2104-2-i", "2019.2", {"__DSP48E2__"}),
        ("xc7z020clg400-1", "2022.1", {"__VITIS_HLS__", "__DSP48E1__"}),
        ("xc7vx690tffg1761-2", "2020.1", {"__DSP48E1__"}),
        ("xcvc1902-vsva2197-2MP-e-S", "2024.2", {"__VITIS_HLS__", "__DSP58_PRIMARY__"}),
    ],
)
def test_of_parts_and_releases(part: str, version: str, macros: set[str]) -> None:
    common = {"__SYNTHESIS__", "__HLS_SYN__", "AESL_SYN", "NDEBUG"}
    assert predefined_macros(part, version).keys() == common | macros


@needs_llvm
def test_code_sees_them(tmp_path: Path) -> None:
    file = tmp_path / "top.cpp"
    file.write_text(SOURCE)
    target = Target(part="xc7z020clg400-1", clock_ns=10.0, version="2022.1", kernel_flow=False)
    for version, part, asked in (("2022.1", "", 3), ("2019.2", "", 6), ("2024.1", "xczu9eg-ffvb1156-2-e", 5)):
        changed = replace(target, version=version, part=part or target.part)
        (loop,) = schedule_component(Component(top="top", files=(file,), target=changed)).loops
        assert loop.target == asked


@needs_llvm
def test_a_kernels_own_definition_comes_last(tmp_path: Path) -> None:
    file = tmp_path / "top.cpp"
    file.write_text(SOURCE.replace("II=FIRST*NEXT", "II=__VITIS_HLS__"))
    target = Target(part="xc7z020clg400-1", clock_ns=10.0, version="2022.1", kernel_flow=False)
    component = Component(top="top", files=(file,), target=target, defines={"__VITIS_HLS__": "7"})
    (loop,) = schedule_component(component).loops
    assert loop.target == 7


@needs_llvm
def test_vivado_hls_pipelines_nothing_unasked(tmp_path: Path) -> None:
    file = tmp_path / "top.cpp"
    file.write_text(
        "void top(const int in[64], int out[64]) {\n    for (int i = 0; i < 64; ++i) out[i] = in[i];\n}\n"
    )
    target = Target(part="xc7z020clg400-1", clock_ns=10.0, version="2020.1", kernel_flow=False)
    for version, loops in (("2020.1", 0), ("2020.2", 1)):
        component = Component(top="top", files=(file,), target=replace(target, version=version))
        assert len(schedule_component(component).loops) == loops
