"""A network in floating point becomes one in float32: its weights are rounded, its layers must have hardware.

before  conv1, weights 0.1 in float64 ... -> softmax1
after   conv1, weights 0.1f ...; softmax1 is refused
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import FloatType
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph


def single_precision(graph: Graph) -> Graph:
    """`graph` with weights and biases that are float32.

    Raises DesignError: layers without hardware for float32, or weights beyond its range.
    """
    problems = [_refused(layer) for layer in graph.layers if not layer.computes_float32]
    if problems:
        raise DesignError(problems)
    return graph.with_layers(_rounded(layer) for layer in graph.layers)


def _refused(layer: Layer) -> Problem:
    fix = "leave it to the host if it comes last, or a fixed-point precision"
    return layer.problem(f"a {layer.kind} has no hardware for float32", fix)


def _rounded(layer: Layer) -> Layer:
    if not isinstance(layer, Conv2d):
        return layer
    try:
        weights, bias = (FloatType().encode(values) for values in (layer.weights, layer.bias))
    except ValueError as error:
        raise DesignError(layer.problem(f"of its weights {error}", "weights that a float32 holds")) from None
    return replace(layer, weights=weights, bias=bias.astype(np.float32))
