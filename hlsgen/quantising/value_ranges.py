"""What values each tensor of a network is to hold: those that frames showed, and some beyond.

before  relu6 gave 0.1 ... 4.9, conv2 -3.1 ... 2.9
after   relu6 0.1 ... 6, conv2 -3.9 ... 3.6 with a headroom of 1.25
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hlsgen.base.fixed import Codes
from hlsgen.layers.base import Layer
from hlsgen.layers.binary import Add, Mul
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.concat import Concat
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.functions import FUNCTIONS
from hlsgen.layers.log_softmax import LogSoftmax
from hlsgen.layers.pool import Pool
from hlsgen.layers.softmax import Softmax
from hlsgen.layers.steps import Steps
from hlsgen.layers.table import Table
from hlsgen.model.ir import Graph
from hlsgen.model.precision import HEADROOM, MOST_SAMPLES, Fits, Floats
from hlsgen.quantising.float_run import FloatRun

SIGN_KEEPERS = (Add, Mul, Concat, Pool)
"""Kinds that give nothing negative if they read nothing negative."""
FEWEST_PEAKS = 4
"""Frames from which on it can be said by how much frames differ."""
OF_FEW = 2 * HEADROOM
"""The headroom of fewer: another bit for what they have not shown."""
USUAL_RANK = 16
"""The frame, from the loudest, that this is compared with, or the middle one of fewer."""
MOST_BY_FRAMES = 8.0
"""Three bits: no more are spent on what no frame showed."""


class ValueRanges:
    """Types for the tensors and the weights of a network, by what its values are; each is looked for once."""

    def __init__(self, run: FloatRun, headroom: float | None, room: float = 1.0) -> None:
        """headroom: of every tensor; None: each by how much frames differ, and `room` times that."""
        self.headrooms = {
            name: room * headroom_by_frames(run, name) if headroom is None else headroom
            for name in run.samples
        }
        self._tensors = _fits(run, self.headrooms)
        self._weights: dict[str, Fits] = {}

    def tensor(self, name: str) -> Fits:
        return self._tensors[name]

    def weights(self, layer: Conv2d) -> Fits:
        if layer.name not in self._weights:
            self._weights[layer.name] = weight_fits(layer)
        return self._weights[layer.name]


def weight_fits(layer: Conv2d) -> Fits:
    """Types for a layer's weights. Always signed: weights of one sign are no reason to lose the other."""
    return Fits(values=_some(layer.weights), signed=True)


def _some(values: Codes) -> Floats:
    flat = values.reshape(-1)
    if flat.size <= MOST_SAMPLES:
        return flat.astype(np.float64)
    some = np.random.default_rng(0).choice(flat, MOST_SAMPLES, replace=False)
    return np.concatenate([some.astype(np.float64), [flat.min(), flat.max()]])


def headroom_by_frames(run: FloatRun, name: str) -> float:
    """How much of the range that frames showed a tensor's type is to hold, by how much frames differ in it.

    As far as the loudest frame is above the one of rank k, a louder one may be above that: one is in k times
    as many frames, if loudness falls off as a power of its rank.
    """
    peaks = np.sort(run.peaks[name])[::-1]
    if len(peaks) < FEWEST_PEAKS:
        return OF_FEW
    loudest, usual = float(peaks[0]), float(peaks[min(len(peaks) // 2, USUAL_RANK)])
    if loudest >= MOST_BY_FRAMES * usual:
        return HEADROOM if loudest == 0.0 else MOST_BY_FRAMES
    return max(HEADROOM, loudest / usual)


def _fits(run: FloatRun, headrooms: Mapping[str, float]) -> dict[str, Fits]:
    graph: Graph = run.graph
    samples = run.samples
    beyond: dict[str, Floats] = {}
    positive: dict[str, bool] = {}
    for port in graph.inputs:
        values = samples[port.name]
        beyond[port.name] = values if run.ends_known(port.name) else values * headrooms[port.name]
        positive[port.name] = bool(values.min() >= 0)
    for layer in graph.layers:
        values, headroom = samples[layer.name], headrooms[layer.name]
        beyond[layer.name] = _beyond(layer, values, beyond, headroom)
        natural = _never_negative(layer, positive)
        # of a single channel a logarithm is 0, and its type signed all the same
        spread = not isinstance(layer, LogSoftmax) and _far_from_negative(values, headroom)
        positive[layer.name] = natural or spread
    return {
        name: Fits(values=values, signed=not positive[name], beyond=beyond[name])
        for name, values in samples.items()
    }


def _beyond(layer: Layer, values: Floats, beyond: Mapping[str, Floats], headroom: float) -> Floats:
    """Values as other frames may give them: larger ones, but none that the layer cannot give."""
    if isinstance(layer, Table):
        # of a function the values follow from those of its source, which it may limit
        return np.concatenate([values, _finite_values(layer, beyond[layer.inputs[0]])])
    if isinstance(layer, Steps):
        return np.asarray(layer.values, np.float64)
    larger = values * headroom
    if isinstance(layer, Clamp | Conv2d) and (layer.low is not None or layer.high is not None):
        return np.clip(larger, layer.low, layer.high)
    return np.minimum(larger, 1.0) if isinstance(layer, Softmax) else larger


def _never_negative(layer: Layer, positive: Mapping[str, bool]) -> bool:
    """Whether no frame can give a negative value, by the layer's nature."""
    sources = all(positive[name] for name in layer.inputs)
    if isinstance(layer, Clamp | Conv2d) and layer.low is not None:
        return layer.low >= 0
    if isinstance(layer, Table):
        found = _finite_values(layer, np.linspace(0.0 if sources else -64.0, 64.0, 1025))
        return bool(found.size and found.min() >= 0)
    if isinstance(layer, Steps):
        return min(layer.values) >= 0
    if isinstance(layer, Softmax):
        return True
    return sources and (layer.only_selects or isinstance(layer, (Clamp, *SIGN_KEEPERS)))


def _finite_values(layer: Table, sources: Floats) -> Floats:
    values = FUNCTIONS[layer.function](sources, layer.parameters)
    return values[np.isfinite(values)]


def _far_from_negative(values: Floats, headroom: float) -> bool:
    """Whether the values stay positive though they spread further."""
    low, high = float(values.min()), float(values.max())
    return low - (headroom - 1) * (high - low) >= 0
