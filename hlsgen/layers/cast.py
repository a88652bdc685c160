"""A change of type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes, FixedType, NumberType
from hlsgen.base.floating import HALF
from hlsgen.base.half_conversion import fixed_from_half, half_from_fixed
from hlsgen.layers.base import frames_of
from hlsgen.layers.elementwise_stage import ElementwiseStage
from hlsgen.layers.stage import Fold, Stage, Work, pixel_folds
from hlsgen.layers.unary import Unary

HALF_PLACES = 29
"""Places by which the significand of a half is moved at the most: its exponents but one."""
SIGNIFICANT = 11
"""Bits of that significand."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cast(Unary, kind="cast"):
    """in [C, H, W] -> out [C, H, W]: each value as `result_type` rounds and fits it.

    The only kind that may change between floating and fixed point. From half an infinity is the end of the
    type's range and NaN is 0; to half it is rounded as half operations are (base/half_conversion.py).
    """

    def check(self) -> list[Problem]:
        return []

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        source, result = self.source.type, self.result_type
        if isinstance(result, FixedType):
            if isinstance(source, FixedType):
                return result.cast(frames, source)
            halves = source.is_half and frames.dtype == np.float16
            return fixed_from_half(frames, result) if halves else result.encode(frames)
        if isinstance(source, FixedType):
            return half_from_fixed(frames, source) if result.is_half else source.decode(frames)
        return frames

    def retyped(self, sources: tuple[NumberType, ...], result: NumberType | None) -> Self:
        fresh = replace(self, source=replace(self.source, type=sources[0]))
        return replace(fresh, result_type=sources[0] if result is None else result)

    def folds(self) -> Iterator[Fold]:
        return pixel_folds(self.source.shape)

    def stage(self, fold: Fold) -> Stage:
        return CastStage(layer=self, fold=fold)


@dataclass(frozen=True, kw_only=True, eq=False)
class CastStage(ElementwiseStage):
    """A change of type; between half and fixed point shifters, adders and comparisons, no core and no DSP."""

    layer: Cast

    template = "cast"

    @property
    def _fixed(self) -> FixedType | None:
        """The fixed-point type beside half; None: there is no half."""
        types = self.layer.source.type, self.layer.result_type
        return next((one for one in types if isinstance(one, FixedType)), None) if HALF in types else None

    @property
    def headers(self) -> tuple[str, ...]:
        return ("half_fixed.h",) if self._fixed else ()

    def work(self) -> tuple[Work, ...]:
        """By structure: the significand is moved to its place in steps of a power of two, each a choice of
        two; then it is rounded and its ends are looked at. A sign is taken off, or put on, by an adder.
        """
        fixed = self._fixed
        if fixed is None:
            return ()
        if self.layer.result_type == HALF:
            moved = max(fixed.width, SIGNIFICANT + 2)
            width, rounded, steps = fixed.width, HALF.width, (moved - 1).bit_length()
        else:
            moved = SIGNIFICANT + HALF_PLACES
            width, rounded, steps = moved + 1, fixed.width, HALF_PLACES.bit_length()
        lanes = self.lanes
        return (
            Work(operator="select", count=lanes * steps, bits=(moved,)),
            Work(operator="add", count=lanes, bits=(width,)),
            Work(operator="add", count=lanes, bits=(rounded,)),
            Work(operator="max", count=2 * lanes, bits=(rounded,)),
        )

    def constants(self) -> dict[str, Any]:
        fixed = self._fixed
        if fixed is None:
            return {**super().constants(), "conversion": None}
        found = {**super().constants(), "SIGNED": fixed.signed}
        if self.layer.result_type == HALF:
            return {**found, "conversion": "to_half", "FRACTION": fixed.fraction}
        return {**found, "conversion": "from_half", "SYMMETRIC": fixed.lowest_code != fixed.min_code}
