"""A process's loop in rows: when it reads and writes, and which words each block of words waits for.

Loops of processes with the same rhythm (`Process.rhythm`: what a schedule depends on) are one, so that as
many are made as there are layers that differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal
from weakref import WeakValueDictionary

import numpy as np

from hlsgen.hardware.pipeline import Pipeline
from hlsgen.hardware.processes import Process
from hlsgen.layers.stage import Schedule, Times
from hlsgen.timing.events import Index, Loop, before, last_not_after
from hlsgen.timing.last_used import LastUsed
from hlsgen.timing.rows import Pattern, Rows, Spans, block_words

Side = Literal["reads", "writes"]

MOST_KNOWN = 512
"""Loops that are kept, the last ones used: those of a few kernels."""
MOST_PICKED = 1 << 14
"""Blocks of which it is kept what they wait for."""


class Pick:
    """The word of a block that each of some words waits for; equal ones are one object."""

    __slots__ = ("__weakref__", "first", "index", "last")

    def __init__(self, index: Index) -> None:
        self.index = index
        self.first, self.last = int(index[0]), int(index[-1])

    def of(self, pattern: Pattern) -> Times:
        return pattern.times[self.index]


_picks: WeakValueDictionary[bytes, Pick] = WeakValueDictionary()


def _pick(index: Index) -> Pick:
    key = index.tobytes()
    found = _picks.get(key)
    if found is None:
        found = _picks[key] = Pick(index)
    return found


Piece = tuple[int, int, Pick, int, int]
"""Words `from` to `to` of a block wait for those that are picked of a block of the other stream (-1: of
none), some periods later or earlier.
"""


@dataclass(eq=False)
class RowLoop:
    """A loop's reads and writes by stream, in iterations; latency, held, period as of `events.Loop`.

    iterations: of a call, or of the period.
    """

    reads: tuple[Rows, ...]
    writes: tuple[Rows, ...]
    iterations: int
    latency: int
    period: int | None

    def __post_init__(self) -> None:
        self._pieces: dict[tuple[Side, int, Side, int], list[tuple[Piece, ...]]] = {}

    @property
    def held(self) -> int:
        """Iterations that the pipeline holds."""
        return max(1, self.latency)

    @cached_property
    def first(self) -> int:
        return min(rows.first for rows in (*self.reads, *self.writes))

    def pieces(self, target: Side, number: int, source: Side, other: int) -> list[tuple[Piece, ...]]:
        """For each block of a stream, the words of another one that are not after its own.

        Of what is read there must be a word; of what is written, room before the pipeline is full.
        """
        key = (target, number, source, other)
        if key not in self._pieces:
            shift = self.held if (target, source) == ("reads", "writes") else 0
            self._pieces[key] = pieces_between(
                getattr(self, source)[other], getattr(self, target)[number], shift, self.period
            )
        return self._pieces[key]

    def turns(self, target: Side, number: int) -> list[list[tuple[int, int, int]]]:
        """For each block of a stream (from, to, period) of its words, periods counted from the first word."""
        assert self.period is not None
        found = []
        for base, pattern in getattr(self, target)[number]:
            since = base - self.first
            low, high = since // self.period, (since + pattern.last) // self.period
            begins = [turn * self.period - since for turn in range(low + 1, high + 1)]
            cuts = [0, *np.searchsorted(pattern.times, begins).tolist(), len(pattern.times)]
            found.append([(cuts[at], cuts[at + 1], low + at) for at in range(high - low + 1)])
        return found

    @cached_property
    def before_first(self) -> list[tuple[int, int]]:
        """Of each stream, reads first, the word before the first iteration, and in which period it is."""
        at = np.array([self.first])
        found = [before(np.asarray(rows), at, self.period) for rows in self.reads]
        found += [before(np.asarray(rows), at - self.held, self.period) for rows in self.writes]
        return [one.source(0) for one in found]

    @property
    def by_word(self) -> Loop:
        """The same, word by word."""
        return Loop(
            tuple(np.asarray(rows) for rows in self.reads),
            tuple(np.asarray(rows) for rows in self.writes),
            latency=self.latency,
            held=self.held,
            period=self.period,
        )


def pieces_between(source: Rows, target: Rows, shift: int, period: int | None) -> list[tuple[Piece, ...]]:
    """For each block of `target` the words of `source` that are not after its own, less `shift` iterations.

    period: iterations after which both go on; None: they do not.
    """
    blocks = source.repeated(target.first - shift, target.last - shift, period)
    found: list[tuple[Piece, ...]] = []
    for base, pattern in target:
        first, spans = blocks.spans(base - shift, pattern)
        picked = _picked(pattern, spans)
        found.append(tuple((begin, end, pick, *blocks.place(first + at)) for begin, end, pick, at in picked))
    return found


# streams of layers that are alike, and of one layer in other foldings, have blocks in common
@lru_cache(maxsize=MOST_PICKED)
def _picked(target: Pattern, spans: Spans) -> list[tuple[int, int, Pick, int]]:
    """(from, to, the words that these wait for, of which block) of a block's words; block -1: of none."""
    if not spans:
        return [(0, len(target.times), _pick(np.zeros(1, np.int32)), 0)]
    words = len(spans[0][0].times)
    times = np.concatenate([one.times + begin for one, begin in spans])
    block, inside = np.divmod(last_not_after(times, target.times), words)
    cuts = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(block)]
    return [(begin, end, _pick(inside[begin:end]), int(block[begin])) for begin, end in pairwise(cuts)]


_known = LastUsed[RowLoop](MOST_KNOWN)


def row_loop(
    pipeline: Pipeline, process: Process, frames: int, *, latency: int | None = None, periodic: bool = False
) -> RowLoop:
    """The loop of one of a kernel's processes, in a call of so many frames, or for ever.

    latency: None: its round figure. Raises Unrepeated: it does not do the same for ever.
    """
    widths = [
        tuple(block_words(pipeline.streams[name].words) for name in names)
        for names in (process.reads, process.writes)
    ]
    latency = process.latency if latency is None else latency
    rhythm = process.rhythm
    key = None if rhythm is None else (rhythm, *widths, frames, latency, periodic)
    found = None if key is None else _known.find(key)
    if found is None:
        schedule = repeated_schedule(process, frames) if periodic else process.schedule(frames)
        found = _loop(schedule, widths, latency, periodic)
        if key is not None:
            _known.keep(key, found)
    return found


def _loop(schedule: Schedule, widths: Sequence[tuple[int, ...]], latency: int, periodic: bool) -> RowLoop:
    reads, writes = (
        tuple(Rows.of(times, words) for times, words in zip(streams, blocks, strict=True))
        for streams, blocks in zip((schedule.reads, schedule.writes), widths, strict=True)
    )
    return RowLoop(
        reads=reads,
        writes=writes,
        iterations=schedule.iterations,
        latency=latency,
        period=schedule.iterations if periodic else None,
    )


class Unrepeated(Exception):
    """A process whose schedule is not the same from the second frame on: so short that its flush shows."""


def repeated_schedule(process: Process, frames: int) -> Schedule:
    """What `process` does for ever, of a period of `frames` frames. Raises Unrepeated."""
    # the first frames of a call begin without those before, the last ones end without those after
    schedule = process.schedule(3 * frames)
    iterations = _middle(schedule, process.name)
    reads, writes = (
        tuple(times[len(times) // 3 : len(times) // 3 * 2] for times in streams)
        for streams in (schedule.reads, schedule.writes)
    )
    return Schedule(iterations=iterations, reads=reads, writes=writes)


def _middle(schedule: Schedule, name: str) -> int:
    """Iterations of a period: the second of three, which the third one repeats."""
    found: set[int] = set()
    for times in (*schedule.reads, *schedule.writes):
        words = len(times) // 3
        apart = times[2 * words :] - times[words : 2 * words]
        found |= {int(apart.min()), int(apart.max())}
    if len(found) != 1:
        raise Unrepeated(name)
    return found.pop()
