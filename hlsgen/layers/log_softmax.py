"""The logarithm of a softmax over the channels of each pixel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mpmath
import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes, FixedType, FloatType, Overflow, Rounding, tight_accumulator
from hlsgen.layers.base import frames_of
from hlsgen.layers.delay_lines import delay_line
from hlsgen.layers.softmax import INDEX_BITS, MOST_CODE_BITS, REST_BITS, ExponentialSum, ExponentialSumStage
from hlsgen.layers.stage import Buffer, Fold, Stage, Work

LOG_FRACTION = 20
"""Fraction bits of logarithms; a chord of the table is 2**-19 below them at most."""
LOG_PRECISION = 120
"""Bits with which mpmath computes them: on every machine the same."""
MOST_TOTAL_BITS = 2 * MOST_CODE_BITS
"""The widest exact result, which has the fractions of the source and of the logarithm."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LogSoftmax(ExponentialSum, kind="log_softmax"):
    """in [C, H, W] -> out [C, H, W]: x minus the logarithm of the sum of exp(x) of the pixel's channels.

    Fixed point, with d, n, j and k of `ExponentialSum`:

        L = n * LN2 + log_bases[j] + (log_rises[j] * k >> REST_BITS)                    of log_type
        y = -(d + L), exact, of total_type; cast to result_type, or its least value if y is below that
        top = the y of d = 0, but not the least value
        d > 0: y, at most the code below that of top

    d is exact, however far a channel is below the largest. Equal inputs give equal results, a larger input
    never a smaller one, and none but the largest inputs give the largest result.
    """

    def result_within(self, bits: int, *sources: FixedType) -> FixedType:
        """The range from the farthest that a channel can be below the largest."""
        farthest = sources[0].max_code - sources[0].min_code
        integer = max(farthest.bit_length() - sources[0].fraction, self.sum_growth.bit_length()) + 1
        return FixedType(bits, integer + 1, True, Rounding.RND_CONV, Overflow.SAT)

    @cached_property
    def log_type(self) -> FixedType:
        """The type of L."""
        most = self.sum_growth * self.ln2 + int(self._logarithms[-1])
        return FixedType(most.bit_length(), most.bit_length() - LOG_FRACTION, signed=False)

    @property
    def total_type(self) -> FixedType:
        """The type of -(d + L). Raises ValueError above 128 bits."""
        distance, log = self.distance_type, self.log_type
        most = (distance.max_code << self.shifts[0]) + (log.max_code << self.shifts[1])
        return tight_accumulator(-most, 0, max(distance.fraction, LOG_FRACTION))

    @property
    def shifts(self) -> tuple[int, int]:
        """Bits that d and L are shifted up by, to the finer resolution of the two."""
        fraction = max(self.distance_type.fraction, LOG_FRACTION)
        return fraction - self.distance_type.fraction, fraction - LOG_FRACTION

    @property
    def log_table_type(self) -> FixedType:
        """The type of the table's logarithms, all below 1."""
        return FixedType(LOG_FRACTION, 0, signed=False)

    @property
    def ln2(self) -> int:
        """log 2, LOG_FRACTION fraction bits."""
        return int(self._logarithms[-1])

    @cached_property
    def log_bases(self) -> Codes:
        """[2**INDEX_BITS]: log(s) at each segment's begin."""
        return self._logarithms[:-1]

    @cached_property
    def log_rises(self) -> Codes:
        """[2**INDEX_BITS]: what log(s) gains along each segment."""
        return np.asarray(np.diff(self._logarithms))

    @cached_property
    def _logarithms(self) -> Codes:
        segments = 1 << INDEX_BITS
        with mpmath.workprec(LOG_PRECISION):
            exact = [mpmath.log(1 + mpmath.mpf(index) / segments) for index in range(segments + 1)]
            return np.array([int(mpmath.nint(mpmath.ldexp(one, LOG_FRACTION))) for one in exact], np.int64)

    def check(self) -> list[Problem]:
        problems = super().check()
        result = self.result_type
        if not isinstance(result, FixedType) or not isinstance(self.source.type, FixedType):
            return problems
        if result.lowest_code >= 0 or result.width < 2:
            message = f"{result} has no negative values, and logarithms of probabilities are"
            problems.append(self.problem(message, "a signed result type such as fixed<16,6>"))
        integer = max(self.distance_type.integer, self.log_type.integer) + 2
        if integer + max(self.distance_type.fraction, LOG_FRACTION) > MOST_TOTAL_BITS:
            message = f"logarithms of the softmax of {self.source.type} need more than {MOST_TOTAL_BITS} bits"
            problems.append(self.problem(message, "a source of fewer bits before or behind the point"))
        return problems

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        if isinstance(self.result_type, FloatType):
            values = frames.astype(np.float64)
            below = values - values.max(axis=1, keepdims=True)
            return np.asarray(below - np.log(np.exp(below).sum(axis=1, keepdims=True))).astype(frames.dtype)
        distances = self._distances(frames)
        logs = self._logs(self._powers(distances))
        finer = max(0, self.fixed_result.fraction - self.total_type.fraction)
        if self.total_type.width + finer > MOST_CODE_BITS:
            distances, logs = distances.astype(object), logs.astype(object)
        results = self._cast(-((distances << self.shifts[0]) + (logs << self.shifts[1])))
        least = self.fixed_result.lowest_code
        top = np.maximum(np.where(distances == 0, results, least).max(axis=1, keepdims=True), least + 1)
        return np.asarray(np.where(distances == 0, top, np.minimum(results, top - 1)))

    def _logs(self, powers: Codes) -> Codes:
        """L [frames, 1, H, W] of each e."""
        growth, index, rest = self._parts(powers)
        return np.asarray(
            growth * self.ln2 + self.log_bases[index] + (self.log_rises[index] * rest >> REST_BITS)
        )

    def _cast(self, totals: Codes) -> Codes:
        """Codes of the result type, the least where they would be below it."""
        least, finer = self.fixed_result.lowest_code, self.total_type.fraction - self.fixed_result.fraction
        below = totals < (least << finer) if finer >= 0 else (totals << -finer) < least
        return np.asarray(np.where(below, least, self.fixed_result.cast(totals, self.total_type)))

    def stage(self, fold: Fold) -> Stage:
        return LogSoftmaxStage(layer=self, fold=fold)


@dataclass(frozen=True, kw_only=True, eq=False)
class LogSoftmaxStage(ExponentialSumStage):
    """The distances are kept, for the logarithm of the sum to be added to."""

    layer: LogSoftmax

    template = "log_softmax"

    def __post_init__(self) -> None:
        super().__post_init__()
        result = self.layer.fixed_result
        if result.width > MOST_CODE_BITS:
            message = (
                f"a {self.layer.kind} with results of {result} needs numbers of more bits than are built"
            )
            raise DesignError(self.layer.problem(message, "a narrower result; 32 bits always do"))

    def tables(self) -> Mapping[str, tuple[Codes, FixedType]]:
        layer = self.layer
        return {
            **self.exponential_tables(),
            "LOG_BASES": (layer.log_bases, layer.log_table_type),
            "LOG_RISES": (layer.log_rises, layer.log_table_type),
        }

    def buffers(self) -> tuple[Buffer, ...]:
        bits = self.lanes * self.layer.source_type.width
        return (
            delay_line("values", self.channel_folds, bits),
            delay_line("distances", self.channel_folds, bits),
            *self.table_buffers(),
        )

    def work(self) -> tuple[Work, ...]:
        total = self.layer.total_type.width
        return (
            *self.sum_work(),
            Work(operator="mul", count=self.fold.px, bits=(LOG_FRACTION, REST_BITS)),
            Work(operator="add", count=self.lanes + 3 * self.fold.px, bits=(total,)),
            Work(operator="compare", count=2 * self.lanes, bits=(total,)),
        )

    def constants(self) -> dict[str, Any]:
        layer = self.layer
        result = layer.fixed_result
        return {
            **super().constants(),
            "kept": "distance",
            "of_pixel": "level",
            "of_sum": ("log_bases", "log_rises"),
            "LN2": layer.ln2,
            "LOG_BITS": layer.log_type.width,
            "TABLE_BITS": layer.log_table_type.width,
            "log_t": layer.log_type.cpp,
            "total_t": layer.total_type.cpp,
            "LEAST": result.lowest_code,
        }
