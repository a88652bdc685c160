"""Parts of a graph: some of its layers, as a graph whose ports are the tensors that it shares with others."""

from __future__ import annotations

from dataclasses import replace

from hlsgen.base.errors import DesignError, Problem
from hlsgen.model.ir import Graph, Port


def ends_of_use(graph: Graph) -> dict[str, int]:
    """The number of the last layer that reads each tensor; of what an output shows, that of all layers."""
    number = {layer.name: at for at, layer in enumerate(graph.layers)}
    return {
        name: max(
            (len(graph.layers) if index < 0 else number[reader] for reader, index in readers), default=-1
        )
        for name, readers in graph.consumers().items()
    }


def tensors_at(graph: Graph, cut: int) -> list[str]:
    """What crosses a cut before layer number `cut`: tensors that layers from there on, or outputs, read.

    At 0 they are the inputs that something reads, at the end what the outputs show.
    """
    last = ends_of_use(graph)
    known = [port.name for port in graph.inputs] + [layer.name for layer in graph.layers[:cut]]
    return [name for name in known if last[name] >= cut]


def part_of(graph: Graph, first: int, end: int, name: str) -> Graph:
    """Layers number `first` to `end - 1`: it reads what they read of others, and shows what others read.

    Ports of the graph itself keep their layout; others have the tensor's, [C, H, W], and its name. Tensors
    that only pass by are no part of it. Raises DesignError: it would show nothing.
    """
    layers = graph.layers[first:end]
    own = {layer.name for layer in layers}
    read = [source for layer in layers for source in layer.inputs if source not in own]
    tensors, known = graph.tensors(), {port.name: port for port in graph.inputs}
    inputs = tuple(known.get(one) or Port.of(one, tensors[one]) for one in dict.fromkeys(read))
    last = ends_of_use(graph)
    within = [
        layer.name for layer in layers if end <= last[layer.name] and not _only_shown(graph, layer.name, end)
    ]
    shown = tuple(port for port in graph.outputs if port.source in own)
    outputs = tuple(Port.of(one, tensors[one]) for one in within) + shown
    if not outputs or not inputs:
        at = ", ".join(layer.name for layer in layers[:3]) or "nothing"
        raise DesignError(
            Problem(message=f"a part of {at} has no inputs or no outputs", fix="other boundaries")
        )
    return replace(graph, name=name, inputs=inputs, layers=layers, outputs=outputs, origins=())


def _only_shown(graph: Graph, name: str, end: int) -> bool:
    """Whether outputs alone read a tensor from layer number `end` on."""
    number = {layer.name: at for at, layer in enumerate(graph.layers)}
    return not any(index >= 0 and number[reader] >= end for reader, index in graph.consumers()[name])


def tensor_bytes(graph: Graph, name: str) -> int:
    """Bytes of a frame of a tensor as it lies in memory: each element in the container of its type."""
    tensor = graph.tensors()[name]
    channels, height, width = tensor.shape
    return channels * height * width * (-(-tensor.type.container_bits // 8))
