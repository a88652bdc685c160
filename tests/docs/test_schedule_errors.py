"""The errors that schedules state are those of docs/schedule.md."""

from __future__ import annotations

from hlsgen.report.schedule import SCHEDULE_NOTE
from hlsgen.schedule.measured_errors import HELD_OUT
from tests.support.places import ROOT


def test_the_stated_errors_are_the_held_out_row_of_the_docs() -> None:
    lines = (ROOT / "docs" / "schedule.md").read_text(encoding="utf-8").splitlines()

    def cells_of(name: str) -> list[str]:
        (row,) = (line for line in lines if line.startswith(f"| held out, {name} |"))
        return [cell.strip() for cell in row.split("|")]

    cells = cells_of("all")
    assert cells[2] == f"{HELD_OUT.loops}"
    assert f"({HELD_OUT.ii_decided} %)" in cells[3] and f"({HELD_OUT.ii_right} %)" in cells[4]
    assert f"({HELD_OUT.one_right} %)" in cells_of("II 1 is said")[4]
    assert f"({HELD_OUT.above_right} %)" in cells_of("a larger II is said")[4]
    assert cells[9] == f"{HELD_OUT.depth_median}, {HELD_OUT.depth_within_90}"
    assert cells[10] == f"{HELD_OUT.chain_ns_median:g}, {HELD_OUT.chain_ns_within_90:g}"
    assert str(HELD_OUT) in SCHEDULE_NOTE
