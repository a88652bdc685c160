"""The graph of a report as nodes and joins: what is written in the boxes and at the edges."""

from __future__ import annotations

from collections.abc import Sequence

from hlsgen.report.charts import RESOURCES, TITLES
from hlsgen.report.content import Report
from hlsgen.report.figures import Fifo, Layer
from hlsgen.report.graph_parts import PartedGraph, parted
from hlsgen.report.graph_picture import Join, Node, draw_graph
from hlsgen.report.structure import Port

MOST_TITLE, MOST_PORT_TITLE = 30, 22
"""Characters of a name and what stands in the corner beside it."""
MOST_LINE = 43
"""Characters of a line below it."""
DEEP_WORDS = 64
"""A FIFO of that many words makes a thick edge."""
UNBROKEN = "\N{NO-BREAK SPACE}"
"""Inside what a narrow column of a table shall not break."""


def graph_picture(report: Report) -> PartedGraph | None:
    """The picture of the graph; None: it is too large to be drawn."""
    slowest = max(layer.interval_cycles for layer in report.layers)
    nodes = [_port_node(f"in:{port.name}", port, "input") for port in report.graph.inputs]
    sources = {port.name: f"in:{port.name}" for port in report.graph.inputs}
    for layer in report.layers:
        sources[layer.name] = f"layer:{layer.name}"
        hot = len(report.layers) > 1 and layer.interval_cycles == slowest
        nodes.append(_layer_node(sources[layer.name], layer, hot=hot))
    nodes += [_port_node(f"out:{port.name}", port, "output") for port in report.graph.outputs]
    fifos = {fifo.name: fifo for fifo in report.fifos}
    joins = [
        _join(sources[edge.source], f"layer:{edge.to}", [fifos[name] for name in edge.fifos])
        for edge in report.graph.edges
    ]
    joins += [
        _join(sources[port.source], f"out:{port.name}", [fifos[name] for name in port.fifos])
        for port in report.graph.outputs
    ]
    drawn = draw_graph(nodes, joins)
    return None if drawn is None else parted(drawn)


def _layer_node(key: str, layer: Layer, *, hot: bool) -> Node:
    shape, folding = shape_text(layer.shape), folding_text(layer)
    kind = shortened(layer.kind, 14)
    cycles = f"{layer.interval_cycles:,} cycles"
    full = f"{layer.name} ({layer.kind}): gives {shape} of {layer.type}; {folding}; "
    full += f"{layer.macs:,} multiply-accumulates in {layer.interval_cycles:,} cycles a frame"
    full += "".join(f"; {TITLES[kind]} {getattr(layer, kind):,}" for kind in RESOURCES)
    return Node(
        key=key,
        title=shortened(layer.name, MOST_TITLE - len(kind)),
        full=full,
        corner=kind,
        lines=(
            (shortened(f"{shape}  {layer.type}", MOST_LINE), ""),
            (shortened(folding, MOST_LINE - len(cycles)), cycles),
        ),
        tone="bottleneck" if hot else "layer",
    )


def _port_node(key: str, port: Port, what: str) -> Node:
    text = f"{shape_text(port.shape)}  {port.type}"
    return Node(
        key=key,
        title=shortened(port.name, MOST_PORT_TITLE - len(what)),
        full=f"{what} {port.name}: {text}",
        corner=what,
        lines=((shortened(text, 34), ""),),
        tone="port",
    )


def _join(source: str, target: str, way: Sequence[Fifo]) -> Join:
    """The edge. way: the FIFOs from one to the other; none: through DDR."""
    if not way:
        return Join(source=source, target=target, title="through DDR")
    deepest = max(way, key=lambda fifo: fifo.depth)
    title = "; ".join(f"{fifo.name}: {fifo.depth:,} words of {fifo.lanes:,} x {fifo.type}" for fifo in way)
    return Join(
        source=source,
        target=target,
        label=f"{deepest.depth:,} × {deepest.lanes:,}",
        title=title,
        deep=deepest.depth >= DEEP_WORDS,
    )


def folding_text(layer: Layer) -> str:
    """The folding in a line: PX 1 · PE 2 · SIMD 1 · packed; of a convolution's kernel ROWS instead of PX."""
    folding = layer.folding
    sizes = [("PX", folding.px), ("ROWS", folding.rows), ("PE", folding.pe), ("SIMD", folding.simd)]
    parts = [f"{name}{UNBROKEN}{size}" for name, size in sizes if size is not None]
    if layer.macs:
        parts += [kind for kind in (folding.multipliers, folding.arithmetic, folding.algorithm) if kind]
    return " · ".join(parts)


def shape_text(shape: Sequence[int]) -> str:
    return f"{UNBROKEN}×{UNBROKEN}".join(map(str, shape))


def shortened(text: str, most: int) -> str:
    """The text with an ellipsis in the middle, if it is longer than `most` characters."""
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"
