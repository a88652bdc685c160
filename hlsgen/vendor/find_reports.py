"""Finds the reports of the vendor tools in a build folder, and reads each of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hlsgen.base.errors import DesignError, Problem, collecting
from hlsgen.base.output import MARK
from hlsgen.designfile.text_files import read_text, refuse
from hlsgen.vendor.cosim import read_cosim
from hlsgen.vendor.csynth import read_csynth
from hlsgen.vendor.report import SynthesisReport
from hlsgen.vendor.utilisation import read_utilisation

MOST_FILES = 200_000
LINKING = "_x."
"""Begins the name of the folder that Vitis links in. Below it lie thousands of files: reports of all parts of
the platform and copies of others; what counts is in its folder `reports`."""


def is_report(name: str) -> bool:
    """Whether the vendor tools call a report so that `read_report` can read.

    Not those of a whole device: by SLR, and with the platform's own cells.
    """
    if name.endswith(("csynth.xml", "_cosim.rpt")):
        return True
    return name.endswith(".rpt") and "util" in name and "slr_util" not in name and "full_util" not in name


def read_report(path: Path) -> SynthesisReport:
    """The report in a file of any name. Raises DesignError: it is damaged, or no report that is known."""
    if path.suffix not in (".xml", ".rpt"):
        fix = "known are csynth.xml, *_cosim.rpt, and the .rpt files of report_utilization"
        refuse(path, "is no report that hlsgen knows: it ends in neither .xml nor .rpt", fix)
    if path.suffix == ".xml":
        return read_csynth(path)
    return (read_cosim if "Cosimulation Report" in read_text(path) else read_utilisation)(path)


def find_reports(folder: Path) -> list[Path]:
    """The reports below a folder, in the order of their paths; links to folders are not followed.

    Of csynth's, csynth.xml counts, which has all functions, and beside it no other. Another build below the
    folder keeps its own. Raises DesignError: there is no such folder, or it has too many files.
    """
    if not folder.is_dir():
        refuse(folder, "is no folder", "name a build folder, or the reports themselves")
    found: list[Path] = []
    seen = 0
    for where, folders, names in os.walk(folder):
        if MARK in names and Path(where) != folder:
            folders.clear()
            continue
        if Path(where).name.startswith(LINKING):
            folders[:] = [name for name in folders if name == "reports"]
        folders.sort()
        seen += len(names)
        if seen > MOST_FILES:
            refuse(folder, f"holds more than {MOST_FILES:,} files", "name the reports themselves")
        here = [Path(where) / name for name in sorted(names) if is_report(name)]
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
