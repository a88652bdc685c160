"""Pooling of all pixels of each channel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from hlsgen.base.fixed import Codes, FixedType, FloatType, NumberType
from hlsgen.layers.base import Shape, float_reciprocals, frames_of, rounded_as
from hlsgen.layers.delay_lines import delay_line
from hlsgen.layers.float_sum_stage import FloatSumStage, WholeFloatSumStage, partial_sums
from hlsgen.layers.periodic_stage import PeriodicStage, whole
from hlsgen.layers.pool import Counts, Pool, PoolingStage
from hlsgen.layers.stage import Buffer, Fold, Stage, StreamFormat, Times, Work, pixel_folds


@dataclass(frozen=True, kw_only=True, eq=False)
class GlobalPool(Pool, kind="global_pool"):
    """in [C, H, W] -> out [C, 1, 1]: the largest, the average or the sum of all pixels of each channel.

    Fixed point: sums are exact; an average is rounded once, as if the rational number were cast (Averaging).
    """

    function: Literal["max", "average", "sum"]

    @property
    def output_shape(self) -> Shape:
        return self.source.shape[0], 1, 1

    @property
    def pixels(self) -> int:
        return self.source.shape[1] * self.source.shape[2]

    @property
    def sum_type(self) -> FixedType:
        """The type that holds every sum. Raises ValueError above 128 bits."""
        type_ = self.source_type
        growth = (self.pixels - 1).bit_length()
        return FixedType(type_.width + growth, type_.integer + growth, type_.signed)

    @property
    def window_counts(self) -> tuple[Counts, Counts]:
        _, height, width = self.source.shape
        return (height,), (width,)

    @property
    def natural_type(self) -> FixedType:
        return self.sum_type if self.function == "sum" else super().natural_type

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        if isinstance(self.result_type, FloatType):
            return self._float(frames)
        if self.function == "max":
            return self.result_type.cast(frames.max(axis=(2, 3), keepdims=True), self.source_type)
        exact = self.sum_type
        sums = (frames.astype(object) if exact.width > 63 else frames).sum(axis=(2, 3), keepdims=True)
        if self.function == "sum":
            return self.result_type.cast(sums, exact)
        return self.averaging.golden(sums, self.pixels)

    @property
    def computes_float32(self) -> bool:
        return True

    def folds(self) -> Iterator[Fold]:
        for fold in pixel_folds(self.source.shape):
            if fold.px == 1 or not self._sums_floats:
                yield fold

    def stage(self, fold: Fold) -> Stage:
        if self._sums_floats:
            whole = fold.simd == self.source.shape[0]
            kind = WholeFloatSumStage if whole else FloatSumStage
            return kind(layer=self, fold=fold, average=self.function == "average")
        return GlobalPoolStage(layer=self, fold=fold)

    @property
    def _sums_floats(self) -> bool:
        return self.is_float and self.function != "max"

    def _float(self, frames: Codes) -> Codes:
        """float32 in the order of FloatSumStage, float64 (a network not quantised yet) in NumPy's."""
        pixels = frames.reshape(*frames.shape[:2], -1)
        if self.function == "max":
            found = np.take_along_axis(pixels, pixels.argmax(axis=2, keepdims=True), axis=2)
        elif frames.dtype != np.float64:
            with np.errstate(over="ignore", invalid="ignore"):
                found = partial_sums(list(np.moveaxis(pixels.astype(np.float32), 2, 0)))[..., None]
            if self.function == "average":
                found = found * float_reciprocals(np.asarray(self.pixels))
            assert isinstance(self.result_type, FloatType)
            found = rounded_as(self.result_type, found)
        else:
            found = pixels.sum(axis=2, keepdims=True)
            if self.function == "average":
                found = found / self.pixels
        return np.asarray(found)[..., None]


@dataclass(frozen=True, kw_only=True, eq=False)
class GlobalPoolStage(PoolingStage, PeriodicStage):
    """Reads PX pixels x SIMD channels a cycle into totals, one for each channel; the last pixels' words let
    the results out. Interval: the words of a frame, in cycles.
    """

    layer: GlobalPool
    fold: Fold

    template = "global_pool"

    @property
    def inputs(self) -> tuple[StreamFormat, ...]:
        return (StreamFormat(tensor=self.layer.source, px=self.fold.px, channels=self.fold.simd),)

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, channels=self.fold.simd)

    @property
    def frame_iterations(self) -> int:
        return self.inputs[0].frame_words

    def frame_times(self) -> tuple[tuple[Times, ...], Times]:
        words = whole(self.frame_iterations)
        return (words,), words[-self.output.folds :]

    @cached_property
    def total_type(self) -> NumberType:
        """The type of what is kept of a channel."""
        if self.averages:
            return self.divider.sum_type
        return self.layer.source.type if self.layer.function == "max" else self.layer.sum_type

    def buffers(self) -> tuple[Buffer, ...]:
        return (delay_line("totals", self.output.folds, self.fold.simd * self.total_type.width),)

    def work(self) -> tuple[Work, ...]:
        operator = "max" if self.layer.function == "max" else "add"
        lanes = self.inputs[0].lanes
        division = self.divider.work(self.fold.simd) if self.averages else ()
        return (Work(operator=operator, count=lanes, bits=(self.total_type.width,)), *division)

    def constants(self) -> dict[str, Any]:
        words = self.inputs[0]
        found: dict[str, Any] = {
            "function": self.layer.function,
            "total_t": self.total_type.cpp,
            "PX": self.fold.px,
            "SIMD": self.fold.simd,
            "FOLDS": words.folds,
            "GROUPS": words.groups,
            "FRAME_ITERATIONS": self.frame_iterations,
        }
        if self.averages:
            self.divider.check(self.layer)
            found["average"] = self.divider.constants()
        return found
