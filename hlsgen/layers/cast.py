"""A change of type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes, FixedType, NumberType
from hlsgen.layers.base import frames_of
from hlsgen.layers.elementwise_stage import ElementwiseStage
from hlsgen.layers.stage import Fold, Stage, pixel_folds
from hlsgen.layers.unary import Unary


@dataclass(frozen=True, kw_only=True, eq=False)
class Cast(Unary, kind="cast"):
    """in [C, H, W] -> out [C, H, W]: each value as `result_type` rounds and fits it.

    The only kind that may change between float32 and fixed point.
    """

    def check(self) -> list[Problem]:
        return []

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        source, result = self.source.type, self.result_type
        if isinstance(result, FixedType):
            return result.cast(frames, source) if isinstance(source, FixedType) else result.encode(frames)
        return source.decode(frames) if isinstance(source, FixedType) else frames

    def retyped(self, sources: tuple[NumberType, ...], result: NumberType | None) -> Self:
        fresh = replace(self, source=replace(self.source, type=sources[0]))
        return replace(fresh, result_type=sources[0] if result is None else result)

    def folds(self) -> Iterator[Fold]:
        return pixel_folds(self.source.shape)

    def stage(self, fold: Fold) -> Stage:
        return CastStage(layer=self, fold=fold)


@dataclass(frozen=True, kw_only=True, eq=False)
class CastStage(ElementwiseStage):
    """A change of type."""

    template = "cast"
