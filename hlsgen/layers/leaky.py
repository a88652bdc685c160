"""Leaky ReLU and PReLU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes, FixedType, FloatType, NumberType, tight_accumulator
from hlsgen.layers.base import frames_of
from hlsgen.layers.elementwise_stage import ElementwiseStage
from hlsgen.layers.stage import Fold, Stage, Work, pixel_folds
from hlsgen.layers.unary import Unary, mixed_problems


@dataclass(frozen=True, kw_only=True, eq=False)
class Leaky(Unary, kind="leaky"):
    """in [C, H, W] -> out [C, H, W]: x where x >= 0, else slope * x.

    slopes: [1] for all channels or [C], codes of `slope_type`. Fixed point: the product is exact; x itself,
    where it is not negative, is aligned to the product; one cast from `exact_type` to `result_type`.
    """

    slopes: Codes
    slope_type: NumberType

    def check(self) -> list[Problem]:
        problems = mixed_problems(
            self, source=self.source.type, slopes=self.slope_type, output=self.result_type
        )
        channels = self.source.shape[0]
        if np.shape(self.slopes) not in ((1,), (channels,)):
            message = f"it has slopes of shape {np.shape(self.slopes)} for {channels} channels"
            problems.append(self.problem(message, f"one slope, or {channels}"))
        if not problems and not self.is_float:
            try:
                _ = self.exact_type
            except ValueError:
                message = f"products of {self.source.type} and {self.slope_type} need more than 128 bits"
                problems.append(self.problem(message, "narrower types"))
        return problems

    @property
    def fixed_slope(self) -> FixedType:
        assert isinstance(self.slope_type, FixedType), f"{self.name} is not fixed point"
        return self.slope_type

    @property
    def shifts(self) -> tuple[int, int]:
        """Bits that a code x >= 0 and a product are shifted up by, to the fraction of `exact_type`."""
        fraction = self.fixed_slope.fraction
        return max(0, fraction), max(0, -fraction)

    @property
    def exact_type(self) -> FixedType:
        """The narrowest type that holds every product and every x. Raises ValueError above 128 bits."""
        source = self.source_type
        keep, scale = self.shifts
        slopes = [int(slope) for slope in self.slopes]
        ends = [source.max_code << keep, 0, *(slope * source.min_code << scale for slope in slopes)]
        return tight_accumulator(min(ends), max(ends), source.fraction + max(0, self.fixed_slope.fraction))

    @property
    def natural_type(self) -> FixedType:
        return self.exact_type

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        slopes = np.asarray(self.slopes).reshape(-1, 1, 1)
        if isinstance(self.result_type, FloatType):
            return np.where(frames >= 0, frames, frames * slopes).astype(frames.dtype)
        exact = self.exact_type
        if exact.width > 63:
            frames, slopes = frames.astype(object), slopes.astype(object)
        keep, scale = self.shifts
        values = np.where(frames >= 0, frames << keep, frames * slopes << scale)
        return self.result_type.cast(values, exact)

    def folds(self) -> Iterator[Fold]:
        return pixel_folds(self.source.shape)

    def stage(self, fold: Fold) -> Stage:
        return LeakyStage(layer=self, fold=fold)


@dataclass(frozen=True, kw_only=True, eq=False)
class LeakyStage(ElementwiseStage):
    """A multiplier an element; with a slope for each channel, those of a word stand in a row of a table."""

    layer: Leaky

    template = "leaky"

    @property
    def per_channel(self) -> bool:
        return self.layer.slopes.size > 1

    def tables(self) -> Mapping[str, tuple[Codes, FixedType]]:
        shape = (self.channel_folds, self.fold.simd) if self.per_channel else (1, 1)
        return {"SLOPES": (self.layer.slopes.reshape(shape), self.layer.fixed_slope)}

    def work(self) -> tuple[Work, ...]:
        widths = (self.layer.source_type.width, self.layer.fixed_slope.width)
        return (Work(operator="mul", count=self.lanes, bits=widths),)

    def constants(self) -> dict[str, Any]:
        slope = self.layer.fixed_slope
        return {
            **super().constants(),
            "slope_t": slope.cpp,
            "exact_t": self.layer.exact_type.cpp,
            "SLOPE_BITS": slope.width,
            "per_channel": self.per_channel,
        }
