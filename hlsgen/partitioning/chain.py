"""A network as a chain of tasks, between which it can be cut: what devices compute one after the other."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hlsgen.base.fixed import FixedType
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.model.parts import part_of, tensor_bytes, tensors_at

MOST_TASKS = 20
"""More make the problem large, and the answer little better."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """Layers number `first` to `end - 1` of the graph, which one device computes together.

    macs: of a frame. weights: numbers that they hold. bytes_out, values_out: of what the layers behind it, or
    the host, read of it and of what is before it, a frame, and the fixed-point types of that.
    """

    name: str
    first: int
    end: int
    layers: tuple[str, ...]
    macs: int
    weights: int
    bytes_out: int
    values_out: int
    types_out: tuple[FixedType, ...]

    def part(self, graph: Graph) -> Graph:
        """Its layers as a graph of their own."""
        return part_of(graph, self.first, self.end, self.name)


@dataclass(frozen=True, kw_only=True)
class Chain:
    """tasks: in their order. bytes_in: of a frame as it comes."""

    tasks: tuple[Task, ...]
    bytes_in: int

    @property
    def bytes_between(self) -> tuple[int, ...]:
        """Bytes of a frame before the first task, and behind each."""
        return (self.bytes_in, *(task.bytes_out for task in self.tasks))

    @property
    def values_between(self) -> tuple[int, ...]:
        """Numbers of a frame behind each task but the last, 0 at both ends: see `Problem`."""
        return (0, *(task.values_out for task in self.tasks[:-1]), 0)

    @property
    def types(self) -> frozenset[FixedType]:
        """Of what passes between tasks."""
        return frozenset(type_ for task in self.tasks[:-1] for type_ in task.types_out)


def chain_of(graph: Graph, most: int = MOST_TASKS) -> Chain:
    """At most so many tasks, each of which begins with a layer that multiplies, or at the graph's start.

    What follows such a layer goes with it, as kernels fuse it too. Where there are more, the two neighbours
    with the fewest multiply-accumulates become one; of equals those between which most bytes pass.
    """
    starts = [0] + [
        at for at, layer in enumerate(graph.layers) if at and isinstance(layer, Conv2d) and layer.macs
    ]
    crossing = {at: _bytes_at(graph, at) for at in starts}
    macs = [layer.macs for layer in graph.layers]
    while len(starts) > most:
        ends = [*starts[1:], len(macs)]
        work = [sum(macs[first:end]) for first, end in zip(starts, ends, strict=True)]
        merged = min(
            range(1, len(starts)), key=lambda at: (work[at - 1] + work[at], -crossing[starts[at]], at)
        )
        del starts[merged]
    ends = [*starts[1:], len(macs)]
    tasks = tuple(_task(graph, first, end) for first, end in zip(starts, ends, strict=True))
    return Chain(tasks=tasks, bytes_in=_bytes_at(graph, 0))


def _task(graph: Graph, first: int, end: int) -> Task:
    layers = graph.layers[first:end]
    tensors = graph.tensors()
    crossing = [tensors[name] for name in tensors_at(graph, end)]
    named = next((layer for layer in layers if layer.macs), layers[0])
    return Task(
        name=named.name,
        first=first,
        end=end,
        layers=tuple(layer.name for layer in layers),
        macs=sum(layer.macs for layer in layers),
        weights=sum(layer.weights.size + layer.bias.size for layer in layers if isinstance(layer, Conv2d)),
        bytes_out=_bytes_at(graph, end),
        values_out=sum(math.prod(one.shape) for one in crossing),
        types_out=tuple(one.type for one in crossing if isinstance(one.type, FixedType)),
    )


def _bytes_at(graph: Graph, cut: int) -> int:
    return sum(tensor_bytes(graph, name) for name in tensors_at(graph, cut))
