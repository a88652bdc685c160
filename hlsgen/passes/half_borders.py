"""Half and fixed point in one network: casts stand where a tensor goes from the one to the other.

before  conv1 (half by `precision`) -> conv2 (fixed<8,3>), all still in floating point
after   conv1 -> conv1_to_fixed (cast) -> conv2; the precision says the type of every cast

Layers that `precision` names compute as it says, others as its default; those that only move values compute
as what they read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import FixedType
from hlsgen.base.floating import FLOAT32, HALF
from hlsgen.layers.base import Layer
from hlsgen.layers.cast import Cast
from hlsgen.model.ir import Graph
from hlsgen.model.precision import Bits, LayerPrecision, Precision

Wish = FixedType | Bits | None


def half_borders(graph: Graph, precision: Precision) -> tuple[Graph, Precision]:
    """`graph`, all in float32, with casts, and `precision` with `output` half for all that is in half.

    Raises DesignError: layers without hardware for half, fixed-point weights of a layer in half, a layer in
    fixed point of which no type is said.
    """
    halves = _halves(graph, precision)
    problems = [one for layer in graph.layers for one in _problems(layer, precision, halves)]
    if problems:
        raise DesignError(problems)
    return _Borders(graph, precision, halves).found()


def _halves(graph: Graph, precision: Precision) -> Mapping[str, bool]:
    """Whether each tensor is in half, by its name."""
    default = precision.default == HALF
    found = {
        port.name: default if precision.input is None else precision.input == HALF for port in graph.inputs
    }
    for layer in graph.layers:
        given = precision.of(layer.name)
        if given.output is not None:
            found[layer.name] = given.output == HALF
        elif layer.only_selects and layer.computes_float32 and given == LayerPrecision():
            found[layer.name] = found[layer.inputs[0]]
        else:
            found[layer.name] = default
    return found


def _problems(layer: Layer, precision: Precision, halves: Mapping[str, bool]) -> list[Problem]:
    given = precision.of(layer.name)
    if not halves[layer.name]:
        return []
    if not layer.computes_float32:
        fix = f'fixed point: precision: {{{layer.name}: "fixed<16,6>"}}'
        return [layer.problem(f"a {layer.kind} has no hardware for half", fix)]
    if (given.weights, given.bias, given.input) == (None, None, None):
        return []
    fix = "no other key than output: half; or output: fixed<16,6>, for a layer in fixed point"
    return [layer.problem("it computes in half, and so its weights, bias and input are half", fix)]


class _Borders:
    def __init__(self, graph: Graph, precision: Precision, halves: Mapping[str, bool]) -> None:
        self.graph = graph
        self.precision = precision
        self.halves = halves
        self.tensors = graph.tensors()
        self.taken = set(self.tensors)
        self.casts: dict[tuple[str, bool, Wish], str] = {}
        self.types = {
            name: replace(precision.of(name), output=HALF)
            for name in (layer.name for layer in graph.layers)
            if halves[name]
        }
        self.layers: list[Layer] = []

    def found(self) -> tuple[Graph, Precision]:
        for layer in self.graph.layers:
            self.layers.append(replace(layer, inputs=tuple(self._read(layer, one) for one in layer.inputs)))
        halves = {port.name for port in self.graph.inputs if self.halves[port.name]}
        precision = replace(
            self.precision,
            input=HALF if halves else self.precision.input,
            layers={**self.precision.layers, **self.types},
        )
        return self.graph.with_layers(self.layers), precision

    def _read(self, layer: Layer, source: str) -> str:
        """What the layer reads in the place of `source`: that, or what it becomes."""
        half = self.halves[layer.name]
        if self.halves[source] == half:
            return source
        wish = None if half else self._wish(layer)
        name = self.casts.get((source, half, wish))
        if name is None:
            name = self.casts[source, half, wish] = self._name(f"{source}_to_{'half' if half else 'fixed'}")
            self.layers.append(
                Cast(
                    name=name,
                    inputs=(source,),
                    source=self.tensors[source],
                    result_type=FLOAT32,
                    place=layer.place,
                )
            )
            self.types[name] = LayerPrecision(output=HALF if half else wish)
        return name

    def _wish(self, layer: Layer) -> Wish:
        """The type that half becomes for a layer; None: as the other activations in fixed point. Where there
        are none it is as wide as what the layer gives, which may have quite another range: a softmax' scores.
        """
        given = self.precision.of(layer.name)
        if given.input is not None or self.precision.default != HALF:
            return given.input
        assert isinstance(given.output, FixedType | Bits), f"{layer.name} is in fixed point by its output"
        return Bits(given.output.width)

    def _name(self, wished: str) -> str:
        name, number = wished, 1
        while name in self.taken:
            number += 1
            name = f"{wished}{number}"
        self.taken.add(name)
        return name
