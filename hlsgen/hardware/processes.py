"""The processes of a streaming kernel: the layers' stages, ports, forks and changes of word format.

Each says its schedule, in which iteration it reads and writes each word, and what it is built of: cost/
counts that, timing/ runs the schedules, emit/ and report/ name it. So none of them asks which class it is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from hlsgen.base.short_repr import Brief
from hlsgen.hardware.storage import Memory, choose_storage
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.stage import Schedule, Stage, StreamFormat, Work
from hlsgen.targets.board import Board

REGISTER_LANES = 128
"""A change of both pixels and channels goes through words of all channels up to this size, else a memory."""


@dataclass(frozen=True, kw_only=True)
class Process(Brief, ABC):
    """One call in the kernel's dataflow region; `reads` and `writes` are its streams."""

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]

    latency = 4
    """Cycles from reading to writing, a round figure."""
    paced: ClassVar[bool] = False
    """Whether it brings frames from outside, which come evenly."""
    forwards: ClassVar[bool] = False
    """Whether what it writes is what it reads, as it is or in other words."""

    @property
    def layer(self) -> str | None:
        """The layer that it works for; None: the one whose words it carries."""
        return None

    @property
    def carrier(self) -> Carrier | None:
        """What moves the words of its port, if it does not do so itself."""
        return None

    @property
    def frame_bytes(self) -> int:
        """Bytes of DDR that a frame moves."""
        return 0

    @property
    def ddr_bits(self) -> int:
        """Width of its port into DDR; 0: it has none."""
        return 0

    @property
    def axi_bits(self) -> int:
        """Width of its AXI stream; 0: it has none."""
        return 0

    @property
    def word_bits(self) -> int:
        """Bits of the stream words that it puts together or takes apart."""
        return 0

    @property
    def result_bits(self) -> int:
        """Bits of registers that hold results."""
        return 0

    @property
    def rhythm(self) -> Hashable:
        """What its schedule depends on: processes of one rhythm read and write in the same iterations.

        None: it cannot be said.
        """
        return None

    @abstractmethod
    def schedule(self, frames: int) -> Schedule:
        """All iterations of a call with `frames` frames."""

    @cached_property
    def interval(self) -> int:
        return self.schedule(3).iterations - self.schedule(2).iterations

    def work(self) -> tuple[Work, ...]:
        """The arithmetic of an iteration."""
        return ()

    def memories(self, board: Board) -> tuple[Memory, ...]:
        """The process's on-chip memories, each in the storage of `board` that suits it."""
        return ()


@dataclass(frozen=True, kw_only=True)
class StageProcess(Process):
    """A layer. place: where its weights lie; None if it has none."""

    stage: Stage
    place: WeightPlace | None = None

    @property
    def latency(self) -> int:  # type: ignore[override]
        return self.stage.latency

    @property
    def layer(self) -> str:
        return self.stage.name

    @property
    def word_bits(self) -> int:
        return self.stage.output.lanes * self.stage.output.type.width

    @property
    def result_bits(self) -> int:
        return self.word_bits

    @property
    def rhythm(self) -> Hashable:
        return self.stage.rhythm

    def schedule(self, frames: int) -> Schedule:
        return self.stage.schedule(frames)

    @cached_property
    def interval(self) -> int:
        return self.stage.interval

    def work(self) -> tuple[Work, ...]:
        return self.stage.work()

    def memories(self, board: Board) -> tuple[Memory, ...]:
        """The memories of its buffers, then that of its weights if they lie on chip."""
        weights = self.place.memory(self.stage, board) if self.place else None
        return (*buffer_memories(self.stage, board), *([weights] if weights else []))


def buffer_memories(stage: Stage, board: Board) -> tuple[Memory, ...]:
    """The memories of a stage's buffers, in their order."""
    return tuple(
        choose_storage(buffer.name, buffer.depth, buffer.bits, buffer.copies, board)
        for buffer in stage.buffers()
    )


@dataclass(frozen=True, kw_only=True)
class Carrier:
    """Moves whole words of a DDR port to or from a FIFO, in a plain loop of its own.

    Vitis HLS makes long bursts of a loop that moves the next port word in every iteration. What takes port
    words apart asks for one in some iterations only.

    of: the process that takes the port words apart or puts them together.
    """

    name: str
    of: PortProcess

    def iterations(self, frames: int) -> int:
        """Port words of a call; never more than the iterations of the process."""
        return self.of.port_words(frames)


@dataclass(frozen=True, kw_only=True)
class PortProcess(Process):
    """What moves words between a port, an argument of the kernel, and streams."""

    direction: ClassVar[Literal["read", "write"]] = "read"
    """What the kernel does with its port."""

    @property
    @abstractmethod
    def argument(self) -> str:
        """The kernel's argument."""

    @property
    @abstractmethod
    def port_bits(self) -> int:
        """Bits that the port moves at a time."""

    @property
    @abstractmethod
    def together(self) -> int:
        """Words of a port word, 1 if one takes it all or more."""

    @abstractmethod
    def port_words(self, frames: int) -> int:
        """Port words of a call with `frames` frames."""


@dataclass(frozen=True, kw_only=True)
class Fork(Process):
    """Every word goes to both outputs."""

    words: StreamFormat

    forwards: ClassVar[bool] = True

    @property
    def rhythm(self) -> Hashable:
        return Fork, self.words.frame_words

    @cached_property
    def interval(self) -> int:
        return self.words.frame_words

    def schedule(self, frames: int) -> Schedule:
        times = np.arange(frames * self.words.frame_words, dtype=np.int64)
        return Schedule(iterations=len(times), reads=(times,), writes=(times, times))


@dataclass(frozen=True, kw_only=True)
class Relay(Process):
    """Every word goes on as it is: a register stage, with a FIFO at each side, where a stream crosses from
    one SLR to the next.
    """

    words: StreamFormat

    forwards: ClassVar[bool] = True

    @property
    def result_bits(self) -> int:
        return self.words.lanes * self.words.type.width

    @property
    def rhythm(self) -> Hashable:
        return Relay, self.words.frame_words

    @cached_property
    def interval(self) -> int:
        return self.words.frame_words

    def schedule(self, frames: int) -> Schedule:
        times = np.arange(frames * self.words.frame_words, dtype=np.int64)
        return Schedule(iterations=len(times), reads=(times,), writes=(times,))


@dataclass(frozen=True, kw_only=True)
class WidthConverter(Process):
    """Words of one format to another. Exactly one of four simple forms, or `regroup` with a memory."""

    before: StreamFormat
    after: StreamFormat

    forwards: ClassVar[bool] = True

    @property
    def word_bits(self) -> int:
        return (self.before.lanes + self.after.lanes) * self.before.type.width

    @cached_property
    def form(self) -> str:
        a, b = self.before, self.after
        if a.px == b.px and b.channels % a.channels == 0:
            return "gather_channels"
        if a.px == b.px and a.channels % b.channels == 0:
            return "split_channels"
        if a.channels == b.channels == a.shape[0] and b.px % a.px == 0:
            return "gather_pixels"
        if a.channels == b.channels == a.shape[0] and a.px % b.px == 0:
            return "split_pixels"
        return "regroup"

    @property
    def ratio(self) -> int:
        wide = max(self.before.lanes, self.after.lanes)
        return wide // min(self.before.lanes, self.after.lanes)

    @property
    def block(self) -> int:
        """Pixels of a row that `regroup` holds at a time."""
        return math.lcm(self.before.px, self.after.px)

    @property
    def together(self) -> int:
        """Neighbouring channels that `regroup` holds at one address, each in a memory of its own.

        A word of either side is a share of them, so that each memory has its own place in the words.
        """
        return math.lcm(self.before.channels, self.after.channels)

    @cached_property
    def interval(self) -> int:
        if self.form != "regroup":
            return max(self.before.frame_words, self.after.frame_words)
        _, height, width = self.before.shape
        return height * -(-width // self.block) * self._block_words

    @property
    def _block_words(self) -> int:
        """Iterations of a block of `regroup`: the words of its longer side."""
        return max(self.block // one.px * one.folds for one in (self.before, self.after))

    def memories(self, board: Board) -> tuple[Memory, ...]:
        """The two blocks of `regroup`, one written while the other is read; the other forms have none."""
        if self.form != "regroup":
            return ()
        depth = 2 * self.before.shape[0] // self.together
        bits = self.before.type.width
        return (choose_storage("block", depth, bits, self.block * self.together, board),)

    @property
    def rhythm(self) -> Hashable:
        return WidthConverter, *((one.shape, one.px, one.channels) for one in (self.before, self.after))

    def schedule(self, frames: int) -> Schedule:
        rows = frames * self.before.shape[1]
        if self.form in ("gather_channels", "split_channels"):
            return self._by_channels(frames)
        if self.form == "regroup":
            return self._regrouped(rows)
        narrow, wide = sorted((self.before, self.after), key=lambda words: words.lanes)
        times = np.arange(rows * narrow.row_words, dtype=np.int64)
        column = times % narrow.row_words
        if self.form == "gather_pixels":
            ends = (column % self.ratio == self.ratio - 1) | (column == narrow.row_words - 1)
            assert int(ends.sum()) == rows * wide.row_words
            return Schedule(iterations=len(times), reads=(times,), writes=(times[ends],))
        begins = column % self.ratio == 0
        return Schedule(iterations=len(times), reads=(times[begins],), writes=(times,))

    def _by_channels(self, frames: int) -> Schedule:
        most = max(self.before.frame_words, self.after.frame_words)
        times = np.arange(frames * most, dtype=np.int64)
        if self.form == "gather_channels":
            return Schedule(
                iterations=len(times), reads=(times,), writes=(times[self.ratio - 1 :: self.ratio],)
            )
        return Schedule(iterations=len(times), reads=(times[:: self.ratio],), writes=(times,))

    def _regrouped(self, rows: int) -> Schedule:
        a, b, width = self.before, self.after, self.before.shape[2]
        blocks = -(-width // self.block)
        length = self._block_words
        times = []
        for one, delay in ((a, 0), (b, 1)):
            step = np.arange(self.block // one.px * one.folds)
            pixel = step // one.folds * one.px
            block = np.arange(rows * blocks)
            inside = (block % blocks * self.block)[:, None] + pixel[None, :] < width
            time = ((block + delay) * length)[:, None] + step[None, :]
            times.append(time[inside].astype(np.int64))
        return Schedule(iterations=(rows * blocks + 1) * length, reads=(times[0],), writes=(times[1],))
