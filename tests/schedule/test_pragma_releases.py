"""Pragmas whose spelling a release does not know: Vitis HLS 2020.2 leaves out splits with `type=`."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.directives import Directive, read_directives
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.results import KernelSchedule
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
KERNEL = """
void sums(int out[64]) {
    static int a[64];
#pragma HLS array_partition variable=a SPLIT dim=1
    fill: for (int i = 0; i < 64; ++i) a[i] = out[i] * 3;
    work: for (int i = 0; i < 55; ++i) {
        int sum = 0;
        for (int k = 0; k < 9; ++k) sum += a[i + k] * (k + 1) * i;
        out[i] = sum;
    }
}
"""


def scheduled(
    folder: Path, split: str, version: str, directives: tuple[Directive, ...] = ()
) -> KernelSchedule:
    source = folder / "sums.cpp"
    source.write_text(KERNEL.replace("SPLIT", split) if split else KERNEL.replace("#pragma HLS", "//"))
    target = Target(part="xczu3eg-sbva484-1-i", clock_ns=10.0, version=version, kernel_flow=False)
    return schedule_component(Component(top="sums", files=(source,), target=target, directives=directives))


@pytest.mark.parametrize(
    ("split", "version", "interval"),
    [
        ("type=complete", "2020.2", 5),  # nine reads of one bank: MadsHoeffer/EmbeddedFinalMPSoC
        ("complete", "2020.2", 1),
        ("type=complete", "2021.1", 1),
    ],
)
def test_the_type_of_a_split_is_an_option_from_2021_1_on(
    tmp_path: Path, split: str, version: str, interval: int
) -> None:
    schedule = scheduled(tmp_path, split, version)
    (loop,) = (one for one in schedule.loops if one.label == "work")
    assert loop.likely == interval, loop.reasons
    left_out = [str(one).rpartition("/")[2] for one in schedule.dropped]
    assert left_out == ([] if interval == 1 else ["sums.cpp:4: #pragma HLS array_partition"])


def test_a_directive_has_had_it_before(tmp_path: Path) -> None:
    script = tmp_path / "directives.tcl"
    script.write_text('set_directive_array_partition -type complete -dim 1 "sums" a\n')
    schedule = scheduled(tmp_path, "", "2020.2", read_directives(script))
    (loop,) = (one for one in schedule.loops if one.label == "work")
    assert loop.likely == 1 and not schedule.dropped, loop.reasons


PORTS = """
void added(const int *a, const int *b, int *out) {
#pragma HLS interface m_axi depth=64 port=a OPTION
#pragma HLS interface m_axi depth=64 port=b OPTION
#pragma HLS interface m_axi depth=64 port=out OPTION
    work: for (int i = 0; i < 64; ++i) out[2 * i] = a[2 * i] + b[2 * i];
}
"""


@pytest.mark.parametrize(
    ("option", "version", "kernel_flow", "interval"),
    [
        ("", "2020.2", False, 1),  # SuperChamp234/spgemm-format-exploration row_product.cpp:32
        ("offset=slave", "2020.2", False, 2),  # one port in ZhengmingHu/HLS_MNIST
        ("bundle=gmem", "2020.2", False, 2),
        ("", "2022.2", False, 2),  # one port in seven public reports
        ("", "2020.2", True, 2),
    ],
)
def test_ports_without_a_bundle(
    tmp_path: Path, option: str, version: str, kernel_flow: bool, interval: int
) -> None:
    source = tmp_path / "added.cpp"
    source.write_text(PORTS.replace("OPTION", option), encoding="utf-8")
    target = Target(part="xc7z020clg484-1", clock_ns=10.0, version=version, kernel_flow=kernel_flow)
    (loop,) = schedule_component(Component(top="added", files=(source,), target=target)).loops
    assert loop.likely == interval, loop.reasons
