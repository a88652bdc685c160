"""The pragmas that csynth obeyed, as csynth.rpt lists them from 2021.2 on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hlsgen.designfile.text_files import read_text
from hlsgen.vendor.schedule_report import SourcePlace
from hlsgen.vendor.tables import tables

HEAD = ("Type", "Options", "Location")
_LOCATION = re.compile(r"(.*):(\d{1,7}) in (\S+?)(?:,.*)?")


@dataclass(frozen=True, kw_only=True)
class ReportedPragma:
    """A pragma or a directive of a script. name: `pipeline`; options: its words as written, in any order."""

    name: str
    options: frozenset[str]
    place: SourcePlace
    function: str


def read_pragmas(path: Path) -> Iterator[ReportedPragma]:
    """The pragmas of valid syntax. Raises DesignError: the report cannot be read."""
    text = read_text(path)
    begin = text.find("* Valid Pragma Syntax")
    if begin < 0:
        return
    table = next(tables(path, text[begin:]), None)
    if table is None or table.head != HEAD:
        return
    for row in table.rows:
        place = _LOCATION.fullmatch(row.cells[2]) if len(row.cells) == len(HEAD) else None
        if place:
            yield ReportedPragma(
                name=row.cells[0].lower(),
                options=frozenset(row.cells[1].split()),
                place=SourcePlace(file=place[1], line=int(place[2])),
                function=place[3],
            )
