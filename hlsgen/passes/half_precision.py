"""A network in floating point becomes one in half: weights are rounded, every tensor is half.

before  conv1, weights 0.1 in float64 ... -> softmax1
after   conv1, weights 0.1 as half, sums in half or float32 ...; softmax1 is refused
"""

from __future__ import annotations

from dataclasses import replace

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import NumberType
from hlsgen.base.floating import HALF, FloatType
from hlsgen.layers.base import Layer
from hlsgen.layers.cast import Cast
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph


def in_half(layer: Layer, sources: tuple[NumberType, ...], sums: FloatType) -> Layer:
    """A layer in floating point that reads tensors of the types `sources` in half; a cast reads any.

    Raises DesignError: weights beyond its range.
    """
    if isinstance(layer, Cast):
        return layer.retyped(sources, HALF)
    assert all(one == HALF for one in sources), f"{layer.name} reads {sources}"
    return _in_half(layer, sums)


def half_precision(graph: Graph, sums: FloatType) -> Graph:
    """`graph` in half; sums: the type in which convolutions and dense layers add products up.

    Raises DesignError: layers without hardware for half, or weights beyond its range.
    """
    problems = without_half(graph)
    if problems:
        raise DesignError(problems)
    inputs = tuple(replace(port, tensor=replace(port.tensor, type=HALF)) for port in graph.inputs)
    return replace(graph, inputs=inputs).with_layers(_in_half(layer, sums) for layer in graph.layers)


def without_half(graph: Graph) -> list[Problem]:
    """The layers that no kernel of their own computes in half: those that none computes in float32."""
    return [
        layer.problem(
            f"a {layer.kind} has no hardware for half",
            f'fixed point for it: precision: {{default: half, {layer.name}: "fixed<16,6>"}}; or for all',
        )
        for layer in graph.layers
        if not layer.computes_float32
    ]


def _in_half(layer: Layer, sums: FloatType) -> Layer:
    if not isinstance(layer, Conv2d):
        return layer.retyped(tuple(HALF for _ in layer.sources), None)
    try:
        weights, bias = HALF.encode(layer.weights), HALF.encode(layer.bias)
    except ValueError as error:
        raise DesignError(layer.problem(f"of its weights {error}", "weights that a half holds")) from None
    return replace(
        layer,
        input_type=HALF,
        weight_type=HALF,
        bias_type=HALF,
        accumulator=sums,
        accumulator_wish=sums,
        result_type=HALF,
        weights=weights,
        bias=bias,
    )
