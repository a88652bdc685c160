"""Max and average pooling."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import Literal

import numpy as np

from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes, FixedType, FloatType
from hlsgen.layers.base import Shape, first_largest, float_reciprocals, frames_of, pairwise_sum, rounded_as
from hlsgen.layers.pool import Counts, Pool
from hlsgen.layers.stage import Fold, Stage, pixel_folds
from hlsgen.layers.unary import Unary


@dataclass(frozen=True, kw_only=True, eq=False)
class Pool2d(Pool, kind="pool2d"):
    """in [C, H, W] -> out [C, OH, OW]: the largest or the average value of each window.

    All pairs are (vertical, horizontal), padding is (top, left, bottom, right) in pixels. `overhang`: rows
    below and columns to the right of the padding that the last windows reach into (ceil_mode). OH =
    (H + top + bottom + overhang_h - ((KH - 1) * dilation_h + 1)) // stride_h + 1, OW likewise.

    Maximum: pixels outside the image take no part. Average: the exact sum over the pixels inside (those
    outside are zeros) over the count: `divisor` if there is one; else the window's pixels inside the image
    or, with `count_include_pad`, inside the image and its padding; never those of the overhang. One rounding
    by result_type, as if the rational number were cast (see Averaging).
    """

    function: Literal["max", "average"]
    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    overhang: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)
    count_include_pad: bool = False
    divisor: int | None = None

    @property
    def reach(self) -> tuple[int, int]:
        """Rows and columns that a window covers."""
        (rows, columns), (down, right) = self.kernel, self.dilation
        return (rows - 1) * down + 1, (columns - 1) * right + 1

    @property
    def output_shape(self) -> Shape:
        channels, height, width = self.source.shape
        top, left, bottom, right = self.padding
        rows = (height + top + bottom + self.overhang[0] - self.reach[0]) // self.stride[0] + 1
        columns = (width + left + right + self.overhang[1] - self.reach[1]) // self.stride[1] + 1
        return channels, rows, columns

    @cached_property
    def inside(self) -> tuple[Counts, Counts]:
        """The rows inside the image of each output row's window; likewise the columns of each output
        column's.
        """
        return self._axis_counts(0, padded=False), self._axis_counts(1, padded=False)

    @cached_property
    def window_counts(self) -> tuple[Counts, Counts]:
        """The rows and columns that an average counts, as `inside`: a window's count is their product.

        Not with a `divisor`.
        """
        padded = self.count_include_pad
        return self._axis_counts(0, padded=padded), self._axis_counts(1, padded=padded)

    @cached_property
    def distinct_counts(self) -> Counts:
        return (self.divisor,) if self.divisor is not None else super().distinct_counts

    @property
    def most_pixels(self) -> int:
        return max(self.inside[0]) * max(self.inside[1])

    def _axis_counts(self, axis: int, *, padded: bool) -> Counts:
        """Taps along rows (0) or columns (1) inside the image, or inside it and its padding, by output."""
        size = self.source.shape[1 + axis]
        before, after = self.padding[axis], self.padding[2 + axis]
        first, last = (-before, size + after) if padded else (0, size)
        starts = np.arange(self.output_shape[1 + axis]) * self.stride[axis] - before
        taps = starts[:, None] + np.arange(self.kernel[axis]) * self.dilation[axis]
        return tuple(int(count) for count in ((taps >= first) & (taps < last)).sum(axis=1))

    def check(self) -> list[Problem]:
        problems = Unary.check(self) + self._parameter_problems()
        if problems:
            return problems
        return self._window_problems() or self.average_problems()

    def _parameter_problems(self) -> list[Problem]:
        problems = []
        if min(*self.kernel, *self.stride, *self.dilation) < 1 or min(*self.padding, *self.overhang) < 0:
            message = "kernel, stride and dilation of a pool are at least 1, padding at least 0"
            problems.append(self.problem(message, "such sizes"))
        if self.function == "average" and self.dilation != (1, 1):
            problems.append(self.problem("an average pool has no dilation", "dilation 1, or a convolution"))
        if self.divisor is not None and (self.function == "max" or self.divisor < 1):
            message = f"a divisor of {self.divisor} does not go with a pool of function {self.function}"
            problems.append(self.problem(message, "a divisor of at least 1, and an average pool"))
        return problems

    def _window_problems(self) -> list[Problem]:
        _, height, width = self.source.shape
        top, left, bottom, right = self.padding
        if min(self.output_shape[1:]) < 1:
            message = (
                f"the window covers {self.reach[0]} x {self.reach[1]} (rows x columns, with dilation), "
                f"more than the padded image of {height + top + bottom} x {width + left + right}"
            )
            return [self.problem(message, "a smaller kernel or dilation, more padding, or a larger input")]
        empty = min(map(min, self.inside)) == 0
        if empty and (self.function == "max" or min(self.distinct_counts) == 0):
            message = (
                f"windows lie wholly outside the image of {height} x {width}: they have no {self.function}"
            )
            return [self.problem(message, "less padding, or no ceil_mode")]
        return []

    @property
    def computes_float32(self) -> bool:
        return True

    def folds(self) -> Iterator[Fold]:
        yield from pixel_folds(self.output_shape)

    def stage(self, fold: Fold) -> Stage:
        from hlsgen.layers.pool2d_stage import PoolStage

        return PoolStage(layer=self, fold=fold)

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        if self.function == "max":
            largest = self._combined(frames, partial(reduce, first_largest), self._lowest)
            if isinstance(self.result_type, FloatType):
                return largest
            return self.result_type.cast(largest, self.source_type)
        if isinstance(self.result_type, FloatType):
            if frames.dtype != np.float64:
                with np.errstate(over="ignore", invalid="ignore"):
                    sums = self._combined(frames.astype(np.float32), pairwise_sum, 0)
                    return rounded_as(self.result_type, sums * float_reciprocals(self._counts()))
            return self._combined(frames, partial(reduce, np.add), 0) / self._counts()
        if self.source_type.width + math.prod(self.kernel).bit_length() > 63:
            frames = frames.astype(object)
        return self.averaging.golden(self._combined(frames, partial(reduce, np.add), 0), self._counts())

    @property
    def _lowest(self) -> float | int:
        """What never is larger than a pixel."""
        return self.source.type.min_code if isinstance(self.source.type, FixedType) else -math.inf

    def _counts(self) -> Codes:
        """[OH, OW]: each window's divisor."""
        if self.divisor is not None:
            return np.full(self.output_shape[1:], self.divisor)
        rows, columns = self.window_counts
        return np.outer(rows, columns)

    def _combined(
        self, frames: Codes, combine: Callable[[list[Codes]], Codes], outside: float | int
    ) -> Codes:
        """Each window's values combined, first along the rows, then along the columns."""
        _, height, width = self.source.shape
        top, left, bottom, right = self.padding
        padded = (height + top + bottom + self.overhang[0], width + left + right + self.overhang[1])
        values: Codes = np.full((*frames.shape[:2], *padded), outside, frames.dtype)
        values[:, :, top : top + height, left : left + width] = frames
        for axis in (0, 1):
            step, spacing = self.stride[axis], self.dilation[axis]
            span = (self.output_shape[1 + axis] - 1) * step + 1
            moved = np.moveaxis(values, 2 + axis, -1)
            taps = [moved[..., tap : tap + span : step] for tap in range(0, self.reach[axis], spacing)]
            values = np.moveaxis(combine(taps), -1, 2 + axis)
        return np.ascontiguousarray(values)
