"""The raster of a sliding window: the order in which a convolution or a pool passes its input.

A frame is a raster of ROWS x STEPS positions; at each position one group of PX_IN pixels arrives, and the
rasters of successive frames follow without a gap. An output whose window is complete belongs to a position
LAG positions before the one that arrives: LAG_ROWS rows and LAG_STEPS steps. So a frame's last outputs are
computed while the next frame arrives, and only the last frame is followed by LAG positions where nothing
does. What lies outside the image, in a neighbouring row or frame, is masked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hlsgen.layers.stage import Schedule


@dataclass(frozen=True, kw_only=True)
class Raster:
    """All pairs are (vertical, horizontal); `padding` is (top, left); `px` output pixels at once."""

    in_shape: tuple[int, int]
    out_shape: tuple[int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    padding: tuple[int, int]
    px: int

    @property
    def px_in(self) -> int:
        """Pixels of an input word: just those that an output word moves on by."""
        return self.px * self.stride[1]

    @property
    def in_steps(self) -> int:
        return -(-self.in_shape[1] // self.px_in)

    @property
    def out_steps(self) -> int:
        return -(-self.out_shape[1] // self.px)

    @property
    def row_steps(self) -> int:
        """STEPS"""
        return max(self.in_steps, self.out_steps)

    @property
    def rows(self) -> int:
        """ROWS"""
        return max(self.in_shape[0], (self.out_shape[0] - 1) * self.stride[0] + 1)

    @property
    def lag_rows(self) -> int:
        return max(0, (self.kernel[0] - 1) * self.dilation[0] - self.padding[0])

    @property
    def lines(self) -> int:
        """Rows before the arriving one that a window reaches back to."""
        return self.lag_rows + self.padding[0] if self.kernel[0] > 1 or self.padding[0] else 0

    @cached_property
    def _word_span(self) -> tuple[int, int]:
        """The first and the last input word of an output word's windows, relative to its own step."""
        left = -self.padding[1]
        right = left + (self.px - 1) * self.stride[1] + (self.kernel[1] - 1) * self.dilation[1]
        return left // self.px_in, right // self.px_in

    @property
    def lag_steps(self) -> int:
        return max(0, self._word_span[1])

    @property
    def window_words(self) -> int:
        """Words of a row that the window keeps, the arriving one included."""
        return self.lag_steps - self._word_span[0] + 1

    @property
    def first_column(self) -> int:
        """Column, within the window's words, of the first pixel's first tap."""
        return (self.window_words - 1 - self.lag_steps) * self.px_in - self.padding[1]

    @property
    def lag(self) -> int:
        """Positions from an output's own to the one that completes its window."""
        return self.lag_rows * self.row_steps + self.lag_steps

    @cached_property
    def _frame(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Whether a word arrives at each position of a frame, and whether an output belongs to it."""
        row, step = np.divmod(np.arange(self.rows * self.row_steps), self.row_steps)
        arrives = (row < self.in_shape[0]) & (step < self.in_steps)
        computed = (row % self.stride[0] == 0) & (row // self.stride[0] < self.out_shape[0])
        return arrives, computed & (step < self.out_steps)

    def interval(self, *, groups: int = 1, filters: int = 1, channels: int = 1) -> int:
        """Iterations of a frame in the steady state; arguments as of `schedule`."""
        outputs = self.out_shape[0] * self.out_steps
        return groups * channels * (self.rows * self.row_steps + outputs * (filters - 1))

    def schedule(self, frames: int, *, groups: int = 1, filters: int = 1, channels: int = 1) -> Schedule:
        """Iterations of `frames` frames: at a position (group, filters, channels) passes, the last innermost.

        Without an output the filters' loop is gone through once. Words arrive in the first pass over the
        filters; an output word leaves with the last channel.
        """
        arrives, computed = self._frame
        nothing = np.zeros(self.lag, bool)
        arriving = np.concatenate([np.tile(arrives, frames), nothing])
        output = np.concatenate([nothing, np.tile(computed, frames)])
        per_position = groups * channels * np.where(output, filters, 1)
        begin = np.cumsum(per_position) - per_position
        group, channel = np.divmod(np.arange(groups * channels), channels)
        stride = channels * np.where(output, filters, 1)
        reads = begin[arriving][:, None] + group * stride[arriving][:, None] + channel
        last = np.arange(groups * filters)[None, :] * channels + channels - 1
        writes = begin[output][:, None] + last
        return Schedule(
            iterations=int(per_position.sum()),
            reads=(reads.reshape(-1).astype(np.int64),),
            writes=(writes.reshape(-1).astype(np.int64),),
        )

    def constants(self) -> dict[str, Any]:
        """What the templates of a sliding window name."""
        return {
            "KERNEL_H": self.kernel[0],
            "KERNEL_W": self.kernel[1],
            "TAPS": self.kernel[0] * self.kernel[1],
            "STRIDE_H": self.stride[0],
            "STRIDE_W": self.stride[1],
            "DILATION_H": self.dilation[0],
            "DILATION_W": self.dilation[1],
            "PAD_TOP": self.padding[0],
            "PAD_LEFT": self.padding[1],
            "PX": self.px,
            "PX_IN": self.px_in,
            "IN_STEPS": self.in_steps,
            "OUT_STEPS": self.out_steps,
            "ROWS": self.rows,
            "STEPS": self.row_steps,
            "LAG": self.lag,
            "LAG_ROWS": self.lag_rows,
            "LAG_STEPS": self.lag_steps,
            "LINES": self.lines,
            "WINDOW_WORDS": self.window_words,
            "FIRST_COLUMN": self.first_column,
        }
