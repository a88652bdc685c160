"""The noise that each layer adds by itself: by its weights' types, by rounding and by clipping its result.

A layer of the design reads what it reads in the design. What its floating-point self makes of the very same
values is the noise that it was handed; what it gives beyond that is its own:

    its result - floating point's = (its result - float layer(what it reads))  own
                                  + (float layer(what it reads) - floating point's)  handed on

and its own part is what the layer with its weights' types, in floating point, differs by (weights), and what
the type of its result does to that: beyond the type's range (clipping), else (rounding).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hlsgen.base.fixed import Codes, FixedType, NumberType
from hlsgen.base.short_repr import Brief
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.leaky import Leaky
from hlsgen.model.ir import Graph
from hlsgen.model.origins import Floats
from hlsgen.tracing.difference import decibels
from hlsgen.tracing.tables import finite

CAUSES = ("weights", "rounding", "clipping")


@dataclass(frozen=True, kw_only=True)
class LayerNoise(Brief):
    """Sums of squares over the frames, of a layer or an input: `signal` of floating point's result.

    total: its error; added: its own part of it, and by cause. at_outputs: what its own part alone does to the
    outputs, a share of their signal; None: not run.
    """

    name: str
    type: str
    signal: float = 0.0
    total: float = 0.0
    added: float = 0.0
    weights: float = 0.0
    rounding: float = 0.0
    clipping: float = 0.0
    at_outputs: float | None = None

    def __add__(self, other: LayerNoise) -> LayerNoise:
        sums = {
            key: getattr(self, key) + getattr(other, key)
            for key in ("signal", "total", "added", "weights", "rounding", "clipping")
        }
        return replace(self, **sums)

    @property
    def total_db(self) -> float:
        """Signal to noise of the result."""
        return decibels(self.signal, self.total)

    @property
    def added_db(self) -> float:
        """Signal to noise if only this layer were in fixed point, and read what floating point gives."""
        return decibels(self.signal, self.added)

    @property
    def output_db(self) -> float | None:
        """Signal to noise of the outputs if this layer's noise were the only one; None: not run."""
        return None if self.at_outputs is None else decibels(1.0, self.at_outputs)

    @property
    def cause(self) -> str:
        """The largest part of what it adds; empty: it adds nothing."""
        parts = {key: getattr(self, key) for key in CAUSES}
        name = max(parts, key=lambda key: parts[key])
        return name if parts[name] else ""

    def as_json(self) -> dict[str, Any]:
        """A signal to noise of null: no noise, or not run."""
        return {
            "name": self.name,
            "type": self.type,
            "snr_db": finite(self.total_db),
            "added_db": finite(self.added_db),
            "output_db": None if self.output_db is None else finite(self.output_db),
            "ran_to_outputs": self.at_outputs is not None,
            "cause": self.cause,
            "of_weights": self.weights / self.added if self.added else 0.0,
            "of_rounding": self.rounding / self.added if self.added else 0.0,
            "of_clipping": self.clipping / self.added if self.added else 0.0,
        }


def layer_noise(
    graph: Graph, reference: Graph, codes: Mapping[str, Codes], floats: Mapping[str, Floats]
) -> Iterator[tuple[LayerNoise, Floats]]:
    """The noise of each input and layer that floating point has too, and its own part [N, C, H, W].

    codes: of every tensor of the design, floats: of every tensor of `reference`, on the same frames.
    """
    types, float_layers = graph.tensors(), {layer.name: layer for layer in reference.layers}
    for port in graph.inputs:
        wanted = floats[port.name]
        own = port.tensor.type.decode(codes[port.name]) - wanted
        noise = _noise(port.name, port.tensor.type, wanted, own, own, np.zeros(()))
        yield noise, own
    for layer in graph.layers:
        same = float_layers.get(layer.name)
        if same is None or same.inputs != layer.inputs or same.output_shape != layer.output_shape:
            continue
        read = [types[name].type.decode(codes[name]) for name in layer.inputs]
        result = layer.output_type.decode(codes[layer.name])
        handed = np.asarray(same.golden(*read), np.float64)
        rounded_weights = _with_parameters(same, layer)
        exact = handed if rounded_weights is same else np.asarray(rounded_weights.golden(*read), np.float64)
        own = result - handed
        total = result - floats[layer.name]
        found = _noise(layer.name, layer.output_type, floats[layer.name], total, result - exact, exact)
        parts = replace(found, added=_power(own), weights=_power(exact - handed))
        yield parts, own


def _noise(
    name: str, type_: NumberType, wanted: Floats, total: Floats, changed: Floats, exact: Floats
) -> LayerNoise:
    """changed: what the type of the result did to `exact`; of an input, to `wanted`."""
    before = wanted if exact.ndim == 0 else exact
    clipped = 0.0
    if isinstance(type_, FixedType):
        half = type_.resolution / 2
        low, high = (code * type_.resolution for code in (type_.lowest_code, type_.max_code))
        clipped = _power(changed[(before > high + half) | (before < low - half)])
    power = _power(changed)
    return LayerNoise(
        name=name,
        type=str(type_),
        signal=_power(wanted),
        total=_power(total),
        added=power,
        rounding=max(0.0, power - clipped),
        clipping=clipped,
    )


def _power(values: Floats) -> float:
    return float(np.square(values).sum())


def _with_parameters(same: Layer, fixed: Layer) -> Layer:
    """The layer in floating point with the numbers that the design has for its weights; itself without."""
    if isinstance(same, Conv2d) and isinstance(fixed, Conv2d):
        weights = fixed.weight_type.decode(fixed.weights)
        bias = fixed.bias_type.decode(fixed.bias) if fixed.bias.size else fixed.bias
        return replace(same, weights=weights, bias=bias)
    if isinstance(same, Leaky) and isinstance(fixed, Leaky):
        return replace(same, slopes=fixed.slope_type.decode(fixed.slopes))
    return same


def at_outputs(reference: Graph, name: str, own: Floats, floats: Mapping[str, Floats]) -> float:
    """What a layer's own noise alone does to the outputs: its sum of squares there, a share of the signal's.

    floats: of every tensor of `reference` on the same frames as `own`. Of several outputs the worst counts.
    """
    changed: dict[str, Floats] = {name: floats[name] + own}
    for layer in reference.layers:
        if layer.name != name and not changed.keys().isdisjoint(layer.inputs):
            read = [changed.get(source, floats[source]) for source in layer.inputs]
            changed[layer.name] = np.asarray(layer.golden(*read), np.float64)
    return max(
        (
            _share(changed[port.source] - floats[port.source], floats[port.source])
            for port in reference.outputs
            if port.source in changed
        ),
        default=0.0,
    )


def _share(errors: Floats, wanted: Floats) -> float:
    """Noise beside the signal; of an output what varies is the signal."""
    signal = float(np.var(wanted)) or float(np.mean(np.square(wanted)))
    noise = float(np.mean(np.square(errors)))
    return noise / signal if signal else (np.inf if noise else 0.0)


def macs_behind(reference: Graph, names: Sequence[str]) -> dict[str, int]:
    """The multiply-accumulates of a frame in the layers that each of these tensors reaches."""
    found = {}
    for name in names:
        reached, macs = {name}, 0
        for layer in reference.layers:
            if layer.name != name and not reached.isdisjoint(layer.inputs):
                reached.add(layer.name)
                macs += layer.macs
        found[name] = macs
    return found
