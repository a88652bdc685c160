"""The least times of all reads and writes of a streaming kernel, FIFOs and pipelines of bounded size.

The model. A process is one loop, pipelined at II = 1, of `latency` stages. Iteration i begins at b(i) and
reads its words then; it ends at e(i) and writes its words then, all of them at once. In cycles:

    b(i) >= b(i - 1) + 1                    II = 1
    b(i) >= e(word) + 1                     for every word that it reads
    b(i) >= e(i - latency)                  the pipeline holds `latency` iterations
    e(i) >= b(i) + latency,  e(i) >= e(i - 1) + 1
    e(i) >= b(read of the word `depth` before) + 1      for every word that it writes: there is room

What is wanted are the least times that keep all of it. With b(i) = i + D(i) and e(i) = i + E(i), D and E
never shrink, and with R(i) the largest (arrival - iteration) of the reads and W(i) the largest (room -
iteration) of the writes up to i,

    D(i) = max(R(i), W(i - latency) - latency),    E(i) = max(R(i) + latency, W(i)).

So a process is running maxima over its own reads and writes, which NumPy does for all of a frame at once,
and a network is swept forwards and backwards until nothing changes. Times only grow on the way.

Two uses. A *call* begins with empty FIFOs at cycle 0 and has some frames. The *steady state* is one period of
an endless run: whatever happens at t happens again at t + interval, and one event, the anchor, is held at
its place. If there are no such times, because the interval is too short, the anchor is pushed or times grow
for ever; then there is a circle of events each of which waits for the one before, and it takes longer than
the frames that it reaches back. That circle names what is wrong, and how long the interval must be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hlsgen.layers.stage import Times

NEVER = -(1 << 60)
"""A time before every other: nothing holds an event back yet."""
MOST_SPARSE = 4
"""Places of a table for each event, beyond which it is not worth making."""


Index = np.ndarray[tuple[int], np.dtype[np.int32]]


@dataclass(frozen=True, kw_only=True)
class Before:
    """The last event of a stream that is not after each event of another stream of the same process.

    index: of that event, -1 if there is none; of streams with the same times a slice of all.
    turns: (from, to, periods): events `from` to `to` find theirs that many periods later or earlier.
    """

    index: Index | slice
    turns: tuple[tuple[int, int, int], ...] = ()

    @property
    def events(self) -> int:
        return self.index.stop if isinstance(self.index, slice) else len(self.index)

    def largest(self, running: Times, drift: int) -> Times:
        """The running maximum of that other stream that each event sees; may be a view of them."""
        found: Times = running[self.index]
        for begin, end, periods in self.turns:
            found[begin:end] += periods * drift
        return found

    def source(self, event: int) -> tuple[int, int]:
        """The event that `event` finds, and how many periods later that is."""
        periods = next((periods for begin, end, periods in self.turns if begin <= event < end), 0)
        return event if isinstance(self.index, slice) else int(self.index[event]), periods


def before(source: Times, targets: Times, period: int | None) -> Before:
    """The events of `source` that are not after `targets`, all ascending, in iterations (or all in cycles).

    period: both go on for ever at this distance; None: they do not.
    """
    if np.array_equal(source, targets):
        return Before(index=slice(len(targets)))
    if period is None or not len(targets):
        return Before(index=last_not_after(source, targets))
    index = np.empty(len(targets), np.int32)
    turns = _turns(targets, int(source[0]), period)
    for begin, end, turn in turns:
        index[begin:end] = last_not_after(source, targets[begin:end] - turn * period)
    return Before(index=index, turns=tuple(one for one in turns if one[2]))


def _turns(times: Times, first: int, period: int) -> list[tuple[int, int, int]]:
    """(from, to, turn) of the ascending `times` by the period, counted from `first`, that they lie in."""
    turns = range((int(times[0]) - first) // period, (int(times[-1]) - first) // period + 1)
    begins = np.searchsorted(times, [first + turn * period for turn in turns]).tolist()
    ends = [*begins[1:], len(times)]
    return [each for each in zip(begins, ends, turns, strict=True) if each[0] < each[1]]


def last_not_after(source: Times, targets: Times) -> Index:
    """The index of the last element of `source` not larger than each target; -1: none. Both ascend."""
    first, span = int(source[0]), int(source[-1] - source[0]) + 1
    if span > MOST_SPARSE * (len(source) + len(targets)):
        return (np.searchsorted(source, targets, side="right") - 1).astype(np.int32)
    # where events are dense, looking up how many there were takes a fifth of the time of bisecting for each
    last = np.cumsum(np.bincount(source - first, minlength=span), dtype=np.int32)
    last -= 1
    early, late = np.searchsorted(targets, [first, first + span])
    index = np.empty(len(targets), np.int32)
    index[:early] = -1
    index[early:late] = last[targets[early:late] - first]
    index[late:] = len(source) - 1
    return index


def held_for_ever(written: Times, read: Times, period: int) -> int:
    """The most words between writing and reading, in cycles, of a period that repeats itself for ever.

    A word written in the cycle of a read needs its room.
    """
    found = before(written, read, period)
    count = np.arange(1, len(written) + 1)[found.index]
    for begin, end, periods in found.turns:
        count[begin:end] += periods * len(written)
    return int((count - np.arange(len(read))).max())


def running_maxima(values: Times, drift: int | None) -> Times:
    """The largest of `values` so far; the periods before had the same ones, each less by `drift`. None: there
    were none, and one more element, the last, stands for "before the first".
    """
    if drift is None:
        found = np.empty(len(values) + 1, np.int64)
        np.maximum.accumulate(values, out=found[:-1])
        found[-1] = NEVER
        return found
    found = np.maximum.accumulate(values)
    np.maximum(found, found[-1] - drift, out=found)
    return found


class Loop:
    """A process's iterations with reads and writes, and what depends on what among them.

    reads, writes: iterations by stream. latency: cycles from begin to end. held: iterations that the pipeline
    holds. period: iterations of a period in the steady state, None for a call.
    """

    def __init__(
        self,
        reads: tuple[Times, ...],
        writes: tuple[Times, ...],
        *,
        latency: int,
        held: int,
        period: int | None,
    ) -> None:
        self.reads, self.writes = reads, writes
        self.latency, self.held, self.period = latency, held, period
        self.first = min(int(times[0]) for times in (*reads, *writes))
        self._to_reads = [self._of(times, times - held) for times in reads]
        self._to_writes = [self._of(times, times) for times in writes]
        self._to_first = self._of(np.array([self.first]), np.array([self.first]) - held)

    def _of(self, after_reads: Times, after_writes: Times) -> list[Before]:
        return [
            *(before(source, after_reads, self.period) for source in self.reads),
            *(before(source, after_writes, self.period) for source in self.writes),
        ]

    def begins(self, stream: int, running: list[Times], drift: int | None, *, anchored: bool) -> Times:
        """When the words of a stream are read."""
        delay = self._delay(self._to_reads[stream], running, drift, (0, -self.latency))
        if anchored:
            self._anchor(self.reads[stream], delay, 0, drift)
        return np.add(delay, self.reads[stream], out=delay)

    def ends(self, stream: int, running: list[Times], drift: int | None, *, anchored: bool) -> Times:
        """When the words of a stream are written."""
        delay = self._delay(self._to_writes[stream], running, drift, (self.latency, 0))
        if anchored:
            self._anchor(self.writes[stream], delay, self.latency, drift)
        return np.add(delay, self.writes[stream], out=delay)

    def first_delay(self, running: list[Times], drift: int | None) -> int:
        """D of the iteration that is held at its place, if nothing held it."""
        return int(self._delay(self._to_first, running, drift, (0, -self.latency))[0])

    def iteration(self, stream: int | None, event: int, *, write: bool) -> int:
        """The iteration of an event; stream None: of the one that is held at its place."""
        if stream is None:
            return self.first
        return int((self.writes if write else self.reads)[stream][event])

    def sources(self, stream: int | None, event: int, *, write: bool) -> list[tuple[int, int, int]]:
        """The source of each running maximum: the word that an event sees, in which period, what it adds to
        it.
        """
        found = self._to_first
        if stream is not None:
            found = (self._to_writes if write else self._to_reads)[stream]
        added = (self.latency, 0) if write else (0, -self.latency)
        return [(*one.source(event), added[number >= len(self.reads)]) for number, one in enumerate(found)]

    def _delay(
        self, sources: list[Before], running: list[Times], drift: int | None, added: tuple[int, int]
    ) -> Times:
        delay = np.full(sources[0].events, NEVER, np.int64)
        for number, (source, maxima) in enumerate(zip(sources, running, strict=True)):
            seen = source.largest(maxima, drift or 0)
            np.maximum(delay, seen + added[number >= len(self.reads)], out=delay)
        return delay

    def _anchor(self, times: Times, delay: Times, least: int, drift: int | None) -> None:
        """Makes `delay`, of iterations `times`, at least what the place of the first one leaves: `least`, and
        `drift` more in each later period.
        """
        if self.period is None or drift is None:
            np.maximum(delay, least, out=delay)
            return
        for begin, end, turn in _turns(times, self.first, self.period):
            np.maximum(delay[begin:end], least + turn * drift, out=delay[begin:end])
