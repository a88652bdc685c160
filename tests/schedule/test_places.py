"""Places of loops, by the names that files have on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.kernels import schedule_component
from tests.support.schedule_ir import needs_llvm

pytestmark = needs_llvm
SOURCE = """
void tripled(int a[64]) {
    work: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        a[i] = a[i] * 3;
    }
}
"""
TARGET = Target(part="xc7z020-clg400-1", clock_ns=10.0, version="2023.2", kernel_flow=False)


@pytest.mark.parametrize("folder", ["plain", "quantifié", "畳み込み", "a b (1)"])
def test_a_file_is_named_as_it_is(tmp_path: Path, folder: str) -> None:
    file = tmp_path / folder / "tripled.cpp"
    file.parent.mkdir()
    file.write_text(SOURCE)
    (loop,) = schedule_component(Component(top="tripled", files=(file,), target=TARGET)).loops
    assert loop.place is not None and (loop.place.file, loop.place.line) == (str(file), 3)
    assert (loop.label, loop.likely) == ("work", 1)


def test_a_header_is_named_without_what_leads_nowhere(tmp_path: Path) -> None:
    """YaoTengqi/Prediction_Model_Accelerator includes ../include/helpers.hpp from src/."""
    for name in ("src", "include"):
        (tmp_path / name).mkdir()
    header, file = tmp_path / "include/tripled.h", tmp_path / "src/top.cpp"
    header.write_text(SOURCE)
    file.write_text('#include "../include/./tripled.h"\n')
    (loop,) = schedule_component(Component(top="tripled", files=(file,), target=TARGET)).loops
    assert loop.place is not None and loop.place.file == str(header)
    assert (loop.label, loop.target) == ("work", 1)
