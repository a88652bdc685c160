"""The on-chip storage of a memory: which primitive holds it, and how many of them it takes.

Every memory here has one read and one write port (simple dual port), which all three primitives have.
Shapes: BRAM18 512x36 ... 16Kx1 (UG573); URAM 4096x72; LUTRAM: eight LUTs of a SLICEM hold 64 x 7 or 32 x 14
bits with a separate read port (RAM64M8, RAM32M16).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from hlsgen.targets.board import Board

BRAM18_SHAPES = ((512, 36), (1024, 18), (2048, 9), (4096, 4), (8192, 2), (16384, 1))
URAM_SHAPE = (4096, 72)
LEAST_URAM_FIFO = 4
"""BRAM18 that a FIFO would take, from which on it may lie in URAM instead: a quarter of one, and slower."""
LUTRAM_MOST_WORDS = 1024
"""Deeper LUTRAM needs wide read multiplexers; above this depth it is not considered."""


class Storage(StrEnum):
    """Where a memory lives; the value is the word of the bind_storage pragma."""

    REGISTER = "register"
    LUTRAM = "lutram"
    BRAM = "bram"
    URAM = "uram"


@dataclass(frozen=True, kw_only=True)
class Memory:
    """`copies` equal memories of `depth` words of `bits` bits, each with one read and one write port."""

    name: str
    depth: int
    bits: int
    copies: int
    storage: Storage

    @property
    def total_bits(self) -> int:
        return self.depth * self.bits * self.copies

    @property
    def bram18(self) -> int:
        return self.copies * bram18_for(self.depth, self.bits) if self.storage is Storage.BRAM else 0

    @property
    def uram(self) -> int:
        return self.copies * uram_for(self.depth, self.bits) if self.storage is Storage.URAM else 0

    @property
    def lut(self) -> int:
        return self.copies * lutram_luts(self.depth, self.bits) if self.storage is Storage.LUTRAM else 0

    @property
    def ff(self) -> int:
        return self.total_bits if self.storage is Storage.REGISTER else 0


def bram18_for(depth: int, bits: int) -> int:
    """BRAM18 of the best shape for one memory of `depth` x `bits`."""
    return min(-(-depth // words) * -(-bits // width) for words, width in BRAM18_SHAPES)


def uram_for(depth: int, bits: int) -> int:
    words, width = URAM_SHAPE
    return -(-depth // words) * -(-bits // width)


def lutram_luts(depth: int, bits: int) -> int:
    """LUTs of one LUTRAM, its read multiplexer included where it is deeper than 64 words."""
    if depth <= 32:
        return 8 * -(-bits // 14)
    blocks = -(-depth // 64)
    return blocks * 8 * -(-bits // 7) + (bits * -(-(blocks - 1) // 3) if blocks > 1 else 0)


def choose_storage(
    name: str,
    depth: int,
    bits: int,
    copies: int,
    board: Board,
    *,
    among: Collection[Storage] = tuple(Storage),
    lutram_words: int = LUTRAM_MOST_WORDS,
) -> Memory:
    """The primitive that takes the smallest share of what the board has; one word alone is a register.

    among: what may be chosen; BRAM and registers always. lutram_words: LUTRAM is no deeper.
    """
    options = [Storage.BRAM]
    if depth == 1:
        options = [Storage.REGISTER]
    else:
        if depth <= lutram_words and Storage.LUTRAM in among:
            options.append(Storage.LUTRAM)
        if board.total.uram and Storage.URAM in among:
            options.append(Storage.URAM)
    memories = [
        Memory(name=name, depth=depth, bits=bits, copies=copies, storage=option) for option in options
    ]
    return min(memories, key=lambda memory: share_of(memory, board))


def block_fifo(depth: int, bits: int, board: Board) -> Memory:
    """A FIFO too large for LUTs: in URAM if it is large, and that is the smaller share of the board's."""
    large = bram18_for(depth, bits) >= LEAST_URAM_FIFO
    among = (Storage.BRAM, Storage.URAM) if large else (Storage.BRAM,)
    return choose_storage("fifo", depth, bits, 1, board, among=among)


def share_of(memory: Memory, board: Board) -> float:
    """The share of the board's primitives that `memory` takes, of the one kind that it is made of."""
    total = board.total
    if memory.storage is Storage.BRAM:
        return memory.bram18 / total.bram18
    if memory.storage is Storage.URAM:
        return memory.uram / total.uram
    return memory.lut / total.lut if memory.storage is Storage.LUTRAM else memory.ff / total.ff
