"""Ranges of every tensor beside its type, and the noise of every layer: which one ruins the answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.base.fixed import Codes, FixedType, NumberType
from hlsgen.base.progress import Progress, silent
from hlsgen.base.short_repr import Brief
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.clipping import input_clipping
from hlsgen.model.ir import Golden, Graph, LayerOverflow, run_golden
from hlsgen.model.origins import Floats
from hlsgen.tracing.advice import Advice, advice, shares_of
from hlsgen.tracing.frames import Frames, Part
from hlsgen.tracing.noise import LayerNoise, at_outputs, layer_noise, macs_behind
from hlsgen.tracing.ranges import RangeCount, TensorRange, parameter_range
from hlsgen.tracing.tables import data_frame
from hlsgen.tracing.trace import RunGolden

EFFECT_MACS = 1 << 32
"""Multiply-accumulates for what each layer's noise alone does to the outputs: some seconds. With more layers
than they suffice for, those that add most are run."""
EFFECT_FRAMES = 16
"""The most frames that this is run on."""


@dataclass(frozen=True, kw_only=True)
class Profile(Brief):
    """What `Design.profile` gives.

    frames: how many; effect_frames: of these, what each layer does to the outputs was run on; 0: on none.
    tensors: inputs and results in the order of the graph, then weights and biases. noise: of the inputs and
    layers that floating point has too; empty: the network came with types of its own. names: the framework's
    names for what each tensor holds.
    """

    design: str
    frames: int
    effect_frames: int
    tensors: tuple[TensorRange, ...]
    noise: tuple[LayerNoise, ...]
    advice: tuple[Advice, ...]
    names: Mapping[str, tuple[str, ...]]

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from hlsgen.tracing.notebook import profile_card

        return profile_card(self).html()

    @property
    def worst(self) -> LayerNoise | None:
        """The layer whose own noise does most harm; None: there is nothing to compare with, or no noise."""
        shares = shares_of(self.noise)
        worst = max(self.noise, key=lambda one: shares[one.name], default=None)
        return worst if worst is not None and shares[worst.name] else None

    def tensor(self, name: str, part: str = "result") -> TensorRange:
        """The range of a layer's result, or of its weights or bias, or of an input. Raises KeyError."""
        for one in self.tensors:
            if one.name == name and one.part in (part, "input" if part == "result" else part):
                return one
        raise KeyError(f"{part} of {name}")

    def verdict(self) -> list[str]:
        """What a person should know, in sentences."""
        found = []
        if not self.noise:
            found.append(
                "The network came with types of its own: ranges are of the values in fixed point, and there "
                "is no floating-point original to measure noise against."
            )
        elif self.worst is None:
            found.append("No layer adds noise: the results equal floating point's.")
        else:
            share = shares_of(self.noise)[self.worst.name]
            found.append(f"{self.worst.name} ruins it most: {share:.0%} of the noise that all layers make.")
        clipped = [one for one in self.tensors if one.clipped > 0]
        if clipped:
            worst = max(clipped, key=lambda one: one.clipped)
            found.append(
                f"{len(clipped)} tensors are clipped, {worst.name} ({worst.part}) most: {worst.clipped:.2%}."
            )
        dead = [f"{one.name} ({one.part})" for one in self.tensors if one.dead and one.part == "result"]
        if dead:
            found.append(f"Always one value: {', '.join(dead[:5])}{' and more' if len(dead) > 5 else ''}.")
        return found

    def as_json(self) -> dict[str, Any]:
        shares = shares_of(self.noise)
        return {
            "design": self.design,
            "frames": self.frames,
            "effect_frames": self.effect_frames,
            "verdict": self.verdict(),
            "worst": None if self.worst is None else self.worst.name,
            "advice": [one.as_json() for one in self.advice],
            "noise": [one.as_json() | {"share": shares[one.name]} for one in self.noise],
            "tensors": [
                one.as_json() | {"framework_names": list(self.names.get(one.name, ()))}
                for one in self.tensors
            ],
        }

    def to_frame(self) -> Any:
        """The tensors as a pandas.DataFrame, with the noise of each layer beside its result.

        Raises ToolError: pandas is missing.
        """
        noise = {one.name: one.as_json() for one in self.noise}
        shares = shares_of(self.noise)
        rows = []
        for one in self.tensors:
            row = one.as_json()
            if one.part in ("input", "result") and one.name in noise:
                own = noise[one.name]
                row |= {key: own[key] for key in ("snr_db", "added_db", "output_db", "cause")}
                row["share"] = shares[one.name]
            rows.append({"tensor": f"{one.name}.{one.part}", **row})
        return data_frame(rows, index="tensor")


def profiled(
    graph: Graph,
    golden: RunGolden,
    x: ArrayLike | Sequence[ArrayLike],
    *,
    reference: Graph | None = None,
    progress: Progress = silent,
) -> Profile:
    """The profile of a design's graph on frames x in the framework's layout. golden: the design's.

    reference: the same in floating point, with the same names of tensors.
    Raises DesignError: as `inputs_of`.
    """
    frames = Frames(graph, x)
    run = _Run(graph, reference)
    for part in frames.parts():
        progress(f"profiling {frames.count} frames", part.first, frames.count)
        found = golden(part.codes)
        run.add(part, found.tensors, found.excess)
    noise, effect_frames = run.noise, 0
    if reference is not None and noise:
        progress("running each layer's noise to the outputs")
        noise, effect_frames = _with_effects(graph, reference, golden, frames, noise)
    tensors = (*run.ranges(), *_parameters(graph, reference))
    return Profile(
        design=graph.name,
        frames=frames.count,
        effect_frames=effect_frames,
        tensors=tensors,
        noise=noise,
        advice=advice(graph, noise, tensors),
        names=_framework_names(graph),
    )


def measured_ranges(graph: Graph, reference: Graph | None, golden: Golden) -> tuple[TensorRange, ...]:
    """The ranges of the codes that golden has given for some frames, and of the weights."""
    inputs = {port.name for port in graph.inputs}
    found = []
    for name, tensor in graph.tensors().items():
        part = "input" if name in inputs else "result"
        count = RangeCount(name=name, part=part, type=tensor.type, of_floats=False)
        codes = golden.tensors[name]
        count.add(tensor.type.decode(codes), codes)
        count.outside = _outside(golden.excess.get(name, {}), tensor.type)
        found.append(count.range())
    return (*found, *_parameters(graph, reference))


def _framework_names(graph: Graph) -> dict[str, tuple[str, ...]]:
    names: dict[str, tuple[str, ...]] = {}
    for one in graph.origins:
        if not one.joined:
            names[one.source] = (*names.get(one.source, ()), one.name)
    return names


class _Run:
    """Ranges and noise as they are found, part by part of the frames."""

    def __init__(self, graph: Graph, reference: Graph | None) -> None:
        self._graph, self._reference = graph, reference
        floats = set(reference.tensors()) if reference else set()
        inputs = {port.name for port in graph.inputs}
        self._counts = {
            name: RangeCount(
                name=name,
                part="input" if name in inputs else "result",
                type=tensor.type,
                of_floats=name in floats or name in inputs,
            )
            for name, tensor in graph.tensors().items()
        }
        self._noise: dict[str, LayerNoise] = {}

    def add(self, part: Part, codes: Mapping[str, Codes], excess: LayerOverflow) -> None:
        """Some frames, with what the design's golden gives for them and clips."""
        floats = _floats(self._reference, part.values)
        for name, count in self._counts.items():
            values = floats.get(name, part.values.get(name))
            given = codes[name] if name in codes else part.codes[name]
            count.add(count.type.decode(given) if values is None else values, given)
            count.outside += _outside(excess.get(name, {}), count.type)
        for one in input_clipping(self._graph.inputs, part.values):
            self._counts[one.name].outside += one.excess.outside
        if self._reference is not None:
            every = {**codes, **part.codes}
            for noise, _ in layer_noise(self._graph, self._reference, every, floats):
                before = self._noise.get(noise.name)
                self._noise[noise.name] = noise if before is None else before + noise

    @property
    def noise(self) -> tuple[LayerNoise, ...]:
        return tuple(self._noise.values())

    def ranges(self) -> list[TensorRange]:
        return [count.range() for count in self._counts.values()]


def _outside(found: Mapping[FixedType, Any], type_: NumberType) -> int:
    one = found.get(type_) if isinstance(type_, FixedType) else None
    return 0 if one is None else int(one.outside)


def _floats(reference: Graph | None, values: Mapping[str, Floats]) -> dict[str, Floats]:
    """Every tensor in floating point; none without a network in floating point."""
    if reference is None:
        return {}
    return {name: np.asarray(one, np.float64) for name, one in run_golden(reference, values).items()}


def _parameters(graph: Graph, reference: Graph | None) -> list[TensorRange]:
    """The ranges of all weights and biases."""
    floats = {layer.name: layer for layer in reference.layers} if reference else {}
    found = []
    for layer in graph.layers:
        if not isinstance(layer, Conv2d):
            continue
        same = floats.get(layer.name)
        known = same if isinstance(same, Conv2d) and same.weights.shape == layer.weights.shape else None
        weights = None if known is None else np.asarray(known.weights, np.float64)
        found.append(parameter_range(layer.name, "weights", layer.weight_type, layer.weights, weights))
        if layer.bias.size:
            bias = known.bias if known is not None and known.bias.size == layer.bias.size else None
            found.append(parameter_range(layer.name, "bias", layer.bias_type, layer.bias, bias))
    return found


def _with_effects(
    graph: Graph, reference: Graph, golden: RunGolden, frames: Frames, noise: tuple[LayerNoise, ...]
) -> tuple[tuple[LayerNoise, ...], int]:
    """The noise with what each layer's does to the outputs, and the frames that this was run on."""
    adding = [one for one in noise if one.added]
    behind = macs_behind(reference, [one.name for one in adding])
    needed = max(1, sum(behind.values()))
    most = max(1, min(EFFECT_FRAMES, frames.count, EFFECT_MACS // needed))
    chosen: set[str] = set()
    spent = 0
    for one in sorted(adding, key=lambda each: each.added_db):
        spent += behind[one.name] * most
        if spent > EFFECT_MACS and chosen:
            break
        chosen.add(one.name)
    part = next(frames.parts(most))
    floats, codes = _floats(reference, part.values), golden(part.codes).tensors
    effects = {
        found.name: at_outputs(reference, found.name, own, floats)
        for found, own in layer_noise(graph, reference, {**codes, **part.codes}, floats)
        if found.name in chosen
    }
    with_effects = tuple(
        replace(one, at_outputs=effects.get(one.name, None if one.added else 0.0)) for one in noise
    )
    worst = max(effects.values(), default=0.0)
    return with_effects, len(part) if effects and math.isfinite(worst) else 0
