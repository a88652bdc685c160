"""Loops that a `break` alone ends: their pragmas count, and they have the line that the vendor names."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm

# ArkaneMoose/omnisim-benchmarks, 2021.1: VITIS_LOOP_18_1 with II 3 and VITIS_LOOP_33_1 with II 5, asked for
SOURCE = """#include <hls_stream.h>
void consumer(hls::stream<int> &in, hls::stream<int> &out) {
    HEAD {
#pragma HLS pipeline II=3
        BODY
    } TAIL
    out.write(1);
}
"""
LOCAL = "int value = in.read(); out.write(value / 3); if (value == 0) break;"
PLAIN = "in.read(value); out.write(value / 3); if (value == 0) break;"
MIDDLE = "int value = in.read(); if (value == 0) break; out.write(value / 3);"
BRANCHES = (
    "int value = in.read(); if (value < 0) continue; if (value == 0) break; "
    "if (value > 9) out.write(value / 3);"
)
TWO = (
    "int value = in.read(); if (value == 0) break; "
    "int next = in.read(); if (next == 0) break; out.write(next / 3);"
)


@pytest.mark.parametrize("body", [LOCAL, PLAIN, MIDDLE, BRANCHES, TWO])
@pytest.mark.parametrize(
    ("head", "tail"),
    [("while (true)", ""), ("for (;;)", ""), ("do", "while (1);"), ("while (in.size() < 100)", "")],
)
def test_the_pragma_counts_and_the_loop_has_its_line(tmp_path: Path, head: str, tail: str, body: str) -> None:
    file = tmp_path / "consumer.cpp"
    text = SOURCE.replace("HEAD", head).replace("BODY", body).replace("TAIL", tail)
    file.write_text(text.replace("{\n    ", "{\n    int value;\n    ", 1) if body == PLAIN else text)
    target = Target(part="xcvu9p-flga2104-2-i", clock_ns=5.0, version="2021.1", kernel_flow=False)
    kernel = schedule_component(Component(top="consumer", files=(file,), target=target))
    (loop,) = kernel.loops
    assert loop.place is not None and loop.place.line == 3 + (body == PLAIN)
    assert loop.target == 3 and loop.likely == 3, loop.reasons


def test_a_function_that_must_not_be_inlined_is_all_the_same(tmp_path: Path) -> None:
    """Pragmas alone tell what the tool keeps; LLVM ended in an error. So do parts of the standard library's
    strings (ChungChenWei/ACA-HLS-Final-Team2-Tomasulo-RESC-V)."""
    file = tmp_path / "kept.cpp"
    file.write_text(
        """static const int TABLE[4] = {3, 1, 4, 1};
__attribute__((noinline)) static int twice(int x) { return 2 * x; }
void kept(const int in[64], int out[64]) {
    for (int i = 0; i < 64; ++i) out[i] = twice(in[i]) + TABLE[i & 3];
}
"""
    )
    target = Target(part="xc7z020-clg400-1", clock_ns=10.0, version="2022.1", kernel_flow=False)
    (loop,) = schedule_component(Component(top="kept", files=(file,), target=target)).loops
    assert loop.likely == 1 and not loop.unknown_calls


@pytest.mark.parametrize(("clock_ns", "interval"), [(2.0, None), (2.1, 1)])
def test_a_clock_that_leaves_counters_too_little_decides_nothing(
    tmp_path: Path, clock_ns: float, interval: int | None
) -> None:
    file = tmp_path / "fast.cpp"
    file.write_text("void fast(char x[64]) {\n    for (int i = 0; i < 64; ++i) x[i] = 1;\n}\n")
    target = Target(part="xczu3eg-sbva484-1-e", clock_ns=clock_ns, version="2024.2", kernel_flow=False)
    (loop,) = schedule_component(Component(top="fast", files=(file,), target=target)).loops
    assert loop.likely == interval
    assert any("counters may not fit" in reason for reason in loop.reasons) == (interval is None)
