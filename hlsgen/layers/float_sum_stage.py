"""The sum or average of all pixels of a channel in float32, as a stage: partial sums that take turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hlsgen.base.fixed import Codes, FloatType
from hlsgen.layers.base import Layer, pairwise_sum
from hlsgen.layers.periodic_stage import PeriodicStage, whole
from hlsgen.layers.stage import Buffer, Fold, StreamFormat, Times, Work

PARTIALS = 16
"""Partial sums of a channel: an adder and the memory around it take 12 cycles, in which others begin."""
SETTLE = 14
"""Iterations from the last pixel to the first result, in which the last sums come out of the adders."""


def partial_sums(pixels: Sequence[Codes]) -> Codes:
    """The sum of `pixels` as hardware adds: pixel n to partial sum n mod PARTIALS, then those as a tree."""
    sums = list(pixels[:PARTIALS])
    for number, pixel in enumerate(pixels[PARTIALS:]):
        sums[number % PARTIALS] = sums[number % PARTIALS] + pixel
    return pairwise_sum(sums)


@dataclass(frozen=True, kw_only=True, eq=False)
class FloatSumStage(PeriodicStage):
    """Reads SIMD channels of a pixel a cycle, then waits until the sums are complete, then writes them.

    Interval: the words of a frame, SETTLE, and the words of the result, in cycles.
    """

    layer: Layer
    fold: Fold
    average: bool

    template = "float_sum"
    latency = 40
    """The partial sums are added one after the other: 34 in its schedule at 300 MHz."""

    @property
    def pixels(self) -> int:
        _, height, width = self.layer.sources[0].shape
        return height * width

    @property
    def partials(self) -> int:
        """Partial sums of a channel."""
        return min(PARTIALS, self.pixels)

    @property
    def inputs(self) -> tuple[StreamFormat, ...]:
        return (StreamFormat(tensor=self.layer.sources[0], channels=self.fold.simd),)

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, channels=self.fold.simd)

    @property
    def frame_iterations(self) -> int:
        return self.inputs[0].frame_words + SETTLE + self.output.folds

    def frame_times(self) -> tuple[tuple[Times, ...], Times]:
        words = self.inputs[0].frame_words
        return (whole(words),), words + SETTLE + np.arange(self.output.folds, dtype=np.int64)

    def buffers(self) -> tuple[Buffer, ...]:
        depth, bits = max(2, self.output.folds), self.fold.simd * FloatType().width
        return (Buffer(name="totals", depth=depth, bits=bits, copies=self.partials),)

    def work(self) -> tuple[Work, ...]:
        found = [Work(operator="float_add", count=self.fold.simd * self.partials)]
        if self.average:
            found.append(Work(operator="float_mul", count=self.fold.simd))
        return tuple(found)

    def constants(self) -> dict[str, Any]:
        return {
            "SIMD": self.fold.simd,
            "FOLDS": self.output.folds,
            "PIXELS": self.pixels,
            "PARTIALS": self.partials,
            "SETTLE": SETTLE,
            "DISTANCE": min(SETTLE, PARTIALS * self.output.folds),
            "FRAME_ITERATIONS": self.frame_iterations,
            "average": self.average,
            "RECIPROCAL": FloatType().literal(1 / self.pixels),
            "function": "sum",
        }
