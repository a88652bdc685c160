"""An input comes in the order of axes in which its only reader wants it, without a stage that rearranges it.

before  x [3, 8, 8] -> rearrange1 gives [8, 3, 8] -> conv1
after   x [8, 3, 8], whose port knows the framework's order of axes -> conv1

Only an order of the port's axes: what mixes or drops elements keeps its rearrange, and so does one that an
output shows.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations

import numpy as np

from hlsgen.layers.rearrange import Rearrange
from hlsgen.model.ir import Graph, Port
from hlsgen.model.origins import Origin


def reorder_inputs(graph: Graph) -> Graph:
    """A permutation right behind an input costs nothing."""
    for port in graph.inputs:
        graph = _reordered(graph, port)
    return graph


def _reordered(graph: Graph, port: Port) -> Graph:
    """The graph without the one Rearrange that alone reads `port`, if the port itself can say the same."""
    readers = graph.consumers()[port.name]
    if len(readers) != 1 or readers[0][1] < 0:
        return graph
    layer = next(layer for layer in graph.layers if layer.name == readers[0][0])
    if not isinstance(layer, Rearrange) or any(out.source == layer.name for out in graph.outputs):
        return graph
    axes = _axes_of(port, layer)
    if axes is None:
        return graph
    fresh = replace(port, tensor=layer.output, axes=axes)
    layers = tuple(
        replace(other, inputs=tuple(port.name if name == layer.name else name for name in other.inputs))
        for other in graph.layers
        if other is not layer
    )
    inputs = tuple(fresh if other is port else other for other in graph.inputs)
    return replace(graph, inputs=inputs, layers=layers, origins=_origins(graph, port, layer))


def _origins(graph: Graph, port: Port, layer: Rearrange) -> tuple[Origin, ...]:
    """Those of what was rearranged are the input's; views of the input as it was are left out."""
    kept = (one for one in graph.origins if one.source != port.name)
    return tuple(replace(one, source=port.name) if one.source == layer.name else one for one in kept)


def _axes_of(port: Port, layer: Rearrange) -> tuple[int, int, int] | None:
    """The axes with which a port gives what `layer` makes of it; None: no port gives that."""
    if math.prod(layer.output_shape) != math.prod(port.shape):
        return None
    positions = np.arange(math.prod(port.shape))
    moved = layer.golden(port.to_tensor(positions.reshape(1, *port.shape)))[0]
    for axes in permutations((0, 1, 2)):
        if np.array_equal(moved.transpose(axes).reshape(-1), positions):
            return axes[0], axes[1], axes[2]
    return None
