"""The accumulator of each layer as the design wishes it.

before  conv1: accumulator fixed<41,17> (exact), wish tight
after   conv1: accumulator fixed<37,13>: no sum of these weights with any input overflows it
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType, FloatType, tight_accumulator
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph


def size_accumulators(graph: Graph) -> Graph:
    """exact: as the frontend made it; tight: from the weights; a type: that one, narrowed on purpose."""
    return graph.with_layers(tuple(_sized(layer) for layer in graph.layers))


def for_any_weights(graph: Graph, names: Collection[str]) -> Graph:
    """The layers of `names` with accumulators that no weights of their types overflow.

    before  conv1: accumulator fixed<19,7>, enough for its weights
    after   conv1: accumulator fixed<21,9>, enough for any
    """
    return graph.with_layers(
        replace(layer, accumulator=layer.exact_accumulator())
        if isinstance(layer, Conv2d) and layer.name in names and layer.accumulator_suffices()
        else layer
        for layer in graph.layers
    )


def _sized(layer: Layer) -> Layer:
    if not isinstance(layer, Conv2d) or layer.accumulator_wish == "exact" or layer.is_float:
        return layer
    if layer.accumulator_wish == "tight":
        low, high = layer.worst_case_sum
        return replace(layer, accumulator=tight_accumulator(low, high, layer.sum_fraction))
    wanted = layer.accumulator_wish
    assert isinstance(wanted, FixedType | FloatType)
    if isinstance(wanted, FixedType) and wanted.fraction > layer.sum_fraction:
        raise DesignError(
            layer.problem(
                f"accumulator: {wanted} has {wanted.fraction} fraction bits; "
                f"products have only {layer.sum_fraction}",
                f"at most {layer.sum_fraction} fraction bits, or accumulator: exact",
            )
        )
    return replace(layer, accumulator=wanted)
