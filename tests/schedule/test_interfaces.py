"""Interface pragmas: those of the top's arguments count, others do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
KERNEL = """
void sampled(short to[64], const unsigned char from[192]) {
#pragma HLS inline off
#pragma HLS interface MODE port=from
#pragma HLS array_partition variable=from complete
    work: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        to[i] = from[3 * i] + from[3 * i + 1] * from[3 * i + 2];
    }
}
void top(const unsigned char in[192], short out[64]) {
    unsigned char own[192];
    for (int i = 0; i < 192; ++i) own[i] = in[i] ^ 1;
    sampled(out, own);
}
"""


@pytest.mark.parametrize("mode", ["m_axi bundle=gmem1", "s_axilite bundle=control"])
def test_one_in_a_function_that_is_given_an_array_of_the_kernels_own_counts_for_nothing(
    tmp_path: Path, mode: str
) -> None:
    """0K-Chinmay/ML_KEM-on-PYNQ-board-using-HLS poly.cpp:161, 2024.1: II 1 of three reads of such an array,
    which cypto.cpp gives an m_axi interface; they are no words of a port."""
    source = tmp_path / "sampled.cpp"
    source.write_text(KERNEL.replace("MODE", mode))
    target = Target(part="xc7z020-clg400-1", clock_ns=20.0, version="2024.1", kernel_flow=False)
    kernel = schedule_component(Component(top="top", files=(source,), target=target))
    (loop,) = (one for one in kernel.loops if one.label == "work")
    assert loop.likely == 1, loop.reasons
    assert not any(bank.storage in ("axi", "s_axilite") for bank in loop.banks)


def test_those_of_the_top_count(tmp_path: Path) -> None:
    source = tmp_path / "sampled.cpp"
    source.write_text(KERNEL.replace("inline off", "inline off // the top").replace("MODE", "m_axi"))
    target = Target(part="xc7z020-clg400-1", clock_ns=20.0, version="2024.1", kernel_flow=False)
    kernel = schedule_component(Component(top="sampled", files=(source,), target=target))
    (loop,) = (one for one in kernel.loops if one.label == "work")
    assert any(bank.storage == "axi" for bank in loop.banks)
