"""A convolution whose weights are never on chip: each word of them comes from DDR once for some frames."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hlsgen.base.fixed import Codes, FixedType, FloatType
from hlsgen.layers.base import Tensor
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.conv2d_stage import ConvStage, in_dsp
from hlsgen.layers.packing import SHORTEST_CHAIN, chain_of_types
from hlsgen.layers.stage import (
    FOR_THESE_WEIGHTS,
    WEIGHT_BEAT_BITS,
    Buffer,
    Fold,
    Schedule,
    StreamFormat,
    Work,
)

MOST_BATCH = 64
"""Frames of a block."""
MOST_BEAT_BITS = 512
LEAST_MEMORY_SUMS = 8
"""A memory gives a running sum no sooner than a few cycles after it was written: fewer sums than that may lie
between two weights of a block with one frame only if they are registers."""
CYCLES_AHEAD = 256
"""Weights for so many cycles are fetched ahead: DDR answers late, and brings bursts."""
MOST_WORDS_AHEAD = 16
"""The most words of weights in the FIFO before a stage, which is one of shift registers."""
MOST_REGISTER_SUMS = 64
"""Running sums of an output channel in registers, behind a multiplexer."""


def can_stream(layer: Conv2d) -> bool:
    """Whether every weight meets all input channels' windows: with groups, few weights are worth keeping."""
    return layer.groups == 1


def most_batch(layer: Conv2d) -> int:
    """Frames that a block may have: where the running sums are registers, no more than those hold."""
    pixels = _pixels(layer)
    return MOST_BATCH if pixels >= LEAST_MEMORY_SUMS else min(MOST_BATCH, MOST_REGISTER_SUMS // pixels)


def stream_folds(layer: Conv2d) -> Iterator[Fold]:
    """One pixel and one tap at a time, PE output channels and SIMD input channels at once."""
    for fold in layer.folds():
        if fold.px > 1 or fold.multipliers in ("packed", "quad", "popcount", *FOR_THESE_WEIGHTS):
            continue
        yield fold
        # any weights may come, so the types decide whether two products of a DSP stay apart
        chain = min(fold.simd, chain_of_types(layer)) if fold.multipliers == "dsp" and in_dsp(layer) else 0
        if chain >= SHORTEST_CHAIN and fold.pe % 2 == 0:
            yield replace(fold, multipliers="packed")


def _pixels(layer: Conv2d) -> int:
    """Output pixels of a frame: the uses of a weight."""
    _, rows, columns = layer.output_shape
    return rows * columns


@dataclass(frozen=True, kw_only=True, eq=False)
class ConvStream(ConvStage):
    """PE x SIMD multipliers; blocks of `batch` frames, the last one of a call perhaps of fewer.

    A block of n frames with IW input words, P output pixels and T taps: n * IW iterations read the input
    words; then each of the NF * CF * T weight words is taken for n * P iterations, one an output pixel; then
    n * P * NF iterations write the results. A frame so takes IW + P * NF * CF * T + P * NF cycles, but never
    fewer than its share of the block's DDR words.
    """

    batch: int
    most_beat_bits: int = MOST_BEAT_BITS
    """The widest DDR word: the port's."""
    any_weights: bool = True

    template = "conv2d_stream"

    @property
    def terms(self) -> int:
        return self.simd

    @property
    def inputs(self) -> tuple[StreamFormat, ...]:
        (source,) = self.layer.sources
        # a dense layer's inputs at once may be several pixels
        channels = min(self.simd, source.shape[0])
        return (StreamFormat(tensor=source, px=self.simd // channels, channels=channels),)

    @property
    def frames_at_once(self) -> int:
        return self.batch

    @property
    def pixels(self) -> int:
        """Output pixels of a frame."""
        return _pixels(self.layer)

    @property
    def filter_words(self) -> int:
        """Weight words of PE outputs."""
        return self.passes[2] * self.layer.taps

    @property
    def frame_iterations(self) -> int:
        filters = self.passes[1]
        return self.inputs[0].frame_words + self.pixels * filters * (self.filter_words + 1)

    @cached_property
    def interval(self) -> int:
        return max(self.frame_iterations, -(-self.block_beats // self.batch))

    @property
    def rhythm(self) -> Hashable:
        counts = (self.batch, self.pixels, self.inputs[0].frame_words, self.passes[1], self.filter_words)
        return ConvStream, counts, len(self.weight_streams)

    def schedule(self, frames: int) -> Schedule:
        """Reads of the input, of the weights and of the biases, if there are some; writes of the output."""
        filters, words, arriving = self.passes[1], self.filter_words, self.inputs[0].frame_words
        reads: list[list[Any]] = [[np.zeros(0, np.int64)] for _ in range(3)]
        writes = [np.zeros(0, np.int64)]
        for first in range(0, frames, self.batch):
            count = min(self.batch, frames - first)
            uses = count * self.pixels
            begin = first * self.frame_iterations
            computing = begin + count * arriving
            writing = computing + uses * filters * words
            reads[0].append(begin + np.arange(count * arriving))
            reads[1].append(computing + np.arange(filters * words) * uses)
            reads[2].append(computing + np.arange(filters) * words * uses)
            writes.append(writing + np.arange(uses * filters))
        return Schedule(
            iterations=frames * self.frame_iterations,
            reads=tuple(np.concatenate(times) for times in reads[: 1 + len(self.weight_streams)]),
            writes=(np.concatenate(writes),),
        )

    @property
    def weight_streams(self) -> tuple[StreamFormat, ...]:
        """The words of weights of a block, and those of biases, if there are some."""
        layer = self.layer
        weights = Tensor(shape=(layer.weights.size, 1, 1), type=layer.weight_type)
        found = [StreamFormat(tensor=weights, channels=self.pe * self.simd)]
        if layer.bias.size:
            biases = Tensor(shape=(layer.out_channels, 1, 1), type=layer.bias_type)
            found.append(StreamFormat(tensor=biases, channels=self.pe))
        return tuple(found)

    @property
    def words_ahead(self) -> tuple[int, ...]:
        """Depths of the FIFOs of `weight_streams`."""
        words = -(-CYCLES_AHEAD // (self.batch * self.pixels))
        return max(2, min(MOST_WORDS_AHEAD, words)), *(2 for _ in self.weight_streams[1:])

    def weight_shape(self) -> tuple[int, int, int]:
        (words, *_) = self.weight_streams
        return words.folds, words.lanes, _bits(words)

    def weight_words(self) -> Codes:
        """[NF * CF * taps, PE * SIMD]: words by filter, channel, kernel row and column."""
        _, filters, channels = self.passes
        shape = (filters, self.pe, channels, self.simd, self.layer.taps)
        weights = np.asarray(self.layer.weights).reshape(shape)
        return weights.transpose(0, 2, 4, 1, 3).reshape(filters * self.filter_words, -1)

    @cached_property
    def beat_bits(self) -> int:
        """Bits of a DDR word: as few as bring a word of weights in the time of a block's uses of it."""
        wanted = -(-_chunks(self.weight_streams[0]) // (self.batch * self.pixels))
        return min(self.most_beat_bits, WEIGHT_BEAT_BITS << (wanted - 1).bit_length())

    def word_beats(self, words: StreamFormat) -> int:
        """DDR words of a word of `words`; each begins with a new one."""
        return -(-_chunks(words) * WEIGHT_BEAT_BITS // self.beat_bits)

    @property
    def group_beats(self) -> tuple[int, int]:
        """DDR words of the biases and of the weights of PE outputs, in this order."""
        weights, *biases = self.weight_streams
        bias_beats = self.word_beats(biases[0]) if biases else 0
        return bias_beats, self.filter_words * self.word_beats(weights)

    @property
    def block_beats(self) -> int:
        """DDR words that a block of frames takes."""
        return self.passes[1] * sum(self.group_beats)

    @property
    def sums(self) -> int:
        """Running sums of each of PE outputs: one a pixel of the block."""
        return self.batch * self.pixels

    @property
    def sums_in_registers(self) -> bool:
        return self.pixels < LEAST_MEMORY_SUMS

    def buffers(self) -> tuple[Buffer, ...]:
        accumulator = self.layer.accumulator
        assert isinstance(accumulator, FixedType)
        (inputs,) = self.inputs
        sum_bits = self.pe * accumulator.width
        # registers: one word
        depth, bits = (1, self.sums * sum_bits) if self.sums_in_registers else (self.sums, sum_bits)
        return (
            Buffer(name="inputs", depth=self.batch * inputs.frame_words, bits=_word_bits(inputs)),
            Buffer(name="results", depth=self.sums * self.passes[1], bits=_word_bits(self.output)),
            Buffer(name="sums", depth=depth, bits=bits),
        )

    def work(self) -> tuple[Work, ...]:
        assert isinstance(self.layer.accumulator, FixedType)
        if not self.sums_in_registers:
            return super().work()
        # a LUT selects a bit of four
        selects = self.pe * -(-self.sums // 4)
        return (
            *super().work(),
            Work(operator="select", count=selects, bits=(self.layer.accumulator.width,)),
        )

    def constants(self) -> dict[str, Any]:
        _, height, width = self.layer.read_shape
        _, rows, columns = self.layer.output_shape
        top, left, bottom, right = self.layer.padding
        reach_h, reach_w = self.layer.reach
        below = (rows - 1) * self.layer.stride[0] + reach_h - top > height
        beside = (columns - 1) * self.layer.stride[1] + reach_w - left > width
        return {
            **super().constants(),
            "OUT_PIXELS": self.pixels,
            "IN_WORDS": self.inputs[0].frame_words,
            "padded": bool(top or left or below or beside),
            "BATCH": self.batch,
            "FRAME_ITERATIONS": self.frame_iterations,
            "sums_in_registers": self.sums_in_registers,
        }


def _chunks(words: StreamFormat) -> int:
    """Parts of WEIGHT_BEAT_BITS that a word takes; no element lies in two of them."""
    return -(-words.lanes // (WEIGHT_BEAT_BITS // _bits(words)))


def _word_bits(words: StreamFormat) -> int:
    return words.lanes * _bits(words)


def _bits(words: StreamFormat) -> int:
    type_: FixedType | FloatType = words.type
    assert isinstance(type_, FixedType)
    return type_.width
