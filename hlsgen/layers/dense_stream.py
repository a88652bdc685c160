"""A dense layer whose weights are never on chip: each word of them comes from DDR once for some frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hlsgen.fixed import FixedType, FloatType
from hlsgen.layers.base import Tensor
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.conv2d_stage import ConvStage
from hlsgen.layers.stage import WEIGHT_BEAT_BITS, Buffer, Schedule, Words, Work

MOST_BATCH = 64
"""Frames of a block: their running sums lie in registers behind a multiplexer."""
MOST_BEAT_BITS = 512


def can_stream(layer: Conv2d) -> bool:
    """Whether `layer` multiplies a vector by a matrix: dense, or a 1 x 1 convolution of a 1 x 1 image."""
    shape = (layer.read_shape[1:], layer.output_shape[1:], layer.kernel, layer.stride)
    return shape == ((1, 1),) * 4 and layer.groups == 1 and layer.padding == (0, 0, 0, 0)


@dataclass(frozen=True, kw_only=True, eq=False)
class DenseStream(ConvStage):
    """PE x SIMD multipliers; blocks of `batch` frames, the last one of a call perhaps of fewer.

    A block of n frames: n * CF iterations read the input words; then each of the NF * CF weight words is
    taken for n iterations, one a frame; then n * NF iterations write the results. A frame so takes
    CF + NF * CF + NF cycles, but never fewer than its share of the block's DDR words.
    """

    batch: int
    most_beat_bits: int = MOST_BEAT_BITS
    """Of a DDR word: the port's."""

    template = "dense_stream"

    @property
    def frames_at_once(self) -> int:
        return self.batch

    @property
    def frame_iterations(self) -> int:
        _, filters, channels = self.passes
        return channels + filters * channels + filters

    @cached_property
    def interval(self) -> int:
        return max(self.frame_iterations, -(-self.block_beats // self.batch))

    def schedule(self, frames: int) -> Schedule:
        """Reads of the input, of the weights and of the biases, if there are some; writes of the output."""
        _, filters, channels = self.passes
        reads: list[list[Any]] = [[np.zeros(0, np.int64)] for _ in range(3)]
        writes = [np.zeros(0, np.int64)]
        for first in range(0, frames, self.batch):
            count = min(self.batch, frames - first)
            begin = first * self.frame_iterations
            computing = begin + count * channels
            writing = computing + count * filters * channels
            reads[0].append(begin + np.arange(count * channels))
            reads[1].append(computing + np.arange(filters * channels) * count)
            reads[2].append(computing + np.arange(filters) * channels * count)
            writes.append(writing + np.arange(count * filters))
        return Schedule(
            iterations=frames * self.frame_iterations,
            reads=tuple(np.concatenate(times) for times in reads[: 1 + len(self.weight_streams)]),
            writes=(np.concatenate(writes),),
        )

    @property
    def weight_streams(self) -> tuple[Words, ...]:
        """The words of weights of a block, and those of biases, if there are some."""
        layer = self.layer
        lanes = self.pe * self.simd
        weights = Tensor(shape=(layer.out_channels * layer.read_shape[0], 1, 1), type=layer.weight_type)
        found = [Words(tensor=weights, channels=lanes)]
        if layer.bias.size:
            biases = Tensor(shape=(layer.out_channels, 1, 1), type=layer.bias_type)
            found.append(Words(tensor=biases, channels=self.pe))
        return tuple(found)

    @cached_property
    def beat_bits(self) -> int:
        """Bits of a DDR word: as few as bring a word of weights in the time of a block's frames."""
        wanted = -(-_chunks(self.weight_streams[0]) // self.batch)
        return min(self.most_beat_bits, WEIGHT_BEAT_BITS << (wanted - 1).bit_length())

    def word_beats(self, words: Words) -> int:
        """DDR words of a word of `words`; each begins with a new one."""
        return -(-_chunks(words) * WEIGHT_BEAT_BITS // self.beat_bits)

    @property
    def group_beats(self) -> tuple[int, int]:
        """DDR words of the biases and of the weights of PE outputs, in this order."""
        weights, *biases = self.weight_streams
        bias_beats = self.word_beats(biases[0]) if biases else 0
        return bias_beats, self.passes[2] * self.word_beats(weights)

    @property
    def block_beats(self) -> int:
        """DDR words that a block of frames takes."""
        return self.passes[1] * sum(self.group_beats)

    def buffers(self) -> tuple[Buffer, ...]:
        _, filters, channels = self.passes
        accumulator = self.layer.accumulator
        assert isinstance(accumulator, FixedType)
        return (
            Buffer(name="inputs", depth=self.batch * channels, bits=_word_bits(self.inputs[0])),
            Buffer(name="results", depth=self.batch * filters, bits=_word_bits(self.output)),
            # one word: registers
            Buffer(name="sums", depth=1, bits=self.batch * self.pe * accumulator.width),
        )

    def work(self) -> tuple[Work, ...]:
        assert isinstance(self.layer.accumulator, FixedType)
        # a LUT selects a bit of four
        selects = self.pe * -(-self.batch // 4)
        return (
            *super().work(),
            Work(operator="select", count=selects, bits=(self.layer.accumulator.width,)),
        )

    def constants(self) -> dict[str, Any]:
        return {
            **super().constants(),
            "BATCH": self.batch,
            "FRAME_ITERATIONS": self.frame_iterations,
        }


def _chunks(words: Words) -> int:
    """Parts of WEIGHT_BEAT_BITS that a word takes; no element lies in two of them."""
    return -(-words.lanes // (WEIGHT_BEAT_BITS // _bits(words)))


def _word_bits(words: Words) -> int:
    return words.lanes * _bits(words)


def _bits(words: Words) -> int:
    type_: FixedType | FloatType = words.type
    assert isinstance(type_, FixedType)
    return type_.width
