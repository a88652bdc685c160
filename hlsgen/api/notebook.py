"""A design as a notebook shows it, before and after its hardware is chosen, and a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hlsgen.base.rates import rate_text
from hlsgen.report.notebook import Card
from hlsgen.report.page_graph import shape_text
from hlsgen.report.page_tables import Table
from hlsgen.report.processor import TASK_HEADS, task_cells
from hlsgen.report.program import program_line
from hlsgen.report.tiles import Tile, csim_tile
from hlsgen.styles.style import Style

if TYPE_CHECKING:
    from hlsgen.api.program import NetworkProgram

NOT_CHOSEN = "hardware not chosen yet: estimate() or build() does"


def design_card(style: Style[Any]) -> Card:
    """The graph of a design, its board, and its hardware if that is chosen already."""
    graph, hardware = style.graph, style.hardware_text
    rows = tuple(
        (one.name, one.kind, shape_text(one.output_shape), str(one.output_type), f"{one.macs:,}")
        for one in graph.layers
    )
    counted = (
        Tile(name="Layers", value=f"{len(graph.layers):,}", note="", kind="given"),
        Tile(name="Multiply-accumulates", value=f"{graph.macs:,}", note="a frame", kind="given"),
        Tile(
            name="Clock",
            value=f"{style.clock_mhz:g} MHz",
            note=f"{style.board.title}, a batch of {style.batch:,}",
            kind="given",
            width="double",
        ),
    )
    chosen = Tile(
        name="Hardware", value=hardware or "open", note="" if hardware else NOT_CHOSEN, width="wide"
    )
    ports = [[str(port) for port in ports] for ports in (graph.inputs, graph.outputs)]
    said = f"{', '.join(ports[0])} -> {', '.join(ports[1])}; from {style.source}"
    if style.calibration is not None:
        said += f"; {style.calibration}"
    return Card(
        title=f"{style.name} for {style.board.name}",
        about=said,
        tiles=(*counted, chosen),
        tables=(
            Table(
                title="Layers",
                head=("layer", "kind", "gives", "type", "multiply-accumulates"),
                rows=rows,
                numbers=(4,),
            ),
        ),
        open=1,
    )


def program_card(found: NetworkProgram) -> Card:
    """Another network's program on a built processor: its speed there, and what C-simulation showed."""
    figures = found.figures
    left = figures.left_to_host
    weights = f"{figures.weight_bytes / 1e6:,.1f} MB of weights beside"
    return Card(
        title=f"Program of {figures.design} for {figures.built_with}",
        about=program_line(figures),
        tiles=(
            Tile(
                name="Frames a second",
                value=rate_text(figures.frames_per_s),
                note=f"a round every {figures.round_cycles:,} cycles at {figures.clock_mhz:g} MHz",
            ),
            csim_tile(figures.csim),
            Tile(
                name="In the memory",
                value=f"{figures.memory_bytes / 1e6:,.1f} MB",
                note=f"{weights}, {figures.rounds:,} rounds a call",
            ),
        ),
        tables=(
            Table(
                title="Tasks", head=tuple(TASK_HEADS), rows=tuple(map(tuple, map(task_cells, figures.tasks)))
            ),
        ),
        warnings=(
            *figures.warnings,
            *((f"left to the host: {', '.join(left)}",) if left else ()),
        ),
        notes=(f"All of it: {found.folder / 'report.md'}",),
    )
