"""Headers by the names that another machine had for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.front_end import SourceError, compile_to_ir
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.results import LoopSchedule, Tier
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
KERNEL = """#include "{name}"
void work(const int a[SIZE], int b[SIZE]) {{
    for (int i = 0; i < SIZE; ++i) b[i] = a[i] + 1;
}}
"""


def kernel_with(folder: Path, name: str) -> Path:
    """A kernel that includes a header of that name, and the header in project/inc."""
    header = folder / "project" / "inc" / "Sizes.h"
    header.parent.mkdir(parents=True)
    header.write_text("#define SIZE 40\n", encoding="utf-8")
    source = folder / "project" / "src" / "kernel.cpp"
    source.parent.mkdir()
    source.write_text(KERNEL.format(name=name), encoding="utf-8")
    return source


@pytest.mark.parametrize(
    "name",
    [
        "../inc/sizes.h",
        "..\\\\inc\\\\sizes.h",
        "D:/someone/project/inc/Sizes.h",
        "c:\\\\someone\\\\project\\\\inc\\\\sizes.h",
        "/home/someone/project/inc/Sizes.h",
    ],
)
def test_a_header_is_found_by_the_name_of_another_machine(tmp_path: Path, name: str) -> None:
    front = compile_to_ir([kernel_with(tmp_path, name)])
    assert "icmp slt i32" in front.ir
    assert ", 40" in front.ir


@pytest.mark.parametrize("name", ["sizes_of_nobody.h", "/home/someone/elsewhere/Other.h", "../other/Sizes.h"])
def test_a_header_that_is_not_there_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match="file not found"):
        compile_to_ir([kernel_with(tmp_path, name)])


def test_a_header_of_the_vendor_by_its_path_is_ours(tmp_path: Path) -> None:
    """onioncc/GNN_Acc dcl.hpp:5."""
    source = tmp_path / "kernel.cpp"
    source.write_text(
        '#include "/tools/xilinx/Vitis_HLS/2020.2/include/gmp.h"\n#include "ap_int.h"\n'
        "void work(ap_uint<7> a, ap_uint<7> *b) { *b = a; }\n",
        encoding="utf-8",
    )
    assert "i7" in compile_to_ir([source]).ir


def test_a_folder_of_headers_is_searched_in_any_case(tmp_path: Path) -> None:
    source = kernel_with(tmp_path, "SIZES.H")
    front = compile_to_ir([source], include_folders=[tmp_path / "project" / "inc"])
    assert ", 40" in front.ir


LIBRARY = """#include <ap_fixed.h>
#include <hls_math.h>
typedef ap_fixed<16, 8> t;
void work(const t in[64], t out[64], t last[1]) {
    t total = 0;
    each: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline
        out[i] = hls::exp(in[i]);
        total += out[i];
    }
    t x = in[0];
    again: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline
        x = hls::exp(x) + total;
    }
    last[0] = x;
}
void rolled(const t in[8][8], t out[8][8]) {
    for (int i = 0; i < 8; ++i) {
        kept: for (int j = 0; j < 8; ++j) {
#pragma HLS unroll off
#pragma HLS loop_flatten off
            out[i][j] = in[i][j] + t(1);
        }
    }
}
"""


def loops_of(folder: Path, top: str) -> dict[str, LoopSchedule]:
    source = folder / "library.cpp"
    source.write_text(LIBRARY, encoding="utf-8")
    target = Target(part="xc7z020-clg400-1", clock_ns=10.0, version="2023.1", kernel_flow=False)
    kernel = schedule_component(Component(top=top, files=(source,), target=target))
    return {loop.label: loop for loop in kernel.loops}


def test_functions_of_the_library_take_a_value_each_cycle(tmp_path: Path) -> None:
    """rkarn/LLM_NN_FPGA nn.cpp:23, TanDatUIT/DoAn1 C_Dense.cpp:53: II 1 in eight loops of public reports."""
    loops = loops_of(tmp_path, "work")
    assert (loops["each"].likely, loops["each"].tier) == (1, Tier.LIKELY)
    assert any("without the cycles of hls::exp" in reason for reason in loops["each"].reasons)
    assert loops["again"].interval is None
    assert any("hls::exp, for which the next iteration waits" in reason for reason in loops["again"].reasons)


def test_unroll_off_leaves_a_loop(tmp_path: Path) -> None:
    """samarthsb23/iiitd_intern matrix.cpp:21, 2024.2: the loops are pipelined, II 1."""
    assert loops_of(tmp_path, "rolled")["kept"].likely == 1
