"""Loops unrolled by a factor, whose bounds are multiples of it that the loop itself works out."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.results import LoopSchedule
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
KERNEL = """extern "C" void sums(const int *a, const int *b, int *out, int count) {{
#pragma HLS interface m_axi port=a bundle=gmem0
#pragma HLS interface m_axi port=b bundle=gmem1
#pragma HLS interface m_axi port=out bundle=gmem0
    work: for (int i = 0; i < {bound}; i++) {{
#pragma HLS unroll factor=16
        out[i] = a[i] + b[i];
    }}
}}
"""


def scheduled(folder: Path, bound: str) -> LoopSchedule:
    (folder / "sums.cpp").write_text(KERNEL.format(bound=bound), encoding="utf-8")
    target = Target(part="xcu200-fsgd2104-2-e", clock_ns=10 / 3, version="2021.1")
    component = Component(top="sums", files=(folder / "sums.cpp",), target=target)
    (loop,) = schedule_component(component).loops
    return loop


@pytest.mark.parametrize(
    "bound", ["(count / 16) * 16", "(count & -16)", "count / 16 * 32", "(count >> 4) << 4"]
)
def test_copies_have_one_end_where_the_bound_is_a_multiple(tmp_path: Path, bound: str) -> None:
    """The first is mrmstudio/XACC_2022 (2021.1), II 1: sixteen words are one of 512 bits."""
    assert scheduled(tmp_path, bound).likely == 1


@pytest.mark.parametrize("bound", ["count", "(count / 8) * 8", "count / 16 * 16 + 1"])
def test_other_bounds_leave_ends_between(tmp_path: Path, bound: str) -> None:
    assert scheduled(tmp_path, bound).between[0] > 1
