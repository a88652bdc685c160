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
"""Places of a table for each event that is looked up, beyond which it is not worth making."""


Index = np.ndarray[tuple[int], np.dtype[np.int32]]


@dataclass(frozen=True, kw_only=True)
class Before:
    """The last event of a stream that is not after each event of another stream of the same process.

    index: of that event, -1 if there is none; of streams with the same times a slice of all.
    turns: (from, to, periods): events `from` to `to` find theirs that many periods later or earlier.
    """

    index: Index | slice
    turns: tuple[tuple[int, int, int], ...] = ()

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
    if span > MOST_SPARSE * len(targets):
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
    """A process's iterations with reads and writes, and what a single one of these waits for.

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

    def iteration(self, stream: int | None, event: int, *, write: bool) -> int:
        """The iteration of an event; stream None: of the one that is held at its place."""
        if stream is None:
            return self.first
        return int((self.writes if write else self.reads)[stream][event])

    def sources(self, stream: int | None, event: int, *, write: bool) -> list[tuple[int, int, int]]:
        """The source of each running maximum: the word that an event sees, in which period, what it adds to
        it.
        """
        at = np.array([self.iteration(stream, event, write=write)])
        after_reads, after_writes = (at, at) if write else (at, at - self.held)
        to_read, to_write = (self.latency, 0) if write else (0, -self.latency)
        return [
            *((*before(source, after_reads, self.period).source(0), to_read) for source in self.reads),
            *((*before(source, after_writes, self.period).source(0), to_write) for source in self.writes),
        ]
