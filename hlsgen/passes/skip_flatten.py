"""A dense layer reads an image as its stream comes, without a stage that makes a vector of it.

before  pool1 gives [16, 4, 4] -> fc_rearrange gives [256, 1, 1] -> fc
after   pool1 gives [16, 4, 4] -> fc

Row by row, the channels of a pixel together: so frontends flatten what a dense layer reads, its weights'
columns in that order. Another order keeps its rearrange, and so does one that other layers or outputs read.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hlsgen.layers.base import Layer
from hlsgen.layers.dense import Dense, in_stream_order
from hlsgen.layers.rearrange import Rearrange
from hlsgen.model.ir import Graph


def skip_flatten(graph: Graph) -> Graph:
    """Flattening costs nothing before a dense layer."""
    flattening = {
        layer.name: layer for layer in graph.layers if isinstance(layer, Rearrange) and _only_flattens(layer)
    }
    layers = [_reading_images(layer, flattening) for layer in graph.layers]
    read = {port.source for port in graph.outputs}.union(*(layer.inputs for layer in layers))
    return graph.with_layers(layer for layer in layers if layer.name not in flattening or layer.name in read)


def _only_flattens(layer: Rearrange) -> bool:
    """Whether it gives the elements of its source as one vector, in the order of the source's stream."""
    elements = np.arange(np.prod(layer.source.shape)).reshape(1, *layer.source.shape)
    flat = in_stream_order(elements)
    return layer.output_shape == flat.shape[1:] and bool((layer.golden(elements) == flat).all())


def _reading_images(layer: Layer, flattening: dict[str, Rearrange]) -> Layer:
    before = flattening.get(layer.inputs[0])
    if not isinstance(layer, Dense) or before is None:
        return layer
    return replace(layer, inputs=before.inputs, in_shape=before.source.shape)
