"""Elements in another order, as hardware: a memory of a few words, and lanes that are wired anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hlsgen.layers.delay_lines import MOST_REGISTER_WORDS, delay_line
from hlsgen.layers.rearrange import Rearrange
from hlsgen.layers.rearrange_layout import MOST_PX, Layout, Loop, layout_of, scattered_layout
from hlsgen.layers.stage import Buffer, Fold, Schedule, Stage, StreamFormat, Work, divisors


def rearrange_folds(layer: Rearrange) -> Iterator[Fold]:
    """px pixels x simd channels of input words, pe channels of output words; none that a narrower one equals.

    One pixel at a time, or several of all channels; or several of one channel, which may become channels.
    """
    channels, _, width = layer.source.shape
    formats = [(1, simd) for simd in divisors(channels)]
    pixels = [px for px in divisors(width)[1:] if px <= MOST_PX]
    formats += [(px, simd) for px in pixels for simd in sorted({1, channels})]
    found = []
    for px, simd in formats:
        layout = layout_of(layer, px, simd)
        if layout is not None and (px == 1 or simd == channels or layout.pe > 1):
            found.append((px * simd, layout.interval, Fold(px=px, pe=layout.pe, simd=simd)))
    fastest: int | None = None
    for _, interval, fold in sorted(found) or [(1, 0, Fold())]:
        if fastest is None or interval < fastest:
            fastest = interval
            yield fold


@dataclass(frozen=True, kw_only=True, eq=False)
class RearrangeStage(Stage):
    """A memory of the smallest block of words that input and output pass in the same order.

    Words arrive at an even pace, `lag` iterations before the first of their block leaves; both go on all the
    time. Interval: blocks * the larger of a block's words in and out.
    """

    layer: Rearrange
    fold: Fold

    template = "rearrange"

    @cached_property
    def layout(self) -> Layout:
        layout = layout_of(self.layer, self.fold.px, self.fold.simd)
        if layout is None:
            assert self.fold == Fold(), f"{self.fold} does not fit {self.name}"
            return scattered_layout(self.layer)
        assert layout.pe == self.fold.pe, f"{self.fold} does not fit {self.name}"
        return layout

    @property
    def inputs(self) -> tuple[StreamFormat, ...]:
        return (StreamFormat(tensor=self.layer.source, px=self.fold.px, channels=self.fold.simd),)

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, px=self.layout.px, channels=self.layout.pe)

    @cached_property
    def interval(self) -> int:
        return self.layout.interval

    def schedule(self, frames: int) -> Schedule:
        layout = self.layout
        begin = np.arange(frames * layout.blocks, dtype=np.int64)[:, None] * layout.length
        reads = begin + np.arange(layout.block_words) * layout.pace
        writes = begin + np.arange(layout.out_words) + layout.lag
        return Schedule(
            iterations=frames * self.interval + layout.lag,
            reads=(reads.reshape(-1),),
            writes=(writes.reshape(-1),),
        )

    @property
    def element_bits(self) -> int:
        return self.layer.source.type.width

    def buffers(self) -> tuple[Buffer, ...]:
        words = 1 if self.layout.direct else self.layout.copies * self.layout.block_words
        return (delay_line("block", words, self.inputs[0].lanes * self.element_bits),)

    def work(self) -> tuple[Work, ...]:
        selected = (self.layout.phases.size - 1) * self.output.lanes
        return (Work(operator="select", count=selected, bits=(self.element_bits,)),)

    def constants(self) -> dict[str, Any]:
        layout = self.layout
        _, height, width = self.layer.source.shape
        arrival = [Loop(height, width), Loop(width, 1), Loop(self.layer.source.shape[0], height * width)]
        phases = layout.phases
        loops = layout.loops or (Loop(1),)
        lanes = [Loop(loop.size, loop.lanes // (phases.lanes or 1)) for loop in loops]
        return {
            "PX_IN": self.fold.px,
            "SIMD": self.fold.simd,
            "PX": layout.px,
            "PE": layout.pe,
            "BLOCKS": layout.blocks,
            "BLOCK_WORDS": layout.block_words,
            "OUT_WORDS": layout.out_words,
            "LENGTH": layout.length,
            "PACE": layout.pace,
            "LAG": layout.lag,
            "COPIES": layout.copies,
            "KEPT_WORDS": layout.copies * layout.block_words,
            "FRAME_ITERATIONS": self.interval,
            "direct": layout.direct,
            "loops": layout.out_words > 1 and (phases.size > 1 or not layout.direct),
            "scattered": layout.scattered,
            "registers": layout.copies * layout.block_words <= MOST_REGISTER_WORDS,
            "write_sizes": [loop.size for loop in reversed(arrival)],
            "write_jumps": _jumps(arrival),
            "read_sizes": [loop.size for loop in reversed(loops)],
            "read_jumps": _jumps(loops),
            "READ_START": layout.start,
            "PHASES": phases.size,
            "PHASE_LANES": phases.lanes,
            "PHASE_START": -sum(min(0, (loop.size - 1) * loop.words) for loop in lanes),
            "phase_jumps": _jumps(lanes),
            "lane": _lane_text(layout),
        }


def _jumps(loops: Sequence[Loop]) -> list[int]:
    """What is added when each loop moves on and those within it begin anew, innermost first; then for all."""
    jumps, back = [], 0
    for loop in reversed(loops):
        jumps.append(loop.words - back)
        back += (loop.size - 1) * loop.words
    return [*jumps, -back]


def _lane_text(layout: Layout) -> str:
    """The lane of the input word that lane l of the output word is, in the first phase, as C++."""
    merged: list[tuple[int, int, int]] = []  # (divisor, size, lanes)
    divisor = 1
    for size, _, lanes in reversed((*layout.pixel_lanes, *layout.channel_lanes)):
        if merged and merged[-1][1] * merged[-1][2] == lanes:
            merged[-1] = (merged[-1][0], merged[-1][1] * size, merged[-1][2])
        else:
            merged.append((divisor, size, lanes))
        divisor *= size
    terms = [str(layout.lowest_lane)] if layout.lowest_lane else []
    for at, size, lanes in merged:
        text = "l" if at == 1 else f"l / {at}"
        if at * size < divisor:
            text += f" % {size}"
        if lanes:
            terms.append(text if lanes == 1 else f"{text} * {lanes}")
    return " + ".join(terms) or "0"
