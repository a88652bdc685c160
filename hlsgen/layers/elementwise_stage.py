"""What the stages that compute each element on its own share: words in, words out, one in each iteration."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hlsgen.layers.stage import Fold, Schedule, Stage, Words, each_iteration
from hlsgen.layers.unary import Unary


@dataclass(frozen=True, kw_only=True, eq=False)
class ElementwiseStage(Stage):
    """PX pixels x SIMD channels a cycle; a frame takes as many cycles as it has words.

    Every folding is legal whose SIMD divides the channels. Its template extends elementwise.h.j2.
    """

    layer: Unary
    fold: Fold

    @property
    def inputs(self) -> tuple[Words, ...]:
        return (Words(tensor=self.layer.source, px=self.fold.px, channels=self.fold.simd),)

    @property
    def output(self) -> Words:
        return Words(tensor=self.layer.output, px=self.fold.px, channels=self.fold.simd)

    @property
    def lanes(self) -> int:
        return self.fold.px * self.fold.simd

    @property
    def channel_folds(self) -> int:
        """FOLDS: words that hold all channels of a pixel."""
        return self.layer.source.shape[0] // self.fold.simd

    def schedule(self, frames: int) -> Schedule:
        return each_iteration(frames * self.interval)

    @cached_property
    def interval(self) -> int:
        return self.output.frame_words

    def constants(self) -> dict[str, Any]:
        return {
            "PX": self.fold.px,
            "SIMD": self.fold.simd,
            "FOLDS": self.channel_folds,
            "GROUPS": self.output.groups,
            "FRAME_WORDS": self.interval,
            "IN_BITS": self.layer.source_type.width,
            "OUT_BITS": self.layer.fixed_result.width,
        }
