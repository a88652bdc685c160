"""Which channels of a network may be scaled without changing what it gives.

before  conv1 (ReLU) -> pool -> conv2
after   the same with conv1's channel c times s and conv2's weights of channel c divided by s, s > 0

A ReLU, a leaky slope, a pool and a sum pass a positive factor of a channel on, so that tensors on both sides
of them have the same factors: a group. A convolution takes factors in (its weights divided) and gives others
(weights and bias multiplied). Whatever else reads or gives a tensor, a port among them, keeps it as it is.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hlsgen.layers.base import Layer
from hlsgen.layers.binary import Add
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.dense import Dense
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.pool import Pool
from hlsgen.model.ir import Graph


@dataclass(frozen=True, kw_only=True)
class ChannelGroup:
    """Tensors that have the same factors, by name. producers: convolutions that give one of them, consumers:
    those that read one; neither is empty.
    """

    tensors: tuple[str, ...]
    producers: tuple[Conv2d, ...]
    consumers: tuple[Conv2d, ...]

    @property
    def channels(self) -> int:
        return self.producers[0].out_channels


def channel_groups(graph: Graph, kept: Collection[str] = ()) -> list[ChannelGroup]:
    """The groups of a graph in floating point, each tensor in one at most. kept: layers whose weights
    stay as they are.
    """
    sets = _Sets()
    for port in graph.inputs:
        sets.keep(port.name)
    for port in graph.outputs:
        sets.keep(port.source)
    for layer in graph.layers:
        if isinstance(layer, Conv2d):
            if layer.name in kept or not _positively_homogeneous(layer):
                sets.keep(layer.name)
            if layer.name in kept or (isinstance(layer, Dense) and layer.in_shape[1:] != (1, 1)):
                sets.keep(layer.inputs[0])
        elif _passes_factors_on(layer):
            for source in layer.inputs:
                sets.join(source, layer.name)
        else:
            for name in (layer.name, *layer.inputs):
                sets.keep(name)
    convolutions = [layer for layer in graph.layers if isinstance(layer, Conv2d)]
    found = []
    for names in sets.free(graph.tensors()):
        producers = tuple(layer for layer in convolutions if layer.name in names)
        consumers = tuple(layer for layer in convolutions if layer.inputs[0] in names)
        if producers and consumers:
            found.append(ChannelGroup(tensors=tuple(names), producers=producers, consumers=consumers))
    return found


def _positively_homogeneous(layer: Conv2d | Clamp) -> bool:
    """Whether limits move with a positive factor: those of a ReLU do, those of a ReLU6 do not."""
    return layer.low in (None, 0.0) and layer.high in (None, 0.0)


def _passes_factors_on(layer: Layer) -> bool:
    if isinstance(layer, Clamp):
        return _positively_homogeneous(layer)
    if isinstance(layer, Add):
        return not layer.broadcasts
    return isinstance(layer, Pool | Leaky)


class _Sets:
    """Disjoint sets of tensors, some of which keep their values."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._kept: set[str] = set()

    def _root(self, name: str) -> str:
        while (parent := self._parents.setdefault(name, name)) != name:
            name = parent
        return name

    def join(self, one: str, other: str) -> None:
        self._parents[self._root(one)] = self._root(other)

    def keep(self, name: str) -> None:
        self._kept.add(name)

    def free(self, names: Collection[str]) -> list[list[str]]:
        """The sets of `names` of which none is kept, in their order."""
        kept = {self._root(name) for name in self._kept}
        found: dict[str, list[str]] = {}
        for name in names:
            if self._root(name) not in kept:
                found.setdefault(self._root(name), []).append(name)
        return list(found.values())


def by_channel(layer: Conv2d, values: NDArray[np.float64], combine: np.ufunc) -> NDArray[np.float64]:
    """[C]: values [M, C / groups], not negative, of pairs of channels, combined for each that is read."""
    found = np.zeros(layer.read_shape[0])
    combine.at(found, layer.channels_read, values)
    return found
