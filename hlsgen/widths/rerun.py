"""Networks that differ in a few types: what comes before the first difference is computed once for all.

before  conv1 -> conv2 -> fc, every tensor of some frames held
after   the answers of the same network with conv2's weights in 4 bits: conv2 and fc alone are run
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields

import numpy as np

from hlsgen.base.fixed import Codes
from hlsgen.base.progress import Progress, silent
from hlsgen.layers.base import Layer
from hlsgen.model.ir import Graph, PackedCodes, golden_by_layer, run_golden
from hlsgen.model.ports import Floats, outputs_of, tensor_codes

MOST_ELEMENTS = 1 << 24
"""Elements of the largest tensor over the frames that are run together: golden has a few of that size."""


def answers_of(graph: Graph, values: Mapping[str, Floats], progress: Progress = silent) -> list[Floats]:
    """The outputs of a network in floating or fixed point, in the framework's layout.

    values: frames [N, C, H, W] of each input.
    """
    largest = max(math.prod(tensor.shape) for tensor in graph.tensors().values())
    size, count = max(1, MOST_ELEMENTS // largest), min(len(array) for array in values.values())
    parts = []
    for first in range(0, count, size):
        progress("running the frames", first, count)
        some = {name: array[first : first + size] for name, array in values.items()}
        tensors = run_golden(graph, _encoded(graph, some), {port.source for port in graph.outputs})
        parts.append(_outputs(graph, tensors))
    return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]


class Rerun:
    """Every tensor of `graph`, in fixed point, for frames `values` [N, C, H, W] of each input.

    They are packed to whole bytes, and all in memory at once.
    """

    def __init__(self, graph: Graph, values: Mapping[str, Floats]) -> None:
        self.graph = graph
        self.layers = {layer.name: layer for layer in graph.layers}
        self.inputs = {port.name: port.tensor for port in graph.inputs}
        self.values = values
        self.tensors = PackedCodes(graph.tensors())
        for name, codes in golden_by_layer(graph, _encoded(graph, values)):
            self.tensors.keep(name, codes)

    def answers_of(self, graph: Graph) -> list[Floats]:
        """What `answers_of` gives for a network with other types: only what these change is run."""
        changed = {port.name for port in graph.inputs if port.tensor != self.inputs[port.name]}
        found: dict[str, Codes] = {
            name: codes for name, codes in _encoded(graph, self.values).items() if name in changed
        }
        for layer in graph.layers:
            if changed.isdisjoint(layer.inputs) and _alike(layer, self.layers.get(layer.name)):
                continue
            changed.add(layer.name)
        last = {source: layer.name for layer in graph.layers for source in layer.inputs}
        shown = {port.source for port in graph.outputs}
        for layer in graph.layers:
            if layer.name not in changed:
                continue
            sources = [found[name] if name in changed else self.tensors[name] for name in layer.inputs]
            found[layer.name] = layer.golden(*sources)
            for name in set(layer.inputs) & set(found):
                if last[name] == layer.name and name not in shown:
                    del found[name]
        return _outputs(
            graph, {name: found[name] if name in changed else self.tensors[name] for name in shown}
        )


def _encoded(graph: Graph, values: Mapping[str, Floats]) -> Mapping[str, Codes]:
    """Frames of the inputs as codes of their types; in floating point as they are."""
    if graph.inputs[0].tensor.is_float:
        return values
    return {
        port.name: tensor_codes(port, values[port.name], f"the frames of {port.name}")
        for port in graph.inputs
    }


def _outputs(graph: Graph, tensors: Mapping[str, Codes]) -> list[Floats]:
    found = outputs_of(graph.outputs, tensors)
    return found if isinstance(found, list) else [found]


def _alike(one: Layer, other: Layer | None) -> bool:
    """Whether two layers give the same for the same sources: every field of both is equal."""
    if type(one) is not type(other):
        return False
    return all(_equal(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))


def _equal(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(np.asarray(one), np.asarray(other))
    return one is other or one == other
