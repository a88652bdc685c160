"""report.html: the report of a build as one page that needs nothing else, made from report.json.

Names and texts in it come from outside: the templates escape everything, the page has no script, and its
content security policy lets none run.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

from hlsgen.emit.environment import environment
from hlsgen.report.charts import (
    BarChart,
    accuracy_chart,
    cycles_chart,
    resource_charts,
    stall_chart,
    timeline_charts,
    usable_of,
)
from hlsgen.report.content import Report
from hlsgen.report.explored import Search, explored_line
from hlsgen.report.fit import fit_line
from hlsgen.report.frames import calibration_line, clipping_line
from hlsgen.report.front_picture import FrontPicture, draw_front
from hlsgen.report.graph_parts import PartedGraph
from hlsgen.report.interface import interface_text
from hlsgen.report.judge import judge_line
from hlsgen.report.mixture import mixture_note
from hlsgen.report.page_graph import DEEP_WORDS, graph_picture
from hlsgen.report.page_tables import (
    Table,
    bank_tables,
    cells_table,
    clipping_table,
    csim_table,
    difference_tables,
    fifo_tables,
    fit_table,
    front_table,
    instance_table,
    judge_tables,
    kernel_table,
    layer_tables,
    mixture_table,
    schedule_table,
    styles_table,
    term_table,
)
from hlsgen.report.profile_pictures import BinadePicture, range_pictures
from hlsgen.report.reading import read_report
from hlsgen.report.roofline import Roofline
from hlsgen.report.roofline_picture import RooflinePicture, draw_roofline
from hlsgen.report.schedule import CELLS_NOTE, SCHEDULE_NOTE, schedule_line
from hlsgen.report.tiles import Tile, tiles_of

PAGE = "report.html"
BANK_PICTURE = "banks.svg"
MOST_NAMED = 3
"""The most of the slowest layers that the text names."""
MOST_PICTURE_BYTES = 4 << 20


@dataclass(frozen=True, kw_only=True)
class Banks:
    """The section on banks. picture: banks.svg of the build folder in base 64; empty: there is none."""

    note: str
    picture: str
    tables: tuple[Table, ...]


@dataclass(frozen=True, kw_only=True)
class Page:
    """What the template shows; a part that a design has not is None or empty."""

    report: Report
    title: str
    about: str
    contents: tuple[tuple[str, str], ...]
    tiles: tuple[Tile, ...]
    graph: PartedGraph | None
    cycles: BarChart | None
    instance: Table | None
    kernels: Table | None
    resources: tuple[BarChart, ...]
    fit: Table
    terms: Table
    roofline: RooflinePicture | None
    styles: Table | None
    mixture: Table | None
    front: FrontPicture | None
    front_points: Table | None
    timeline: tuple[BarChart, ...]
    stalls: BarChart | None
    banks: Banks | None
    layers: tuple[Table, ...]
    fifos: tuple[Table, ...]
    accuracy: BarChart | None
    clipping: Table
    ranges: tuple[BinadePicture, ...]
    csim: Table
    judge: tuple[Table, ...]
    schedule: Table
    cells: Table
    synthesised: tuple[Table, ...]
    notes: dict[str, str]


def html_page(report: Report, bank_picture: bytes) -> str:
    """The page. bank_picture: banks.svg of the build, empty if none. The same content gives the same text."""
    shown = bank_picture if len(bank_picture) <= MOST_PICTURE_BYTES else b""
    page = page_of(report, shown)
    return environment(html=True).get_template("report/page.html.j2").render(page=page)


def html_report(report: Report, folder: Path) -> str:
    """The page of `report`. `folder`: the build, which may hold banks.svg."""
    return html_page(report, _picture_bytes(folder / BANK_PICTURE))


def html_of_build(folder: Path) -> str:
    """The page of a build folder as it is now. Raises DesignError: report.json is missing or damaged."""
    return html_report(read_report(folder), folder)


def _picture_bytes(path: Path) -> bytes:
    """The content of a picture, no more than tells that it is too large; empty if there is no such file."""
    if path.is_symlink() or not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(MOST_PICTURE_BYTES + 1)


def page_of(report: Report, bank_picture: bytes) -> Page:
    """The page's parts."""
    one_layer = report.cost.style == "layer"
    banks = None
    if report.banks is not None:
        picture = base64.b64encode(bank_picture).decode("ascii")
        banks = Banks(note=_banks_note(report), picture=picture, tables=bank_tables(report))
    accuracy = accuracy_chart(report) if report.quantisation else None
    return Page(
        report=report,
        title=f"{report.design} on {report.board_title}",
        about=f"{report.board_title} ({report.part}) at {report.clock_mhz:g} MHz, {_style(report)}; "
        f"clock: {report.clock.text}",
        contents=_contents(report),
        tiles=tiles_of(report),
        graph=graph_picture(report),
        cycles=None if one_layer else cycles_chart(report),
        instance=instance_table(report) if one_layer else None,
        kernels=kernel_table(report) if report.kernels else None,
        resources=resource_charts(report),
        fit=fit_table(report),
        terms=term_table(report),
        roofline=draw_roofline(report.roofline) if report.roofline else None,
        styles=styles_table(report.styles) if report.styles else None,
        mixture=mixture_table(report.mixture) if report.mixture else None,
        front=draw_front(report.explored, usable_of(report)) if report.explored else None,
        front_points=front_table(report.explored) if report.explored else None,
        timeline=timeline_charts(report),
        stalls=stall_chart(report.timing) if report.timing else None,
        banks=banks,
        layers=() if one_layer else layer_tables(report),
        fifos=fifo_tables(report) if report.fifos else (),
        accuracy=accuracy,
        clipping=clipping_table(report),
        ranges=range_pictures(report.ranges),
        csim=csim_table(report),
        judge=judge_tables(report),
        schedule=schedule_table(report),
        cells=cells_table(report),
        synthesised=difference_tables(report),
        notes=_notes(report),
    )


def _style(report: Report) -> str:
    count = len(report.layers)
    if report.mixture is not None:
        first = len(report.mixture.streaming)
        return f"{first} layers as a streaming kernel that feeds processors with the other {count - first}"
    return {
        "layer": "one layer as a kernel that is called",
        "tasks": f"{count} layers, each a kernel that is called",
        "dataflow": f"{count} layers, each a stage of one streaming kernel",
        "shared": f"{count} layers as a program of {len(report.tasks)} tasks for processors that they share",
    }[report.cost.style]


def _contents(report: Report) -> tuple[tuple[str, str], ...]:
    """The page's sections: (identity, name in the list at the top)."""
    sections = (
        ("graph", "Graph", True),
        ("cycles", "One instance" if report.cost.style == "layer" else "Cycles", True),
        ("roofline", "Roofline", report.roofline is not None),
        ("styles", "Styles", bool(report.styles)),
        ("mixture", "Streaming and shared", report.mixture is not None),
        ("front", "Search", report.explored is not None),
        ("resources", "Resources", True),
        ("timeline", "Time", True),
        ("banks", "Memory banks", report.banks is not None),
        ("layers", "Layers", report.cost.style != "layer"),
        ("fifos", "FIFOs", bool(report.fifos)),
        ("accuracy", "Accuracy", bool(report.quantisation)),
        ("clipping", "Clipped values", bool(report.clipping)),
        ("ranges", "Values and bits", bool(report.ranges)),
        ("csim", "C-simulation", True),
        ("judge", "Against the framework", report.judge is not None),
        ("schedule", "Schedule", report.schedule is not None),
        ("synthesised", "Synthesised", True),
    )
    return tuple((key, title) for key, title, there in sections if there)


def _banks_note(report: Report) -> str:
    banks = report.banks
    assert banks is not None
    return (
        f"Each iteration reads {banks.reads_per_iteration} elements of a channel. Element (slot, column) of "
        f"the {banks.slots} rows on chip lies in bank (column + offset[slot]) mod {banks.banks}; "
        f"{banks.proof}. Proven without conflict at all {banks.proven_anchors:,} positions that differ."
    )


def _slowest(report: Report) -> str:
    """The processes that take the most cycles a frame: conv1, conv2 and 3 more."""
    cycles = [(layer.name, layer.interval_cycles) for layer in report.layers]
    if report.cost.style == "dataflow":
        # elsewhere ports and converters are parts of the kernels, which are the layers
        cycles += [(joint.name, joint.interval_cycles) for joint in report.joints]
    most = max(count for _, count in cycles)
    names = [name for name, count in cycles if count == most]
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _ports_note(report: Report) -> str:
    if report.interface is None:
        return ""
    return " " + interface_text(report.interface)


def _notes(report: Report) -> dict[str, str]:
    """A sentence or two above the pictures, by section."""
    style = "mixed" if report.mixture is not None else report.cost.style
    edges = {
        "layer": "From DDR through the layer and back to DDR.",
        "tasks": "Each layer is a kernel; tensors between them go through DDR.",
        "shared": "Tasks run one after the other on the same processor; tensors between them go through DDR.",
        "mixed": "The first layers are stages of a streaming kernel, all at work at once; the others run one "
        "after the other on a processor, and their tensors go through DDR.",
        "dataflow": "At an edge: words of its deepest FIFO × elements of a word; thick from "
        f"{DEEP_WORDS} words on.",
    }
    slowest = _slowest(report)
    cycles = {
        "layer": "The folding, and what one instance takes.",
        "tasks": f"Kernels run in turn, so that their cycles add up; the most: {slowest}.",
        "shared": f"Tasks run in turn, so that their cycles add up; the most: {slowest}. A layer that is "
        "done with another one's task has none of its own.",
        "mixed": "The first layers work at once, so that the slowest of them sets their interval; the tasks "
        f"of the others run in turn, so that their cycles add up. The most: {slowest}.",
        "dataflow": f"All stages work at once, so that the slowest sets the interval: {slowest}.",
    }
    csim = report.csim
    checked = (
        "Skipped: nothing has been compared."
        if csim.verdict == "skipped"
        else f"{csim.equal:,} of {csim.compared:,} results of {csim.frames:,} frames "
        f"equal golden bit for bit; the largest difference is {csim.max_abs_error:g}."
    )
    return {
        "graph": edges[style] + _ports_note(report),
        "cycles": cycles[style],
        "mixture": mixture_note(report.mixture) if report.mixture else "",
        "resources": "A bar's end is what the platform leaves free; the mark is where the usable share ends. "
        f"LUT and FF are those of the routed design: {report.cost.routed.basis}. Terms: {report.cost.terms}.",
        "fit": f"The design {fit_line(report.fit)}.",
        "roofline": _roofline_note(report.roofline) if report.roofline else "",
        "front": _front_note(report.explored) if report.explored else "",
        "timeline": "First a call with one frame, in cycles, pale until the first output; then what "
        "processes wait for while frames follow each other."
        if style == "dataflow"
        else "A round, in cycles."
        if style == "shared"
        else "A call with one frame, in cycles.",
        "fifos": f"{len(report.fifos):,} FIFOs. A word is so many elements of a type.",
        "accuracy": _calibration_note(report),
        "clipping": _clipping_note(report),
        "csim": checked,
        "judge": _judge_note(report),
        "schedule": _schedule_note(report),
        "cells": CELLS_NOTE,
    }


def _judge_note(report: Report) -> str:
    line = "" if report.judge is None else judge_line(report.judge)
    return f"{line[:1].upper()}{line[1:]}."


def _schedule_note(report: Report) -> str:
    if report.schedule is None:
        return ""
    line = schedule_line(report.schedule)
    return f"{line[0].upper()}{line[1:]}. " + (SCHEDULE_NOTE if report.schedule.loops else "")


def _calibration_note(report: Report) -> str:
    line = calibration_line(report.calibration)
    return f" {line[0].upper()}{line[1:]}." if line else ""


def _clipping_note(report: Report) -> str:
    line = clipping_line(report.clipping)
    return f"Of the frames that were simulated, values that left the range of their type; {line}."


def _front_note(search: Search) -> str:
    return (
        f"This mapping is {explored_line(search)}. Each point: the instances of a kernel whose "
        "largest share of what may be used of the board is least at its interval."
    )


def _roofline_note(roof: Roofline) -> str:
    bound = "the DDR banks" if roof.attainable_gops < roof.ceilings[-1].gops else "the multipliers"
    share = roof.achieved_gops / roof.attainable_gops if roof.attainable_gops else 0.0
    return (
        f"{roof.achieved_gops:,.1f} of {roof.attainable_gops:,.1f} attainable G operations/s "
        f"({share:.0%}), which {bound} set. {roof.ops_per_byte:,.1f} operations a byte: "
        f"{roof.frame_bytes:,} bytes of DDR traffic a frame. DDR: {roof.ddr_basis}."
    )
