"""What of a network's tensors says that its types are too narrow: what is clipped, what never changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes, FixedType
from hlsgen.base.overflow_count import OverflowCount
from hlsgen.model.clipping import Clipped, clipping_of
from hlsgen.model.ir import Graph
from hlsgen.model.ports import Floats

Counted = dict[str, Mapping[FixedType, OverflowCount]]
FEWEST_VALUES = 16
"""Values of a channel from which on it can be said that it never changes."""
CLIPPED_SHARE = 0.01
"""A tensor of which more values are clipped is a sign, though it need not harm."""


@dataclass(kw_only=True)
class Extremes:
    """The least and the largest value of each channel of each tensor, and how many it had in all frames so
    far.
    """

    values: dict[str, int] = field(default_factory=dict)
    least: dict[str, NDArray[Any]] = field(default_factory=dict)
    most: dict[str, NDArray[Any]] = field(default_factory=dict)

    def see(self, name: str, values: Codes) -> None:
        """values: [frames, C, H, W]."""
        low, high = values.min(axis=(0, 2, 3)), values.max(axis=(0, 2, 3))
        known = name in self.least
        self.values[name] = self.values.get(name, 0) + values[:, 0].size
        self.least[name] = np.minimum(self.least[name], low) if known else low
        self.most[name] = np.maximum(self.most[name], high) if known else high

    def still(self, name: str) -> NDArray[np.bool_]:
        """The channels that never change."""
        return np.asarray(self.least[name] == self.most[name], dtype=np.bool_)


def dead_layers(graph: Graph, seen: Extremes, floating: Extremes | None) -> list[str]:
    """Layers that give one value whatever the frame, and channels that do so only in fixed point."""
    found = []
    for layer in graph.layers:
        still = seen.still(layer.name)
        if floating is not None and layer.name in floating.least:
            before = floating.still(layer.name)
            if before.shape == still.shape:
                still = still & ~before
        elif floating is not None:
            continue
        dead, channels = int(still.sum()), still.size
        if dead == channels:
            values = np.unique(seen.least[layer.name])
            what = "0" if values.tolist() == [0] else "the same values"
            found.append(f"{layer.name} is dead: it gives {what} for every frame")
        elif dead and seen.values[layer.name] >= FEWEST_VALUES:
            found.append(f"{layer.name}: {dead} of {channels} channels give one value for every frame")
    return found


def clipped_tensors(
    graph: Graph, values: Mapping[str, Floats], excess: Counted, own: frozenset[str]
) -> list[str]:
    """The tensors of which many values are beyond their types, the worst first."""
    found = [
        one for one in clipping_of(graph, values, excess, own) if one.share > CLIPPED_SHARE and not one.own
    ]
    return [_line(one) for one in sorted(found, key=lambda one: -one.share)]


def _line(one: Clipped) -> str:
    what = {"input": "input ", "result": "", "accumulator": "accumulator of "}[one.part]
    harm = "" if one.worth_a_warning else ", by no more than a step" if one.excess.furthest <= 1 else ""
    return f"{what}{one.name}: {one.share:.1%} clipped{harm}"


def added(counted: Counted, more: Counted) -> None:
    """Adds what other frames clip, in place."""
    for name, by_type in more.items():
        known = dict(counted.get(name, {}))
        for type_, count in by_type.items():
            known[type_] = known[type_] + count if type_ in known else count
        counted[name] = known
