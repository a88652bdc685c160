"""What a process's waiting is computed by, on times in rows: differences, running maxima, sums.

Every step gives the very numbers that the same step on single words would (hlsgen/timing/events.py); it is
looked up by the patterns of its rows and by how far apart they are, and computed where that is new.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hlsgen.layers.stage import Times
from hlsgen.timing.events import NEVER
from hlsgen.timing.row_loops import Pick, Piece
from hlsgen.timing.rows import Pattern, Rows, Spans, flat, pattern_of

NOTHING = -(1 << 62)
"""Below every time, and every time that is NEVER."""

MOST_KNOWN_WORDS = 1 << 24
"""Words of the patterns that are kept."""

Wait = tuple[int, int, Pick | None, Pattern | None, int]
"""Words `from` to `to` of a block wait until what is picked of a pattern, so many cycles on; without a
pattern: until then.
"""
Source = tuple[list[tuple[Piece, ...]], Rows, int]
"""Of each block of a stream which words of another stream it waits for; what these ask for, in running
maxima; cycles that are added to that.
"""


class RowSums:
    """The steps that are known already; one object for what has patterns in common."""

    def __init__(self) -> None:
        self._differences: dict[tuple[Pattern, Pattern], Pattern] = {}
        self._raised: dict[tuple[Pattern, int], Pattern] = {}
        self._joined: dict[tuple[int, Pattern, Pattern, int], tuple[int, Pattern]] = {}
        self._waited: dict[tuple[Pattern, tuple[Wait, ...]], tuple[int, Pattern]] = {}
        self._held: dict[tuple[Pattern, Spans], int] = {}
        self._words = 0

    def _new(self, times: Times) -> Pattern:
        """A pattern that was computed; once there are too many all are forgotten."""
        self._words += len(times)
        if self._words > MOST_KNOWN_WORDS:
            self._words = 0
            for known in (self._differences, self._raised, self._joined, self._waited, self._held):
                known.clear()
        return pattern_of(times)

    def difference(self, left: Pattern, right: Pattern) -> Pattern:
        if left is right:
            return flat(len(left.times))
        found = self._differences.get((left, right))
        if found is None:
            found = self._differences[left, right] = self._new(left.times - right.times)
        return found

    def delays(self, times: Rows, own: Rows) -> Rows:
        """`times` less `own`, of the same words."""
        return Rows(
            [left - right for left, right in zip(times.bases, own.bases, strict=True)],
            [self.difference(*pair) for pair in zip(times.patterns, own.patterns, strict=True)],
        )

    def running(self, delays: Rows, drift: int | None) -> Rows:
        """The largest so far; drift: as of `events.running_maxima`."""
        carry = NOTHING
        if drift is not None:
            carry = max(base + one.most for base, one in delays) - drift
        none = flat(delays.words)
        bases, patterns = [], []
        for base, delay in delays:
            over = carry - base
            if over >= delay.most:
                bases.append(carry)
                patterns.append(none)
                continue
            bases.append(max(carry, base))
            patterns.append(delay.running if over <= 0 else self._above(delay.running, over))
            carry = base + delay.most
        return Rows(bases, patterns)

    def _above(self, running: Pattern, over: int) -> Pattern:
        found = self._raised.get((running, over))
        if found is None:
            found = self._new(np.maximum(running.times, over) - over)
            self._raised[running, over] = found
        return found

    def rooms(self, begins: Rows, depth: int, cycles: int | None) -> Rows:
        """When a FIFO has room for each word: a cycle after the word `depth` before has been read.

        cycles: of a period that goes on for ever; None: the first `depth` words always have room.
        """
        blocks, words = len(begins.bases), begins.words
        back, inside = divmod(-depth, words)
        none = flat(words)

        def read(block: int) -> tuple[int, Pattern]:
            if block >= 0:
                return begins.bases[block] + 1, begins.patterns[block]
            if cycles is None:
                return NEVER, none
            turn, block = divmod(block, blocks)
            return begins.bases[block] + 1 + turn * cycles, begins.patterns[block]

        found = [read(number) for number in range(back, back + blocks + (inside > 0))]
        if inside:
            found = [self._join(inside, *pair) for pair in zip(found[:-1], found[1:], strict=True)]
        return Rows([base for base, _ in found], [one for _, one in found])

    def _join(self, inside: int, one: tuple[int, Pattern], next_: tuple[int, Pattern]) -> tuple[int, Pattern]:
        """The block from word `inside` of one block on, up to that of the next one."""
        key = (inside, one[1], next_[1], next_[0] - one[0])
        known = self._joined.get(key)
        if known is None:
            times = np.concatenate([one[1].times[inside:], next_[1].times[:inside] + key[3]])
            known = self._joined[key] = int(times[0]), self._new(times - times[0])
        return one[0] + known[0], known[1]

    def after(
        self, own: Rows, sources: Sequence[Source], drift: int, floors: Sequence[Sequence[Wait]]
    ) -> Rows:
        """`own` plus the largest of what its words wait for: of all sources, and of `floors`, by block."""
        bases, patterns = [], []
        for number, (base, pattern) in enumerate(own):
            waits = [floors[number]] if floors else []
            for pieces, running, added in sources:
                waits.append([wait_for(piece, running, added, drift) for piece in pieces[number]])
            apart, found = self._latest(pattern, waits)
            bases.append(base + apart)
            patterns.append(found)
        return Rows(bases, patterns)

    def _latest(self, own: Pattern, sources: Sequence[Sequence[Wait]]) -> tuple[int, Pattern]:
        """The largest of the sources' waits for each word, plus `own`: for the first one, and the pattern."""
        # a source's waits ascend: what is never more than another one's first counts for nothing
        least = max([first_of(waits[0]) for waits in sources])
        later = above(sources, least)
        if not later:
            return least, own
        known = self._waited.get((own, later))
        if known is None:
            times = latest(len(own.times), later)
            times += own.times
            known = self._waited[own, later] = int(times[0]), self._new(times - times[0])
        return least + known[0], known[1]

    def most_held(self, written: Rows, read: Rows, period: int | None = None) -> int:
        """The most words between writing and reading; a word written in the cycle of a read needs its room.

        period: both go on for ever at this distance, in cycles; None: they do not.
        """
        words, most = read.words, NOTHING
        blocks = written.repeated(read.first, read.last, period)
        for number, (base, shape) in enumerate(read):
            first, spans = blocks.spans(base, shape)
            before = blocks.turn * len(written) + first * words - number * words
            if before + len(spans) * words > most:
                most = max(most, before + self._held_of(shape, spans))
        return most

    def _held_of(self, read: Pattern, written: Spans) -> int:
        """The most words of `written` blocks, each with its begin, that are there before a word is read."""
        key = (read, written)
        found = self._held.get(key)
        if found is None:
            times = np.concatenate([one.times + begin for one, begin in written])
            counts = np.searchsorted(times, read.times, side="right") - np.arange(len(read.times))
            found = self._held[key] = int(counts.max())
        return found


def wait_for(piece: Piece, running: Rows, added: int, drift: int) -> Wait:
    """How long words wait for those of a piece: `added` cycles longer, `drift` more in each later period."""
    begin, end, pick, block, turn = piece
    if block < 0:
        return begin, end, None, None, NEVER + added
    time, shape = running.bases[block] + added + turn * drift, running.patterns[block]
    if shape.last == 0:
        return begin, end, None, None, time
    if pick.first == pick.last:
        return begin, end, None, None, time + int(shape.times[pick.first])
    return begin, end, pick, shape, time


def first_of(wait: Wait) -> int:
    """Until when the first of its words waits."""
    _, _, pick, shape, time = wait
    return time if shape is None or pick is None else time + int(shape.times[pick.first])


def last_of(wait: Wait) -> int:
    """Until when the last of its words waits, and with it none longer."""
    _, _, pick, shape, time = wait
    return time if shape is None or pick is None else time + int(shape.times[pick.last])


def above(sources: Sequence[Sequence[Wait]], least: int) -> tuple[Wait, ...]:
    """The waits until after `least`, relative to it."""
    return tuple(
        [
            (*wait[:4], wait[4] - least)
            for waits in sources
            if last_of(waits[-1]) > least
            for wait in waits
            if last_of(wait) > least
        ]
    )


def latest(words: int, waits: Sequence[Wait]) -> Times:
    """The largest of the waits for each word, but 0 at the least."""
    found: Times = np.zeros(words, np.int64)
    for begin, end, pick, shape, time in waits:
        part = found[begin:end]
        np.maximum(part, time if shape is None or pick is None else pick.of(shape) + time, out=part)
    return found
