"""Limits: ReLU, ReLU6, hardtanh and every other clip."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes, FixedType, FloatType, tight_accumulator
from hlsgen.layers.base import floating_result, frames_of, limited
from hlsgen.layers.elementwise_stage import ElementwiseStage
from hlsgen.layers.stage import Fold, Stage, Work, pixel_folds
from hlsgen.layers.unary import Unary


@dataclass(frozen=True, kw_only=True, eq=False)
class Clamp(Unary, kind="clamp"):
    """in [C, H, W] -> out [C, H, W]: values below `low` become `low`, above `high` become `high`.

    None: no such limit. Fixed point: the limits are codes of the source, `low` rounded up and `high` rounded
    down, so that no result is beyond a limit; the limited code is cast to `result_type`.
    """

    low: float | None = None
    high: float | None = None

    @property
    def computes_float32(self) -> bool:
        return True

    def check(self) -> list[Problem]:
        problems = super().check()
        limits = [limit for limit in (self.low, self.high) if limit is not None]
        if not all(math.isfinite(limit) for limit in limits):
            named = " and ".join(f"{limit:g}" for limit in limits)
            return [*problems, self.problem(f"limits of {named} are not finite", "none, or a finite number")]
        if self.low is not None and self.high is not None and self.low > self.high:
            message = f"the lower limit {self.low:g} is above the upper limit {self.high:g}"
            return [*problems, self.problem(message, "low <= high")]
        if isinstance(self.source.type, FixedType):
            low, high = self._rounded_limits
            if low is not None and high is not None and low > high:
                message = f"{self.source.type} resolves no value from {self.low:g} to {self.high:g}"
                problems.append(self.problem(message, "more fraction bits in the source, or other limits"))
            else:
                problems += self._width_problems()
        return problems

    def _width_problems(self) -> list[Problem]:
        try:
            _ = self.limited_type
        except ValueError:
            message = f"its limits need more than 128 bits at the resolution of {self.source.type}"
            return [self.problem(message, "limits within the range of the source")]
        return []

    @property
    def limit_codes(self) -> tuple[int | None, int | None]:
        """`low` and `high` in codes of the source; None where no source code is beyond."""
        type_ = self.source_type
        low, high = self._rounded_limits
        if low is not None and low <= type_.min_code:
            low = None
        if high is not None and high >= type_.max_code:
            high = None
        return low, high

    @property
    def _rounded_limits(self) -> tuple[int | None, int | None]:
        """`low` rounded up and `high` rounded down to codes of the source, whatever its range."""
        fraction = self.source_type.fraction
        # ldexp of a double is exact here, and so are ceil and floor.
        low = None if self.low is None else math.ceil(math.ldexp(self.low, fraction))
        high = None if self.high is None else math.floor(math.ldexp(self.high, fraction))
        return low, high

    @property
    def limited_type(self) -> FixedType:
        """A type of the source's resolution that holds every limited code: what is cast to `result_type`.

        The source's, unless a limit is beyond its range. Raises ValueError above 128 bits.
        """
        type_ = self.source_type
        lowest, highest = self.limit_codes
        ends = (type_.min_code, type_.max_code)  # Python's integers: a source may have more than 64 bits
        low, high = (end if lowest is None else max(end, lowest) for end in ends)
        if highest is not None:
            low, high = min(low, highest), min(high, highest)
        within = type_.min_code <= low and high <= type_.max_code
        return type_ if within else tight_accumulator(low, high, type_.fraction)

    @property
    def natural_type(self) -> FixedType:
        return self.limited_type

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        if isinstance(self.result_type, FloatType):
            if frames.dtype == np.float64:
                return limited(frames, self.low, self.high)
            return floating_result(frames, self.source.type, self.low, self.high, self.result_type)
        if self.limited_type.width > 63:
            frames = frames.astype(object)
        return self.result_type.cast(_clipped(frames, *self.limit_codes), self.limited_type)

    def folds(self) -> Iterator[Fold]:
        return pixel_folds(self.source.shape)

    def stage(self, fold: Fold) -> Stage:
        return ClampStage(layer=self, fold=fold)


@dataclass(frozen=True, kw_only=True, eq=False)
class ClampStage(ElementwiseStage):
    """Up to two comparisons an element, and a change of type."""

    layer: Clamp

    template = "clamp"

    def work(self) -> tuple[Work, ...]:
        layer = self.layer
        limits = (layer.low, layer.high) if layer.is_float else layer.limit_codes
        width = layer.source.type.width if layer.is_float else layer.limited_type.width
        count = self.lanes * sum(limit is not None for limit in limits)
        return (Work(operator="compare", count=count, bits=(width,)),)

    def constants(self) -> dict[str, Any]:
        if isinstance(self.layer.result_type, FloatType):
            low, high = (
                None if limit is None else self.layer.result_type.literal(limit)
                for limit in (self.layer.low, self.layer.high)
            )
            return {**super().constants(), "limited_t": self.layer.result_type.cpp, "low": low, "high": high}
        type_ = self.layer.limited_type
        # a limit was a double before it became a code, so as a double it is exact again
        low, high = (
            None if code is None else repr(float(code) * type_.resolution) for code in self.layer.limit_codes
        )
        return {**super().constants(), "limited_t": type_.cpp, "low": low, "high": high}


def _clipped(values: Codes, low: float | None, high: float | None) -> Codes:
    if low is not None:
        values = np.maximum(values, low)
    return values if high is None else np.minimum(values, high)
