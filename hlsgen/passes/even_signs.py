"""Channels before a sign are brought to one size; only in a network that is not quantised yet.

before  conv1 (channels of weights up to 1e-8 and up to 3) -> sign
after   conv1 (all channels with weights from 0.5 to 1) -> sign

A sign is the same for any positive factor, so that each channel may have its own: a power of two, which
rounds nothing. Without it a type that all channels share gives those which training gave up (batch
normalisation with a scale near 0) no bits. Limits with 0 inside them decide no sign, and go.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from hlsgen.base.coded import Doubles
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.pool import Pool
from hlsgen.model.ir import Graph
from hlsgen.model.origins import Origin
from hlsgen.model.signs import asks_for_signs, read_alone_by

LARGEST_BIAS = 2.0**10
"""A larger bias beside weights of up to 1 makes these smaller: it decides the sign nearly alone."""


def even_signs(graph: Graph, kept: Collection[str] = ()) -> Graph:
    """Convolutions and scales that only signs read, of channels of one size. kept: layers that stay."""
    signs = read_alone_by(graph, asks_for_signs)
    factors: dict[str, Doubles] = {}
    origins, layers = graph.origins, []
    for layer in graph.layers:
        if isinstance(layer, Conv2d) and layer.name in signs - set(kept) and _limits_are_free(layer):
            made = factors[layer.name] = _factors(layer)
            origins = tuple(_moved(one, layer, made) for one in origins)
            bias = np.asarray(layer.bias, np.float64)
            layer = replace(
                layer,
                weights=np.asarray(layer.weights, np.float64) * made[:, None, None, None],
                bias=bias * made if bias.size else bias,
                low=None,
                high=None,
            )
        elif isinstance(layer, Pool) and layer.inputs[0] in factors and layer.name in signs:
            made = factors[layer.name] = factors[layer.inputs[0]]
            origins = tuple(_moved(one, layer, made) for one in origins)
        layers.append(layer)
    return replace(graph, origins=origins).with_layers(layers) if factors else graph


def _limits_are_free(layer: Conv2d) -> bool:
    return (layer.low is None or layer.low < 0) and (layer.high is None or layer.high > 0)


def _factors(layer: Conv2d) -> Doubles:
    """[M] powers of two, with which the largest weight of a channel is from 0.5 to 1; of zeros 1."""
    sizes = np.abs(layer.weights).max(axis=(1, 2, 3))
    if layer.bias.size:
        sizes = np.maximum(sizes, np.abs(layer.bias) / LARGEST_BIAS)
    return np.where(sizes > 0, np.exp2(-np.frexp(sizes)[1].astype(np.float64)), 1.0)


def _moved(origin: Origin, layer: Conv2d | Pool, factors: Doubles) -> Origin:
    """The framework's values are those of the graph without the factors, within the limits that went."""
    if origin.source != layer.name or origin.joined:
        return origin
    scale = np.broadcast_to(np.asarray(origin.scale), factors.shape) / factors
    limits = (layer.low, layer.high) if isinstance(layer, Conv2d) else (origin.low, origin.high)
    return replace(origin, scale=tuple(scale.tolist()), low=limits[0], high=limits[1])
