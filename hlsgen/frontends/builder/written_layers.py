"""A design file's `layers` as a network's graph in floating point; a layer by itself is design_file.py's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Problem, collecting
from hlsgen.designfile import layer_sections as kinds
from hlsgen.designfile.document import Document
from hlsgen.designfile.layers_file import LayersFile
from hlsgen.designfile.schema_values import WeightFile, WeightSeed
from hlsgen.frontends.builder.builder import GraphBuilder, Value
from hlsgen.frontends.builder.design_file import MOST_WEIGHTS, by, zeros_around
from hlsgen.layers.crop import Crop
from hlsgen.layers.pad import Pad
from hlsgen.layers.rearrange import Rearrange
from hlsgen.model import samples
from hlsgen.model.ir import Graph

Floats = NDArray[np.float64]


def graph_of_layers(file: LayersFile, document: Document) -> Graph:
    """The graph; every tensor is [C, H, W]. Raises DesignError with the mistakes of all layers."""
    builder = GraphBuilder(file.name, channels_last=False)
    return _Reader(file, document, builder).graph()


class _Reader:
    """Makes the layers one after the other; a layer whose input could not be made is left out."""

    def __init__(self, file: LayersFile, document: Document, builder: GraphBuilder) -> None:
        self.file = file
        self.document = document
        self.builder = builder
        self.values: dict[str, Value] = {}
        self.problems: list[Problem] = []

    def graph(self) -> Graph:
        for index, one in enumerate(self.file.input):
            with collecting(self.problems), self.builder.at(one.name, self.document.place(("input", index))):
                self.values[one.name] = self.builder.input(one.name, one.shape)
        before = self.file.input[0].name
        for index, entry in enumerate(self.file.layers):
            names = entry.inputs or (before,)
            before = entry.name
            if all(name in self.values for name in names):
                with collecting(self.problems):
                    self.values[entry.name] = self.layer(index, entry, [self.values[name] for name in names])
        if self.problems:
            raise DesignError(self.problems)
        self.outputs()
        return self.builder.build()

    def outputs(self) -> None:
        """What no layer reads goes out, under its layer's name."""
        read = {self.file.input[0].name} if self.file.layers[0].inputs is None else set()
        for before, entry in zip((None, *self.file.layers), self.file.layers, strict=False):
            read.update(entry.inputs or ((before.name,) if before else ()))
        names = [entry.name for entry in self.file.layers if entry.name not in read]
        for name in names:
            self.builder.output("output" if len(names) == 1 else f"{name}_output", self.values[name])

    def layer(self, index: int, entry: kinds.Layer, values: list[Value]) -> Value:
        with self.builder.at(entry.name, self.document.place(("layers", index))):
            return _MAKERS[type(entry)](self, index, entry, *values)

    # layers with weights

    def conv2d(self, index: int, entry: kinds.Conv2dLayer, x: Value) -> Value:
        channels, height, width = x.shape
        if channels % entry.groups or entry.out_channels % entry.groups:
            groups = f"{entry.name}: {entry.groups} groups"
            message = f"{groups} do not divide {channels} input and {entry.out_channels} output channels"
            place = self.document.place(("layers", index, "groups"))
            raise DesignError(Problem(message=message, fix="a number that divides both", place=place))
        shape = (entry.out_channels, channels // entry.groups, *entry.kernel)
        weights, bias = self.numbers(index, entry, shape)
        return self.builder.conv2d(
            x,
            weights,
            bias,
            stride=entry.stride,
            padding=zeros_around(entry, height, width),
            dilation=entry.dilation,
            groups=entry.groups,
        )

    def dense(self, index: int, entry: kinds.DenseLayer, x: Value) -> Value:
        weights, bias = self.numbers(index, entry, (entry.out_channels, x.size))
        result = self.builder.dense(self.builder.flatten(x), weights, bias)
        return self.builder.reshape(result, (entry.out_channels, 1, 1))

    def numbers(
        self, index: int, entry: kinds.Conv2dLayer | kinds.DenseLayer, shape: tuple[int, ...]
    ) -> tuple[Floats, Floats | None]:
        """Weights of this shape and the bias, if there is one. Mistakes in their file: zeros."""
        place = self.document.place(("layers", index, "weights"))
        if math.prod(shape) > MOST_WEIGHTS:
            message = f"{by(shape)} are {math.prod(shape):,} weights, more than {MOST_WEIGHTS:,}"
            raise self.builder.refusal(message, "fewer channels, more groups, or a smaller kernel")
        if isinstance(entry.weights, WeightSeed):
            weights, bias = samples.random_weights(shape, entry.weights.seed)
        else:
            weights, bias = np.zeros(shape), np.zeros(shape[0])
            path = self.document.beside(entry.weights.path)
            with collecting(self.problems):
                of_bias = (shape[0],) if entry.bias else None
                weights, bias = samples.load_weights(path, entry.name, shape, of_bias, place)
        return weights, bias if entry.bias else None

    def affine(self, index: int, entry: kinds.AffineLayer, x: Value) -> Value:
        channels = x.shape[0]
        if isinstance(entry.weights, WeightFile):
            place = self.document.place(("layers", index, "weights"))
            path = self.document.beside(entry.weights.path)
            scale, shift = samples.load_weights(path, entry.name, (channels,), (channels,), place)
        elif isinstance(entry.weights, WeightSeed):
            generator = np.random.default_rng(entry.weights.seed)
            scale, shift = generator.uniform(0.5, 1.5, channels), generator.uniform(-0.5, 0.5, channels)
        else:
            scale = self.by_channel(index, "scale", entry.scale, channels)
            shift = self.by_channel(index, "shift", entry.shift, channels)
        return self.builder.affine(x, scale.reshape(-1, 1, 1), shift.reshape(-1, 1, 1))

    def by_channel(self, index: int, key: str, given: tuple[float, ...], channels: int) -> Floats:
        """The numbers of a key, [1] or [channels]. Raises DesignError: another number of them."""
        if len(given) not in (1, channels):
            message = f"{key} has {len(given)} numbers, but there are {channels} channels"
            place = self.document.place(("layers", index, key))
            raise DesignError(Problem(message=message, fix=f"one number, or {channels}", place=place))
        return np.asarray(given, np.float64)

    # layers that order elements

    def ordered(self, kind: Callable[..., Any], x: Value, **fields: Any) -> Value:
        source = self.builder.materialise(x)
        layer = self.builder.layer(kind, source, source=source.tensor, **fields)
        return Value.whole(layer.name, layer.output)

    def rearrange(self, entry: kinds.RearrangeLayer, x: Value) -> Value:
        if entry.upsample is not None:
            down, across = entry.upsample
            return self.builder.repeat(self.builder.repeat(x, 1, down), 2, across)
        if entry.depth_to_space is not None:
            self.divides(math.prod(entry.depth_to_space), x.shape[0], "channels")
            return self.builder.depth_to_space(x, entry.depth_to_space)
        if entry.space_to_depth is not None:
            for block, size, what in zip(entry.space_to_depth, x.shape[1:], ("rows", "columns"), strict=True):
                self.divides(block, size, what)
            return self.builder.space_to_depth(x, entry.space_to_depth)
        if entry.reshape is not None:
            return self.builder.reshape(x, entry.reshape)
        assert entry.axes is not None, "checked with the file's form"
        return self.ordered(Rearrange, x, axes=entry.axes, offset=entry.offset)

    def divides(self, block: int, size: int, what: str) -> None:
        if size % block:
            message = f"blocks of {block} do not divide {size} {what}"
            raise self.builder.refusal(message, f"a divisor of {size}")


def _leaky(reader: _Reader, index: int, entry: kinds.LeakyLayer, x: Value) -> Value:
    slopes = reader.by_channel(index, "slopes", entry.slopes, x.shape[0])
    return reader.builder.leaky(x, slopes.reshape(-1, 1, 1))


def _pool2d(reader: _Reader, index: int, entry: kinds.Pool2dLayer, x: Value) -> Value:
    fields = {key: getattr(entry, key) for key in _POOL_KEYS}
    return reader.builder.pool2d(x, entry.function, entry.kernel, **fields)


def _steps(reader: _Reader, index: int, entry: kinds.StepsLayer, x: Value) -> Value:
    return reader.builder.steps(x, entry.thresholds, entry.values)


_POOL_KEYS = ("stride", "padding", "overhang", "dilation", "count_include_pad", "divisor")
_MAKERS: Mapping[type[kinds.Layer], Callable[..., Value]] = {
    kinds.Conv2dLayer: _Reader.conv2d,
    kinds.DenseLayer: _Reader.dense,
    kinds.AffineLayer: _Reader.affine,
    kinds.Pool2dLayer: _pool2d,
    kinds.AdaptivePoolLayer: lambda reader, _, one, x: reader.builder.adaptive_pool(
        x, one.function, one.size
    ),
    kinds.GlobalPoolLayer: lambda reader, _, one, x: reader.builder.reduce(
        x, one.function, (1, 2), keep=True
    ),
    kinds.ClampLayer: lambda reader, _, one, x: reader.builder.clamp(x, one.low, one.high),
    kinds.LeakyLayer: _leaky,
    kinds.TableLayer: lambda reader, _, one, x: reader.builder.table(x, one.function, one.parameters),
    kinds.StepsLayer: _steps,
    kinds.SoftmaxLayer: lambda reader, _, one, x: reader.builder.softmax(x, 0),
    kinds.LogSoftmaxLayer: lambda reader, _, one, x: reader.builder.log_softmax(x, 0),
    kinds.ArgMaxLayer: lambda reader, _, one, x: reader.builder.argmax(x, 0, keep=True),
    kinds.AddLayer: lambda reader, _, one, x, y: reader.builder.add(x, y),
    kinds.SubLayer: lambda reader, _, one, x, y: reader.builder.sub(x, y),
    kinds.MulLayer: lambda reader, _, one, x, y: reader.builder.mul(x, y),
    kinds.ConcatLayer: lambda reader, _, one, *values: reader.builder.concat(values, one.axis),
    kinds.CropLayer: lambda reader, _, one, x: reader.ordered(
        Crop, x, begin=one.begin, size=one.size, step=one.step
    ),
    kinds.PadLayer: lambda reader, _, one, x: reader.ordered(
        Pad, x, padding=one.padding, channels=one.channels, value=one.value
    ),
    kinds.RearrangeLayer: lambda reader, _, one, x: reader.rearrange(one, x),
}
"""How each kind is made: of the reader, the entry's index, the entry and the values that it reads."""
