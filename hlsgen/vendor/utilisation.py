"""Reports of what is used: report_utilization of Vivado, flat or hierarchical, and of Vitis' link.

Flat ones name sites (CLB LUTs, or Slice LUTs on 7 series) with the columns Used and Available; from 2021 on
there is a column Prohibited more. Block RAM tiles are of 36 Kbit, two BRAM18 each.
"""

from __future__ import annotations

import re
from pathlib import Path

from hlsgen.designfile.text_files import read_text, refuse
from hlsgen.vendor.report import Module, Stage, SynthesisReport
from hlsgen.vendor.tables import Row, TextTable, count_in, header_value, tables

SITES = {
    "CLB LUTs": ("lut", 1),
    "Slice LUTs": ("lut", 1),
    "CLB Registers": ("ff", 1),
    "Slice Registers": ("ff", 1),
    "Block RAM Tile": ("bram18", 2),
    "URAM": ("uram", 1),
    "DSPs": ("dsp", 1),
}
HIERARCHY = {
    "Total LUTs": ("lut", 1),
    "FFs": ("ff", 1),
    "RAMB36": ("bram18", 2),
    "RAMB18": ("bram18", 1),
    "URAM": ("uram", 1),
    "DSP Blocks": ("dsp", 1),
    "DSP48 Blocks": ("dsp", 1),
}
LINK = {
    "LUT": ("lut", 1),
    "REG": ("ff", 1),
    "BRAM": ("bram18", 2),
    "URAM": ("uram", 1),
    "DSP": ("dsp", 1),
}
"""Columns: what they are, and in how many of our units."""
WHOLE = "let Vivado write the report again, and copy the whole file"


def read_utilisation(path: Path) -> SynthesisReport:
    """The report in a file. Raises DesignError: it is damaged, cut off, or no such report."""
    text = read_text(path)
    command = header_value(text, "Command")
    found = list(tables(path, text))
    if "report_accelerator_utilization" in command:
        resources, available, modules = _link(path, found)
    elif any("Instance" in table.head for table in found):
        resources, modules = _hierarchy(path, found)
        available = {}
    elif "report_utilization" in command or any("Site Type" in table.head for table in found):
        (resources, available), modules = _flat(path, found), ()
    else:
        refuse(path, "is no utilisation report of Vivado or Vitis", WHOLE)
    return SynthesisReport(
        path=path,
        stage=_stage(text, command),
        top=header_value(text, "Design"),
        version=_version(text),
        part=header_value(text, "Device"),
        resources=resources,
        available=available,
        modules=modules,
    )


def _stage(text: str, command: str) -> Stage:
    """Routed if the report says so, by its state or its file's name; else synthesised at best."""
    state = header_value(text, "Design State")
    routed = "routed" in state.lower() or "postroute" in state.lower().replace(" ", "")
    return Stage.ROUTED if routed or (not state and "_routed" in command) else Stage.SYNTHESISED


def _version(text: str) -> str:
    found = re.search(r"v\.?([0-9]{4}\.[0-9.]+)", header_value(text, "Tool Version"))
    return found.group(1) if found else ""


def _flat(path: Path, found: list[TextTable]) -> tuple[dict[str, float], dict[str, float]]:
    """What is used, and what there is."""
    used: dict[str, float] = {}
    available: dict[str, float] = {}
    for table in found:
        column, limit = table.column("Used"), table.column("Available")
        if column is None or limit is None or table.column("Site Type") != 0:
            continue
        for row in table.rows:
            name = row.cells[0].rstrip("*")
            if name in SITES:
                kind, units = SITES[name]
                used[kind] = units * count_in(path, row, column, name)
                if limit < len(row.cells) and row.cells[limit]:
                    available[kind] = units * count_in(path, row, limit, name)
        _check_closed(path, table)
    _check_complete(path, used)
    return {**{"uram": 0.0}, **used}, available


def _hierarchy(path: Path, found: list[TextTable]) -> tuple[dict[str, float], tuple[Module, ...]]:
    """The whole, which is the first row, and each instance below it."""
    (table,) = [one for one in found if "Instance" in one.head][:1]
    _check_closed(path, table)
    modules = [
        Module(name=row.cells[0], resources=_counts(path, table, row, HIERARCHY)) for row in table.rows
    ]
    if not modules:
        refuse(path, "lists no instance", WHOLE)
    whole = dict(modules[0].resources)
    _check_complete(path, whole)
    return {**{"uram": 0.0}, **whole}, tuple(modules[1:])


def _link(
    path: Path, found: list[TextTable]
) -> tuple[dict[str, float], dict[str, float], tuple[Module, ...]]:
    """What all kernels use, what they may use, and each kernel and compute unit."""
    picked = [one for one in found if one.column("Name") == 0 and "LUT" in one.head]
    if not picked:
        refuse(path, "has no table of kernels", WHOLE)
    table = picked[0]
    _check_closed(path, table)
    rows = {row.cells[0]: row for row in table.rows}
    for name in ("Used Resources", "User Budget"):
        if name not in rows:
            refuse(path, f"has no row {name}", WHOLE)
    used = _counts(path, table, rows["Used Resources"], LINK)
    _check_complete(path, used)
    others = ("Platform", "User Budget", "Used Resources", "Unused Resources")
    modules = [
        Module(name=name, resources=_counts(path, table, row, LINK))
        for name, row in rows.items()
        if name not in others
    ]
    return {**{"uram": 0.0}, **used}, _counts(path, table, rows["User Budget"], LINK), tuple(modules)


def _counts(path: Path, table: TextTable, row: Row, columns: dict[str, tuple[str, int]]) -> dict[str, float]:
    """A row's resources by the titles of their columns; "[URAM]" is a URAM column too."""
    found: dict[str, float] = {}
    for index, title in enumerate(table.head):
        kind, units = columns.get(title.strip("[]"), ("", 0))
        if kind:
            found[kind] = found.get(kind, 0.0) + units * count_in(path, row, index, title)
    return found


def _check_closed(path: Path, table: TextTable) -> None:
    if not table.closed:
        line = table.rows[-1].line if table.rows else None
        refuse(path, "ends within a table", WHOLE, line)


def _check_complete(path: Path, used: dict[str, float]) -> None:
    lacking = [kind for kind in ("lut", "ff", "bram18", "dsp") if kind not in used]
    if lacking:
        message = f"states no {', '.join(lacking).upper()}: it is cut off, or another kind of report"
        refuse(path, message, WHOLE)
