"""The values of tensors that have only a few, whatever the network reads: signs, masks, steps, their sums.

A type that holds these exactly has a bit or two, and what multiplies them needs no DSP. Values such as 0.7,
of which no narrow type holds all, are no levels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hlsgen.base.coded import narrowest
from hlsgen.layers.affine import Affine
from hlsgen.layers.base import Layer
from hlsgen.layers.binary import Add, Binary, Mul, Sub
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.pad import Pad
from hlsgen.layers.steps import Steps
from hlsgen.layers.table import Table
from hlsgen.layers.thresholds import Thresholds
from hlsgen.model.ir import Graph

Levels = tuple[float, ...]
MOST_LEVELS = 16
MOST_BITS = 8
"""The widest type that holds all levels."""
FUNCTIONS: Mapping[str, Levels] = {"bipolar": (-1.0, 1.0), "sign": (-1.0, 0.0, 1.0)}
OPERATIONS: Mapping[type[Binary], Callable[[float, float], float]] = {
    Add: lambda a, b: a + b,
    Sub: lambda a, b: a - b,
    Mul: lambda a, b: a * b,
}


def levels_of(graph: Graph) -> dict[str, Levels]:
    """The levels of each tensor of a float graph that has some, ascending."""
    known: dict[str, Levels] = {}
    for layer in graph.layers:
        found = _levels(layer, [known.get(name) for name in layer.inputs])
        if found is not None and len(found) <= MOST_LEVELS and _is_narrow(found):
            known[layer.name] = found
    return known


def _levels(layer: Layer, sources: Sequence[Levels | None]) -> Levels | None:
    """All values that a layer may give, of sources with levels or without; None: there are others."""
    if isinstance(layer, Table):
        return FUNCTIONS.get(layer.function)
    if isinstance(layer, Steps | Thresholds):
        return tuple(sorted(set(layer.values)))
    given = [one for one in sources if one is not None]
    if len(given) < len(sources):
        return None
    if isinstance(layer, Pad):
        given.append((layer.value,))
    if layer.only_selects:
        return tuple(sorted({level for one in given for level in one}))
    if isinstance(layer, Clamp):
        low, high = (
            (-np.inf if layer.low is None else layer.low),
            (np.inf if layer.high is None else layer.high),
        )
        return tuple(sorted({min(max(level, low), high) for level in given[0]}))
    if isinstance(layer, Affine) and layer.low is None and layer.high is None:
        shifts = np.asarray(layer.bias, np.float64) if layer.bias.size else np.zeros(1)
        lines = zip(
            *np.broadcast_arrays(np.asarray(layer.weights, np.float64).reshape(-1), shifts), strict=True
        )
        return tuple(sorted({scale * level + shift for scale, shift in lines for level in given[0]}))
    operation = OPERATIONS.get(type(layer)) if isinstance(layer, Binary) else None
    if operation is None:
        return None
    return tuple(sorted({operation(a, b) for a in given[0] for b in given[1]}))


def _is_narrow(levels: Levels) -> bool:
    try:
        return narrowest(levels).width <= MOST_BITS
    except ValueError:
        return False
