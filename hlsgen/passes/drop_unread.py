"""Layers whose results reach no output go.

before  conv1 -> relu1 -> output y; conv1 -> sigmoid1
after   conv1 -> relu1 -> output y
"""

from __future__ import annotations

from dataclasses import replace

from hlsgen.model.ir import Graph


def drop_unread(graph: Graph) -> Graph:
    """The layers that an output needs, and the inputs as they are, read or not."""
    needed = {port.source for port in graph.outputs}
    for layer in reversed(graph.layers):
        if layer.name in needed:
            needed.update(layer.inputs)
    return replace(
        graph,
        layers=tuple(layer for layer in graph.layers if layer.name in needed),
        origins=tuple(one for one in graph.origins if one.source in needed),
    )
