"""The graph that every stage works on: tensors, layers, and the rules that hold between passes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hlsgen.errors import Problem
from hlsgen.fixed import NumberType
from hlsgen.layers.base import Layer


@dataclass(frozen=True, kw_only=True)
class Tensor:
    """A tensor of one frame. `shape` is (channels, height, width), the batch excluded."""

    shape: tuple[int, int, int]
    type: NumberType


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Layers in the order of computation; each reads the one before it, the first reads `input`."""

    name: str
    input: Tensor
    layers: tuple[Layer, ...]

    @property
    def output(self) -> Tensor:
        last = self.layers[-1]
        return Tensor(shape=last.output_shape, type=last.output_type)

    def with_layers(self, layers: tuple[Layer, ...]) -> Graph:
        return replace(self, layers=layers)


def verify(graph: Graph) -> list[Problem]:
    """Every rule that the graph breaks, each with its layer's place; run after the frontend and each pass."""
    problems: list[Problem] = []
    for layer in graph.layers:
        problems += layer.check()
    return problems
