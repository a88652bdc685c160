"""Elements in another order, word by word: which words are kept, and which lanes an output word takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from hlsgen.layers.base import Shape
from hlsgen.layers.rearrange import Atoms, Rearrange
from hlsgen.layers.stage import divisors

MOST_PX = 64
"""Pixels of a word."""
MOST_REPEATED = 64
"""Channels of an output word that are no more than repetitions of fewer input lanes."""


class Loop(NamedTuple):
    """`size` steps; each moves on by `words` input words and by `lanes` lanes within the word."""

    size: int
    words: int = 0
    lanes: int = 0


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How the words of a frame are rearranged; every output word takes its lanes from one input word.

    Input and output come in as many `blocks` of words; of its own block an output word needs the word at
    `start` plus what `loops` (outermost first) add, and of that the lanes `start_lane` plus what its pixel
    (`pixel_lanes`) and channel (`channel_lanes`) add. `scattered`: the words are single elements, and a block
    is a whole frame in [C, H, W] order, not in the order of arrival.
    """

    blocks: int
    block_words: int
    loops: tuple[Loop, ...]
    pixel_lanes: tuple[Loop, ...] = ()
    channel_lanes: tuple[Loop, ...] = ()
    start: int = 0
    start_lane: int = 0
    scattered: bool = False
    pace: int = 1

    @property
    def px(self) -> int:
        """Pixels of an output word."""
        return math.prod(loop.size for loop in self.pixel_lanes)

    @property
    def pe(self) -> int:
        """Channels of an output word."""
        return math.prod(loop.size for loop in self.channel_lanes)

    @cached_property
    def out_words(self) -> int:
        """Output words of a block."""
        return math.prod(loop.size for loop in self.loops)

    @property
    def direct(self) -> bool:
        """A block is a single word: nothing is kept but that."""
        return self.block_words == 1

    @property
    def length(self) -> int:
        """Iterations of a block."""
        return max(self.block_words, self.out_words)

    @cached_property
    def _slack(self) -> tuple[int, int]:
        """The least and the most of (iteration in which a word arrives - output word that takes it)."""
        if self.scattered:
            return -(self.out_words - 1), self.pace * (self.block_words - 1)
        least = most = self.pace * self.start
        inner = 1
        for loop in reversed(self.loops):
            # linear in the loop's counter, so extreme at its ends
            change = (loop.size - 1) * (self.pace * loop.words - inner)
            least, most = least + min(change, 0), most + max(change, 0)
            inner *= loop.size
        return least, most

    @property
    def lag(self) -> int:
        """Iterations from a block's first word in to its first word out: each word has arrived before."""
        return 0 if self.direct else self._slack[1] + 1

    @property
    def copies(self) -> int:
        """Blocks that are kept: a word may come where one has left for the last time."""
        return max(1, -(-(self.lag - self._slack[0]) // self.length))

    @property
    def interval(self) -> int:
        return self.blocks * self.length

    def evenly(self) -> Layout:
        """The layout with words arriving as evenly as they can, so that they wait in no FIFO, where no fewer
        blocks are kept with words that come somewhat faster.
        """
        slowest = self.length // self.block_words
        paces = [max(1, slowest * quarters // 4) for quarters in (4, 3, 2, 1)]
        return min((replace(self, pace=pace) for pace in paces), key=lambda layout: layout.copies)

    @cached_property
    def phases(self) -> Loop:
        """(size, 0, lanes): the first lane of an output word is one of `size` that lie `lanes` apart."""
        step = math.gcd(*(loop.lanes for loop in self.loops))
        if step == 0:
            return Loop(1)
        span = sum((loop.size - 1) * abs(loop.lanes) for loop in self.loops)
        return Loop(span // step + 1, lanes=step)

    @property
    def lowest_lane(self) -> int:
        """The first lane of an output word at its least."""
        return self.start_lane + sum(min(0, (loop.size - 1) * loop.lanes) for loop in self.loops)


def layout_of(layer: Rearrange, px: int, simd: int) -> Layout | None:
    """The layout for input words of `px` pixels x `simd` channels; None if there is none.

    The source is looked at as an array of [word of channels][lane][row][word of pixels][lane]. It needs
    that every atom moves along these axes without a carry from one to the next.
    """
    axes = _Axes(shape=layer.source.shape, px=px, simd=simd)
    rows, columns, channels = (
        [part for atom in _merged(layer.axes[axis]) for part in axes.split(*atom)] for axis in (1, 2, 0)
    )
    start = axes.digits(layer.offset)
    if not axes.holds(start, [*rows, *columns, *channels]):
        return None
    row_loops, column_loops, channel_loops = (
        [axes.loop(*part) for part in parts] for parts in (rows, columns, channels)
    )
    channel_lanes = _taken(channel_loops, max(px * simd, MOST_REPEATED))
    whole = math.prod(loop.size for loop in channel_lanes) == layer.output_shape[0]
    pixel_lanes = _taken(column_loops, MOST_PX) if whole else ()
    first = axes.loop(1, start)
    layout = Layout(
        blocks=1,
        block_words=math.prod(layer.source.shape) // (px * simd),
        loops=(*row_loops, *column_loops, *channel_loops),
        pixel_lanes=pixel_lanes,
        channel_lanes=channel_lanes,
        start=first.words,
        start_lane=first.lanes,
    )
    return _in_blocks(layout).evenly()


def scattered_layout(layer: Rearrange) -> Layout:
    """One element a cycle, and two frames kept: possible for every rearrangement."""
    atoms = [atom for axis in (1, 2, 0) for atom in _merged(layer.axes[axis])]
    layout = Layout(
        blocks=1,
        block_words=math.prod(layer.source.shape),
        loops=tuple(Loop(size, stride) for size, stride in atoms),
        start=layer.offset,
        scattered=True,
    )
    return layout.evenly()


def _in_blocks(layout: Layout) -> Layout:
    """Cut where the outermost loop passes the input's words from first to last, block by block."""
    while layout.loops:
        outer, *inner = layout.loops
        least = layout.start + sum(min(0, (loop.size - 1) * loop.words) for loop in inner)
        most = layout.start + sum(max(0, (loop.size - 1) * loop.words) for loop in inner)
        if outer.lanes or outer.size * outer.words != layout.block_words:
            break
        if least < 0 or most >= outer.words:
            break
        layout = replace(
            layout, blocks=layout.blocks * outer.size, block_words=outer.words, loops=tuple(inner)
        )
    return layout


def _merged(atoms: Atoms) -> list[tuple[int, int]]:
    """Without atoms of size 1, and neighbours that are one as one."""
    merged: list[tuple[int, int]] = []
    for size, stride in atoms:
        if size == 1:
            continue
        if merged and merged[-1][1] == size * stride:
            merged[-1] = (merged[-1][0] * size, stride)
        else:
            merged.append((size, stride))
    return merged


def _taken(loops: list[Loop], most: int) -> tuple[Loop, ...]:
    """Takes from the end of `loops` those that stay within a word, up to `most` steps; outermost first."""
    taken: list[Loop] = []
    room = most
    while loops and not loops[-1].words:
        size, _, lanes = loops.pop()
        part = max(divisor for divisor in divisors(size) if divisor <= room)
        taken.insert(0, Loop(part, lanes=lanes))
        room //= part
        if part < size:
            loops.append(Loop(size // part, lanes=lanes * part))
            break
    return tuple(taken)


Digits = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class _Axes:
    """A source of `shape` as [word of channels][lane][row][word of pixels][lane]."""

    shape: Shape
    px: int
    simd: int

    @cached_property
    def extents(self) -> Digits:
        channels, height, width = self.shape
        return channels // self.simd, self.simd, height, width // self.px, self.px

    @cached_property
    def strides(self) -> Digits:
        """The strides, in elements of the source."""
        _, height, width = self.shape
        return self.simd * height * width, height * width, width, self.px, 1

    def digits(self, stride: int) -> Digits:
        """`stride` as steps along the axes."""
        found, rest = [], abs(stride)
        for one in self.strides:
            found.append(rest // one if stride > 0 else -(rest // one))
            rest %= one
        return tuple(found)

    def split(self, size: int, stride: int) -> list[tuple[int, Digits]]:
        """(size, step) of loops, outermost first: an atom that runs over an axis' end goes on in the next."""
        step = self.digits(stride)
        moved = [axis for axis, digit in enumerate(step) if digit]
        if len(moved) == 1:
            extent, digit = self.extents[moved[0]], abs(step[moved[0]])
            inner = extent // digit
            if (size - 1) * digit >= extent and extent % digit == 0 and inner > 1 and size % inner == 0:
                return [*self.split(size // inner, stride * inner), (inner, step)]
        return [(size, step)]

    def holds(self, start: Digits, parts: Sequence[tuple[int, Digits]]) -> bool:
        """Whether no axis is left, whatever the counters are."""
        for axis, extent in enumerate(self.extents):
            ends = [(size - 1) * step[axis] for size, step in parts]
            least = start[axis] + sum(min(0, end) for end in ends)
            most = start[axis] + sum(max(0, end) for end in ends)
            if least < 0 or most >= extent:
                return False
        return True

    def loop(self, size: int, step: Digits) -> Loop:
        folds, _, _, groups, _ = self.extents
        return Loop(size, step[0] + (step[2] * groups + step[3]) * folds, step[1] + step[4] * self.simd)
