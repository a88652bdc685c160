"""Finds the reports of the vendor tools in a build folder and reads each by its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from hlsgen.errors import DesignError, Problem, collecting
from hlsgen.synthesis.cosim import read_cosim
from hlsgen.synthesis.csynth import read_csynth
from hlsgen.synthesis.report import SynthesisReport, refuse
from hlsgen.synthesis.utilisation import read_utilisation

MOST_FILES = 200_000


def reader_of(path: Path) -> Callable[[Path], SynthesisReport] | None:
    """What reads a file of this name; None if it is none of the reports that are known."""
    name = path.name
    if name.endswith("csynth.xml"):
        return read_csynth
    if name.endswith("_cosim.rpt"):
        return read_cosim
    if name.endswith(".rpt") and any(part in name for part in ("util", "synth")) and "csynth" not in name:
        return read_utilisation
    return None


def read_report(path: Path) -> SynthesisReport:
    """The report in a file. Raises DesignError: it is damaged, or no report that is known."""
    reader = reader_of(path)
    if reader is None:
        fix = "known are *csynth.xml, *_cosim.rpt, and .rpt files of report_utilization with `util` in their name"
        refuse(path, "is no report that hlsgen knows by its name", fix)
    return reader(path)


def find_reports(folder: Path) -> list[Path]:
    """The reports below a folder, in the order of their paths; links to folders are not followed.

    Of csynth's, csynth.xml counts, which has all functions, and beside it no other. Raises DesignError: there
    is no such folder, or it has too many files.
    """
    if not folder.is_dir():
        refuse(folder, "is no folder", "name a build folder, or the reports themselves")
    found: list[Path] = []
    seen = 0
    for where, folders, names in os.walk(folder):
        folders.sort()
        seen += len(names)
        if seen > MOST_FILES:
            refuse(folder, f"holds more than {MOST_FILES:,} files", "name the reports themselves")
        here = [Path(where) / name for name in sorted(names) if reader_of(Path(name)) is not None]
        if "csynth.xml" in names:
            here = [
                path for path in here if path.name == "csynth.xml" or not path.name.endswith("csynth.xml")
            ]
        found += here
    return found


def read_all(paths: Sequence[Path]) -> list[SynthesisReport]:
    """Every report. Raises DesignError with what is wrong with each of them."""
    problems: list[Problem] = []
    reports: list[SynthesisReport] = []
    for path in paths:
        with collecting(problems):
            reports.append(read_report(path))
    if problems:
        raise DesignError(problems)
    return reports
