"""What a floating-point number is: tests of its bits, which LLVM joins to one."""

from __future__ import annotations

from pathlib import Path

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from tests.support.schedule_ir import needs_llvm

KERNEL = """
void classes(const float in[64], int out[64]) {
    work: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        out[i] = __builtin_isfpclass(in[i], 0x0203) ? 1 : __builtin_isfpclass(in[i], 0x0090) ? 2 : 3;
    }
}
"""


@needs_llvm
def test_they_are_known(tmp_path: Path) -> None:
    source = tmp_path / "classes.cpp"
    source.write_text(KERNEL)
    target = Target(part="xc7z020-clg400-1", clock_ns=10.0, version="2024.2", kernel_flow=False)
    (loop,) = schedule_component(Component(top="classes", files=(source,), target=target)).loops
    assert loop.likely == 1 and not loop.unknown_calls
    assert any(kind.startswith("icmp") for kind in loop.operations)
