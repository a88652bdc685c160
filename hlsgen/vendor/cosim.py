"""<top>_cosim.rpt: whether RTL co-simulation passed, and the cycles that it measured.

Its rows are `| Verilog| Pass| min| avg| max| min| avg| max|`, latency first, then interval; newer versions
add the total. A language that was not simulated has NA.
"""

from __future__ import annotations

import re
from pathlib import Path

from hlsgen.designfile.text_files import read_text, refuse
from hlsgen.designfile.validation import shown
from hlsgen.vendor.report import MOST, Range, Stage, SynthesisReport

WHOLE = "let co-simulation run again and name its <top>_cosim.rpt"
STATUS = {"Pass": True, "Fail": False}


def read_cosim(path: Path) -> SynthesisReport:
    """The report in a file. Raises DesignError: it is damaged, cut off, or no such report."""
    text = read_text(path)
    found = re.search(r"Cosimulation Report for '([^'\n]{1,500})'", text)
    if found is None:
        refuse(path, "is no co-simulation report: it does not say `Cosimulation Report for`", WHOLE)
    version = re.search(r"(?:Version: *|\bv)([0-9]{4}\.[0-9.]+)", text)
    number, line, cells = _simulated(path, text)
    if cells[1] not in STATUS:
        refuse(path, f"gives the status {shown(cells[1])}", f"{WHOLE}; known are Pass, Fail and NA", number)
    passed = STATUS[cells[1]]
    if passed and (len(cells) < 8 or not line.rstrip().endswith("|")):
        refuse(path, "ends within its table", WHOLE, number)
    return SynthesisReport(
        path=path,
        stage=Stage.COSIM,
        top=found.group(1),
        version=version.group(1) if version else "",
        latency=_range(path, cells[2:5], number),
        interval=_range(path, cells[5:8], number),
        passed=passed,
    )


def _simulated(path: Path, text: str) -> tuple[int, str, list[str]]:
    """The row of the language that was simulated: its number, the line, its cells."""
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[0] in ("Verilog", "VHDL") and len(cells) > 1 and cells[1] != "NA":
            rows.append((number, line, cells))
    if not rows:
        refuse(path, "has no row of a language that was simulated", WHOLE)
    return rows[0]


def _range(path: Path, cells: list[str], line: int) -> Range | None:
    """The fewest and the most of min, average and max; None where nothing was measured."""
    if len(cells) < 3 or "NA" in cells or "x" in cells:
        return None
    for cell in cells:
        if re.fullmatch("[0-9]{1,13}", cell) is None or int(cell) > MOST:
            refuse(path, f"gives {shown(cell)}, which is no count of cycles", WHOLE, line)
    return Range(low=int(cells[0]), high=int(cells[2]))
