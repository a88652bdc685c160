"""What the stages that compute each element on its own share: words in, words out, one in each iteration."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from hlsgen.layers.channels_stage import ChannelsStage
from hlsgen.layers.stage import Schedule, StreamFormat, each_iteration


@dataclass(frozen=True, kw_only=True, eq=False)
class ElementwiseStage(ChannelsStage):
    """PX pixels x SIMD channels a cycle; a frame takes as many cycles as it has words.

    Every folding is legal whose SIMD divides the channels. Its template extends elementwise.h.j2.
    """

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, px=self.fold.px, channels=self.fold.simd)

    @property
    def rhythm(self) -> Hashable:
        return ElementwiseStage, self.interval

    def schedule(self, frames: int) -> Schedule:
        return each_iteration(frames * self.interval)
