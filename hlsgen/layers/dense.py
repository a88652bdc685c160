"""A fully connected layer: the convolution of a vector by a 1 x 1 kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes
from hlsgen.layers.base import Shape
from hlsgen.layers.conv2d import Conv2d

if TYPE_CHECKING:
    from hlsgen.layers.stage import Fold


@dataclass(frozen=True, kw_only=True, eq=False)
class Dense(Conv2d, kind="dense"):
    """in [C, H, W] -> out [M, 1, 1]: weights [M, F, 1, 1] times the F = C * H * W elements, plus a bias [M].

    The elements are taken in the order in which a stream brings them: row, column, channel (of a vector, its
    own). Arithmetic, types and limits are the convolution's.
    """

    kernel: tuple[int, int] = (1, 1)

    @property
    def read_shape(self) -> Shape:
        return math.prod(self.in_shape), 1, 1

    def _frames(self, codes: Codes) -> Codes:
        return in_stream_order(super()._frames(codes))

    def check(self) -> list[Problem]:
        problems = super().check()
        given = (self.kernel, self.stride, self.padding, self.dilation, self.groups)
        if given != ((1, 1), (1, 1), (0, 0, 0, 0), (1, 1), 1):
            message = "a dense layer has no kernel, stride, padding, dilation or groups"
            problems.append(self.problem(message, "leave them out, or use a convolution"))
        return problems

    def folds(self) -> Iterator[Fold]:
        """Foldings whose SIMD elements are a word of the image: channels of a pixel, or pixels of a row."""
        from hlsgen.layers.conv2d_stage import MOST_PX

        channels, _, width = self.in_shape
        for fold in super().folds():
            pixels, rest = divmod(fold.simd, channels)
            if channels % fold.simd == 0 or (rest == 0 and width % pixels == 0 and pixels <= MOST_PX):
                yield fold


def in_stream_order(frames: Codes) -> Codes:
    """[N, C, H, W] -> [N, C * H * W, 1, 1]: row by row, the channels of a pixel together."""
    return frames.transpose(0, 2, 3, 1).reshape(len(frames), -1, 1, 1)
