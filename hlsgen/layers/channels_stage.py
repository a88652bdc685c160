"""What the stages share that take a tensor word by word: argmax, softmax, and all that compute elements."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hlsgen.layers.stage import Fold, Stage, StreamFormat
from hlsgen.layers.unary import Unary


@dataclass(frozen=True, kw_only=True, eq=False)
class ChannelsStage(Stage):
    """PX pixels x SIMD channels arrive a cycle; a frame takes as many cycles as it has words."""

    layer: Unary
    fold: Fold

    @property
    def inputs(self) -> tuple[StreamFormat, ...]:
        return (StreamFormat(tensor=self.layer.source, px=self.fold.px, channels=self.fold.simd),)

    @property
    def lanes(self) -> int:
        return self.fold.px * self.fold.simd

    @property
    def channel_folds(self) -> int:
        """FOLDS: words that hold all channels of a pixel."""
        return self.layer.source.shape[0] // self.fold.simd

    @cached_property
    def interval(self) -> int:
        return self.inputs[0].frame_words

    def constants(self) -> dict[str, Any]:
        return {
            "PX": self.fold.px,
            "SIMD": self.fold.simd,
            "FOLDS": self.channel_folds,
            "GROUPS": self.inputs[0].groups,
            "FRAME_WORDS": self.interval,
            "IN_BITS": self.layer.source.type.width,
            "OUT_BITS": self.layer.output_type.width,
        }
