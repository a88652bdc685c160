"""How tasks are cut: what a band holds against what its outputs read, and the place of every weight."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType
from hlsgen.hardware.processor import Processor
from hlsgen.program.tasks import Stored, Task, Window
from hlsgen.program.tiling import NotTiled, Tiling, band_blocks, held, most_band, tiled, weight_matrix
from tests.support.shared_processor import PACKED

TYPE = FixedType(8, 8)
EXAMPLES = settings(max_examples=300, deadline=None)


def task_of(
    in_shape: tuple[int, int, int],
    out_shape: tuple[int, int, int],
    window: Window,
    *,
    groups: int = 1,
    weights: bool = True,
) -> Task:
    """Every weight has a number of its own, from 1 on."""
    shape = (out_shape[0], in_shape[0] // groups, *window.kernel)
    return Task(
        name="task",
        layers=("task",),
        source=Stored(name="in", shape=in_shape, type=TYPE),
        output=Stored(name="task", shape=out_shape, type=TYPE),
        out_shape=out_shape,
        window=window,
        weights=np.arange(1, 1 + int(np.prod(shape))).reshape(shape) if weights else None,
        groups=groups,
        stages=(),
    )


@st.composite
def processors(draw: st.DrawFn) -> Processor:
    return replace(
        PACKED,
        rows=draw(st.sampled_from([1, 3, 5, 7, 13])),
        lanes=draw(st.sampled_from([4, 8])),
        pixel_depth=draw(st.sampled_from([20, 60, 200])),
        weight_depth=draw(st.sampled_from([4, 20, 100])),
    )


@st.composite
def tilings(draw: st.DrawFn) -> Tiling:
    processor = draw(processors())
    window = Window(
        kernel=draw(st.tuples(st.integers(1, 5), st.integers(1, 3))),
        stride=draw(st.tuples(st.integers(1, 4), st.integers(1, 3))),
        dilation=draw(st.tuples(st.integers(1, 3), st.integers(1, 2))),
        top=draw(st.integers(-6, 6)),
        left=draw(st.integers(-2, 2)),
        repeat=draw(st.sampled_from([(1, 1), (2, 1), (3, 2)])),
    )
    height, bottom = draw(st.integers(1, 40)), draw(st.integers(0, 5))
    rows = (height * window.repeat[0] + window.top + bottom - window.reach_rows) // window.stride[0] + 1
    assume(rows > 0)
    channels = draw(st.integers(1, 2 * processor.lanes + 1))
    kind = draw(st.sampled_from(["plain", "depthwise", "largest"]))
    outputs = channels if kind != "plain" else draw(st.integers(1, 10))
    task = task_of(
        (channels, height, draw(st.integers(1, 9))),
        (outputs, rows, draw(st.integers(1, 9))),
        window,
        groups=1 if kind == "plain" else channels,
        weights=kind != "largest",
    )
    together = draw(st.integers(1, 6))
    try:
        found = tiled(processor, task, together)
    except NotTiled:
        assume(False)
    assert found.frames * found.sequels == together
    return found


@EXAMPLES
@given(tilings())
def test_a_band_holds_every_row_that_its_outputs_read(tiling: Tiling) -> None:
    """Row by row, from the definition of a window: the processor finds it where the band has it."""
    task, rows = tiling.task, tiling.processor.rows
    window, height = task.window, task.in_shape[1]
    event("several bands", tiling.bands > 1)
    seen = set()
    for band in range(tiling.bands):
        first = tiling.band_first + band * tiling.band_step
        for block in range(tiling.blocks_of(band)):
            for row in range(rows):
                output = (band * tiling.band_out + block) * rows + row
                seen.add(output)
                for tap in range(window.kernel[0]):
                    wanted = output * window.stride[0] + tap * window.dilation[0] - window.top
                    if output >= task.out_shape[1] or not 0 <= wanted < height:
                        continue
                    at = wanted - first * rows
                    assert 0 <= at < tiling.band_blocks * rows, (band, output, tap)
                    # what the array adds up: the band's phase, the block, the row and the tap
                    place = tiling.band_phase + block * rows * window.stride[0]
                    assert at == place + row * window.stride[0] + tap * window.dilation[0]
    assert seen >= set(range(task.out_shape[1]))


@EXAMPLES
@given(tilings())
def test_bands_fit_their_memory_and_load_what_the_image_has_of_them(tiling: Tiling) -> None:
    task, rows = tiling.task, tiling.processor.rows
    words = tiling.frames * tiling.in_groups * tiling.band_blocks * task.in_shape[2]
    assert words <= tiling.processor.pixel_depth
    assert 0 <= tiling.band_phase < rows
    assert sum(tiling.blocks_of(band) for band in range(tiling.bands)) == -(-task.out_shape[1] // rows)
    assert min(tiling.blocks_of(band) for band in range(tiling.bands)) > 0
    for band in range(tiling.bands):
        first = tiling.band_first + band * tiling.band_step
        inside = set(range(first, first + tiling.band_blocks)) & set(range(-(-task.in_shape[1] // rows)))
        assert tiling.loaded_blocks(band) == len(inside)
    assert tiling.frames == 1 or tiling.bands == 1


@EXAMPLES
@given(tilings())
def test_the_largest_band_is_the_largest_that_fits(tiling: Tiling) -> None:
    """Counted up, block by block; in a bank of one word there is none of several."""
    task = tiling.task
    words = tiling.in_groups * task.in_shape[2]
    for processor in (tiling.processor, replace(tiling.processor, pixel_depth=1)):
        counts = range(1, tiling.out_blocks + 1)
        fitting = [
            one for one in counts if band_blocks(processor, task, one) * words <= processor.pixel_depth
        ]
        assert most_band(processor, task) == max(fitting, default=0)


@EXAMPLES
@given(tilings(), st.integers(0, 30), st.integers(0, 30))
def test_banks_that_hold_the_same_of_a_task_cut_it_alike(tiling: Tiling, pixels: int, weights: int) -> None:
    processor, task = tiling.processor, tiling.task
    together = tiling.frames * tiling.sequels
    deeper = replace(
        processor,
        pixel_depth=processor.pixel_depth + pixels,
        weight_depth=processor.weight_depth + weights,
    )
    alike = held(processor, task) == held(deeper, task)
    event("the same", alike)
    if alike:
        assert replace(tiled(deeper, task, together), processor=processor) == tiling


@EXAMPLES
@given(tilings())
def test_parts_of_weights_fit_their_memory(tiling: Tiling) -> None:
    """Weights in parts are those of bands of a single position."""
    chunks, depth = tiling.chunks, tiling.processor.weight_depth
    needed = tiling.task.window.taps * tiling.read_groups if tiling.task.weights is not None else 0
    assert sum(chunks) == needed and max(chunks) <= depth
    assert len(set(chunks[:-1])) <= 1 and (len(chunks) == 1 or 0 < chunks[-1] <= chunks[0])
    assert len(chunks) == -(-needed // depth) or needed == 0
    assert len(chunks) == 1 or (tiling.frames, tiling.positions(0)) == (1, 1)


def groupings(draw: Any, lanes: int) -> tuple[int, int, int]:
    """Groups, channels that a group reads, and channels that it gives."""
    return draw(  # type: ignore[no-any-return]
        st.one_of(
            st.tuples(st.just(1), st.integers(1, 2 * lanes + 1), st.integers(1, 2 * lanes + 1)),
            st.tuples(st.integers(2, 3), st.sampled_from([lanes, 2 * lanes]), st.just(lanes)),
            st.tuples(st.integers(2, 9), st.sampled_from([2, lanes // 2]), st.sampled_from([2, lanes // 2])),
            st.tuples(st.integers(2, 2 * lanes + 1), st.integers(1, 3), st.integers(1, 3)),
        )
    )


@EXAMPLES
@given(st.data())
def test_weights_lie_where_the_array_reads_them(data: st.DataObject) -> None:
    """The words of each output group, tap and channel group that is read, in turn, against `weights`."""
    lanes = data.draw(st.sampled_from([4, 8]))
    processor = replace(PACKED, lanes=lanes, weight_bits=16, weight_depth=4096, pixel_depth=4096)
    groups, reads, gives = groupings(data.draw, lanes)
    window = Window(kernel=data.draw(st.tuples(st.integers(1, 3), st.integers(1, 2))))
    task = task_of((groups * reads, 4, 4), (groups * gives, 2, 2), window, groups=groups)
    tiling = tiled(processor, task, 1)
    matrix = weight_matrix(tiling)
    assert task.weights is not None
    event("channel groups an output group reads", tiling.read_groups)
    wanted = np.zeros_like(matrix)
    for group in range(tiling.out_groups):
        word = 0
        for i, j in np.ndindex(*window.kernel):
            for part in range(tiling.read_groups):
                for out, into in np.ndindex(lanes, lanes):
                    output = group * lanes + out
                    channel = (group * tiling.read_step + part) * lanes + into
                    of_group = channel - output // gives * reads
                    if output < groups * gives and channel < groups * reads and 0 <= of_group < reads:
                        wanted[group, word, out, into] = task.weights[output, of_group, i, j]
                word += 1
    np.testing.assert_array_equal(matrix, wanted)
    # every weight is somewhere: an output group reads all that its outputs need
    assert np.count_nonzero(matrix) == task.weights.size


def test_depthwise_and_grouped_tasks_read_their_own_channel_groups_alone() -> None:
    def reading(groups: int, reads: int, gives: int) -> tuple[int, int]:
        task = task_of((groups * reads, 4, 4), (groups * gives, 4, 4), Window(), groups=groups)
        found = tiled(replace(PACKED, pixel_depth=999), task, 1)
        return found.read_groups, found.read_step

    assert reading(20, 1, 1) == (1, 1)
    assert reading(3, 16, 8) == (2, 2)
    assert reading(6, 4, 4) == (1, 1)
    assert reading(1, 20, 5) == (3, 0)
    assert reading(4, 3, 3) == (2, 0), "groups that words cut read them all"
    assert reading(10, 1, 2) == (2, 0)


def test_frames_come_together_as_far_as_memory_reaches() -> None:
    task = task_of((8, 6, 5), (8, 6, 5), Window())
    for depth, frames in ((10, 1), (19, 1), (20, 2), (30, 3), (59, 3), (60, 6)):
        found = tiled(replace(PACKED, pixel_depth=depth), task, 6)
        assert (found.frames, found.sequels) == (frames, 6 // frames), depth


def test_bands_are_even() -> None:
    """Ten blocks where nine fit: five and five, not nine and one."""
    task = task_of((8, 30, 5), (8, 30, 5), Window())
    found = tiled(replace(PACKED, pixel_depth=45), task, 1)
    assert [found.blocks_of(band) for band in range(found.bands)] == [5, 5]


def refused(task: Task, match: str, **fields: Any) -> None:
    with pytest.raises(NotTiled, match=match):
        tiled(replace(PACKED, **fields), task, 1)


def test_what_no_band_holds_is_refused() -> None:
    refused(
        task_of((24, 9, 9), (8, 7, 7), Window(kernel=(3, 3))),
        r"a band of task takes 54 words of a bank, which has 53",
        pixel_depth=53,
    )
    refused(
        task_of((24, 5, 5), (8, 3, 3), Window(kernel=(3, 3))),
        "the weights of task take 27 words of a bank, which has 26",
        weight_depth=26,
    )


def test_strides_that_share_a_factor_with_the_rows_are_refused() -> None:
    for rows, stride in ((3, 3), (9, 6), (5, 10)):
        refused(task_of((8, 30, 4), (8, 2, 4), Window(stride=(stride, 1))), "stride", rows=rows)
    assert tiled(
        replace(PACKED, rows=3, pixel_depth=99), task_of((8, 9, 4), (8, 4, 4), Window(stride=(2, 3))), 1
    )


def test_sizes_that_no_counter_holds_are_refused() -> None:
    refused(task_of((8, 3, 4096), (8, 3, 4), Window()), "a size of 4096, above 4095", pixel_depth=9999)
    refused(task_of((8, 90, 4), (8, 5, 4), Window(stride=(16, 1))), "16, above 15", pixel_depth=9999)
