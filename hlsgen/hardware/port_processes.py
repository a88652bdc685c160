"""The processes of a streaming kernel at its ports: frames to and from memory, weights from it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from hlsgen.base.fixed import Codes
from hlsgen.hardware.ports import DdrPort, Port
from hlsgen.hardware.processes import Carrier, PortProcess
from hlsgen.layers.conv2d_stream import ConvStream
from hlsgen.layers.stage import Schedule, Stage, StreamFormat


@dataclass(frozen=True, kw_only=True)
class DmaProcess(PortProcess):
    """Stream words from or to a port: an iteration for each transfer, but never less than one a word."""

    words: StreamFormat
    port: Port = DdrPort()

    @property
    def argument(self) -> str:
        return self.name.partition("_")[2]

    @property
    def port_bits(self) -> int:
        return self.port.transfer_bits(self.words)

    @property
    def transfers(self) -> int:
        return self.port.transfers(self.words)

    @property
    def together(self) -> int:
        return self.port.together(self.words)

    @property
    def carrier(self) -> Carrier | None:
        return Carrier(name=f"{self.direction}_{self.argument}", of=self) if self.together > 1 else None

    @property
    def frame_bytes(self) -> int:
        return self.port.frame_bytes(self.words)

    @property
    def ddr_bits(self) -> int:
        return 0 if self.port.axi_stream else self.port_bits

    @property
    def axi_bits(self) -> int:
        return self.port_bits if self.port.axi_stream else 0

    @property
    def word_bits(self) -> int:
        return self.axi_bits if self.transfers > 1 else 0

    @cached_property
    def interval(self) -> int:
        return self.transfers * self.words.frame_words

    @property
    def rhythm(self) -> Hashable:
        return type(self), self.transfers, self.words.frame_words

    def port_words(self, frames: int) -> int:
        return self.port.port_words(self.words, frames * self.words.frame_words)


@dataclass(frozen=True, kw_only=True)
class DmaRead(DmaProcess):
    """Frames from DDR or an AXI stream."""

    paced: ClassVar[bool] = True

    @property
    def latency(self) -> int:  # type: ignore[override]
        return 4 if self.port.axi_stream else 64

    def schedule(self, frames: int) -> Schedule:
        beats, count = self.transfers, frames * self.words.frame_words
        writes = np.arange(count, dtype=np.int64) * beats + beats - 1
        return Schedule(iterations=count * beats, reads=(), writes=(writes,))


@dataclass(frozen=True, kw_only=True)
class DmaWrite(DmaProcess):
    """Frames to DDR or an AXI stream."""

    direction: ClassVar[Literal["read", "write"]] = "write"

    @property
    def latency(self) -> int:  # type: ignore[override]
        return 8 if self.carrier else 4

    def schedule(self, frames: int) -> Schedule:
        beats, count = self.transfers, frames * self.words.frame_words
        reads = np.arange(count, dtype=np.int64) * beats
        return Schedule(iterations=count * beats, reads=(reads,), writes=())

    def in_ddr(self, codes: Codes) -> Codes:
        """Codes [frames, C, H, W] of what it takes, with the rows in the order in which they lie in DDR."""
        return codes

    def from_ddr(self, codes: Codes) -> Codes:
        """The way back."""
        return codes


@dataclass(frozen=True, kw_only=True)
class StoreBlocks(DmaWrite):
    """What a `row_blocks` layer gives, to where a processor that layers share has it in DDR.

    A row is a block of rows of a group of channels. They come block by block; in DDR the blocks of a group
    lie together, group after group. A port word is a stream word.
    """

    blocks: int
    groups: int

    @property
    def run_words(self) -> int:
        """Words that lie together: a block of a group."""
        return self.words.row_words

    def in_ddr(self, codes: Codes) -> Codes:
        return _turned(codes, self.blocks, self.groups)

    def from_ddr(self, codes: Codes) -> Codes:
        return _turned(codes, self.groups, self.blocks)


def _turned(codes: Codes, outer: int, inner: int) -> Codes:
    """[frames, C, outer * inner, W] -> [frames, C, inner * outer, W]"""
    frames, channels, rows, width = codes.shape
    split = codes.reshape(frames, channels, outer, inner, width)
    return split.transpose(0, 1, 3, 2, 4).reshape(frames, channels, rows, width)


@dataclass(frozen=True, kw_only=True)
class LoadWeights(PortProcess):
    """The weights and biases of a stage from DDR, all of them for each block of frames."""

    stage: ConvStream
    port: DdrPort = DdrPort()

    latency = 64

    @property
    def layer(self) -> str:
        return self.stage.name

    @property
    def argument(self) -> str:
        return f"{self.stage.name}_weights"

    @property
    def port_bits(self) -> int:
        return self.port.bits

    @property
    def ddr_bits(self) -> int:
        return self.port_bits

    @property
    def carrier(self) -> Carrier:
        """Always: a block's last port word may be filled in part."""
        return Carrier(name=f"read_{self.argument}", of=self)

    @property
    def together(self) -> int:
        """Beats of the weights in a port word."""
        return self.port.bits // self.stage.beat_bits

    @property
    def block_port_words(self) -> int:
        return -(-self.stage.block_beats // self.together)

    @property
    def frame_bytes(self) -> int:
        """Bytes of DDR that a frame moves, its share of a full block."""
        return -(-self.block_port_words * self.port.bits // 8 // self.stage.batch)

    @property
    def word_bits(self) -> int:
        return sum(words.lanes * words.type.width for words in self.stage.weight_streams)

    @property
    def rhythm(self) -> Hashable:
        stage = self.stage
        return LoadWeights, stage.batch, stage.passes[1], stage.filter_words, stage.group_beats

    def port_words(self, frames: int) -> int:
        return -(-frames // self.stage.batch) * self.block_port_words

    @cached_property
    def interval(self) -> int:
        return -(-self.stage.block_beats // self.stage.batch)

    def schedule(self, frames: int) -> Schedule:
        stage = self.stage
        blocks, filters, words = -(-frames // stage.batch), stage.passes[1], stage.filter_words
        bias_beats, weight_beats = stage.group_beats
        begin = np.arange(blocks * filters, dtype=np.int64) * (bias_beats + weight_beats)
        ends = bias_beats + (np.arange(words, dtype=np.int64) + 1) * (weight_beats // words) - 1
        writes = [(begin[:, None] + ends).reshape(-1)]
        if bias_beats:
            writes.append(begin + bias_beats - 1)
        return Schedule(iterations=blocks * stage.block_beats, reads=(), writes=tuple(writes))


def weight_loader(stage: Stage, port: DdrPort) -> LoadWeights | None:
    """What brings the weights of `stage` from DDR, with its streams; None if they stay on chip."""
    if not isinstance(stage, ConvStream):
        return None
    names = (f"{stage.name}_weight_words", f"{stage.name}_bias_words")
    streams = names[: len(stage.weight_streams)]
    return LoadWeights(name=f"load_{stage.name}_weights", reads=(), writes=streams, stage=stage, port=port)
