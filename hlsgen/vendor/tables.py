"""Tables of the text reports of Vivado and Vitis: lines of cells between bars, ruled with + and -."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hlsgen.designfile.text_files import refuse
from hlsgen.designfile.validation import shown
from hlsgen.vendor.report import MOST

MOST_LINES = 200_000


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row. line: from 1. indent: of the first cell, which says what it is a part of."""

    line: int
    cells: tuple[str, ...]
    indent: int


@dataclass(frozen=True, kw_only=True)
class TextTable:
    """A table of text. head: its column titles; rows without it."""

    head: tuple[str, ...]
    rows: tuple[Row, ...]
    closed: bool
    """Whether its last rule is there; without it the report was cut off."""

    def column(self, *titles: str) -> int | None:
        """The column that has one of these titles."""
        return next((self.head.index(title) for title in titles if title in self.head), None)


def header_value(text: str, name: str) -> str:
    """What follows `| Name   :` in a report's head; empty if it is not there."""
    found = re.search(rf"^\| {re.escape(name)} *: *(.*?) *$", text, flags=re.MULTILINE)
    return found.group(1) if found else ""


def tables(path: Path, text: str) -> Iterator[TextTable]:
    """Every table that has a head, in order. Raises DesignError: too many lines."""
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        refuse(path, f"has more than {MOST_LINES:,} lines", "name the report of one design")
    rows: list[Row] = []
    rules = 0
    for number, line in enumerate([*lines, ""], start=1):
        stripped = line.strip()
        if re.fullmatch(r"\+[-+]+\+?", stripped):
            rules += 1
            if rules == 3:
                yield _table(rows, closed=True)
                rows, rules = [], 0
        elif rules and stripped.startswith("|") and stripped.endswith("|"):
            first = stripped[1:].split("|")[0]
            cells = tuple(cell.strip() for cell in stripped[1:-1].split("|"))
            rows.append(Row(line=number, cells=cells, indent=len(first) - len(first.lstrip())))
        elif rules:
            if len(rows) > 1:
                yield _table(rows, closed=False)
            rows, rules = [], 0


def _table(rows: list[Row], *, closed: bool) -> TextTable:
    return TextTable(head=rows[0].cells if rows else (), rows=tuple(rows[1:]), closed=closed)


def count_in(path: Path, row: Row, column: int, name: str) -> float:
    """A count, such as 4377, 12.5 or "4377 [  7.80%]". Raises DesignError: it is none."""
    text = row.cells[column] if column < len(row.cells) else ""
    found = re.fullmatch(r"([0-9]{1,13}(?:\.[0-9]{1,3})?)(?: *(?:\[ *[0-9.<]+%\]|\([ 0-9.<]+%\)))?", text)
    if found is None or float(found.group(1)) > MOST:
        fix = "copy the whole report as the vendor tool wrote it"
        refuse(path, f"says {name} is {shown(text)}, which is no count", fix, row.line)
    return float(found.group(1))
