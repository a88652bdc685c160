"""Frames of a design's inputs, run in parts: as codes, and as the framework and floating point take them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.base.fixed import Codes
from hlsgen.base.short_repr import Brief
from hlsgen.model.ir import Graph
from hlsgen.model.origins import Floats
from hlsgen.model.ports import inputs_of

PART_ELEMENTS = 1 << 23
"""Elements of all tensors of the frames that are run at a time: 64 MiB for each kind of run."""


@dataclass(frozen=True, kw_only=True)
class Part(Brief):
    """Some frames, from number `first` on.

    codes: [N, C, H, W] of each input. arrays: the same frames as they were given, [N, ...] in the framework's
    layout; held: as the types of the inputs hold them. values: [N, C, H, W] of each input in floating point,
    in units of the tensor.
    """

    first: int
    codes: Mapping[str, Codes]
    arrays: Sequence[Floats]
    held: Sequence[Floats]
    values: Mapping[str, Floats]

    def __len__(self) -> int:
        return len(self.arrays[0])


class Frames:
    """The frames x of a graph's inputs. Raises DesignError: as `inputs_of`."""

    def __init__(self, graph: Graph, x: ArrayLike | Sequence[ArrayLike]) -> None:
        self.graph = graph
        self.codes = inputs_of(graph.name, graph.inputs, x)
        given = [x] if len(graph.inputs) == 1 else list(x)  # type: ignore[arg-type]
        self.arrays = [
            np.asarray(array, np.float64).reshape(-1, *port.shape)
            for port, array in zip(graph.inputs, given, strict=True)
        ]
        self.count = len(self.arrays[0])

    def parts(self, most: int | None = None) -> Iterator[Part]:
        """The frames, or the first `most`, as many at a time as PART_ELEMENTS allow."""
        elements = sum(math.prod(tensor.shape) for tensor in self.graph.tensors().values())
        size = max(1, PART_ELEMENTS // elements)
        end = self.count if most is None else min(most, self.count)
        for first in range(0, end, size):
            last = min(first + size, end)
            arrays = [array[first:last] for array in self.arrays]
            codes = {name: every[first:last] for name, every in self.codes.items()}
            yield Part(
                first=first,
                codes=codes,
                arrays=arrays,
                held=[
                    port.from_tensor(port.tensor.type.decode(codes[port.name])) * port.scale
                    for port in self.graph.inputs
                ],
                values={
                    port.name: port.to_tensor(array) / port.scale
                    for port, array in zip(self.graph.inputs, arrays, strict=True)
                },
            )
