"""A network in floating point becomes one in fixed point: a type for every tensor, codes for every weight,
for one target in decibels; search_types.py looks for the target.

before  conv1 float32, weights 0.12 ...
after   conv1 gives fixed<8,3,rnd,sat>, weights codes of fixed<8,0>, accumulator fixed<21,6>

What only a limit, a leaky slope or a change of type reads stays exact; of what only signs read the sign
stays; a tensor of a few known values has the type of these. Layers that move or select values keep
their source's type. Everything else gets the user's type, or one from the calibration data.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from hlsgen.base.coded import SIGN, code_type, fraction_bits
from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import (
    MAX_TENSOR_WIDTH,
    Codes,
    FixedType,
    FloatType,
    NumberType,
    Overflow,
    Rounding,
    tight_accumulator,
)
from hlsgen.base.floating import HALF
from hlsgen.base.quantise import nearest
from hlsgen.designfile.precision_grammar import KEYS
from hlsgen.designfile.validation import nearest as nearest_word
from hlsgen.layers.base import Layer
from hlsgen.layers.binary import Binary
from hlsgen.layers.cast import Cast
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.concat import Concat
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.softmax import ExponentialSum
from hlsgen.layers.steps import Steps
from hlsgen.layers.table import Table
from hlsgen.model.ir import Graph, Port
from hlsgen.model.precision import (
    START_DB,
    Bits,
    Floats,
    Precision,
    binade,
    saturating,
    to_nearest,
    whole_range,
)
from hlsgen.model.signs import asks_at_least_zero, asks_for_signs, read_alone_by
from hlsgen.passes.half_precision import in_half
from hlsgen.quantising.levels import levels_of
from hlsgen.quantising.value_ranges import ValueRanges, weight_fits

EXACT_READERS = (Clamp, Leaky, Cast)
WIDEST_BIAS = 48
SLOPE_BITS = 8
"""Bits of the slopes of leaky layers, at the least where no type is said: there are few of them."""
OTHER_BIASES = 4
"""How much larger the biases of other weights for the same kernel may be."""


def choose_types(
    graph: Graph,
    precision: Precision,
    ranges: ValueRanges | None,
    any_weights: Collection[str] = (),
) -> Graph:
    """`graph`, all float, with types and codes. `ranges`: what values it gives for some typical frames.

    any_weights: layers that other weights of the same types shall go into: their accumulators hold the sums
    of any weights, and their biases may be some times larger.

    Weights of one bit are -1 and 1 times a power of two.

    Raises DesignError: auto or widths of activations without calibration, a layer named that there is not, a
    type too narrow.
    """
    _check_names(graph, precision)
    if precision.by_frames and ranges is None:
        asked = "auto chooses types" if precision.default == "auto" else "with widths chooses their ranges"
        message = f"precision {asked} from calibration data, and none is given"
        fix = 'calibration=x with some typical frames, or a type such as precision="fixed<16,6>"'
        raise DesignError(Problem(message=message, fix=fix))
    return _Typing(graph, precision, ranges, any_weights).graph_of()


def _check_names(graph: Graph, precision: Precision) -> None:
    known = [layer.name for layer in graph.layers]
    unknown = [name for name in precision.layers if name not in known]
    if unknown:
        message = f"precision names {', '.join(unknown)}, which is no layer of {graph.name}"
        shown = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
        near = nearest_word(unknown[0], [*known, *KEYS])
        raise DesignError(Problem(message=message, fix=f"{near}the layers are {shown}"))


class _Typing:
    def __init__(
        self, graph: Graph, precision: Precision, ranges: ValueRanges | None, any_weights: Collection[str]
    ) -> None:
        self.any_weights = any_weights
        self.graph = graph
        self.precision = precision
        self.ranges = ranges
        self.target_db = START_DB if precision.target_db is None else precision.target_db
        self.types: dict[str, NumberType] = {}
        by_name = {layer.name: layer for layer in graph.layers}
        self.results = {_producer(port.source, by_name) for port in graph.outputs}
        self.levels = levels_of(graph)
        self.at_least_zero = read_alone_by(graph, asks_at_least_zero)
        self.signs = read_alone_by(graph, asks_for_signs)
        self.readers = {
            name: [by_name.get(reader) for reader, _ in readers]
            for name, readers in graph.consumers().items()
        }

    def graph_of(self) -> Graph:
        inputs: list[Port] = []
        for port in self.graph.inputs:
            given = self.precision.input
            type_ = self._activation(port.name) if given is None else self._given_input(port.name, given)
            self.types[port.name] = type_
            inputs.append(replace(port, tensor=replace(port.tensor, type=type_)))
        layers = []
        for layer in self.graph.layers:
            if self.precision.of(layer.name).output == HALF:
                self.types[layer.name] = HALF
                layers.append(in_half(layer, self._sources(layer), self._half_sums))
                continue
            wanted = self._result(layer)
            typed = self._typed(layer, wanted)
            if wanted is None and _width(typed) > MAX_TENSOR_WIDTH:
                # products of products: rounded as any other activation
                typed = self._typed(layer, self._activation(layer.name))
            assert isinstance(typed.output_type, FixedType)
            self.types[layer.name] = typed.output_type
            layers.append(typed)
        return replace(self.graph, inputs=tuple(inputs)).with_layers(layers)

    def _sources(self, layer: Layer) -> tuple[NumberType, ...]:
        return tuple(self.types[name] for name in layer.inputs)

    @property
    def _half_sums(self) -> FloatType:
        """The type in which layers in half add products up."""
        wished = self.precision.accumulator
        return wished if isinstance(wished, FloatType) else HALF

    def _given_input(self, name: str, given: FixedType | FloatType | Bits) -> NumberType:
        if isinstance(given, FloatType):
            return given
        return self._of_width(name, given) if isinstance(given, Bits) else to_nearest(given)

    def _default(self, name: str) -> FixedType | FloatType | Bits | Literal["auto"]:
        """What is asked of activations; where that is half of a layer in fixed point what it gives."""
        given = self.precision.of(name).output
        return given if self.precision.default == HALF and given is not None else self.precision.default

    def _activation(self, name: str) -> FixedType:
        default = self._default(name)
        if isinstance(default, FixedType):
            return saturating(default)
        if isinstance(default, Bits):
            return self._of_width(name, default)
        assert self.ranges is not None
        return self.ranges.tensor(name).of(self.target_db)

    def _of_width(self, name: str, bits: Bits) -> FixedType:
        """A tensor's type of that width, of the range that the frames ask for."""
        assert self.ranges is not None
        return self.ranges.tensor(name).of_width(bits.width)

    def _result(self, layer: Layer) -> FixedType | None:
        """The type of what `layer` gives; None: what it gives by nature."""
        given = self.precision.of(layer.name).output
        if given is None and layer.name in self.results:
            given = self.precision.output
        if given is not None:
            assert not isinstance(given, FloatType)
            return self._of_width(layer.name, given) if isinstance(given, Bits) else saturating(given)
        if layer.only_selects or (isinstance(layer, Steps) and set(layer.values) <= {0.0, 1.0}):
            return None  # a mask's zeros and ones are exact
        exact = self._exactly(layer)
        if exact is not None:
            return exact
        readers = self.readers[layer.name]
        if readers and all(map(self._reads_exactly, readers)):
            inexact = isinstance(layer, Concat | ExponentialSum | Table)
            return self._activation(layer.name) if inexact else None
        return self._activation(layer.name)

    def _exactly(self, layer: Layer) -> FixedType | None:
        """The few bits that hold all that is read of what `layer` gives; None: there are none."""
        if layer.name in self.levels:
            return _type_of_levels(self.levels[layer.name])
        if layer.name in self.at_least_zero:
            return SIGN  # rounded down and clipped, a number keeps its sign
        if layer.name in self.signs and isinstance(layer, Conv2d | Binary):
            fraction = _fraction(self._typed(layer, None))
            return FixedType(2, 2 - fraction, True, Rounding.TRN, Overflow.SAT_SYM)  # its last bit, clipped
        return None

    def _reads_exactly(self, reader: Layer | None) -> bool:
        """Whether exact results are made for a layer; what half is made of lies in DDR, and is as others."""
        return isinstance(reader, EXACT_READERS) and self.precision.of(reader.name).output != HALF

    def _typed(self, layer: Layer, result: FixedType | None) -> Layer:
        """`result`: the type of what it gives; None: what it gives by nature."""
        sources = self._sources(layer)
        if isinstance(layer, Conv2d):
            assert isinstance(sources[0], FixedType)
            return self._convolution(layer, sources[0], result)
        if isinstance(layer, Leaky):
            given = self.precision.of(layer.name).weights
            width = given.width if isinstance(given, Bits) else self._slope_width(layer)
            type_ = given if isinstance(given, FixedType) else _plain(whole_range(layer.slopes, width))
            codes = nearest(layer.slopes, type_, f"{layer.name}: slopes", layer.place)
            layer = replace(layer, slopes=codes, slope_type=type_)
        return layer.retyped(sources, result)

    def _slope_width(self, layer: Layer) -> int:
        default = self._default(layer.name)
        if isinstance(default, Bits):
            return max(default.width, SLOPE_BITS)
        return default.width if isinstance(default, FixedType) else SLOPE_BITS

    def _convolution(self, layer: Conv2d, source: FixedType, result: FixedType | None) -> Conv2d:
        given = self.precision.of(layer.name)
        values = layer.weights
        # a type that was chosen may clip rare outliers, one that was given must hold them all
        wished = given.weights or self.precision.weights
        if (wished or self._default(layer.name)) == Bits(1):
            weight, codes = signs_of(values)
        else:
            type_ = wished if isinstance(wished, FixedType) else self._weight_type(layer, values, wished)
            codes = nearest(values, type_, f"{layer.name}: weights", layer.place, narrow=True)
            weight = _plain(type_)
        biases = np.asarray(layer.bias, np.float64)
        room = OTHER_BIASES if layer.name in self.any_weights else 1
        bias = given.bias or _bias_type(source, weight, biases * room)
        bias_codes = nearest(biases, bias, f"{layer.name}: bias", layer.place)
        typed = replace(layer, weight_type=weight, weights=codes, bias_type=bias, bias=bias_codes)
        # retyped takes the accumulator that these weights need
        typed = typed.retyped((source,), result)
        return self._accumulator(typed, exact_result=result is None)

    def _weight_type(self, layer: Conv2d, values: Codes, wished: Bits | None) -> FixedType:
        default = wished or self._default(layer.name)
        if isinstance(default, FixedType):
            return whole_range(values, default.width)
        fits = weight_fits(layer) if self.ranges is None else self.ranges.weights(layer)
        return fits.of_width(default.width) if isinstance(default, Bits) else fits.of(self.target_db)

    def _accumulator(self, layer: Conv2d, *, exact_result: bool) -> Conv2d:
        constraints = self.precision.accumulator
        if constraints is None or isinstance(constraints, FloatType):
            constraints = "exact" if layer.name in self.any_weights else "tight"
        if constraints == "tight":
            return layer
        wide = layer.exact_accumulator() if constraints == "exact" else constraints
        return replace(layer, accumulator=wide, result_type=wide if exact_result else layer.result_type)


def signs_of(values: Codes) -> tuple[FixedType, Codes]:
    """Weights of one bit: -1 and 1 times the power of two with the least mean square error; 0 is as 1.

    A sum of squares (|w| - s)^2 is least for s = mean |w|, and of two powers of two for the nearer one. Their
    type has two bits, as no type has the codes -1 and 1 alone.
    """
    mean = float(np.mean(np.abs(values))) if values.size else 0.0
    power = binade(mean) if mean else 0
    power += mean > 1.5 * 2.0**power
    return FixedType(2, 2 + power), np.where(values < 0, -1, 1).astype(np.int8)


def _producer(name: str, layers: Mapping[str, Layer]) -> str:
    """The tensor that gives a tensor its type: what is only selected from it has the same."""
    while name in layers and layers[name].only_selects and len(layers[name].inputs) == 1:
        name = layers[name].inputs[0]
    return name


def _type_of_levels(levels: Collection[float]) -> FixedType:
    fraction = fraction_bits(list(levels))
    codes = [int(math.ldexp(level, fraction)) for level in levels]
    return code_type(min(codes), max(codes), fraction)


def _fraction(layer: Layer) -> int:
    assert isinstance(layer.output_type, FixedType)
    return layer.output_type.fraction


def _width(layer: Layer) -> int:
    assert isinstance(layer.output_type, FixedType)
    return layer.output_type.width


def _plain(type_: FixedType) -> FixedType:
    """Without modes: nothing is converted to the type of a weight in hardware."""
    return FixedType(type_.width, type_.integer, type_.signed)


def _bias_type(source: FixedType, weight: FixedType, values: Floats) -> FixedType:
    """A type on the products' grid, with the integer bits that the biases need; coarser if too wide."""
    fraction = source.fraction + weight.fraction
    largest = float(np.abs(values).max(initial=0.0))
    code = math.ceil(largest * 2.0**fraction) + 1
    type_ = tight_accumulator(-code, code, fraction)
    width = min(type_.width, WIDEST_BIAS, MAX_TENSOR_WIDTH)
    return FixedType(width, type_.integer)
