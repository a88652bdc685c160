"""Tensors of which nothing but the signs is read: any positive factor of a channel is free there, and so is a
type that keeps signs alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from hlsgen.layers.base import Layer
from hlsgen.layers.pool import Pool
from hlsgen.layers.steps import Steps
from hlsgen.layers.table import Table
from hlsgen.model.ir import Graph


def asks_at_least_zero(layer: Layer) -> bool:
    """Whether its results depend on nothing but which values are 0 or above."""
    if isinstance(layer, Steps):
        return layer.thresholds == (0.0,)
    return isinstance(layer, Table) and layer.function == "bipolar"


def asks_for_signs(layer: Layer) -> bool:
    """Whether its results depend on nothing but which values are below, at and above 0."""
    if isinstance(layer, Steps):
        return set(layer.thresholds) <= {0.0, math.nextafter(0.0, math.inf)}
    return isinstance(layer, Table) and layer.function in ("bipolar", "sign")


def read_alone_by(graph: Graph, asks: Callable[[Layer], bool]) -> frozenset[str]:
    """The tensors that only such layers read, some of them perhaps behind a maximum of windows."""
    layers = {layer.name: layer for layer in graph.layers}
    outputs = {port.source for port in graph.outputs}
    readers = graph.consumers()
    found: set[str] = set()
    for name in reversed([*(port.name for port in graph.inputs), *layers]):
        of_it = [layers.get(reader) for reader, _ in readers[name]]
        if name in outputs or not of_it:
            continue
        if all(one is not None and (asks(one) or _passes_on(one, found)) for one in of_it):
            found.add(name)
    return frozenset(found)


def _passes_on(layer: Layer, found: set[str]) -> bool:
    return isinstance(layer, Pool) and layer.only_selects and layer.name in found
