"""A graph run layer by layer on the framework's own values, so that a layer's difference is its own.

What a layer computes from the framework's values of its inputs is compared with the framework's value of its
result. A difference is explained where float32 may decide it: where the exact value lies at a tie of the
layer's rounding, or where inputs that are a few float32 steps away give another result.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes, FixedType, Rounding
from hlsgen.base.short_repr import Brief
from hlsgen.layers.base import Layer
from hlsgen.layers.softmax import ExponentialSum
from hlsgen.layers.steps import Steps
from hlsgen.layers.table import Table
from hlsgen.model.ir import Graph
from hlsgen.model.origins import Floats, FrameworkRun, Origin, positions

FLOAT_STEPS = 2.0**-17
"""Of a channel's largest value: what float32 sums of a layer may be off by, beside exact ones."""
FLOAT_READING = 2.0**-11
"""The same of a network in floating point, of whose functions frameworks compute approximations."""
OUTPUT_STEPS = 2.0**-14
"""Of an output's largest value: how far a design with the model's own types may be off."""
FUNCTION_STEPS = 2.0**-12
"""Of a function's largest value: how far its table or its straight pieces may be off (docs/layers.md)."""
TIE_BITS = 10
"""Fraction bits below a result's step that tell how near to a tie an exact value is."""
NEAR_TIE = 2.0**-6
"""Of a step: how far from a tie float32 may decide it, and how far from its grid it puts a value."""
RARE = 2.0**-8
RARE_IN_CHANNEL = 2.0**-2
"""Shares of a tensor and of one channel: more values are no ties where ties are rare, of signs and on
grids of powers of two."""
NUDGES = 6
"""Runs with inputs moved at random by float32 steps."""
Marks = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Departure(Brief):
    """Values of a tensor that are not the framework's, though its inputs are.

    layer: its name in the framework. values: how many, of `compared`. largest: the largest difference, in the
    framework's units; where: its frame, channel, row and column. explained: float32 decides all of them.
    """

    layer: str
    kind: str
    values: int
    compared: int
    largest: float
    where: tuple[int, ...]
    explained: bool


def differing(ours: Floats, theirs: Floats, share: float) -> Marks:
    """Where values are further apart than `share` of the largest; NaN is apart from all."""
    same: Marks = np.abs(ours - theirs) <= share * float(np.abs(theirs).max(initial=0.0))
    return ~same


def differing_by_channel(ours: Floats, theirs: Floats, share: float) -> Marks:
    """The same in tensors [frames, C, H, W], each channel beside its own largest value."""
    largest = np.abs(theirs).max(axis=(0, 2, 3), keepdims=True)
    same: Marks = np.abs(ours - theirs) <= share * largest
    return ~same


def departure(
    layer: str, kind: str, apart: Floats, wrong: Marks, *, scale: float = 1.0, explained: bool = False
) -> Departure:
    """The values of a tensor that differ. apart: the differences."""
    held = np.where(wrong, np.where(np.isnan(apart), np.inf, apart), -1.0)
    where = tuple(int(one) for one in np.unravel_index(int(held.argmax()), held.shape))
    return Departure(
        layer=layer,
        kind=kind,
        values=int(wrong.sum()),
        compared=wrong.size,
        largest=float(held.max()) * scale,
        where=where,
        explained=explained,
    )


@dataclass(frozen=True, kw_only=True)
class _Held(Brief):
    """A tensor of the graph beside the framework's: [frames, C, H, W] in the tensor's units."""

    layer: Layer
    sources: Sequence[Codes]
    origin: Origin
    ours: Floats
    theirs: Floats
    wrong: Marks


class Replay:
    """The layers of `graph` on the values that a framework has computed from the same frames.

    inputs: codes of the graph's inputs. given: tensors whose types are the user's, not the model's.
    compared: how many layers were held against the framework's.
    """

    def __init__(
        self,
        graph: Graph,
        inputs: Mapping[str, Codes],
        theirs: FrameworkRun,
        given: Collection[str] = (),
    ) -> None:
        self._graph, self._theirs, self._given = graph, theirs, given
        self._fixed = not graph.inputs[0].tensor.is_float
        self._values: dict[str, Codes] = dict(inputs)
        self._coarse: dict[str, Marks] = {}
        """Where a tensor whose type no quantiser of the model sets lost what the framework has."""
        self._types = {name: tensor.type for name, tensor in graph.tensors().items()}
        self._before = dict(zip([one.name for one in graph.origins[1:]], graph.origins, strict=False))
        """The tensor that the framework computes just before each."""
        self._shown: dict[str, list[Origin]] = {}
        for one in graph.origins:
            if not one.joined and one.name in theirs.layers:
                self._shown.setdefault(one.source, []).append(one)
        self._last = {source: layer.name for layer in graph.layers for source in layer.inputs}
        self._last |= {port.source: "" for port in graph.outputs}
        self.compared = 0

    def departures(self) -> Iterator[Departure]:
        """What differs, in the order of computation: layers, then outputs."""
        for layer in self._graph.layers:
            sources = [self._values[name] for name in layer.inputs]
            codes = layer.golden(*sources)
            for origin in self._shown.get(layer.name, []):
                theirs = _inverse(origin, self._theirs.layers[origin.name], codes.shape)
                if theirs is None:
                    continue
                self.compared += 1
                ours = self._decoded(layer.name, codes)
                wrong = differing_by_channel(ours, theirs, FLOAT_STEPS if self._fixed else FLOAT_READING)
                held = _Held(
                    layer=layer, sources=sources, origin=origin, ours=ours, theirs=theirs, wrong=wrong
                )
                yield from self._departure(held)
                codes = self._with_theirs(held, codes)
            self._values[layer.name] = codes
            for name in set(layer.inputs):
                if self._last[name] == layer.name:
                    del self._values[name]
        yield from self._outputs()

    def _departure(self, held: _Held) -> Iterator[Departure]:
        """What differs in a tensor of the framework's."""
        if not held.wrong.any():
            return
        apart = np.abs(held.ours - held.theirs)
        on_grid = not self._fixed or self._on_grid(held)
        if not on_grid and isinstance(held.layer, Table | ExponentialSum):
            if float(apart.max()) <= FUNCTION_STEPS * float(np.abs(held.theirs).max()):
                return
        elif held.layer.name in self._given or (not on_grid and float(apart.max()) <= self._step(held)):
            self._coarse[held.layer.name] = held.wrong
            return
        explained = self._tied(held) if self._fixed else _nudged(held)
        scale = float(np.abs(held.origin.scale).max())
        yield departure(
            held.origin.name, held.origin.kind, apart, held.wrong, scale=scale, explained=explained
        )

    def _outputs(self) -> Iterator[Departure]:
        for port, wanted in zip(self._graph.outputs, self._theirs.outputs, strict=True):
            ours = self._decoded(port.source, self._values[port.source])
            theirs = port.to_tensor(wanted) / port.scale
            wrong = differing(ours, theirs, OUTPUT_STEPS if self._fixed else FLOAT_READING)
            if wrong.any() and port.source not in self._given:
                yield departure(
                    f"output {port.name}", "output", np.abs(ours - theirs), wrong, scale=port.scale
                )

    def _decoded(self, name: str, codes: Codes) -> Floats:
        return np.asarray(self._types[name].decode(codes), np.float64)

    def _fixed_type(self, held: _Held) -> FixedType:
        type_ = self._types[held.layer.name]
        assert isinstance(type_, FixedType)
        return type_

    def _step(self, held: _Held) -> float:
        return self._fixed_type(held).resolution * (1 + NEAR_TIE)

    def _on_grid(self, held: _Held) -> bool:
        """Whether the framework's values are codes of the tensor's type: the model's quantiser made them."""
        steps = held.theirs / self._fixed_type(held).resolution
        return bool((np.abs(steps - np.rint(steps)) <= NEAR_TIE).all())

    def _with_theirs(self, held: _Held, codes: Codes) -> Codes:
        """The codes with the framework's values in place: of fixed point only where they differ."""
        if not self._fixed:
            return held.theirs.astype(codes.dtype)
        if not held.wrong.any():
            return codes
        type_ = self._fixed_type(held)
        nearest = np.clip(np.rint(np.ldexp(held.theirs, type_.fraction)), type_.lowest_code, type_.max_code)
        return np.where(held.wrong, nearest.astype(codes.dtype), codes)

    def _tied(self, held: _Held) -> bool:
        """Whether float32 may have decided all these values of a model's own quantiser."""
        for name in held.layer.inputs:
            lost = self._coarse.get(name)
            if lost is not None and lost.shape == held.wrong.shape and (lost & held.wrong).any():
                return False
        if self._fixed_type(held).width <= 2 and self._signs_of_zero(held):
            return True
        uneven = isinstance(held.layer, Steps)
        rare = uneven or self._fixed_type(held).width <= 2 or self._dyadic(held)
        if rare and not _rare(held.wrong):
            return False
        apart = np.abs(held.ours - held.theirs)[held.wrong]
        return uneven or (float(apart.max()) <= self._step(held) and self._near_ties(held))

    def _signs_of_zero(self, held: _Held) -> bool:
        """Whether the framework itself computed nothing but its rounding errors, whose signs these are."""
        before = self._before.get(held.origin.name)
        values = None if before is None else self._theirs.layers.get(before.name)
        if values is None or values.shape != self._theirs.layers[held.origin.name].shape:
            return False
        tensor = _inverse(replace(held.origin, scale=(1.0,), shift=(0.0,)), values, held.wrong.shape)
        if tensor is None:
            return False
        size = np.abs(tensor)
        noise = size <= FLOAT_STEPS * size.max(axis=(0, 2, 3), keepdims=True)
        return bool(noise[held.wrong].all())

    def _near_ties(self, held: _Held) -> bool:
        """Whether the exact values lie a rounding's distance from the framework's."""
        type_ = self._fixed_type(held)
        finer = replace(type_, width=type_.width + TIE_BITS)
        try:
            exact_layer = held.layer.retyped(tuple(self._types[name] for name in held.layer.inputs), finer)
            exact = np.asarray(finer.decode(exact_layer.golden(*held.sources)), np.float64)
        except (ValueError, AssertionError):  # a layer whose result has no finer type: thresholds, indices
            return _rare(held.wrong)
        apart = np.abs(exact - held.theirs)[held.wrong]
        most = 1.0 if type_.rounding in (Rounding.TRN, Rounding.TRN_ZERO) else 0.5
        return float(apart.max()) <= type_.resolution * (most + NEAR_TIE)

    def _dyadic(self, held: _Held) -> bool:
        """Whether the framework computes on grids of powers of two, which float32 holds exactly."""
        into = [self._shown[name][0] for name in held.layer.inputs if name in self._shown]
        scales = [factor for one in (held.origin, *into) for factor in one.scale]
        return all(abs(math.frexp(factor)[0]) == 0.5 for factor in scales)


def _rare(wrong: Marks) -> bool:
    """Whether few values are marked, and no channel has several."""
    by_channel = wrong.sum(axis=(0, 2, 3))
    most = max(1.0, RARE_IN_CHANNEL * wrong.size / len(by_channel))
    return bool(wrong.mean() <= RARE and (by_channel <= most).all())


def _nudged(held: _Held) -> bool:
    """Whether inputs that are float32 steps away change each of these results."""
    rng, changed = np.random.default_rng(0), np.zeros_like(held.wrong)
    for _ in range(NUDGES):
        moved = [
            source + rng.choice([-1.0, 1.0], source.shape) * FLOAT_STEPS * np.abs(source).max(initial=0.0)
            for source in held.sources
        ]
        after = np.asarray(held.layer.golden(*moved), np.float64)
        changed |= differing_by_channel(after, held.ours, FLOAT_READING)
    return bool(changed[held.wrong].all())


def _inverse(origin: Origin, array: Floats, shape: tuple[int, ...]) -> Floats | None:
    """The tensor [frames, C, H, W] of which `origin` shows `array`; None: it does not show all of it."""
    where = positions(origin.axes, origin.offset).reshape(-1)
    size = int(np.prod(shape[1:]))
    scale, shift = (np.asarray(part).reshape(-1, 1, 1) for part in (origin.scale, origin.shift))
    limited = origin.low is not None or origin.high is not None
    if limited or len(np.unique(where)) != size or not np.all(scale):
        return None
    flat = np.zeros((len(array), size))
    flat[:, where] = array.reshape(len(array), -1)
    tensor: Floats = (flat.reshape(len(array), *shape[1:]) - shift) / scale
    return tensor
