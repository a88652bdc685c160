"""The frames that train, without those that choose or judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes
from hlsgen.base.short_repr import Brief
from hlsgen.model.ir import Graph
from hlsgen.model.ports import Floats, inputs_of, tensor_codes
from hlsgen.training.recipe import Recipe
from hlsgen.widths.parts import Part


@dataclass(frozen=True, kw_only=True)
class TrainingFrames(Brief):
    """x: [N, ...] of each input in the framework's layout; labels [N, ...] or None. dropped: how many of the
    recipe's frames equal frames that choose or judge.
    """

    x: tuple[Floats, ...]
    labels: NDArray[Any] | None
    dropped: int

    @property
    def count(self) -> int:
        return len(self.x[0])


def training_frames(graph: Graph, recipe: Recipe, parts: Sequence[Part]) -> TrainingFrames:
    """The recipe's frames without those that, as codes of the inputs' types, choose or judge.

    graph: in fixed point. Raises DesignError: wrong shapes, values beyond the inputs' types, labels of
    another number, nothing left.
    """
    arrays, labels = recipe.frames()
    x = arrays[0] if len(arrays) == 1 else arrays
    codes = inputs_of(graph.name, graph.inputs, x, f"frames() of {recipe.path.name}")
    count = min(len(one) for one in codes.values())
    if labels is not None and len(labels) != count:
        message = f"frames() of {recipe.path.name} gives {count} frames and {len(labels)} labels"
        raise DesignError(Problem(message=message, fix="a label for each frame"))
    apart = set().union(*(_keys(_codes(graph, one.values)) for one in parts))
    names = [port.name for port in graph.inputs]
    kept = np.array([at for at in range(count) if _key(codes, names, at) not in apart], np.int64)
    if not len(kept):
        message = f"all {count} frames of {recipe.path.name} are frames that choose or judge the widths"
        raise DesignError(Problem(message=message, fix="other frames to train on than --input or accuracy:"))
    return TrainingFrames(
        x=tuple(port.from_tensor(port.tensor.type.decode(codes[port.name][kept])) for port in graph.inputs),
        labels=None if labels is None else labels[kept],
        dropped=count - len(kept),
    )


def _codes(graph: Graph, values: Mapping[str, Floats]) -> dict[str, Codes]:
    return {port.name: tensor_codes(port, values[port.name], port.name) for port in graph.inputs}


def _keys(codes: Mapping[str, Codes]) -> set[tuple[bytes, ...]]:
    names = list(codes)
    return {_key(codes, names, at) for at in range(min(len(one) for one in codes.values()))}


def _key(codes: Mapping[str, Codes], names: list[str], at: int) -> tuple[bytes, ...]:
    return tuple(np.asarray(codes[name][at], np.int64).tobytes() for name in names)
