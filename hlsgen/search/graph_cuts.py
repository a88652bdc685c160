"""Where a graph can be cut in two: the tensors that alone lead from the layers before them to those after."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from hlsgen.base.fixed import FixedType
from hlsgen.hardware.processor import Processor
from hlsgen.layers.row_blocks import RowBlocks
from hlsgen.model.ir import Graph, Port


def cuts(graph: Graph) -> list[str]:
    """The layers whose results are all that the layers after them read, in the order of the graph.

    Their results have fixed-point types and are no outputs.
    """
    order = {layer.name: at for at, layer in enumerate(graph.layers)}
    end = len(order)
    last = {
        name: max((end if index < 0 else order[reader] for reader, index in readers), default=-1)
        for name, readers in graph.consumers().items()
    }
    found: list[str] = []
    reach = max((last[port.name] for port in graph.inputs), default=-1)
    for at, layer in enumerate(graph.layers[:-1]):
        if reach <= at and last[layer.name] < end and isinstance(layer.output_type, FixedType):
            found.append(layer.name)
        reach = max(reach, last[layer.name])
    return found


def before(graph: Graph, cut: str, processor: Processor) -> Graph:
    """The layers up to `cut`, whose results leave as `processor` reads them."""
    at = _place_of(graph, cut)
    layer = graph.layers[at]
    taken = {*graph.tensors()}
    blocks = RowBlocks(
        name=unused(f"{cut}_blocks", taken),
        inputs=(cut,),
        source=layer.output,
        rows=processor.rows,
        lanes=processor.lanes,
        bits=processor.activation_bits,
    )
    port = Port.of(unused("memory", {*taken, blocks.name}), blocks.output, blocks.name)
    return replace(graph, layers=(*graph.layers[: at + 1], blocks), outputs=(port,))


def after(graph: Graph, cut: str) -> Graph:
    """The layers after `cut`, which read its results alone."""
    at = _place_of(graph, cut)
    port = replace(Port.of(cut, graph.layers[at].output), fed=True)
    return replace(graph, inputs=(port,), layers=graph.layers[at + 1 :])


def _place_of(graph: Graph, name: str) -> int:
    return [layer.name for layer in graph.layers].index(name)


def unused(wished: str, taken: Collection[str]) -> str:
    """`wished`, or with a number behind it what nothing is called yet."""
    name, number = wished, 1
    while name in taken:
        number += 1
        name = f"{wished}_{number}"
    return name
