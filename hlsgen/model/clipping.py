"""Which values of a design's tensors are clipped on some frames, and when a user should be told."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hlsgen.base.errors import ClippingWarning, warn_caller
from hlsgen.base.fixed import FixedType
from hlsgen.base.overflow_count import OverflowCount
from hlsgen.model.ir import Graph, LayerOverflow, Port
from hlsgen.model.signs import asks_for_signs, read_alone_by

Floats = NDArray[np.float64]
Part = Literal["input", "result", "accumulator"]

WORTH_SHARE = 0.02
"""A tensor of which more values are clipped is worth a warning."""
WORTH_POWER = 1e-3
"""A tensor that loses more of its power is too: its signal to noise is below 30 dB whatever its width."""
SHOWN_TENSORS = 5
"""The most tensors that a warning of Python's names."""


@dataclass(frozen=True, kw_only=True)
class Clipped:
    """What became of one tensor. name: of an input, or of a layer; part: which of its tensors it is.

    own: the type is the model's own quantiser, which clips as its author meant it to.
    """

    name: str
    part: Part
    excess: OverflowCount
    own: bool

    @property
    def share(self) -> float:
        """The share of values that left the range of the type."""
        return self.excess.outside / self.excess.values if self.excess.values else 0.0

    @property
    def worth_a_warning(self) -> bool:
        """Whether it harms: what is off by no more than a step of the type is as good as rounded."""
        found = self.excess
        many = self.share > WORTH_SHARE or found.lost > WORTH_POWER * found.power
        return not self.own and found.furthest > 1 and many

    def __str__(self) -> str:
        found = self.excess
        what = {"input": "input ", "result": "", "accumulator": "accumulator of "}[self.part]
        type_ = found.type
        low, high = (code * type_.resolution for code in (type_.lowest_code, type_.max_code))
        return (
            f"{what}{self.name}: {_percent(self.share)} of {found.values:,} values lie beyond {type_}, "
            f"{low:g} to {high:g}, by up to {found.furthest * type_.resolution:.4g}"
        )


def _percent(share: float) -> str:
    return f"{share:.1%}" if share >= 0.0005 else f"{share:.1g}"


def clipping_of(
    graph: Graph, values: Mapping[str, Floats], excess: LayerOverflow, own: Collection[str] = ()
) -> tuple[Clipped, ...]:
    """The clipping of every tensor of fixed point: the inputs, then each layer's result, and accumulators
    that overflowed.

    values: [frames, C, H, W] of each input before it is quantised. excess: of the layers, as golden of
    these frames, or of some of them, counted them. own: the names whose types are the model's own.
    """
    own = {*own, *read_alone_by(graph, asks_for_signs)}  # a sign is the same of what is clipped
    found = input_clipping([replace(port, own=port.name in own) for port in graph.inputs], values)
    frames = min(len(array) for array in values.values())
    for layer in graph.layers:
        type_ = layer.output_type
        if not isinstance(type_, FixedType):
            continue
        counted = dict(excess.get(layer.name, {}))
        result = counted.pop(type_, OverflowCount(type=type_, values=frames * math.prod(layer.output_shape)))
        parts: list[tuple[Part, OverflowCount]] = [("result", result)]
        parts += [("accumulator", one) for one in counted.values() if one.outside]
        found += [
            Clipped(name=layer.name, part=part, excess=one, own=layer.name in own) for part, one in parts
        ]
    return tuple(found)


def input_clipping(ports: Iterable[Port], values: Mapping[str, Floats]) -> list[Clipped]:
    """The clipping of the inputs alone; values: as those of `clipping_of`."""
    return [
        Clipped(
            name=port.name,
            part="input",
            excess=OverflowCount.of_values(port.tensor.type, values[port.name]),
            own=port.own,
        )
        for port in ports
        if isinstance(port.tensor.type, FixedType)
    ]


def values_of(ports: Iterable[Port], x: Any) -> dict[str, Floats]:
    """[frames, C, H, W] by input of frames in the framework's layout, which `inputs_of` takes.

    Unlike its codes these are not rounded nor clipped.
    """
    given = list(ports)
    arrays: list[ArrayLike] = [x] if len(given) == 1 else list(x)
    return {
        port.name: port.to_tensor(np.asarray(array, np.float64).reshape(-1, *port.shape)) / port.scale
        for port, array in zip(given, arrays, strict=True)
    }


def warn_of_clipping(found: Iterable[Clipped], remedy: str) -> None:
    """A ClippingWarning of those that are worth it, at the caller of hlsgen; nothing, if none is."""
    lines = clipping_warnings(found)
    if not lines:
        return
    more = len(lines) - SHOWN_TENSORS
    shown = lines[:SHOWN_TENSORS] + ([f"and {more} more tensors"] if more > 0 else [])
    message = "values are clipped: " + "; ".join(shown) + f". {remedy}"
    warn_caller(message, ClippingWarning)


def clipping_warnings(found: Iterable[Clipped]) -> list[str]:
    """A line for each tensor that is worth a warning: inputs, then the worst first."""
    worth = [one for one in found if one.worth_a_warning]
    return [str(one) for one in sorted(worth, key=lambda one: (one.part != "input", -one.share))]
