"""Types of the user's own in a network that brings types: of layers that are named, or of all sums.

before  conv1 gives fixed<8,4> -> pool1 gives fixed<8,4> -> conv2 gives fixed<8,3>
after   conv1 gives fixed<6,3> -> pool1 gives fixed<6,3> -> conv2 gives fixed<8,3>, its accumulator smaller

What gives a type by nature, as a pool does, follows what it reads; what the model's own quantiser gives
stays. Types are of a tensor's numbers: where the model has a scale that is no power of two, of its values
over that scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes, FixedType, NumberType, tight_accumulator
from hlsgen.base.quantise import nearest
from hlsgen.layers.affine import Affine
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.model.precision import Bits, LayerPrecision, Precision, saturating, whole_range

NOTHING = LayerPrecision()


@dataclass(frozen=True, kw_only=True)
class Overridden:
    """The graph after it. layers: those whose results are no longer the model's. scales: of these, where the
    model has scales beside the types: a value is a tensor's number times that.
    """

    graph: Graph
    layers: frozenset[str]
    scales: Mapping[str, float]


def override_types(graph: Graph, precision: Precision) -> Overridden:
    """`graph`, all fixed point, with what `precision` says of its layers and accumulators.

    Raises DesignError: a layer that there is not, one without weights, weights beyond their type.
    """
    named = _named(graph, precision.layers)
    types: dict[str, NumberType] = {port.name: port.tensor.type for port in graph.inputs}
    layers: list[Layer] = []
    altered: set[str] = set()
    for layer in graph.layers:
        given = named.get(layer.name, NOTHING)
        made = _with_types(layer, tuple(types[name] for name in layer.inputs), given)
        retyped = made.output_type != layer.output_type
        made = _with_accumulator(made, precision)
        if retyped or given.weights or given.bias or _narrowed(layer, made):
            altered.add(layer.name)
        types[layer.name] = made.output_type
        layers.append(made)
    scales = {one.source: float(np.abs(one.scale).max()) for one in graph.origins if not one.joined}
    return Overridden(
        graph=graph.with_layers(layers),
        layers=frozenset(altered),
        scales={name: scales[name] for name in sorted(altered) if scales.get(name, 1.0) != 1.0},
    )


def _narrowed(before: Layer, after: Layer) -> bool:
    """Whether an accumulator no longer holds every sum."""
    if not isinstance(before, Conv2d) or not isinstance(after, Conv2d):
        return False
    return before.accumulator_suffices() and not after.accumulator_suffices()


def _named(graph: Graph, wishes: Mapping[str, LayerPrecision]) -> dict[str, LayerPrecision]:
    """The wishes by layers of the graph. A layer of the model that is a part of another has that one's name
    for its results.
    """
    known = {one.name: one.source for one in graph.origins if not one.joined}
    names = [layer.name for layer in graph.layers]
    known |= dict(zip(names, names, strict=True))
    unknown = [name for name in wishes if known.get(name) not in names]
    if unknown:
        message = f"precision names {', '.join(unknown)}, which is no layer of {graph.name}"
        shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
        raise DesignError(Problem(message=message, fix=f"the layers are {shown}"))
    return {known[name]: one for name, one in wishes.items()}


def _with_types(layer: Layer, sources: tuple[NumberType, ...], given: LayerPrecision) -> Layer:
    """The layer with its own wishes, reading `sources`; itself where nothing changes."""
    old = tuple(tensor.type for tensor in layer.sources)
    weighted = _with_weights(layer, given)
    result = _result(layer, given)
    if weighted is layer and sources == old and result in (None, layer.output_type):
        return layer
    kept = layer.output_type if result is None and not _by_nature(layer, old) else result
    return weighted.retyped(sources, kept)


def _by_nature(layer: Layer, sources: tuple[NumberType, ...]) -> bool:
    """Whether its results have the type that follows from what it reads."""
    try:
        return layer.retyped(sources, None).output_type == layer.output_type
    except (AssertionError, ValueError, DesignError):  # none follows
        return False


def _result(layer: Layer, given: LayerPrecision) -> FixedType | None:
    """The type that is asked of the results; a width keeps the integer bits that they have."""
    wish, now = given.output, layer.output_type
    if wish is None:
        return None
    if isinstance(wish, FixedType):
        return saturating(wish)
    if isinstance(wish, Bits) and isinstance(now, FixedType):
        return saturating(FixedType(wish.width, now.integer, now.signed))
    message = f"precision says {wish} of it, and the network brings types in fixed point"
    raise DesignError(layer.problem(message, "a type such as fixed<8,3>, or a width"))


def _with_weights(layer: Layer, given: LayerPrecision) -> Layer:
    if given.input is not None:
        message = "precision says what it reads, which is the results of other layers"
        raise DesignError(layer.problem(message, "output: of the layer before it"))
    if given.weights is None and given.bias is None:
        return layer
    if not isinstance(layer, Conv2d):
        message = f"precision says the type of its weights, but a layer of kind {layer.kind} has none"
        raise DesignError(layer.problem(message, "output alone"))
    if given.weights is not None:
        values = _values(layer.weight_type, layer.weights)
        wish = given.weights
        type_ = whole_range(values, wish.width) if isinstance(wish, Bits) else saturating(wish)
        codes = nearest(values, type_, f"{layer.name}: weights", layer.place, narrow=True)
        layer = replace(layer, weight_type=type_, weights=codes)
    if given.bias is not None:
        values = _values(layer.bias_type, layer.bias)
        codes = nearest(values, saturating(given.bias), f"{layer.name}: bias", layer.place)
        layer = replace(layer, bias_type=saturating(given.bias), bias=codes)
    return layer


def _values(type_: NumberType, codes: Codes) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.asarray(type_.decode(codes), np.float64)


def _with_accumulator(layer: Layer, precision: Precision) -> Layer:
    """Sums as they are asked for; a scale is no sum. Fraction bits that no product has are left away."""
    wish = precision.accumulator
    if wish is None or not isinstance(layer, Conv2d) or isinstance(layer, Affine):
        return layer
    if isinstance(wish, FixedType):
        fraction = min(wish.fraction, layer.sum_fraction)
        type_ = replace(wish, width=wish.integer + fraction)
    elif wish == "exact":
        exact = layer.exact_accumulator()
        assert isinstance(exact, FixedType)
        type_ = exact
    else:
        type_ = tight_accumulator(*layer.worst_case_sum, layer.sum_fraction)
    if type_ == layer.accumulator:
        return layer
    # results that are the sums themselves have their type
    result = type_ if layer.result_type == layer.accumulator else layer.result_type
    return replace(layer, accumulator=type_, result_type=result)
