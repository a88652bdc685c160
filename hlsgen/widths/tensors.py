"""The tensors whose widths a search may choose: weights, what layers give, inputs without a type."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.model.precision import Bits, LayerPrecision, Precision
from hlsgen.passes import FIXED_PASSES, run_passes
from hlsgen.quantising.choose_types import choose_types
from hlsgen.quantising.value_ranges import ValueRanges

WIDEST = 16
"""Bits of what is not narrowed."""
TRIED = (7, 11)
"""Two widths: a tensor that has both, one after the other, has a width of its own."""


@dataclass(frozen=True, order=True)
class Variable:
    """A tensor of its own width: the weights or the results of the layer `name`, or the input `name`."""

    name: str
    part: Literal["weights", "output", "input"]

    def __str__(self) -> str:
        return f"{self.name} {self.part}" if self.part == "weights" else self.name


Widths = Mapping[Variable, int]


@dataclass(frozen=True, kw_only=True)
class Typing:
    """A network in floating point, what is fixed of its types, and the ranges of its tensors.

    own: the design's precision, whose input, accumulators and headroom stay. any_weights: as of
    `choose_types`.
    """

    reference: Graph
    own: Precision
    ranges: ValueRanges
    any_weights: Collection[str]

    def graph(self, precision: Precision) -> Graph:
        """The network with these types, after all passes."""
        return run_passes(self.unfused(precision), FIXED_PASSES)

    def unfused(self, precision: Precision) -> Graph:
        return choose_types(self.reference, precision, self.ranges, self.any_weights)

    def uniform(self, activations: int, weights: int) -> Precision:
        """One width for all activations, one for all weights."""
        return Precision(
            default=Bits(activations),
            weights=Bits(weights),
            input=self.own.input,
            accumulator=self.own.accumulator,
            headroom=self.own.headroom,
            balance=self.own.balance,
        )

    def precision(self, widths: Widths) -> Precision:
        """Each of these tensors as wide as that, every other one `WIDEST`."""
        base = self.uniform(WIDEST, WIDEST)
        layers: dict[str, LayerPrecision] = {}
        for one, bits in widths.items():
            if one.part == "input":
                base = replace(base, input=Bits(bits))
                continue
            known = layers.get(one.name, LayerPrecision())
            layers[one.name] = (
                replace(known, weights=Bits(bits))
                if one.part == "weights"
                else replace(known, output=Bits(bits))
            )
        return replace(base, layers=layers)


def variables(typing: Typing) -> list[Variable]:
    """The tensors that have a width of their own, in the order of computation."""
    first, second = (typing.unfused(typing.uniform(bits, WIDEST)) for bits in TRIED)
    found = []
    if typing.own.input is None:
        # all inputs have the one width that `precision: {input: ...}` says
        found.append(Variable(typing.reference.inputs[0].name, "input"))
    for layer, other in zip(first.layers, second.layers, strict=True):
        if isinstance(layer, Conv2d):
            found.append(Variable(layer.name, "weights"))
        own = (layer.output_type.width, other.output_type.width) == TRIED
        if own and not layer.only_selects:
            found.append(Variable(layer.name, "output"))
    return found


def source_of(graph: Graph, name: str, known: Collection[Variable]) -> Variable | None:
    """The variable that says how wide the tensor `name` is; None: an input whose type is given.

    What only moves or limits values has its source's width.
    """
    layers = {layer.name: layer for layer in graph.layers}
    while True:
        own = Variable(name, "output")
        if own in known:
            return own
        if name not in layers:
            given = [one for one in known if one.part == "input"]
            return given[0] if given else None
        name = layers[name].inputs[0]
