"""C++ that the vendor's compiler takes and a newer one refuses, as public kernels have it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.unnamed_types import with_names
from tests.support.schedule_ir import needs_llvm

TARGET = Target(part="xc7z020clg400-1", clock_ns=10.0, version="2022.2", kernel_flow=False)
WORD = """typedef struct {
    ap_uint<3> x;
    int get() const { return x; }
    void set(int v) { x = v; }
} word;
"""
SOURCES = {
    # Xilinx/finn-hlslib: activations.hpp, until 2017 part of <functional>
    "binary_function": (
        "#include <functional>\nstruct twice : std::binary_function<int, int, int> {\n"
        "    int operator()(int a, int b) const { return a + b; }\n};\n",
        "x[i] = twice()(x[i], 1);",
    ),
    "random_shuffle": (
        "#include <algorithm>\nvoid mix(int *x) { std::random_shuffle(x, x + 8); }\n",
        "x[i] = i;",
    ),
    "throw": ("static int f(int x) throw(int) { return x + 1; }\n", "x[i] = f(x[i]);"),
    "bool": ("", "bool seen = x[i] > 3; seen++; x[i] = seen;"),
    "register": ("", "register int y = x[i]; x[i] = y + 1;"),
    # Xilinx/Applications: webp/src_syn/vp8_hls_syn.h
    "unnamed": (f"#include <ap_int.h>\n{WORD}", "word w; w.set(x[i]); x[i] = w.get();"),
    # Xilinx/ACCL: driver/hls/accl_hls.h
    "wait": ('#include "etc/autopilot_ssdm_op.h"\nvoid idle() { ap_wait(); ap_wait_n(3); }\n', "x[i] = i;"),
    # WukLab/Clio: include/uapi/compiler.h
    "execinfo": ("#include <execinfo.h>\n", "x[i] = i;"),
    # MeisterProepper/HLS-multirate-DSP: FIR_HLS.cpp, names of Bessel functions
    "names_of_math": ("static int y1 = 3;\nfloat gamma;\n", "x[i] = std::min(i, y1);"),
    "wait_with_numbers": ("#include <ap_int.h>\nvoid idle() { ap_wait(); }\n", "x[i] = i;"),
}


@needs_llvm
@pytest.mark.parametrize("name", SOURCES)
def test_it_is_scheduled(tmp_path: Path, name: str) -> None:
    before, body = SOURCES[name]
    file = tmp_path / "top.cpp"
    file.write_text(f"{before}void top(int x[8]) {{\n    for (int i = 0; i < 8; ++i) {{ {body} }}\n}}\n")
    (loop,) = schedule_component(Component(top="top", files=(file,), target=TARGET)).loops
    assert loop.likely == 1 and not loop.unknown_calls
    assert loop.place is not None and loop.place.line == before.count("\n") + 2


def test_unnamed_types_have_names_of_their_own_and_lines_stay() -> None:
    text = (
        "typedef struct\n{ int a; } one;\ntypedef union { int b; } two;\nstruct { int c; } x;\nstruct d {};\n"
    )
    named = with_names(text)
    assert named.count("\n") == text.count("\n")
    assert "typedef struct hlsgen_unnamed_0 { int a; } one;" in " ".join(named.split())
    assert "typedef union hlsgen_unnamed_1 { int b; } two;" in named
    assert "\nstruct { int c; } x;\nstruct d {};\n" in named
