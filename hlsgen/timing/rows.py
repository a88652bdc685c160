"""Times of a stream's words, row by row: rows that differ by their begin alone share one pattern.

A stage does in one row of a picture what it does in the others, so that a stream of a million words has a
handful of patterns. What is computed of a row is computed once for all rows, streams and layers with the same
patterns at the same distances (hlsgen/timing/row_sums.py): the work grows with what differs, not with pixels.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from hlsgen.layers.stage import StreamFormat, Times

FEWEST_WORDS = 256
"""A block of fewer words is made of several rows, if the frame has them: each costs some steps of Python."""
MOST_WORDS = 1 << 13
"""A block of more words is cut in parts."""


class Pattern:
    """Times of the words of a block relative to the first one, ascending, or what such times differ by.

    Equal patterns are one object (`pattern_of` sees to it), so that they are compared and looked up as such.
    """

    __slots__ = ("__weakref__", "_running", "last", "most", "times")

    def __init__(self, times: Times) -> None:
        self.times = times
        self.last, self.most = int(times[-1]), int(times.max())
        self._running: Pattern | None = None

    @property
    def running(self) -> Pattern:
        """The running maximum."""
        if self._running is None:
            self._running = pattern_of(np.maximum.accumulate(self.times))
        return self._running


_patterns: WeakValueDictionary[tuple[int, int, int], Pattern] = WeakValueDictionary()


def pattern_of(times: Times) -> Pattern:
    """The pattern of these times, of which the first is 0."""
    count, number = len(times), 0
    key = (count, int(times @ _digits(count)), 0)
    while (found := _patterns.get(key)) is not None:
        if np.array_equal(found.times, times):
            return found
        number += 1  # another one with the same sum
        key = (count, key[1], number)
    found = _patterns[key] = Pattern(times)
    return found


@lru_cache(maxsize=256)
def _digits(words: int) -> Times:
    """What a pattern's times are multiplied by for the sum that it is found by, modulo 2^64."""
    return np.random.default_rng(words).integers(-(1 << 62), 1 << 62, words)


@lru_cache(maxsize=256)
def flat(words: int) -> Pattern:
    """The pattern of words that all have the same time."""
    return pattern_of(np.zeros(words, np.int64))


@dataclass(slots=True)
class Rows:
    """The times of all words of a stream: of each block when it begins, in cycles, and its pattern."""

    bases: list[int]
    patterns: list[Pattern]

    @classmethod
    def of(cls, times: Times, words: int) -> Rows:
        """`times` in blocks of so many words."""
        blocks = times.reshape(-1, words)
        # most blocks are as the one before
        apart = np.ascontiguousarray(blocks - blocks[:, :1], np.int64)
        same = [False, *((apart[1:, -1] == apart[:-1, -1]).tolist())]
        patterns: list[Pattern] = []
        for number, block in enumerate(apart):
            if same[number] and np.array_equal(block, apart[number - 1]):
                patterns.append(patterns[-1])
            else:
                patterns.append(pattern_of(block.copy()))
        return cls(bases=blocks[:, 0].tolist(), patterns=patterns)

    @property
    def words(self) -> int:
        """Words of a block."""
        return len(self.patterns[0].times)

    @property
    def first(self) -> int:
        return self.bases[0]

    @property
    def last(self) -> int:
        return self.bases[-1] + self.patterns[-1].last

    def __len__(self) -> int:
        return len(self.bases) * self.words

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """[words] every single time."""
        parts = [base + one.times for base, one in zip(self.bases, self.patterns, strict=True)]
        return np.concatenate(parts).astype(dtype or np.int64, copy=False)

    def __iter__(self) -> Iterator[tuple[int, Pattern]]:
        return zip(self.bases, self.patterns, strict=True)

    def later(self, cycles: int) -> Rows:
        """All of them so many cycles later."""
        return Rows([base + cycles for base in self.bases], self.patterns)

    def at(self, word: int) -> int:
        """The time of a word."""
        block, inside = divmod(word, self.words)
        return self.bases[block] + int(self.patterns[block].times[inside])

    def repeated(self, first: int, last: int, period: int | None) -> Blocks:
        """The blocks that times from `first` to `last` may meet, of all periods; None: of a call."""
        if period is None:
            return Blocks(self.bases, self.patterns, 0)
        turns = range((first - self.first) // period, (last - self.first) // period + 1)
        bases = [base + turn * period for turn in turns for base in self.bases]
        return Blocks(bases, self.patterns, turns[0])


Spans = tuple[tuple[Pattern, int], ...]
"""Blocks that follow each other, and when each begins."""


class Blocks:
    """The blocks of a stream, one period after the other, the first of them `turn`."""

    def __init__(self, bases: list[int], patterns: list[Pattern], turn: int) -> None:
        self.bases, self.patterns, self.turn = bases, patterns, turn

    def spans(self, base: int, pattern: Pattern) -> tuple[int, Spans]:
        """The first block (-1: before all) and those with the words that are not after the times of a block,
        their begins relative to its own.
        """
        first, last = bisect_right(self.bases, base) - 1, bisect_right(self.bases, base + pattern.last) - 1
        count = len(self.patterns)
        # of a block that is over its last word counts, which the search finds too
        numbers = range(max(first, 0), last + 1)
        return max(first, 0) if last >= 0 else -1, tuple(
            (self.patterns[one % count], self.bases[one] - base) for one in numbers
        )

    def place(self, number: int) -> tuple[int, int]:
        """The block of the stream that one of these is, and of which period; -1: before all."""
        if number < 0:
            return -1, 0
        turn, block = divmod(number, len(self.patterns))
        return block, turn + self.turn


def block_words(words: StreamFormat) -> int:
    """Words of a block of a stream: a row's, of several short rows, or a part of a long one."""
    rows, row = words.shape[1], words.row_words
    if row > MOST_WORDS:
        parts = -(-row // MOST_WORDS)
        return next(row // count for count in range(parts, row + 1) if row % count == 0)
    together = -(-FEWEST_WORDS // row)
    return row * next(count for count in range(min(together, rows), rows + 1) if rows % count == 0)
