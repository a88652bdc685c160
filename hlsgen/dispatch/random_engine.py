"""The shuffle of GNU's C++ library with its default engine: what RANDOM means in a CEDR built with it.

Source: ISO C++ defines minstd_rand0 (16807 * x mod 2^31 - 1); how std::shuffle and uniform_int_distribution
draw from it is the library's own choice, which tests/dispatch/test_random_engine.py compares with g++'s.
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import TypeVar

MODULUS = 2**31 - 1
MULTIPLIER = 16807
SPAN = MODULUS - 2
"""The largest number of the engine less the smallest, which is 1."""

T = TypeVar("T")


class Engine:
    """std::default_random_engine."""

    def __init__(self, seed: int) -> None:
        self.state = seed % MODULUS or 1

    def below(self, count: int) -> int:
        """A number from 0 to count - 1, each as likely. count: at most SPAN."""
        share = SPAN // count
        while True:
            self.state = self.state * MULTIPLIER % MODULUS
            drawn = self.state - 1
            if drawn < share * count:
                return drawn // share


def shuffle(items: MutableSequence[T], seed: int) -> None:
    """std::shuffle with a new engine: two places are drawn with one number wherever that is large enough."""
    engine = Engine(seed)
    count = len(items)

    def swap(at: int, other: int) -> None:
        items[at], items[other] = items[other], items[at]

    if not count:
        return
    if SPAN // count < count:
        for at in range(1, count):
            swap(at, engine.below(at + 1))
        return
    start = 1
    if count % 2 == 0:
        swap(1, engine.below(2))
        start = 2
    for at in range(start, count, 2):
        first, second = divmod(engine.below((at + 1) * (at + 2)), at + 2)
        swap(at, first)
        swap(at + 1, second)
