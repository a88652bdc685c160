"""What it takes to choose among the words of banks that were read: as reports of public designs have it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.results import LoopSchedule
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = """void chosen(const unsigned short at[64], const int in[{words}], int *out) {{
    int kept[{words}];
#pragma HLS array_partition variable=kept {split}
fill:
    for (int i = 0; i < {words}; ++i) {{
#pragma HLS pipeline
        kept[i] = in[i];
    }}
    int all = 0;
chosen:
    for (int i = 0; i < 64; ++i) {{
#pragma HLS pipeline
        all ^= kept[at[i] % {words}];
    }}
    *out = all;
}}
"""


def chosen(folder: Path, words: int, split: str) -> LoopSchedule:
    (folder / "chosen.cpp").write_text(SOURCE.format(words=words, split=split), encoding="utf-8")
    target = Target(part="xc7z020-clg400-1", clock_ns=10.0, version="2024.2", kernel_flow=False)
    component = Component(top="chosen", files=(folder / "chosen.cpp",), target=target)
    return {loop.label: loop for loop in schedule_component(component).loops}["chosen"]


def steps(loop: LoopSchedule) -> list[tuple[str, float]]:
    return [(step.kind, round(step.ns, 2)) for step in loop.chain]


def test_words_of_banks_are_chosen_behind_the_read(tmp_path: Path) -> None:
    """3.25 ns of the memory and 2.30 of the choice among eight: soheilbh/fpga-vs-cpu-realtime-vision, 2024.2
    (5.558 ns of its loop)."""
    assert steps(chosen(tmp_path, 2048, "block factor=8"))[:2] == [("load", 3.25), ("mux", 2.3)]


@pytest.mark.parametrize(("words", "ns"), [(16, 2.06), (64, 3.13)])
def test_elements_that_are_registers_are_chosen_too(tmp_path: Path, words: int, ns: float) -> None:
    """3.13 ns among 64, and 2.06 among 16: huzaifazubairr/Blockchain_Hardware_acceleration, 2022.2 (10.059 ns
    of a loop that reads four of 64 words), and the mux cores of other reports of zynq."""
    assert ("mux", ns) in steps(chosen(tmp_path, words, "complete"))


def test_a_bank_that_is_known_needs_no_choice(tmp_path: Path) -> None:
    assert "mux" not in dict(steps(chosen(tmp_path, 2048, "cyclic factor=1")))
