"""Channels of a network are brought near each other in size, so that one binary point fits all of a tensor.

before  conv1 gives channels of 0.02 and 8, conv2 reads them with weights of 40 and 0.1
after   conv1 gives 0.64 and 2, conv2 has weights of 1.25 and 0.4: what conv2 gives is the same

Batch normalisation that is folded into weights leaves channels of very different sizes, of which the small
ones lose their bits. The factors are powers of two: nothing is rounded by them, and hardware has none.
After Nagel, van Baalen, Blankevoort, Welling, "Data-free quantization through weight equalization and bias
correction", ICCV 2019, who make the ranges of weights on both sides alike, factor = sqrt(down / up); here
what calibration frames show of the channel counts upstream, too. Origins keep the framework's own values.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from hlsgen.base.progress import Progress, silent
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.model.origins import Origin
from hlsgen.model.precision import Bits, Floats, Precision
from hlsgen.passes import FIXED_PASSES, run_passes
from hlsgen.quantising.accuracy import judged
from hlsgen.quantising.channel_groups import ChannelGroup, by_channel, channel_groups
from hlsgen.quantising.choose_types import choose_types
from hlsgen.quantising.float_run import FloatRun
from hlsgen.quantising.value_ranges import ValueRanges

ROUNDS = 3
"""How often all factors are found anew: each changes the weights that its neighbours see."""
LARGEST = 2.0**10
"""The largest factor; the smallest is its inverse."""
JUDGED_BITS = 8
"""The width of every tensor with which balanced channels must show that they are better."""


def balanced_run(
    run: FloatRun, any_weights: Collection[str], headroom: float | None, progress: Progress = silent
) -> FloatRun:
    """`run` with the channels of its graph balanced; itself, if in 8 bits the outputs have no more decibels
    by that on the frames that judge. any_weights, headroom: as of `choose_types` and `ValueRanges`; layers
    of any weights keep theirs.
    """
    progress("balancing channels")
    groups = channel_groups(run.graph, any_weights)
    if not groups:
        return run
    found = FloatRun(_with_factors(run.graph, groups, _factors(run, groups)), run.frames)
    before, after = (_decibels(one, any_weights, headroom) for one in (run, found))
    better = after > before
    kept = "" if better else "; they stay as they are"
    progress(f"balancing channels: {before:.1f} dB in {JUDGED_BITS} bits without, {after:.1f} dB with{kept}")
    return found if better else run


def _decibels(run: FloatRun, any_weights: Collection[str], headroom: float | None) -> float:
    """Signal to noise of the worst output with every tensor in the same width."""
    precision = Precision(default=Bits(JUDGED_BITS), headroom=headroom)
    typed = choose_types(run.graph, precision, ValueRanges(run, headroom), any_weights)
    return judged(run_passes(typed, FIXED_PASSES), run).worst_db


def _factors(run: FloatRun, groups: Sequence[ChannelGroup]) -> list[Floats]:
    """The factors [C] of each group, powers of two."""
    tensors = run.tensors(run.of_ranges)
    sizes = [
        [np.sqrt((np.asarray(tensors[name]) ** 2).mean(axis=(0, 2, 3))) for name in group.tensors]
        for group in groups
    ]
    found = _Factors(groups)
    for _ in range(ROUNDS):
        for index, group in enumerate(groups):
            own = found.values[index]
            upstream = [_of_largest(size * own) for size in sizes[index]]
            upstream += [_of_largest(_rows(layer, found.weights(layer))) for layer in group.producers]
            downstream = [_of_largest(_columns(layer, found.weights(layer))) for layer in group.consumers]
            up, down = np.max(upstream, axis=0), np.max(downstream, axis=0)
            used = (up > 0) & (down > 0)  # of a dead channel any factor is as good
            own = own * np.sqrt(np.divide(down, up, out=np.ones_like(up), where=used))
            mean = float(np.exp(np.log(own).mean()))
            found.values[index] = np.clip(own / mean, 1 / LARGEST, LARGEST)
    return [np.exp2(np.rint(np.log2(one))) for one in found.values]


class _Factors:
    """values: the factors of each group [C]."""

    def __init__(self, groups: Sequence[ChannelGroup], values: Sequence[Floats] = ()) -> None:
        self.values = list(values) or [np.ones(group.channels) for group in groups]
        self._index = {name: index for index, group in enumerate(groups) for name in group.tensors}

    def of(self, tensor: str) -> Floats | None:
        """The factors of a tensor; None: it stays as it is."""
        return self.values[self._index[tensor]] if tensor in self._index else None

    def weights(self, layer: Conv2d) -> Floats:
        """[M, C / groups, KH, KW], so that the layer gives factors times what it gave."""
        weights = np.asarray(layer.weights, np.float64)
        read, given = self.of(layer.inputs[0]), self.of(layer.name)
        if read is not None:
            weights = weights / read[layer.channels_read][:, :, None, None]
        return weights if given is None else weights * given[:, None, None, None]


def _of_largest(values: Floats) -> Floats:
    largest = values.max()
    return values / largest if largest > 0 else values


def _rows(layer: Conv2d, weights: Floats) -> Floats:
    """[M]: the largest weight of each channel that is given."""
    return np.asarray(np.abs(weights).max(axis=(1, 2, 3)), np.float64)


def _columns(layer: Conv2d, weights: Floats) -> Floats:
    """[C]: the largest weight of each channel that is read."""
    return by_channel(layer, np.abs(weights).max(axis=(2, 3)), np.maximum)


def _with_factors(graph: Graph, groups: Sequence[ChannelGroup], values: Sequence[Floats]) -> Graph:
    factors = _Factors(groups, values)
    layers = []
    for layer in graph.layers:
        if isinstance(layer, Conv2d):
            given, bias = factors.of(layer.name), np.asarray(layer.bias, np.float64)
            if given is not None and bias.size:
                bias = bias * given
            layer = replace(layer, weights=factors.weights(layer), bias=bias)
        layers.append(layer)
    origins = tuple(_moved(origin, factors.of(origin.source)) for origin in graph.origins)
    return replace(graph, origins=origins).with_layers(layers)


def _moved(origin: Origin, factors: Floats | None) -> Origin:
    """The framework's values are those of the graph without the factors."""
    if factors is None or np.all(factors == 1.0):
        return origin
    scale = np.broadcast_to(np.asarray(origin.scale), factors.shape) / factors
    return replace(origin, scale=tuple(scale.tolist()))
