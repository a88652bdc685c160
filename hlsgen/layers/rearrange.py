"""Elements in another order: reshape, permute, pixel shuffle, channel shuffle, flip, nearest upsampling."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes
from hlsgen.layers.base import Shape, frames_of
from hlsgen.layers.unary import Selection

if TYPE_CHECKING:
    from hlsgen.layers.stage import Fold, Stage

Atoms = tuple[tuple[int, int], ...]
"""(size, stride) of each digit of a coordinate, outermost first; strides in elements of the source."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rearrange(Selection, kind="rearrange"):
    """in [C, H, W] -> out with `axes`: atoms of the output's channel, row and column.

    A coordinate's atoms make it a number in mixed radix, its digits outermost first; no atoms: size 1.
    Output element (c, y, x) = source.flat[offset + sum of digit * stride], the source in [C, H, W] C order.
    Stride 0 repeats, a negative stride goes backwards.
    """

    axes: tuple[Atoms, Atoms, Atoms]
    offset: int = 0

    @property
    def output_shape(self) -> Shape:
        channels, rows, columns = (math.prod(size for size, _ in atoms) for atoms in self.axes)
        return channels, rows, columns

    @property
    def reach(self) -> tuple[int, int]:
        """The first and the last element of the source that is read."""
        ends = [(size - 1) * stride for atoms in self.axes for size, stride in atoms]
        return self.offset + sum(min(end, 0) for end in ends), self.offset + sum(max(end, 0) for end in ends)

    @cached_property
    def indices(self) -> NDArray[np.int64]:
        """[output shape]: which element of the flat source each output element is."""
        channel, row, column = (_offsets(atoms) for atoms in self.axes)
        return self.offset + channel[:, None, None] + row[:, None] + column

    def check(self) -> list[Problem]:
        sizes = [size for atoms in self.axes for size, _ in atoms]
        if min(sizes, default=1) < 1:
            return [self.problem("it has an axis of size 0", "sizes of at least 1")]
        first, last = self.reach
        elements = math.prod(self.source.shape)
        if first < 0 or last >= elements:
            message = f"it reads elements {first} to {last} of a source that has elements 0 to {elements - 1}"
            return [self.problem(message, "sizes and strides that stay within the source")]
        return []

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        return frames.reshape(len(frames), -1)[:, self.indices]

    def folds(self) -> Iterator[Fold]:
        from hlsgen.layers.rearrange_stage import rearrange_folds

        return rearrange_folds(self)

    def stage(self, fold: Fold) -> Stage:
        from hlsgen.layers.rearrange_stage import RearrangeStage

        return RearrangeStage(layer=self, fold=fold)


def _offsets(atoms: Atoms) -> NDArray[np.int64]:
    """The sums of digit * stride, for every value of a coordinate."""
    offsets = np.zeros(1, np.int64)
    for size, stride in atoms:
        offsets = (offsets[:, None] + np.arange(size, dtype=np.int64) * stride).reshape(-1)
    return offsets
