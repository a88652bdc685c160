"""Functions that are called by a pointer: as an argument, or as a variable that nothing writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
# as conifer has them: biagiospanu/W3pi-FPGA
ARGUMENT = """
template <class T> static bool every(const T *x, bool (*test)(const T *)) {
    bool all = true;
    for (int i = 0; i < 4; ++i) all &= test(x + i);
    return all;
}
void top(const short in[64], bool out[16]) {
    work: for (int i = 0; i < 16; ++i) {
#pragma HLS pipeline II=2
        out[i] = every<short>(in + 4 * i, [](const short *x) { return *x > 7; });
    }
}
"""
VARIABLE = """#include <cstring>
bool (*test)(const short *) = !strcmp("<=", "<=") ? [](const short *x) { return *x > 7; }
                                                  : [](const short *x) { return *x > 9; };
void top(const short in[64], bool out[64]) {
    work: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        out[i] = test(in + i);
    }
}
"""
WRITTEN = VARIABLE.replace("void top(", "void other(bool (*one)(const short *)) { test = one; }\nvoid top(")


@pytest.mark.parametrize(("source", "interval"), [(ARGUMENT, 2), (VARIABLE, 1)])
def test_which_function_it_is_is_found_out(tmp_path: Path, source: str, interval: int) -> None:
    (tmp_path / "top.cpp").write_text(source, encoding="utf-8")
    target = Target(part="xczu9eg-ffvb1156-2-e", clock_ns=5.0, kernel_flow=False)
    component = Component(top="top", files=(tmp_path / "top.cpp",), target=target)
    (loop,) = schedule_component(component).loops
    assert loop.likely == interval, loop.reasons
    assert not loop.unknown_calls


def test_a_variable_that_is_written_may_be_any(tmp_path: Path) -> None:
    (tmp_path / "top.cpp").write_text(WRITTEN.replace("work: for", "other(0); work: for"), encoding="utf-8")
    target = Target(part="xczu9eg-ffvb1156-2-e", clock_ns=5.0, kernel_flow=False)
    component = Component(top="top", files=(tmp_path / "top.cpp",), target=target)
    loops = schedule_component(component).loops
    assert all(loop.interval is None for loop in loops)
