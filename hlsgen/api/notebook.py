"""A design as a notebook shows it, before and after its hardware is chosen."""

from __future__ import annotations

from typing import Any

from hlsgen.report.notebook import Card
from hlsgen.report.page_graph import shape_text
from hlsgen.report.page_tables import Table
from hlsgen.report.tiles import Tile
from hlsgen.styles.style import Style

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
