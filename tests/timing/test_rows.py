"""Times in rows, held against the same steps word by word and against a kernel run cycle by cycle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError
from hlsgen.hardware.pipeline import Pipeline, pipeline_of
from hlsgen.layers.stage import Fold, Times
from hlsgen.timing import row_loops, rows, timing
from hlsgen.timing.events import NEVER, before, running_maxima
from hlsgen.timing.fifos import fifo_depths
from hlsgen.timing.last_used import LastUsed
from hlsgen.timing.row_loops import pieces_between
from hlsgen.timing.row_sums import RowSums
from hlsgen.timing.rows import Rows, pattern_of
from hlsgen.timing.timing import one_call, simulate
from tests.support.slow_kernel import run_slowly
from tests.timing.test_timing import depths_of, emitted, kernels, residual


@contextmanager
def blocks_of(fewest: int, most: int) -> Iterator[None]:
    """Blocks of at least, and at most, so many words; nothing is known of before."""
    with (
        mock.patch.object(rows, "FEWEST_WORDS", fewest),
        mock.patch.object(rows, "MOST_WORDS", most),
        mock.patch.object(timing, "_known", LastUsed(timing.MOST_TIMINGS)),
    ):
        yield


@st.composite
def times(draw: st.DrawFn, words: int = 12) -> Times:
    """Ascending, as those of a loop are."""
    steps = draw(st.lists(st.integers(1, 4), min_size=words, max_size=words))
    return np.cumsum(np.array(steps, np.int64)) + draw(st.integers(-20, 20))


WIDTHS = st.sampled_from([1, 2, 3, 4, 6, 12])


@given(times(), WIDTHS)
def test_times_come_back_and_equal_patterns_are_one(found: Times, width: int) -> None:
    held = Rows.of(found, width)
    np.testing.assert_array_equal(np.asarray(held), found)
    assert [held.at(word) for word in range(len(found))] == found.tolist()
    assert (held.first, held.last, len(held)) == (found[0], found[-1], len(found))
    assert held == Rows.of(found.copy(), width) and held.patterns[0] is Rows.of(found + 5, width).patterns[0]


def test_patterns_with_the_same_sum_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_digits", lambda words: np.zeros(words, np.int64))
    one, other = pattern_of(np.array([0, 1, 5])), pattern_of(np.array([0, 2, 5]))
    assert one is not other
    assert pattern_of(np.array([0, 2, 5])) is other and pattern_of(np.array([0, 1, 5])) is one


@given(times(), times(), WIDTHS, st.none() | st.integers(0, 30))
def test_running_maxima(left: Times, right: Times, width: int, drift: int | None) -> None:
    sums = RowSums()
    delays = sums.delays(Rows.of(left, width), Rows.of(right, width))
    np.testing.assert_array_equal(np.asarray(delays), left - right)
    expected = running_maxima(left - right, drift)[: len(left)]
    for _ in range(2):  # computed, then looked up
        np.testing.assert_array_equal(np.asarray(sums.running(delays, drift)), expected)


@given(times(), WIDTHS, st.integers(1, 40), st.none() | st.integers(50, 80))
def test_room_comes_a_cycle_after_the_word_that_made_it(
    begins: Times, width: int, depth: int, cycles: int | None
) -> None:
    found = np.asarray(RowSums().rooms(Rows.of(begins, width), depth, cycles))
    for word in range(len(begins)):
        periods, earlier = divmod(word - depth, len(begins))
        expected = begins[earlier] + 1 + periods * (cycles or 0)
        assert found[word] == (NEVER if cycles is None and periods < 0 else expected)


@given(times(), times(9), WIDTHS, st.sampled_from([1, 3, 9]), st.integers(0, 5), st.booleans())
def test_pieces_are_the_words_that_are_not_after(
    source: Times, target: Times, width: int, other: int, shift: int, periodic: bool
) -> None:
    period = int(max(np.ptp(source), np.ptp(target))) + 3 if periodic else None
    found = before(source, target - shift, period)
    pieces = pieces_between(Rows.of(source, width), Rows.of(target, other), shift, period)
    for block, each in enumerate(pieces):
        assert [each[0][0], each[-1][1]] == [0, other]
        for begin, end, pick, at, turn in each:
            for word in range(begin, end):
                expected, periods = found.source(block * other + word)
                index = pick.index[word - begin] if end - begin == len(pick.index) else pick.first
                assert (-1 if at < 0 else at * width + index, turn) == (expected, periods)


@given(times(), times(), WIDTHS, WIDTHS, st.booleans())
def test_most_held(written: Times, waits: Times, width: int, other: int, periodic: bool) -> None:
    read = np.maximum.accumulate(np.maximum(waits, written + 1)) + np.arange(len(written))
    period = int(np.ptp(read)) + int(np.ptp(written)) + 1 if periodic else None
    held = RowSums().most_held(Rows.of(written, width), Rows.of(read, width), period)
    turns = range(-3, 4) if period else (0,)
    every = np.concatenate([written + turn * (period or 0) for turn in turns])
    reads = np.concatenate([read + turn * (period or 0) for turn in turns])
    assert held == max(int((every <= time).sum() - (reads < time).sum()) for time in read.tolist())


@settings(max_examples=15, deadline=None)
@given(kernels(), st.sampled_from([(1, 1), (1, 2), (4, 4), (8, 1 << 13)]), st.integers(1, 3))
def test_every_word_moves_as_in_the_slow_run_however_long_blocks_are(
    pipeline: Pipeline, sizes: tuple[int, int], frames: int
) -> None:
    depths = depths_of(pipeline)
    try:
        whole = simulate(pipeline)
    except DesignError:
        with blocks_of(*sizes), pytest.raises(DesignError):
            simulate(pipeline)
        return
    slow = run_slowly(pipeline, depths, frames)
    deep = fifo_depths(pipeline)
    with blocks_of(*sizes):
        call = one_call(pipeline, depths, frames)
        assert simulate(pipeline) == whole
        assert fifo_depths(pipeline) == deep
    for name in pipeline.streams:
        np.testing.assert_array_equal(call.begins[name], slow.fifos[name].read, err_msg=name)
        np.testing.assert_array_equal(call.ends[name], slow.fifos[name].written, err_msg=name)


@pytest.mark.parametrize("convolutions", [3, 12])
def test_loops_are_made_of_processes_that_differ(convolutions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times as many layers, all alike, make no more of them."""
    pipeline = emitted(residual(7, 9, convolutions=convolutions))
    monkeypatch.setattr(row_loops, "_known", LastUsed(row_loops.MOST_KNOWN))
    monkeypatch.setattr(timing, "_known", LastUsed(timing.MOST_TIMINGS))
    made = mock.Mock(wraps=row_loops._loop)
    monkeypatch.setattr(row_loops, "_loop", made)
    simulate(pipeline)
    # load, stem, 3x3, fork, join and store, in a call of one frame and for ever
    assert made.call_count == 12


def test_a_larger_picture_has_no_more_patterns() -> None:
    """Of 6 rows as of 48: the first and the last ones are others, those between are alike."""
    counts = []
    for height, convolutions in product((12, 48), (3,)):
        graph = residual(height, 40, convolutions=convolutions)
        pipeline = pipeline_of(graph, {layer.name: Fold(px=1, pe=1, simd=1) for layer in graph.layers})
        with blocks_of(1, 1 << 13):
            call = one_call(pipeline.with_depths(fifo_depths(pipeline)), fifo_depths(pipeline))
        counts.append(max(len(set(map(id, times.patterns))) for times in call.begins.values()))
    assert counts[0] == counts[1] <= 4
