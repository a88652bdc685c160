"""The graph that every stage works on: ports, layers, and the rules that hold between passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes, FixedType, NumberType
from hlsgen.base.overflow_count import OverflowCount, counting_overflow
from hlsgen.base.short_repr import Brief, lines, some
from hlsgen.layers.base import Layer, Shape, Tensor
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.origins import Origin

__all__ = ["Golden", "Graph", "Port", "Tensor", "counted_golden", "run_golden", "verify"]


@dataclass(frozen=True, kw_only=True)
class Port:
    """An input or an output of the graph, and how the framework lays it out.

    source: for an output the layer (or input) that it shows; for an input its own name.
    shape: the framework's shape without the batch; axes: the order in which the framework has the tensor's
    (channel, row, column), so that framework array = tensor.transpose(axes).reshape(shape).
    scale: a value of the framework is the tensor's value times `scale` (quantised ONNX models; else 1).
    in_float32: the framework rounds values to float32, and what it divides by `scale`, before its quantizer
    sees them. zero: a zero point that it adds then, so that float32 rounds once more and ties may fall
    elsewhere, and subtracts from the integers that it gets. ceil: its quantizer rounds up; no type does.
    own: its type is the model's own quantizer, which clips as its author meant it to.
    fed: of an input of a program: a kernel on the board writes it, which moves no columns on the way; it
    lies at the beginning of the memory.
    odd: a value between two codes becomes the odd one of them, so that quantizers that read the tensor, with
    two fraction bits less or fewer, see on which side of a tie it was.
    """

    name: str
    source: str
    tensor: Tensor
    shape: tuple[int, ...]
    axes: tuple[int, int, int] = (0, 1, 2)
    scale: float = 1.0
    in_float32: bool = False
    zero: int = 0
    ceil: bool = False
    odd: bool = False
    own: bool = False
    fed: bool = False

    def __post_init__(self) -> None:
        assert math.prod(self.shape) == math.prod(self.tensor.shape), "a port keeps the number of elements"

    def __str__(self) -> str:
        """x 3 x 32 x 32 of fixed<8,1>"""
        return f"{self.name} {' x '.join(map(str, self.shape))} of {self.tensor.type}"

    @classmethod
    def of(cls, name: str, tensor: Tensor, source: str | None = None) -> Port:
        """A port whose framework layout is the tensor's own, [C, H, W]."""
        return cls(name=name, source=source or name, tensor=tensor, shape=tensor.shape)

    def to_tensor(self, array: Codes) -> Codes:
        """[frames, *shape] in the framework's layout -> [frames, C, H, W]."""
        transposed = tuple(self.tensor.shape[axis] for axis in self.axes)
        back = np.argsort(self.axes)
        frames = np.asarray(array).reshape(-1, *transposed)
        return frames.transpose(0, *(1 + back))

    def from_tensor(self, array: Codes) -> Codes:
        """[frames, C, H, W] -> [frames, *shape] in the framework's layout."""
        turned = np.asarray(array).transpose(0, *(1 + axis for axis in self.axes))
        return turned.reshape(-1, *self.shape)


@dataclass(frozen=True, kw_only=True)
class Graph(Brief):
    """Layers in an order of computation: each reads inputs of the graph or layers before it.

    origins: the framework's own tensors, in the order in which it computes them; empty: it has none.
    """

    name: str
    inputs: tuple[Port, ...]
    layers: tuple[Layer, ...]
    outputs: tuple[Port, ...]
    origins: tuple[Origin, ...] = ()

    def __repr__(self) -> str:
        return lines(
            f"{type(self).__name__} {self.name}: {self.size}",
            f"from {some([str(port) for port in self.inputs])}",
            f"to {some([str(port) for port in self.outputs])}",
            f"layers {some([layer.name for layer in self.layers])}",
        )

    @classmethod
    def chain(cls, name: str, source: Tensor, layers: tuple[Layer, ...]) -> Graph:
        """A graph with one input, called input, and one output, that of the last layer."""
        last = layers[-1]
        return cls(
            name=name,
            inputs=(Port.of("input", source),),
            layers=layers,
            outputs=(Port.of("output", last.output, last.name),),
        )

    @property
    def size(self) -> str:
        """Layers and multiply-accumulates in words."""
        count = len(self.layers)
        return f"{count} layer{'s' if count != 1 else ''}, {self.macs:,} multiply-accumulates a frame"

    @property
    def input(self) -> Tensor:
        """The tensor of the first input."""
        return self.inputs[0].tensor

    @property
    def output(self) -> Tensor:
        """The tensor of the first output."""
        return self.outputs[0].tensor

    @property
    def macs(self) -> int:
        return sum(layer.macs for layer in self.layers)

    def tensors(self) -> dict[str, Tensor]:
        """Every tensor by name: the inputs', then each layer's output."""
        return {port.name: port.tensor for port in self.inputs} | {
            layer.name: layer.output for layer in self.layers
        }

    def consumers(self) -> dict[str, list[tuple[str, int]]]:
        """The layers that read each tensor, and as which of their inputs; outputs are (port, -1)."""
        readers: dict[str, list[tuple[str, int]]] = {name: [] for name in self.tensors()}
        for layer in self.layers:
            for index, source in enumerate(layer.inputs):
                readers[source].append((layer.name, index))
        for port in self.outputs:
            readers[port.source].append((port.name, -1))
        return readers

    def with_layers(self, layers: Iterable[Layer]) -> Graph:
        """The graph with other layers; the outputs show the tensors that these now give."""
        fresh = replace(self, layers=tuple(layers))
        tensors = fresh.tensors()
        outputs = tuple(replace(port, tensor=tensors[port.source]) for port in self.outputs)
        return replace(fresh, outputs=outputs)


LayerOverflow: TypeAlias = Mapping[str, Mapping[FixedType, OverflowCount]]
"""What left the range in the casts of each layer on some frames, by type."""


@dataclass(frozen=True, kw_only=True)
class Golden(Brief):
    """Codes of a graph's tensors by name, and what left the range of types on the way to them."""

    tensors: Mapping[str, Codes]
    excess: LayerOverflow


class PackedCodes(Mapping[str, Codes]):
    """Codes of tensors by name, in as few bytes as their types need; they come as codes always do."""

    def __init__(self, types: Mapping[str, Tensor]) -> None:
        self.types = types
        self._packed: dict[str, Codes] = {}

    def keep(self, name: str, codes: Codes) -> None:
        type_ = self.types[name].type
        small = isinstance(type_, FixedType) and codes.dtype == np.int64 and type_.container_bits < 64
        self._packed[name] = codes.astype(type_.dtype) if small else codes

    def __getitem__(self, name: str) -> Codes:
        codes = self._packed[name]
        return codes.astype(np.int64) if codes.dtype.kind in "iu" else codes

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)


Compute: TypeAlias = Callable[[Layer, Sequence[Codes]], Codes]
"""The result of a layer, from those of its sources."""


def counted_golden(
    graph: Graph,
    inputs: Mapping[str, Codes],
    passes: Mapping[str, int] | None = None,
    compute: Compute | None = None,
) -> Golden:
    """`run_golden` that counts the values which its layers clip.

    passes: of convolutions in float32, the input channels that hardware adds up at a time. compute: golden of
    a layer, where hardware adds floats in an order of its own.
    """
    excess: dict[str, Mapping[FixedType, OverflowCount]] = {}
    return Golden(tensors=dict(golden_by_layer(graph, inputs, excess, passes, compute)), excess=excess)


def run_golden(
    graph: Graph, inputs: Mapping[str, Codes], wanted: Collection[str] | None = None
) -> dict[str, Codes]:
    """Golden of the whole graph: the codes [frames, C, H, W] of every tensor by name, or of those wanted."""
    every = golden_by_layer(graph, inputs)
    return {name: codes for name, codes in every if wanted is None or name in wanted}


def golden_by_layer(
    graph: Graph,
    inputs: Mapping[str, Codes],
    excess: dict[str, Mapping[FixedType, OverflowCount]] | None = None,
    passes: Mapping[str, int] | None = None,
    compute: Compute | None = None,
) -> Iterator[tuple[str, Codes]]:
    """The codes of each tensor by name, inputs first; none is held longer than layers read it.

    excess: is told what each layer clips. passes, compute: as of `counted_golden`.
    """
    last = {source: layer.name for layer in graph.layers for source in layer.inputs}
    values: dict[str, Codes] = {}

    def keep(name: str, codes: Codes) -> tuple[str, Codes]:
        if name in last:
            values[name] = codes
        return name, codes

    for port in graph.inputs:
        yield keep(port.name, inputs[port.name])
    for layer in graph.layers:
        sources = [values[source] for source in layer.inputs]
        for source in set(layer.inputs):
            if last[source] == layer.name:
                del values[source]
        yield keep(layer.name, _golden(layer, sources, excess, passes or {}, compute))


def _golden(
    layer: Layer,
    sources: list[Codes],
    excess: dict[str, Mapping[FixedType, OverflowCount]] | None,
    passes: Mapping[str, int],
    compute: Compute | None,
) -> Codes:
    if excess is not None:
        with counting_overflow() as excess[layer.name]:
            return _golden(layer, sources, None, passes, compute)
    if compute is not None:
        return compute(layer, sources)
    if isinstance(layer, Conv2d) and layer.name in passes:
        return layer.golden(*sources, simd=passes[layer.name])
    return layer.golden(*sources)


def verify(graph: Graph) -> list[Problem]:
    """Every rule that the graph breaks, each with its layer's place; run after the frontend and each pass.

    What a layer says of its sources must be what these are: that is ours to keep, so it is asserted.
    """
    problems: list[Problem] = []
    known: dict[str, tuple[Shape, NumberType]] = {
        p.name: (p.tensor.shape, p.tensor.type) for p in graph.inputs
    }
    for layer in graph.layers:
        assert layer.name not in known, f"two tensors are called {layer.name}"
        assert len(layer.inputs) == len(layer.sources), f"{layer.name} has too few or too many inputs"
        for source, tensor in zip(layer.inputs, layer.sources, strict=True):
            assert source in known, f"{layer.name} reads {source}, which is not computed before it"
            assert known[source] == (tensor.shape, tensor.type), (
                f"{layer.name} takes {source} as {tensor}, which is {known[source]}"
            )
        problems += layer.check()
        known[layer.name] = (layer.output_shape, layer.output_type)
    for port in graph.outputs:
        assert known[port.source] == (port.tensor.shape, port.tensor.type), f"output {port.name} differs"
    return problems
