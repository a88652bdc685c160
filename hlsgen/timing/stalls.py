"""Which stream makes a process wait, and for how many cycles of a period.

A process's delay grows over a period by as much as it waits; each step belongs to the stream that first asks
for it: of several that ask in the same iteration, the one that is read or written first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hlsgen.timing.row_loops import Piece, pieces_between
from hlsgen.timing.row_sums import RowSums, Wait, above, first_of, latest, wait_for
from hlsgen.timing.rows import Pattern, Rows


@dataclass(frozen=True, kw_only=True)
class Asking:
    """A stream's words: in which iterations of their process they are waited for, or room for them is, what
    delays they ask for, and the running maxima of these.
    """

    iterations: Rows
    delays: Rows
    running: Rows


def waiting(streams: Sequence[Asking], period: int, drift: int, sums: RowSums) -> list[int]:
    """Cycles that each stream of a process makes it wait, in `period` iterations and `drift` cycles."""
    steps = _Steps(sums)
    return [
        steps.of(
            number, streams, [_pieces(number, other, streams, period) for other in range(len(streams))], drift
        )
        for number in range(len(streams))
    ]


def _pieces(number: int, other: int, streams: Sequence[Asking], period: int) -> list[tuple[Piece, ...]]:
    """The words of another stream that were asked for before each word of a stream."""
    if number == other:
        return []
    later = int(other > number)
    return pieces_between(streams[other].iterations, streams[number].iterations, later, period)


class _Steps:
    """The sums of steps that are known already."""

    def __init__(self, sums: RowSums) -> None:
        self.sums = sums
        self.known: dict[tuple[Pattern, int, tuple[Wait, ...]], int] = {}

    def of(
        self, number: int, streams: Sequence[Asking], pieces: Sequence[list[tuple[Piece, ...]]], drift: int
    ) -> int:
        """What the words of a stream raise the delay by, above what all streams have asked for before."""
        mine, total = streams[number], 0
        carry = mine.running.last - drift
        for block, (base, delays) in enumerate(mine.delays):
            waits = [
                [wait_for(piece, streams[other].running, 0, drift) for piece in found[block]]
                for other, found in enumerate(pieces)
                if found
            ]
            least = max([carry, *(first_of(one[0]) for one in waits)])
            if base + delays.most > least:
                total += self._step(delays, base - least, above(waits, least))
            carry = max(carry, base + delays.most)
        return total

    def _step(self, delays: Pattern, base: int, waits: tuple[Wait, ...]) -> int:
        key = (delays, base, waits)
        found = self.known.get(key)
        if found is None:
            asked = delays.times + base
            before = latest(len(asked), waits)
            np.maximum(before[1:], np.maximum.accumulate(asked)[:-1], out=before[1:])
            found = self.known[key] = int(np.maximum(asked - before, 0).sum())
        return found
