"""Pooling to an output size, by windows that need not be of equal size, and its streaming stage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes, FixedType, FloatType, NumberType, tight_accumulator
from hlsgen.layers.base import Shape, frames_of
from hlsgen.layers.delay_lines import delay_line
from hlsgen.layers.periodic_stage import PeriodicStage
from hlsgen.layers.pool import Pool, PoolingStage
from hlsgen.layers.stage import Buffer, Fold, Stage, StreamFormat, Times, Work, divisors

Windows = tuple[tuple[int, int], ...]
"""The first row or column of each output's window, and the one after the last."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AdaptivePool(Pool, kind="adaptive_pool"):
    """in [C, H, W] -> out [C, OH, OW], `size` = (OH, OW): the largest or the average value of each window.

    Output row i covers rows floor(i * H / OH) to ceil((i + 1) * H / OH) - 1, columns likewise: PyTorch's
    rule. OH may be larger than H. An average is rounded once by result_type, as if the rational number were
    cast (see Averaging).
    """

    function: Literal["max", "average"]
    size: tuple[int, int]

    @property
    def output_shape(self) -> Shape:
        return self.source.shape[0], *self.size

    @cached_property
    def windows(self) -> tuple[Windows, Windows]:
        """The rows of each output row, and the columns of each output column."""
        _, height, width = self.source.shape
        return _windows(height, self.size[0]), _windows(width, self.size[1])

    @cached_property
    def window_counts(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """How many rows, and how many columns, each output's window has: its pixels are their product."""
        rows, columns = (tuple(end - first for first, end in windows) for windows in self.windows)
        return rows, columns

    def check(self) -> list[Problem]:
        if min(self.size) < 1:
            message = f"it is to give {self.size[0]} x {self.size[1]} rows and columns"
            return [self.problem(message, "an output size of at least 1")]
        return super().check()

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        if self.function == "max":
            largest = self._combined(frames, np.maximum)
            if isinstance(self.result_type, FloatType):
                return largest
            return self.result_type.cast(largest, self.source_type)
        counts = np.outer(*self.window_counts)
        if isinstance(self.result_type, FloatType):
            averages = self._combined(frames.astype(np.float64), np.add) / counts
            return np.asarray(averages.astype(frames.dtype))
        if self.source_type.width + self.distinct_counts[-1].bit_length() > 63:
            frames = frames.astype(object)
        return self.averaging.golden(self._combined(frames, np.add), counts)

    def _combined(self, frames: Codes, operation: np.ufunc) -> Codes:
        """Each window's values combined, first along the rows, then along the columns."""
        for axis, windows in zip((2, 3), self.windows, strict=True):
            moved = np.moveaxis(frames, axis, 0)
            parts = [operation.reduce(moved[first:end], axis=0) for first, end in windows]
            frames = np.stack(parts, axis=axis)
        return frames

    def folds(self) -> Iterator[Fold]:
        for simd in divisors(self.source.shape[0]):
            yield Fold(pe=simd, simd=simd)

    def stage(self, fold: Fold) -> Stage:
        return AdaptivePoolStage(layer=self, fold=fold)


def _windows(size: int, outputs: int) -> Windows:
    return tuple((i * size // outputs, -(-(i + 1) * size // outputs)) for i in range(outputs))


@dataclass(frozen=True, kw_only=True, eq=False)
class AdaptivePoolStage(PoolingStage, PeriodicStage):
    """A pixel of SIMD channels a cycle; max(H, OH) x max(W, OW) positions a frame, row by row.

    Along each axis at most one element arrives at a position and at most one window ends there, and no
    element is in more windows than one that it ends and the next: so two running values suffice, the strip
    (a window's part of the row) and, for each output column, the total of the strips. Where the output is
    larger than the input, a position without an arriving element gives the window of the last one again.
    """

    layer: AdaptivePool
    fold: Fold

    template = "adaptive_pool"

    @property
    def folds(self) -> int:
        """Words that hold all channels of a pixel."""
        return self.layer.source.shape[0] // self.fold.simd

    @property
    def inputs(self) -> tuple[StreamFormat, ...]:
        return (StreamFormat(tensor=self.layer.source, channels=self.fold.simd),)

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, channels=self.fold.simd)

    @property
    def steps(self) -> tuple[int, int]:
        """Positions along the rows and along the columns."""
        _, height, width = self.layer.source.shape
        return max(height, self.layer.size[0]), max(width, self.layer.size[1])

    @property
    def frame_iterations(self) -> int:
        return self.steps[0] * self.steps[1] * self.folds

    def frame_times(self) -> tuple[tuple[Times, ...], Times]:
        _, height, width = self.layer.source.shape
        rows, columns = _walk(height, self.layer.size[0]), _walk(width, self.layer.size[1])
        arriving, ending = (
            np.repeat(np.logical_and.outer(row, column).reshape(-1), self.folds)
            for row, column in zip(rows, columns, strict=True)
        )
        return (np.flatnonzero(arriving),), np.flatnonzero(ending)

    @cached_property
    def strip_type(self) -> FixedType:
        """The type of what a window takes of a row."""
        type_ = self.layer.source_type
        if not self.averages:
            return type_
        most = max(self.layer.window_counts[1])
        return tight_accumulator(most * type_.min_code, most * type_.max_code, type_.fraction)

    @property
    def total_type(self) -> NumberType:
        """The type of what a window takes of all its rows."""
        return self.divider.sum_type if self.averages else self.layer.source_type

    def buffers(self) -> tuple[Buffer, ...]:
        totals = self.layer.size[1] * self.folds
        return (
            delay_line("strips", self.folds, self.fold.simd * self.strip_type.width),
            delay_line("totals", totals, self.fold.simd * self.total_type.width),
        )

    def work(self) -> tuple[Work, ...]:
        operator, simd = "add" if self.averages else "max", self.fold.simd
        return (
            Work(operator=operator, count=simd, bits=(self.strip_type.width,)),
            Work(operator=operator, count=simd, bits=(self.total_type.width,)),
            *(self.divider.work(simd) if self.averages else ()),
        )

    def constants(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "function": self.layer.function,
            "strip_t": self.strip_type.cpp,
            "total_t": self.total_type.cpp,
            "SIMD": self.fold.simd,
            "FOLDS": self.folds,
            "ROW_STEPS": self.steps[0],
            "COLUMN_STEPS": self.steps[1],
            "FRAME_ITERATIONS": self.frame_iterations,
            # a window's total is read from the first of its columns on, though needed at the last only
            "totals_distance": (self.steps[1] - max(self.layer.window_counts[1]) + 1) * self.folds,
        }
        if self.averages:
            self.divider.check(self.layer)
            rows, columns = self.layer.window_counts
            found |= {
                "average": self.divider.constants(),
                "LEAST_ROWS": min(rows),
                "LEAST_COLUMNS": min(columns),
            }
        return found


def _walk(size: int, outputs: int) -> tuple[Times, Times]:
    """[max(size, outputs)] by position whether an element arrives, and whether a window ends.

    With no more outputs than elements, an element arrives at each position, and at element e ends the window
    whose last one it is; with more, each position is an output, and an element arrives at the first output
    that reads it.
    """
    windows = _windows(size, outputs)
    arrives, ends = np.zeros((2, max(size, outputs)), bool)
    if size >= outputs:
        arrives[:] = True
        ends[[end - 1 for _, end in windows]] = True
    else:
        ends[:] = True
        last = np.array([end for _, end in windows])
        arrives[np.searchsorted(last, np.arange(size), side="right")] = True
    return arrives, ends
