"""What of a network is left to its host: layers at its end that processors have no hardware for.

before  ... -> fc1 (dense) -> softmax -> output
after   ... -> fc1 -> an output of the program; softmax of its codes by the host, as golden says

A layer goes to the host with all that reads it, where none of these has products and all of them together
make no more values a frame than `MOST_VALUES`: what is left is a small share of the work, element by element
(softmax, argmax), or an order of elements (the boxes of a detector).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hlsgen.base.fixed import Codes
from hlsgen.base.short_repr import Brief
from hlsgen.hardware.processor import Processor
from hlsgen.layers.base import Layer
from hlsgen.model.ir import Graph, Port
from hlsgen.program.lowering import lowered
from hlsgen.program.unsupported import NoHardware, refused

MOST_VALUES = 1 << 22
"""Of a frame that a host makes: four times the boxes of a detector at 416 x 416 with three heads, some
milliseconds of one processor core; a softmax of each pixel of a large image is more."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Division(Brief):
    """head: what processors run, whose outputs are what `tail` reads and what is shown of it."""

    head: Graph
    tail: tuple[Layer, ...] = ()

    @property
    def left_to_host(self) -> tuple[str, ...]:
        """The layers of the tail with their kinds, in words."""
        return tuple(f"{layer.name} ({layer.kind})" for layer in self.tail)

    def finished(self, tensors: Mapping[str, Codes]) -> dict[str, Codes]:
        """Tensors [frames, C, H, W] by name, with those of the tail, from those of the head."""
        found = dict(tensors)
        for layer in self.tail:
            found[layer.name] = layer.golden(*(found[name] for name in layer.inputs))
        return found


def divided(graph: Graph, processor: Processor) -> Division:
    """The graph without what its host has to do. Raises DesignError: a layer that has no hardware, and is
    not at the end.
    """
    found = Division(head=graph)
    while True:
        try:
            lowered(found.head, processor)
        except NoHardware as error:
            left = _behind(graph, error.layer)
            names = left | {layer.name for layer in found.tail}
            if not _is_tail(graph, names):
                raise
            _check_size(graph, names, error.layer)
            found = _without(graph, names)
        else:
            return found


def _behind(graph: Graph, first: str) -> set[str]:
    """A layer and all that reads it, at once or by way of others."""
    names = {first}
    for layer in graph.layers:
        if names.intersection(layer.inputs):
            names.add(layer.name)
    return names


def _is_tail(graph: Graph, names: set[str]) -> bool:
    """Whether none of these layers has products, or reads an input of the graph."""
    inputs = {port.name for port in graph.inputs}
    left = [layer for layer in graph.layers if layer.name in names]
    return not any(layer.macs or inputs.intersection(layer.inputs) for layer in left)


def _check_size(graph: Graph, names: set[str], first: str) -> None:
    """Raises NoHardware: these layers make more values a frame than a host is left with."""
    values = sum(math.prod(layer.output_shape) for layer in graph.layers if layer.name in names)
    if values > MOST_VALUES:
        layer = next(layer for layer in graph.layers if layer.name == first)
        message = (
            f"{values:,} values a frame from here on, more than the {MOST_VALUES:,} that a host is left with"
        )
        raise refused(layer, message, "style: dataflow or tasks, or end the network in front of it")


def _without(graph: Graph, names: set[str]) -> Division:
    """The graph without layers that nothing else reads; what they read are outputs."""
    tail = tuple(layer for layer in graph.layers if layer.name in names)
    head = tuple(layer for layer in graph.layers if layer.name not in names)
    tensors = graph.tensors()
    shown = [port for port in graph.outputs if port.source not in names]
    read = dict.fromkeys(name for layer in tail for name in layer.inputs if name not in names)
    taken = {port.source for port in shown}
    cut: list[Port] = []
    for name in read:
        if name not in taken:
            cut.append(Port.of(_free(name, (*shown, *cut)), tensors[name], name))
    return Division(head=replace(graph, layers=head, outputs=(*shown, *cut)), tail=tail)


def _free(name: str, ports: Sequence[Port]) -> str:
    """A name that none of the ports has: another output may be called as a layer is."""
    taken = {port.name for port in ports}
    while name in taken:
        name += "_cut"
    return name
