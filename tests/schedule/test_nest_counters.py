"""What a flattened nest's counters cost an iteration, held against depths that public reports give."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.nest_counters import compares_before
from hlsgen.schedule.results import LoopSchedule
from tests.support.schedule_ir import needs_llvm

SOURCE = """void nest(const short in[{rows}][{columns}], short out[{rows} * {columns}]) {{
rows:
    for (int r = 0; r < {rows}; ++r)
    columns:
        for (int c = 0; c < {columns}; ++c) {{
#pragma HLS pipeline
            out[r * {columns} + c] = in[r][c];
        }}
}}
"""
FLAT = """void nest(const short in[64], short out[64]) {
words:
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline
        out[i] = in[i];
    }
}
"""


def scheduled(folder: Path, source: str, version: str = "2024.2") -> LoopSchedule:
    (folder / "nest.cpp").write_text(source, encoding="utf-8")
    target = Target(part="xc7z020-clg484-1", clock_ns=10.0, version=version, kernel_flow=False)
    component = Component(top="nest", files=(folder / "nest.cpp",), target=target)
    (loop,) = schedule_component(component).loops
    return loop


@needs_llvm
@pytest.mark.parametrize(("rows", "columns", "depth"), [(8, 8, 3), (8, 24, 3), (8, 23, 5)])
def test_an_address_waits_for_the_choice_of_its_counters(
    tmp_path: Path, rows: int, columns: int, depth: int
) -> None:
    """3 is what Vitis HLS 2024.2 reports of an 8 x 8 copy on this part; 24 columns are a sum of two shifted
    values more, which the cycle of the choice has time for, 23 a product, for which 2022.1 takes 3 cycles."""
    loop = scheduled(tmp_path, SOURCE.format(rows=rows, columns=columns))
    assert (loop.likely, loop.depth) == (1, depth)


@needs_llvm
def test_one_loop_has_no_choice(tmp_path: Path) -> None:
    """2 is what it reports where one loop copies."""
    loop = scheduled(tmp_path, FLAT)
    assert (loop.likely, loop.depth) == (1, 2)


@needs_llvm
def test_earlier_releases_compare_before_they_choose(tmp_path: Path) -> None:
    compared = scheduled(tmp_path, SOURCE.format(rows=8, columns=8), "2022.2").operations
    ahead = scheduled(tmp_path, SOURCE.format(rows=8, columns=8)).operations
    assert sum(compared[one] for one in compared if one.startswith("icmp")) == 1 + sum(
        ahead[one] for one in ahead if one.startswith("icmp")
    )


@pytest.mark.parametrize(("version", "before"), [("2022.1.2", False), ("2024.1", False), ("2024.2", True)])
def test_from_which_release_on_it_compares_ahead(version: str, before: bool) -> None:
    assert compares_before(version) == before
