"""The search for the least period, against what it is made to find."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from hlsgen.timing.period_search import PeriodSearch


def found(begin: int, circles: list[int], shown: list[bool]) -> tuple[int, int]:
    """The least period, and how many were tried: of circles that take longer than what is tried the shortest
    one shows, or none does."""
    search, tries = PeriodSearch(period=begin, short=begin - 1), 0
    while True:
        tries += 1
        tried, longer = search.period, [one for one in circles if one > search.period]
        if not longer:
            if not search.enough():
                return tried, tries
        elif shown[tries % len(shown)]:
            search.at_least(min(longer))
        else:
            search.too_short()


PERIODS = st.integers(1, 1 << 20)


@given(PERIODS, st.lists(PERIODS, max_size=40), st.lists(st.booleans(), min_size=1))
def test_it_ends_with_the_longest_circle(begin: int, circles: list[int], shown: list[bool]) -> None:
    assert found(begin, circles, shown)[0] == max([begin, *circles])


def test_the_only_circle_is_tried_at_once() -> None:
    assert found(1000, [1234], [True]) == (1234, 2)
    assert found(1000, [], [True]) == (1000, 1)


@given(st.integers(2, 4000), st.integers(1, 3000))
def test_many_circles_are_not_tried_one_after_another(circles: int, apart: int) -> None:
    """One of sixteen frames in DDR had sixteen circles of 2,157 cycles more, 35 seconds of tries."""
    every = [1000 + apart * number for number in range(1, circles + 1)]
    period, tries = found(1000, every, [True])
    assert period == every[-1]
    assert tries <= 8 + 4 * math.log2(apart * circles)
