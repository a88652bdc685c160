"""A network in floating point becomes one in float32: its weights are rounded, its layers must have hardware.

before  conv1, weights 0.1 in float64 ... -> softmax1
after   conv1, weights 0.1f ...; softmax1 is refused
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes, FloatType
from hlsgen.layers.adaptive_pool import AdaptivePool
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.leaky import Leaky
from hlsgen.model.ir import Graph

SHARED_ONLY: tuple[type[Layer], ...] = (Leaky, AdaptivePool)
"""Layers that a shared processor computes in float32, and no kernel of their own does."""


def single_precision(graph: Graph, *, shared: bool = False) -> Graph:
    """`graph` with weights and biases that are float32. shared: a shared processor may compute it.

    Raises DesignError: layers without hardware for float32, or weights beyond its range.
    """
    problems = refused_by_kernels(graph)
    if shared:
        also = {layer.name for layer in graph.layers if isinstance(layer, SHARED_ONLY)}
        problems = [_refused(one) for one in graph.layers if not (one.computes_float32 or one.name in also)]
    if problems:
        raise DesignError(problems)
    return graph.with_layers(_rounded(layer) for layer in graph.layers)


def refused_by_kernels(graph: Graph) -> list[Problem]:
    """The layers that no kernel of their own computes in float32."""
    return [_refused(layer) for layer in graph.layers if not layer.computes_float32]


def _refused(layer: Layer) -> Problem:
    fix = "leave it to the host if it comes last, or a fixed-point precision"
    return layer.problem(f"a {layer.kind} has no hardware for float32", fix)


def _rounded(layer: Layer) -> Layer:
    if isinstance(layer, Leaky):
        return replace(layer, slopes=_encoded(layer, layer.slopes, "slopes"))
    if not isinstance(layer, Conv2d):
        return layer
    weights, bias = (_encoded(layer, values, "weights") for values in (layer.weights, layer.bias))
    return replace(layer, weights=weights, bias=bias)


def _encoded(layer: Layer, values: Codes, what: str) -> Codes:
    try:
        return FloatType().encode(values).astype(np.float32)
    except ValueError as error:
        raise DesignError(layer.problem(f"of its {what} {error}", f"{what} that a float32 holds")) from None
