"""The weights of a streaming kernel in DDR: codes packed into beats, in the order of reading."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.layers.conv2d_stream import ConvStream
from hlsgen.layers.stage import WEIGHT_BEAT_BITS, Stage, StreamFormat


def weight_data(pipeline: Pipeline) -> NDArray[np.uint64]:
    """The beats of every stage that loads its weights at run time, in the order of the stages."""
    parts = [np.zeros(0, np.uint64)]
    for stage in pipeline.loaders:
        parts += _stage_beats(stage)
    return np.concatenate(parts)


def weight_beats(pipeline: Pipeline) -> dict[str, int]:
    """How many beats each stage that loads its weights takes, without making them."""
    return {stage.name: sum(_beat_counts(stage)) for stage in pipeline.loaders}


def streamed_beats(stage: ConvStream) -> NDArray[np.uint64]:
    """The beats of 64 bits of weights that are read anew for every block of frames.

    Of PE outputs at a time the biases, then the weights, each word in whole DDR words of `stage.beat_bits`.
    """
    layer, filters = stage.layer, stage.passes[1]
    parts = [_whole_beats(stage.weight_words(), stage.weight_streams[0], stage)]
    if layer.bias.size:
        parts.insert(0, _whole_beats(stage.bias_words(), stage.weight_streams[1], stage))
    return np.concatenate([part.reshape(filters, -1) for part in parts], axis=1).reshape(-1)


def _whole_beats(codes: Codes, words: StreamFormat, stage: ConvStream) -> NDArray[np.uint64]:
    packed = _packed(codes, words.type.width).reshape(len(codes), -1)
    room = stage.word_beats(words) * stage.beat_bits // WEIGHT_BEAT_BITS
    return np.pad(packed, ((0, 0), (0, room - packed.shape[1])))


def _stage_beats(stage: Stage) -> list[NDArray[np.uint64]]:
    layer: Any = stage.layer
    words = stage.weight_words()
    assert words is not None
    beats = [_packed(words, layer.weight_type.width)]
    if layer.bias.size:
        beats.append(_packed(stage.bias_words(), layer.bias_type.width))  # type: ignore[attr-defined]
    return beats


def _beat_counts(stage: Stage) -> tuple[int, int]:
    """Beats of the weights and of the biases."""
    layer: Any = stage.layer
    shape = stage.weight_shape()
    assert shape is not None
    words, lanes, bits = shape
    biases = stage.bias_words().shape if layer.bias.size else (0, 0)  # type: ignore[attr-defined]
    return words * _word_beats(lanes, bits), biases[0] * _word_beats(biases[1], layer.bias_type.width)


def _word_beats(lanes: int, bits: int) -> int:
    """Beats of a word of `lanes` codes of `bits` bits."""
    return -(-lanes // (WEIGHT_BEAT_BITS // bits))


def _packed(words: Codes, bits: int) -> NDArray[np.uint64]:
    """[words, lanes] codes: lanes tightly in beats of 64 bits, each word begins with a new beat."""
    lanes = WEIGHT_BEAT_BITS // bits
    count = _word_beats(words.shape[1], bits)
    padded = np.zeros((len(words), count * lanes), np.uint64)
    mask = np.uint64((1 << bits) - 1)
    floating = words.dtype.kind == "f"
    codes = words.view(f"u{words.dtype.itemsize}") if floating else words.astype(np.int64).view(np.uint64)
    padded[:, : words.shape[1]] = codes & mask
    shifts = np.arange(lanes, dtype=np.uint64) * np.uint64(bits)
    beats: NDArray[np.uint64] = np.bitwise_or.reduce(
        padded.reshape(len(words), count, lanes) << shifts, axis=2
    )
    return beats.reshape(-1)
