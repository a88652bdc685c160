"""How a tensor lies in DDR for a shared processor: words of LANES channels, the rows of a block side by side.

[channel group][block of ROWS rows][column][row of the block][lane], lanes in ascending bits. So what the
array needs of neighbouring rows arrives together, and so do results leave it: whole blocks are bursts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes
from hlsgen.hardware.processor import Processor
from hlsgen.layers.base import Shape


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Words of a tensor [C, H, W] of codes of `bits` bits, for `rows` rows and `lanes` channels at once.

    floating: codes are float32, and words hold their bits.
    """

    shape: Shape
    rows: int
    lanes: int
    bits: int
    floating: bool = False

    @classmethod
    def of(cls, processor: Processor, shape: Shape) -> Layout:
        return cls(
            shape=shape,
            rows=processor.rows,
            lanes=processor.lanes,
            bits=processor.activation_bits,
            floating=processor.floating,
        )

    @property
    def groups(self) -> int:
        """Groups of channels, the last one filled up."""
        return -(-self.shape[0] // self.lanes)

    @property
    def blocks(self) -> int:
        """Blocks of rows, the last one filled up."""
        return -(-self.shape[1] // self.rows)

    @property
    def plane_words(self) -> int:
        """Words of a channel group."""
        return self.blocks * self.rows * self.shape[2]

    @property
    def frame_words(self) -> int:
        return self.groups * self.plane_words

    @property
    def word_bytes(self) -> int:
        return self.lanes * self.bits // 8

    @property
    def frame_bytes(self) -> int:
        return self.frame_words * self.word_bytes

    def packed(self, codes: Codes) -> NDArray[np.uint8]:
        """Codes [frames, C, H, W] -> bytes [frames, frame_bytes]; what fills up is zero."""
        channels, height, width = self.shape
        frames = len(codes)
        if self.floating:
            codes = np.ascontiguousarray(codes, np.float32).view(np.int32)
        full = np.zeros((frames, self.groups * self.lanes, self.blocks * self.rows, width), np.int64)
        full[:, :channels, :height] = codes
        split = full.reshape(frames, self.groups, self.lanes, self.blocks, self.rows, width)
        ordered = split.transpose(0, 1, 3, 5, 4, 2)
        wide = np.dtype(f"<i{self.bits // 8}")
        return np.ascontiguousarray(ordered.astype(wide)).view(np.uint8).reshape(frames, -1)

    def unpacked(self, data: NDArray[np.uint8], *, signed: bool) -> Codes:
        """Bytes [frames, frame_bytes] -> codes [frames, C, H, W]."""
        channels, height, width = self.shape
        wide = np.dtype("<f4" if self.floating else f"<{'i' if signed else 'u'}{self.bits // 8}")
        flat = np.ascontiguousarray(data).view(wide)
        split = flat.reshape(len(data), self.groups, self.blocks, width, self.rows, self.lanes)
        full = split.transpose(0, 1, 5, 2, 4, 3).reshape(
            len(data), self.groups * self.lanes, self.blocks * self.rows, width
        )
        return full[:, :channels, :height].astype(np.float32 if self.floating else np.int64)

    def known(self) -> NDArray[np.bool_]:
        """Which bytes [frame_bytes] of a frame hold codes, not what fills words up."""
        ones = np.ones((1, *self.shape), np.int64)
        marked = self.packed(ones)[0].view(f"<i{self.bits // 8}") != 0
        return np.repeat(marked, self.bits // 8)
