"""The weights of another network in a kernel that stays as it is.

before  conv1 with weights 12 -3 ... of fixed<8,1>
after   conv1 with weights 7 41 ... of fixed<8,1>; types, accumulators and everything else as before
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes
from hlsgen.base.quantise import nearest
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph

OF_THE_WEIGHTS = frozenset({"weights", "bias", "weights_origin", "place"})
SIZED_BY_WEIGHTS = frozenset({"accumulator", "accumulator_wish"})
"""May differ between networks in fixed point: the first one's are kept, and checked."""


def same_structure(graph: Graph, other: Graph) -> None:
    """Raises DesignError unless `other` is `graph` but for weights and biases (and accumulators)."""
    ports = [(graph.inputs, other.inputs, "inputs"), (graph.outputs, other.outputs, "outputs")]
    problems = [
        Problem(
            message=f"{other.name} has other {what} than {graph.name}",
            fix="a network of the same structure and types",
        )
        for own, others, what in ports
        if own != others
    ]
    names, other_names = ([layer.name for layer in one.layers] for one in (graph, other))
    if names != other_names:
        strange = [name for name in other_names if name not in names] or other_names
        missing = [name for name in names if name not in other_names]
        message = (
            f"{other.name} has other layers than {graph.name}: {', '.join(strange[:5])} "
            f"instead of {', '.join(missing[:5]) or 'none'}"
        )
        problems.append(Problem(message=message, fix="a network of the same structure"))
    else:
        for layer, one in zip(graph.layers, other.layers, strict=True):
            problems += _differences(layer, one)
    if problems:
        raise DesignError(problems)


def _differences(layer: Layer, other: Layer) -> list[Problem]:
    fix = "a network of the same structure and types; build it again for this one"
    if type(layer) is not type(other):
        message = f"the other network has a layer of kind {other.kind} here, not {layer.kind}"
        return [layer.problem(message, fix)]
    ignored = {"place"}
    if isinstance(layer, Conv2d) and isinstance(other, Conv2d):
        ignored |= OF_THE_WEIGHTS | SIZED_BY_WEIGHTS
        if layer.weights.shape != other.weights.shape or layer.bias.shape != other.bias.shape:
            return [layer.problem("the other network has weights or biases of other sizes", fix)]
    found = []
    for field in fields(layer):
        mine, others = getattr(layer, field.name), getattr(other, field.name)
        if field.name in ignored or _equal(mine, others):
            continue
        shown = "" if isinstance(mine, np.ndarray) else f": {others} instead of {mine}"
        found.append(layer.problem(f"the other network has another {field.name}{shown}", fix))
    return found


def _equal(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(np.asarray(a), np.asarray(b))
    return a == b


def with_weights_of(graph: Graph, other: Graph, places: Mapping[str, WeightPlace]) -> Graph:
    """`graph` with the weights of `other`, which has its structure: values in floating point, or codes.

    Raises DesignError: a value leaves the range of its type, a sum could overflow an accumulator, weights
    differ that stand in the kernel's source.
    """
    by_name = {layer.name: layer for layer in other.layers}
    layers: list[Layer] = []
    problems: list[Problem] = []
    for layer in graph.layers:
        if isinstance(layer, Conv2d):
            given = by_name[layer.name]
            assert isinstance(given, Conv2d)
            try:
                layer = _reweighted(layer, given, places[layer.name])
            except DesignError as error:
                problems += error.problems
        layers.append(layer)
    if problems:
        raise DesignError(problems)
    return graph.with_layers(layers)


def _reweighted(layer: Conv2d, given: Conv2d, place: WeightPlace) -> Conv2d:
    weights, bias = _codes(layer, given)
    if place.place == "constant":
        if np.array_equal(weights, layer.weights) and np.array_equal(bias, layer.bias):
            return layer
        message = "its weights stand in the kernel's source, and the other network has different ones"
        raise DesignError(layer.problem(message, "mapping: {weights: runtime}, and build again"))
    fresh = replace(layer, weights=weights, bias=bias)
    if layer.is_float:
        return fresh
    # one that its own weights overflow was narrowed on purpose: golden wraps as the kernel does
    if layer.accumulator_suffices() and not fresh.accumulator_suffices():
        low, high = fresh.worst_case_sum
        step = 2.0**-layer.sum_fraction
        message = (
            f"sums of the other network's weights reach {low * step:g} to {high * step:g}, "
            f"beyond the accumulator {layer.accumulator} that was made for the first weights"
        )
        fix = "accumulator: exact, or mapping: {weights: runtime} without an accumulator, and build again"
        raise DesignError(layer.problem(message, fix))
    return fresh


def _codes(layer: Conv2d, given: Conv2d) -> tuple[Codes, Codes]:
    if not given.is_float:
        return given.weights, given.bias
    return (
        nearest(given.weights, layer.weight_type, f"{layer.name}: the other network's weights"),
        nearest(given.bias, layer.bias_type, f"{layer.name}: the other network's bias"),
    )
