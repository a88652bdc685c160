"""A kernel's ports: DDR, of which whole port words move in bursts, or AXI streams to other kernels.

How a tensor lies in DDR does not depend on the port: stream word w begins at byte w * `ddr_word_bits` / 8,
lane l of it at bit l * `slot_bits`. The port only says how many of these bits move at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlsgen.base.fixed import NumberType
from hlsgen.designfile.constraints import InterfaceConstraints
from hlsgen.layers.stage import Stage, StreamFormat
from hlsgen.targets.board import Board
from hlsgen.targets.device_family import Dsp

MOST_DDR_BITS = 512
"""The widest port word. Buffers are whole parts of so many bits, so that no port word lies beyond one."""
LEAST_DDR_BITS = 64
"""The narrowest port word: no element lies in two of them."""
MOST_STREAM_BITS = 1024
"""The widest transfer of an AXI stream: the widest ap_uint that needs no setting."""


def slot_bits(type_: NumberType) -> int:
    """Bits of an element in DDR."""
    return type_.container_bits


WIDEST_STREAM = 4096
"""Bits of a word of a stream beyond which Vitis HLS fails."""


def words_fit(stage: Stage, dsp: Dsp) -> bool:
    """Whether no word of the stage's streams is wider than WIDEST_STREAM, and none of its multipliers' words
    wider than the port of a `dsp`.
    """
    if stage.word_bits > dsp.wide:
        return False
    streams = (*stage.inputs, stage.output, *stage.weight_streams)
    return all(words.lanes * words.type.width <= WIDEST_STREAM for words in streams)


def ddr_word_bits(words: StreamFormat) -> int:
    """Bits of a stream word in DDR: the next power of two, above 512 the next multiple of 512."""
    bits = words.lanes * slot_bits(words.type)
    if bits > MOST_DDR_BITS:
        return -(-bits // MOST_DDR_BITS) * MOST_DDR_BITS
    return 1 << (bits - 1).bit_length()


def frame_bytes(words: StreamFormat) -> int:
    """Bytes of a frame in DDR, with what fills its words up."""
    return words.frame_words * ddr_word_bits(words) // 8


@dataclass(frozen=True, kw_only=True)
class DdrPort:
    """A port of `bits` bits into DDR, a power of two."""

    bits: int = MOST_DDR_BITS

    axi_stream: ClassVar[bool] = False

    def transfer_bits(self, words: StreamFormat) -> int:
        """Bits that move at a time, whatever the words are."""
        return self.bits

    def frame_bytes(self, words: StreamFormat) -> int:
        """Bytes of DDR that a frame moves."""
        return frame_bytes(words)

    def transfers(self, words: StreamFormat) -> int:
        """Port words of a stream word, 1 if it takes a part of one."""
        return max(1, ddr_word_bits(words) // self.bits)

    def together(self, words: StreamFormat) -> int:
        """Stream words of a port word, 1 if one takes it all or more."""
        return max(1, self.bits // ddr_word_bits(words))

    def port_words(self, words: StreamFormat, count: int) -> int:
        """Port words of `count` stream words; the last one may be filled in part."""
        return -(-count * ddr_word_bits(words) // self.bits)


@dataclass(frozen=True, kw_only=True)
class StreamPort:
    """An AXI stream: a stream word is a transfer, its lanes side by side, rounded up to whole bytes."""

    axi_stream: ClassVar[bool] = True

    def transfer_bits(self, words: StreamFormat) -> int:
        """Bits of a transfer, TDATA. No element lies in two of them."""
        width = words.type.width
        most = MOST_STREAM_BITS // width
        lanes = -(-words.lanes // -(-words.lanes // most))
        return -(-lanes * width // 8) * 8

    def frame_bytes(self, words: StreamFormat) -> int:
        """Bytes of DDR that a frame moves: none."""
        return 0

    def transfers(self, words: StreamFormat) -> int:
        """Transfers of a stream word: 1 up to 1024 bits, else as few as there can be."""
        return -(-words.lanes // (self.transfer_bits(words) // words.type.width))

    def together(self, words: StreamFormat) -> int:
        """Stream words of a transfer: never more than one."""
        return 1

    def port_words(self, words: StreamFormat, count: int) -> int:
        """Transfers of `count` stream words."""
        return count * self.transfers(words)


Port = DdrPort | StreamPort


@dataclass(frozen=True, kw_only=True)
class Interfaces:
    """The ports of a kernel: how wide those into DDR are, and on which side there are AXI streams instead.

    in_blocks: results of `row_blocks` layers go to where processors that layers share have them.
    """

    ddr: DdrPort = DdrPort()
    constraints: InterfaceConstraints = InterfaceConstraints()
    in_blocks: bool = False

    @property
    def input(self) -> Port:
        return StreamPort() if self.constraints.input == "stream" else self.ddr

    @property
    def output(self) -> Port:
        return StreamPort() if self.constraints.output == "stream" else self.ddr


DDR_ONLY = Interfaces()
"""The widest there are."""


def ddr_port(board: Board) -> DdrPort:
    """The port into DDR as wide as the board's, a power of two from 64 to 512."""
    bits = min(MOST_DDR_BITS, max(LEAST_DDR_BITS, board.memory.port_bits))
    return DdrPort(bits=1 << (bits.bit_length() - 1))


def interfaces_of(board: Board, constraints: InterfaceConstraints) -> Interfaces:
    return Interfaces(ddr=ddr_port(board), constraints=constraints)
