"""Blocks of rows in words of some channels: how processors that layers share have their tensors in DDR."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes, FixedType, NumberType
from hlsgen.layers.base import Shape, frames_of
from hlsgen.layers.stage import Buffer, Fold, Schedule, Stage, StreamFormat, Times
from hlsgen.layers.unary import OneSource


@dataclass(frozen=True, kw_only=True, eq=False)
class RowBlocks(OneSource, kind="row_blocks"):
    """in [C, H, W] -> out [lanes, blocks * groups, W * rows], elements of `bits` bits.

    A row of the result is a block of `rows` rows of a group of `lanes` channels, its pixels column by column,
    in a column from the first row to the last; blocks from above to below, of each its groups. Zeros stand
    for channels and rows that there are not. Values stay as they are.
    """

    rows: int
    lanes: int
    bits: int

    @property
    def groups(self) -> int:
        """Groups of channels, the last one filled up."""
        return -(-self.source.shape[0] // self.lanes)

    @property
    def blocks(self) -> int:
        """Blocks of rows, the last one filled up."""
        return -(-self.source.shape[1] // self.rows)

    @property
    def output_shape(self) -> Shape:
        return self.lanes, self.blocks * self.groups, self.source.shape[2] * self.rows

    @property
    def source_type(self) -> FixedType:
        """The type of the source, which is fixed point: `check` says so."""
        assert isinstance(self.source.type, FixedType), f"{self.name} is not fixed point"
        return self.source.type

    @property
    def output_type(self) -> NumberType:
        source = self.source_type
        return FixedType(self.bits, self.bits - source.fraction, signed=source.signed)

    def check(self) -> list[Problem]:
        source = self.source.type
        if not isinstance(source, FixedType):
            return [self.problem(f"its source is {source}", "a fixed-point type")]
        if source.width > self.bits:
            message = f"elements of {self.bits} bits do not hold {source}"
            return [self.problem(message, f"a type of {self.bits} bits or fewer")]
        return []

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        channels, height, width = self.source.shape
        count, whole = len(frames), (self.groups * self.lanes, self.blocks * self.rows)
        filled = np.zeros((count, *whole, width), frames.dtype)
        filled[:, :channels, :height] = frames
        split = filled.reshape(count, self.groups, self.lanes, self.blocks, self.rows, width)
        return split.transpose(0, 2, 3, 1, 5, 4).reshape(count, *self.output_shape)

    def restored(self, codes: Codes) -> Codes:
        """The way back: codes [frames, *output_shape] -> those of the source."""
        channels, height, width = self.source.shape
        count = len(codes)
        split = codes.reshape(count, self.lanes, self.blocks, self.groups, width, self.rows)
        ordered = split.transpose(0, 3, 1, 2, 5, 4)
        whole = ordered.reshape(count, self.groups * self.lanes, self.blocks * self.rows, width)
        return whole[:, :channels, :height]

    def retyped(self, sources: tuple[NumberType, ...], result: NumberType | None) -> Self:
        return replace(self, source=replace(self.source, type=sources[0]))

    def folds(self) -> Iterator[Fold]:
        """Words of so many channels that no word has those of two groups."""
        yield Fold(px=1, pe=self.lanes, simd=math.gcd(self.source.shape[0], self.lanes))

    def stage(self, fold: Fold) -> Stage:
        return RowBlocksStage(layer=self, fold=fold)


@dataclass(frozen=True, kw_only=True, eq=False)
class RowBlocksStage(Stage):
    """Two blocks of rows on chip: one is filled, a word a cycle, while the one before leaves.

    Interval: the words of whole blocks as they arrive; there are never more that leave.
    """

    layer: RowBlocks
    fold: Fold

    template = "row_blocks"

    @property
    def inputs(self) -> tuple[StreamFormat, ...]:
        return (StreamFormat(tensor=self.layer.source, channels=self.fold.simd),)

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, channels=self.layer.lanes)

    @property
    def block_iterations(self) -> int:
        """Iterations of a block: those of its words, were all of its rows there."""
        return self.layer.rows * self.inputs[0].row_words

    @property
    def block_words(self) -> int:
        """Words of a block that leave."""
        return self.layer.groups * self.layer.output_shape[2]

    def schedule(self, frames: int) -> Schedule:
        blocks = np.arange(frames * self.layer.blocks, dtype=np.int64)
        length, words = self.block_iterations, self.inputs[0]
        every = (blocks[:, None] * length + np.arange(length)).reshape(frames, -1)
        reads: Times = every[:, : words.frame_words].reshape(-1)
        writes: Times = ((blocks + 1)[:, None] * length + np.arange(self.block_words)).reshape(-1)
        return Schedule(iterations=(len(blocks) + 1) * length, reads=(reads,), writes=(writes,))

    def buffers(self) -> tuple[Buffer, ...]:
        bits = self.fold.simd * self.layer.source_type.width
        parts = self.layer.lanes // self.fold.simd
        return (Buffer(name="block", depth=2 * self.block_words, bits=bits, copies=parts),)

    def constants(self) -> dict[str, Any]:
        layer, (channels, height, _) = self.layer, self.layer.source.shape
        return {
            "ROWS": layer.rows,
            "LANES": layer.lanes,
            "SIMD": self.fold.simd,
            "GROUPS": layer.groups,
            "BLOCKS": layer.blocks,
            "LAST_ROWS": height - (layer.blocks - 1) * layer.rows,
            "LAST_LANES": channels - (layer.groups - 1) * layer.lanes,
            "BLOCK_ITERATIONS": self.block_iterations,
            "BITS": layer.source_type.width,
        }
