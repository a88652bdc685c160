"""Rearrangements as stages: layouts of random ones against their indices, and kernels against golden."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.fixed import Codes
from hlsgen.layers.base import Shape
from hlsgen.layers.rearrange import Atoms, Rearrange
from hlsgen.layers.rearrange_layout import Layout
from hlsgen.layers.rearrange_stage import RearrangeStage
from hlsgen.layers.stage import Fold
from tests.support.layers.emitted import Emitted
from tests.support.layers.exact import tensor
from tests.support.layers.stage_cases import (
    Case,
    assert_caught,
    cases_of,
    every_fold,
    few_kernels,
)
from tests.support.pipelines import assert_layers_exact


def rearrange(shape: Shape, axes: tuple[Atoms, Atoms, Atoms], offset: int = 0) -> Rearrange:
    return Rearrange(name="layer", source=tensor(shape, "fixed<9,4>"), axes=axes, offset=offset)


def upsample(shape: Shape, rows: int, columns: int) -> Rearrange:
    c, h, w = shape
    return rearrange(shape, (((c, h * w),), ((h, w), (rows, 0)), ((w, 1), (columns, 0))))


def pixel_shuffle(shape: Shape, r: int) -> Rearrange:
    """`shape` of the output's channels at the input's size, as torch.nn.PixelShuffle(r)."""
    c, h, w = shape
    plane = h * w
    axes = ((c, r * r * plane),), ((h, w), (r, r * plane)), ((w, 1), (r, plane))
    return rearrange((c * r * r, h, w), axes)


def pixel_unshuffle(shape: Shape, r: int) -> Rearrange:
    c, h, w = shape
    axes = ((c, h * r * w * r), (r, w * r), (r, 1)), ((h, r * w * r),), ((w, r),)
    return rearrange((c, h * r, w * r), axes)


def flatten(shape: Shape) -> Rearrange:
    """As torch does: channel, row, column."""
    return rearrange(shape, (((math.prod(shape), 1),), (), ()))


def flatten_last(shape: Shape) -> Rearrange:
    """As Keras does: row, column, channel."""
    c, h, w = shape
    return rearrange(shape, (((h, w), (w, 1), (c, h * w)), (), ()))


def channel_shuffle(shape: Shape, groups: int) -> Rearrange:
    c, h, w = shape
    axes = ((c, h * w), (groups, c * h * w)), ((h, w),), ((w, 1),)
    return rearrange((groups * c, h, w), axes)


def flip(shape: Shape, upside_down: bool) -> Rearrange:
    c, h, w = shape
    axes = ((c, h * w),), ((h, -w if upside_down else w),), ((w, -1),)
    return rearrange(shape, axes, w - 1 + (h - 1) * w * upside_down)


def permute(shape: Shape, order: tuple[int, ...]) -> Rearrange:
    strides = (shape[1] * shape[2], shape[2], 1)
    channel, row, column = (((shape[axis], strides[axis]),) for axis in order)
    return rearrange(shape, (channel, row, column))


def reshape(shape: Shape, wanted: Shape) -> Rearrange:
    c, h, w = wanted
    return rearrange(shape, (((c, h * w),), ((h, w),), ((w, 1),)))


@st.composite
def rearrangements(draw: st.DrawFn, most: int = 6) -> Rearrange:
    shape = (draw(st.integers(1, most)), draw(st.integers(1, 4)), draw(st.integers(1, most)))
    r = st.integers(1, 3)
    c = draw(st.sampled_from([n for n in range(1, 25) if math.prod(shape) % n == 0]))
    h = draw(st.sampled_from([n for n in range(1, 25) if math.prod(shape) // c % n == 0]))
    kinds: st.SearchStrategy[Rearrange] = st.one_of(
        st.builds(upsample, st.just(shape), r, r),
        st.builds(pixel_shuffle, st.just(shape), r),
        st.builds(pixel_unshuffle, st.just(shape), r),
        st.builds(channel_shuffle, st.just(shape), r),
        st.builds(flip, st.just(shape), st.booleans()),
        st.builds(permute, st.just(shape), st.permutations([0, 1, 2]).map(tuple)),
        st.sampled_from([flatten(shape), flatten_last(shape)]),
        st.just(reshape(shape, (c, h, math.prod(shape) // c // h))),
    )
    return draw(kinds)


def in_words(elements: Codes, px: int, channels: int) -> Codes:
    """[C, H, W] as the words of a stream, [words, lanes]."""
    c, h, w = elements.shape
    words = elements.reshape(c // channels, channels, h, w // px, px).transpose(2, 3, 0, 4, 1)
    return words.reshape(-1, px * channels)


def taken(layout: Layout) -> tuple[Codes, Codes]:
    """Of a block's output words: the place of the input word, and the lanes taken from it."""
    places, first = np.array([layout.start]), np.array([layout.start_lane])
    for size, words, lanes in layout.loops:
        steps = np.arange(size)
        places = (places[:, None] + steps * words).reshape(-1)
        first = (first[:, None] + steps * lanes).reshape(-1)
    within = np.zeros(1, np.int64)
    for size, _, lanes in (*layout.pixel_lanes, *layout.channel_lanes):
        within = (within[:, None] + np.arange(size) * lanes).reshape(-1)
    return places, first[:, None] + within


@settings(max_examples=300, deadline=None)
@given(layer=rearrangements())
def test_a_layout_gives_the_right_elements_in_time(layer: Rearrange) -> None:
    for fold in layer.folds():
        stage = layer.stage(fold)
        assert isinstance(stage, RearrangeStage)
        layout = stage.layout
        elements = np.arange(math.prod(layer.source.shape)).reshape(layer.source.shape)
        stored = (
            elements.reshape(-1, 1) if layout.scattered else in_words(elements, fold.px, fold.simd)
        ).reshape(layout.blocks, layout.block_words, -1)
        places, lanes = taken(layout)
        assert places.min() >= 0 and places.max() < layout.block_words
        got = stored[:, places[:, None], lanes].reshape(-1, layout.px * layout.pe)
        np.testing.assert_array_equal(got, in_words(layer.indices, layout.px, layout.pe))
        if not layout.direct and not layout.scattered:
            assert_in_time(layout, places)


def assert_in_time(layout: Layout, places: Codes) -> None:
    """A word is there before it is read; the next one takes its place no sooner than it is read last."""
    arrival = layout.pace * places
    read = layout.lag + np.arange(len(places))
    assert (read - arrival).min() == 1, "neither too soon nor later than it must be"
    assert (arrival + layout.copies * layout.length >= read).all()
    assert layout.block_words * layout.pace <= layout.length
    if layout.copies > 1 and layout.pace == 1:
        assert not (arrival + (layout.copies - 1) * layout.length >= read).all(), "one less would do"


SOME = [
    upsample((4, 2, 3), 2, 2),
    pixel_shuffle((2, 2, 4), 2),
    pixel_unshuffle((2, 2, 4), 2),
    flatten((4, 3, 4)),
    flatten_last((4, 3, 4)),
    channel_shuffle((3, 2, 2), 2),
    flip((2, 3, 4), True),
    permute((3, 2, 4), (2, 0, 1)),
    reshape((4, 3, 5), (5, 4, 3)),  # no atom moves along one axis: kept in channel order
    reshape((12, 1, 1), (3, 2, 2)),
]


def test_foldings_of_every_kind_are_exact(tmp_path: Path) -> None:
    """All of the first two, of the others the least and the most."""
    ends = [case for layer in SOME[2:] for case in every_fold(layer)[:: max(1, len(list(layer.folds())) - 1)]]
    assert_layers_exact([*every_fold(*SOME[:2]), *ends], tmp_path)


@few_kernels
@given(cases=cases_of(rearrangements(4)))
def test_any_layer_and_folding_is_exact(tmp_path_factory: pytest.TempPathFactory, cases: list[Case]) -> None:
    assert_layers_exact(cases, tmp_path_factory.mktemp("rearrange"))


REFERENCE: list[Case] = [(SOME[number], list(SOME[number].folds())[-1]) for number in (0, 1, 5, 8)]


def test_words_that_leave_too_soon_are_caught(tmp_path: Path) -> None:
    assert_caught((SOME[0], Fold()), tmp_path, "constexpr int LAG = ", "constexpr int LAG = -1 + ")


def stages(layer: Rearrange) -> dict[tuple[int, int, int], RearrangeStage]:
    found = {}
    for fold in layer.folds():
        stage = layer.stage(fold)
        assert isinstance(stage, RearrangeStage)
        found[fold.px, fold.simd, fold.pe] = stage
    return found


def test_upsampling_keeps_one_row() -> None:
    found = stages(upsample((8, 16, 16), 2, 2))
    assert all(stage.layout.copies * stage.layout.block_words <= 128 for stage in found.values())
    assert found[1, 1, 1].interval == 8 * 32 * 32
    assert found[1, 8, 8].output.px == 2
    assert found[1, 8, 8].interval == 32 * 16
    assert found[16, 8, 8].interval == 32  # an output row a cycle
    (row,) = found[1, 8, 8].buffers()
    assert (row.depth, row.bits) == (16, 8 * 9)


def test_pixel_shuffle_keeps_one_row() -> None:
    found = stages(pixel_shuffle((2, 8, 16), 2))
    assert found[1, 8, 2].output.px == 2
    assert found[1, 8, 2].layout.copies * found[1, 8, 2].layout.block_words == 16
    assert found[16, 8, 2].interval == 16  # an output row a cycle


def test_flatten_in_the_order_of_arrival_keeps_nothing() -> None:
    found = stages(flatten_last((8, 4, 4)))
    assert all(stage.layout.direct for stage in found.values())
    assert found[4, 8, 32].interval == 4  # a row a cycle


def test_flatten_channel_by_channel_takes_rows() -> None:
    found = stages(flatten((8, 4, 4)))
    assert {key: stage.interval for key, stage in found.items()} == {
        (1, 1, 1): 128,
        (2, 1, 2): 64,
        (4, 1, 4): 32,
    }
    assert all(stage.layout.copies == 2 for stage in found.values())


def test_foldings_of_a_large_layer_are_found_at_once() -> None:
    layer = upsample((256, 208, 208), 2, 2)
    folds = list(layer.folds())
    assert folds[0] == Fold()
    assert folds[-1] == Fold(px=26, pe=256, simd=256)  # 52 pixels of an output row at once
    assert layer.stage(folds[-1]).interval == 416 * 8
    assert layer.stage(folds[0]).buffers()[0].depth == 208 * 256


EMITTED = {
    "channel_shuffle": Emitted(
        layer=channel_shuffle((3, 2, 2), 2),
        fold=Fold(px=1, pe=6, simd=6),
        mutants=(("l % 2 * 3 + l / 2", "l % 3 * 2 + l / 3"), ("source_lane(l)]", "l]")),
    ),
    "flatten": Emitted(
        layer=flatten((4, 3, 4)),
        fold=Fold(),
        mutants=(
            ("BLOCK_WORDS + read_at.to_int()", "BLOCK_WORDS + out_step"),
            ("if (out_step.advance()) emptied.advance();", "out_step.advance();"),
        ),
    ),
    "pixel_shuffle": Emitted(
        layer=pixel_shuffle((2, 2, 4), 2),
        fold=Fold(px=4, pe=2, simd=8),
        mutants=(("element[phase]", "element[phase ^ 1]"), ("l / 4 * 8", "l / 8 * 8")),
    ),
    "reshape": Emitted(
        layer=reshape((4, 3, 5), (5, 4, 3)),
        fold=Fold(),
        mutants=(
            ("BLOCK_WORDS + write_at.to_int()", "BLOCK_WORDS + arrived"),
            ("BLOCK_WORDS + read_at.to_int()", "BLOCK_WORDS + out_step"),
        ),
    ),
    "upsample": Emitted(
        layer=upsample((4, 2, 3), 2, 2),
        fold=Fold(),
        mutants=(
            ("BLOCK_WORDS + read_at.to_int()", "BLOCK_WORDS + read_at.to_int() / 2"),
            ("BLOCK_WORDS + arrived;", "BLOCK_WORDS + arrived / 2;"),
        ),
    ),
}
