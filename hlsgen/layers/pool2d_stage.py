"""Pooling as a stage of a streaming kernel."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hlsgen.base.fixed import FixedType, FloatType, NumberType, tight_accumulator
from hlsgen.base.floating import FLOAT32, HALF
from hlsgen.layers.delay_lines import delay_line
from hlsgen.layers.pool import PoolingStage
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.raster import Raster
from hlsgen.layers.stage import Buffer, Fold, Schedule, StreamFormat, Work


@dataclass(frozen=True, kw_only=True, eq=False)
class PoolStage(PoolingStage):
    """A sliding window over line buffers, PX output pixels x SIMD channels a cycle.

    Positions of the input are passed row by row (see Raster), at each of them the channels of its pixels,
    SIMD at a time. When a group of pixels arrives, the rows under the kernel are combined; the window keeps
    what comes of it, and its columns are combined where an output belongs. Interval: positions * folds, in
    cycles.
    """

    layer: Pool2d
    fold: Fold

    template = "pool2d"

    @cached_property
    def raster(self) -> Raster:
        layer = self.layer
        return Raster(
            in_shape=layer.source.shape[1:],
            out_shape=layer.output_shape[1:],
            kernel=layer.kernel,
            stride=layer.stride,
            dilation=layer.dilation,
            padding=layer.padding[:2],
            px=self.fold.px,
        )

    @property
    def folds(self) -> int:
        """Passes over the channels at each position."""
        return self.layer.output_shape[0] // self.fold.simd

    @property
    def inputs(self) -> tuple[StreamFormat, ...]:
        return (StreamFormat(tensor=self.layer.source, px=self.raster.px_in, channels=self.fold.simd),)

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, px=self.fold.px, channels=self.fold.simd)

    @cached_property
    def interval(self) -> int:
        return self.raster.interval(groups=self.folds)

    @property
    def rhythm(self) -> Hashable:
        return Raster, self.raster, (self.folds, 1, 1)

    def schedule(self, frames: int) -> Schedule:
        return self.raster.schedule(frames, groups=self.folds)

    @cached_property
    def column_type(self) -> NumberType:
        """The type of one column's pixels combined."""
        type_ = self.layer.source.type
        if not self.averages or isinstance(type_, FloatType):
            return FLOAT32 if self.averages else type_  # averages of half are computed in float32, too
        rows = max(self.layer.inside[0])
        return tight_accumulator(rows * type_.min_code, rows * type_.max_code, type_.fraction)

    def buffers(self) -> tuple[Buffer, ...]:
        raster, found = self.raster, []
        lanes = raster.px_in * self.fold.simd
        if raster.lines:
            bits = raster.lines * lanes * self.layer.source.type.width
            found.append(delay_line("lines", raster.row_steps * self.folds, bits))
        if raster.window_words > 1:
            bits = (raster.window_words - 1) * lanes * self.column_type.width
            found.append(delay_line("window", self.folds, bits))
        return tuple(found)

    def work(self) -> tuple[Work, ...]:
        operator = "add" if self.averages else "max"
        if self.averages and self.layer.is_float:
            operator = "float_add"
        rows, columns = self.layer.kernel
        lanes = self.fold.px * self.fold.simd
        down = Work(
            operator=operator,
            count=self.raster.px_in * self.fold.simd * (rows - 1),
            bits=(self.column_type.width,),
        )
        width = self.divider.sum_type.width if self.averages else self.column_type.width
        along = Work(operator=operator, count=lanes * (columns - 1), bits=(width,))
        return (down, along, *(self.divider.work(lanes) if self.averages else ()))

    def constants(self) -> dict[str, Any]:
        layer, raster = self.layer, self.raster
        return {
            **raster.constants(),
            "function": layer.function,
            "SIMD": self.fold.simd,
            "FOLDS": self.folds,
            "column_t": self.column_type.cpp,
            "IN_BITS": layer.source.type.width,
            "floating": layer.is_float,
            "half": layer.source.type == HALF,
            "signed": isinstance(layer.source.type, FixedType) and layer.source.type.signed,
            "FIRST_ROW": -raster.lag_rows % raster.rows,
            "FRAME_ITERATIONS": self.interval,
            "FLUSH_ITERATIONS": raster.lag * self.folds,
            "lines_distance": raster.row_steps * self.folds,
            **(self._average_constants() if self.averages else {}),
        }

    def _average_constants(self) -> dict[str, Any]:
        layer = self.layer
        self.divider.check(layer)
        _, height, width = layer.source.shape
        top, left, bottom, right = layer.padding if layer.count_include_pad else (0, 0, 0, 0)
        found: dict[str, Any] = {"average": self.divider.constants()}
        if len(layer.distinct_counts) > 1:
            rows, columns = layer.window_counts
            found |= {
                "COUNTED_TOP": -top,
                "COUNTED_BOTTOM": height + bottom,
                "COUNTED_LEFT": -left,
                "COUNTED_RIGHT": width + right,
                "LEAST_ROWS": min(rows),
                "MOST_ROWS": max(rows),
                "LEAST_COLUMNS": min(columns),
                "MOST_COLUMNS": max(columns),
            }
        return found
