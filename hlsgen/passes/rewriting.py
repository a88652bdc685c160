"""What passes that join two layers share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hlsgen.layers.base import Layer
from hlsgen.model.ir import Graph
from hlsgen.model.origins import Lineage


def merged(graph: Graph, joined: Callable[[Layer, Layer], Layer | None]) -> Graph:
    """`graph` with every pair of a layer and its only reader replaced by `joined(...)` of them, if not None.

    The joined layer keeps the first one's name, unless an output shows the second: then what is shown is the
    joined layer all the same. A chain of several is joined one after the other.
    """
    layers: dict[str, Layer] = {}
    renamed: dict[str, str] = {}
    lineage = Lineage(graph.origins)
    readers = graph.consumers()
    for layer in graph.layers:
        layer = replace(layer, inputs=tuple(renamed.get(source, source) for source in layer.inputs))
        before = layers.get(layer.inputs[0]) if len(layer.inputs) == 1 else None
        if before is not None and len(readers[before.name]) == 1:
            both = joined(before, layer)
            if both is not None:
                layers[before.name] = both
                renamed[layer.name] = before.name
                lineage.join(before.name, layer.name)
                readers[before.name] = readers[layer.name]
                continue
        layers[layer.name] = layer
    outputs = tuple(replace(port, source=renamed.get(port.source, port.source)) for port in graph.outputs)
    return replace(graph, outputs=outputs, origins=lineage.origins).with_layers(layers.values())
