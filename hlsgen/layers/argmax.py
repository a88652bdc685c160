"""The index of the largest channel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes, FixedType, FloatType
from hlsgen.layers.base import Shape, frames_of
from hlsgen.layers.channels_stage import ChannelsStage
from hlsgen.layers.stage import Fold, Schedule, Stage, StreamFormat, Work, pixel_folds
from hlsgen.layers.unary import Unary


@dataclass(frozen=True, kw_only=True, eq=False)
class ArgMax(Unary, kind="argmax"):
    """in [C, H, W] -> out [1, H, W]: for each pixel the index of the first largest of its channels."""

    degrees = (0,)

    @property
    def output_shape(self) -> Shape:
        return 1, *self.source.shape[1:]

    @property
    def only_selects(self) -> bool:
        return True

    @property
    def natural_type(self) -> FixedType:
        """ufixed<bits, bits> with just the bits that an index of C channels has, at least 1."""
        bits = max(1, (self.source.shape[0] - 1).bit_length())
        return FixedType(bits, bits, signed=False)

    def check(self) -> list[Problem]:
        problems = super().check()
        result, needed = self.result_type, self.natural_type
        if isinstance(result, FixedType) and (
            result.signed or result.fraction != 0 or result.width < needed.width
        ):
            message = f"{result} does not hold the indices 0 to {self.source.shape[0] - 1} as plain integers"
            problems.append(self.problem(message, f"{needed}, or a wider unsigned integer"))
        return problems

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        indices = np.asarray(np.argmax(frames, axis=1))[:, None]
        return indices.astype(frames.dtype if isinstance(self.result_type, FloatType) else np.int64)

    def folds(self) -> Iterator[Fold]:
        return pixel_folds(self.source.shape)

    def stage(self, fold: Fold) -> Stage:
        return ArgMaxStage(layer=self, fold=fold)


@dataclass(frozen=True, kw_only=True, eq=False)
class ArgMaxStage(ChannelsStage):
    """The largest so far and its index; the index leaves with the last word of its pixels."""

    layer: ArgMax

    template = "argmax"

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, px=self.fold.px)

    def schedule(self, frames: int) -> Schedule:
        times = np.arange(frames * self.interval, dtype=np.int64)
        last = self.channel_folds - 1
        return Schedule(iterations=len(times), reads=(times,), writes=(times[last :: last + 1],))

    def work(self) -> tuple[Work, ...]:
        return (Work(operator="compare", count=self.lanes, bits=(self.layer.source_type.width,)),)

    def constants(self) -> dict[str, Any]:
        return {**super().constants(), "index_t": f"ap_uint<{self.layer.natural_type.width}>"}
