"""The sum or average of all pixels of a channel in float32, as stages: partial sums that take turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hlsgen.base.fixed import Codes, FloatType
from hlsgen.base.floating import HALF
from hlsgen.layers.base import Layer, pairwise_sum
from hlsgen.layers.periodic_stage import PeriodicStage, whole
from hlsgen.layers.stage import LEAST_SUMS, Buffer, Fold, StreamFormat, Times, Work

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

    SIMD is less than all channels: one word of each partial sum would be no memory, whose distance of turns
    a pragma can promise.

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
    def settle(self) -> int:
        """Iterations from the last pixel to the first result."""
        return SETTLE

    @property
    def inputs(self) -> tuple[StreamFormat, ...]:
        return (StreamFormat(tensor=self.layer.sources[0], channels=self.fold.simd),)

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, channels=self.fold.simd)

    @property
    def frame_iterations(self) -> int:
        return self.inputs[0].frame_words + self.settle + self.output.folds

    def frame_times(self) -> tuple[tuple[Times, ...], Times]:
        words = self.inputs[0].frame_words
        return (whole(words),), words + self.settle + np.arange(self.output.folds, dtype=np.int64)

    def buffers(self) -> tuple[Buffer, ...]:
        depth, bits = max(LEAST_SUMS, self.output.folds), self.fold.simd * FloatType().width
        return (Buffer(name="totals", depth=depth, bits=bits, copies=self.partials),)

    def work(self) -> tuple[Work, ...]:
        return self._work(adders=self.partials)

    def _work(self, adders: int) -> tuple[Work, ...]:
        """`adders`: of a channel."""
        found = [Work(operator="float_add", count=self.fold.simd * adders)] if adders else []
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
            "half": self.layer.output_type == HALF,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class WholeFloatSumStage(FloatSumStage):
    """The same of all channels of a pixel at once: the partial sums are the words of one memory.

    Once all pixels are in, the memory gives a partial sum a cycle, and all of them make the result. Partial
    sums of a pixel each need no memory. Interval: the pixels, PARTIALS where sums come from the memory, and
    the result, in cycles.
    """

    template = "float_sum_whole"

    @property
    def adds(self) -> bool:
        """Whether there are more pixels than partial sums, so that pixels are added to some."""
        return self.pixels > self.partials

    @property
    def settle(self) -> int:
        return PARTIALS if self.adds else 0

    def buffers(self) -> tuple[Buffer, ...]:
        bits = self.fold.simd * FloatType().width
        line = Buffer(name="line", depth=1, bits=bits * self.partials)
        return (Buffer(name="totals", depth=PARTIALS, bits=bits), line) if self.adds else (line,)

    def work(self) -> tuple[Work, ...]:
        return self._work(adders=self.partials - 1 + self.adds)

    def constants(self) -> dict[str, Any]:
        return {**super().constants(), "DISTANCE": PARTIALS, "adds": self.adds}
