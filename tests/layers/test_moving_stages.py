"""Streaming concatenations, crops and pads: every folding, against golden and their schedules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType
from hlsgen.base.type_text import parse_type
from hlsgen.layers.base import Layer, Shape
from hlsgen.layers.binary import Add, Mul
from hlsgen.layers.concat import Concat
from hlsgen.layers.crop import Crop
from hlsgen.layers.global_pool import GlobalPool
from hlsgen.layers.pad import Pad
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import Graph
from tests.support.layers.emitted import Emitted
from tests.support.layers.exact import fixed_types, tensor
from tests.support.layers.stage_cases import (
    Case,
    assert_caught,
    cases_of,
    every_fold,
    few_kernels,
)
from tests.support.pipelines import assert_layers_exact, assert_pipeline_exact


@st.composite
def concats(draw: st.DrawFn) -> Concat:
    axis = draw(st.integers(0, 2))
    shape = [draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(1, 6))]
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 4, 6]), min_size=1, max_size=4))
    one_type = draw(st.none() | fixed_types())
    parts = []
    for size in sizes:
        shape[axis] = size
        parts.append(tensor((shape[0], shape[1], shape[2]), one_type or draw(fixed_types())))
    return Concat(
        name="join",
        inputs=tuple(f"part{number}" for number in range(len(parts))),
        parts=tuple(parts),
        axis=axis,
        result_type=one_type or draw(fixed_types()),
    )


@st.composite
def crops(draw: st.DrawFn) -> Crop:
    shape = (draw(st.integers(1, 8)), draw(st.integers(1, 6)), draw(st.integers(1, 12)))
    step = (draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    begin = tuple(draw(st.integers(0, size - 1)) for size in shape)
    most = [(size - first - 1) // by + 1 for size, first, by in zip(shape, begin, step, strict=True)]
    size = tuple(draw(st.integers(1, count)) for count in most)
    return Crop(
        name="cut",
        source=tensor(shape, draw(fixed_types())),
        begin=begin,  # type: ignore[arg-type]
        size=size,  # type: ignore[arg-type]
        step=step,
    )


@st.composite
def pads(draw: st.DrawFn) -> Pad:
    shape = (draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(1, 8)))
    border = st.integers(0, 4)
    type_ = draw(fixed_types())
    code = draw(st.sampled_from([0, type_.lowest_code, type_.max_code]))
    return Pad(
        name="border",
        source=tensor(shape, type_),
        padding=(draw(border), draw(border), draw(border), draw(border)),
        channels=draw(st.sampled_from([(0, 0), (0, shape[0]), (2, 4), (1, 0)])),
        value=code * type_.resolution,
    )


def crop(shape: Shape, begin: Shape, size: Shape, step: Shape = (1, 1, 1)) -> Crop:
    return Crop(name="cut", source=tensor(shape, "fixed<8,4>"), begin=begin, size=size, step=step)


def concat(axis: int, *shapes: Shape, **more: Any) -> Concat:
    return Concat(
        name="join",
        inputs=tuple(f"part{number}" for number in range(len(shapes))),
        parts=tuple(tensor(shape, f"fixed<{8 + number},4>") for number, shape in enumerate(shapes)),
        axis=axis,
        result_type=parse_type("fixed<7,4,rnd_conv,sat_sym>"),
        **more,
    )


def pad(shape: Shape, padding: tuple[int, int, int, int], **more: Any) -> Pad:
    return Pad(name="border", source=tensor(shape, "fixed<8,4>"), padding=padding, **more)


EXTREMES: list[Layer] = [
    crop((4, 5, 12), (1, 1, 5), (2, 2, 3), (2, 3, 2)),  # every second pixel out of words of 2, 4 and 6
    crop((6, 2, 2), (2, 0, 0), (4, 2, 1)),
    concat(0, (4, 2, 3), (2, 2, 3), (6, 2, 3)),
    concat(2, (2, 2, 4), (2, 2, 2)),
    pad((2, 2, 4), (1, 2, 0, 3), value=-1.5, channels=(2, 4)),
    Pad(name="border", source=tensor((1, 1, 2), FixedType(62, 3)), padding=(0, 2, 1, 0), value=-4.0),
]


# Words that do not divide a row.
UNEVEN: list[Case] = [
    (concat(0, (2, 2, 7), (4, 2, 7)), Fold(px=3, pe=2, simd=2)),
    (concat(1, (2, 2, 7), (2, 1, 7)), Fold(px=4, pe=2, simd=2)),
    (crop((2, 3, 7), (0, 1, 3), (2, 2, 4)), Fold(px=3, pe=2, simd=2)),
]


@few_kernels
@given(cases=cases_of(st.one_of(concats(), crops(), pads())))
def test_any_folding_is_exact(tmp_path_factory: pytest.TempPathFactory, cases: list[Case]) -> None:
    assert_layers_exact(cases, tmp_path_factory.mktemp("moving"))


def test_extremes_are_exact(tmp_path: Path) -> None:
    """The first of them and the pad of two widths in every folding, the others in the first and the last."""
    ends = [
        case
        for layer in (*EXTREMES[1:4], EXTREMES[5])
        for case in every_fold(layer)[:: len(list(layer.folds())) - 1]
    ]
    assert_layers_exact([*every_fold(EXTREMES[0], EXTREMES[4]), *ends, *UNEVEN], tmp_path)


def test_a_block_of_branches_runs_through_with_its_fifos(tmp_path: Path) -> None:
    """Half of the channels gated by its average, the other half pooled; joined and added to the input."""
    source, type_ = tensor((4, 4, 6), "fixed<8,4>"), parse_type("fixed<8,4>")
    half = tensor((2, 4, 6), type_)
    layers: tuple[Layer, ...] = (
        Crop(name="first", source=source, begin=(0, 0, 0), size=half.shape),
        Crop(name="second", source=source, begin=(2, 0, 0), size=half.shape),
        GlobalPool(name="mean", inputs=("first",), source=half, result_type=type_, function="average"),
        Mul(
            name="gate",
            inputs=("first", "mean"),
            left=half,
            right=tensor((2, 1, 1), type_),
            result_type=type_,
        ),
        Pool2d(
            name="pool",
            inputs=("second",),
            source=half,
            result_type=type_,
            function="max",
            kernel=(3, 3),
            padding=(1, 1, 1, 1),
        ),
        Concat(name="join", inputs=("gate", "pool"), parts=(half, half), axis=0, result_type=type_),
        Add(name="sum", inputs=("join", "input"), left=source, right=source, result_type=type_),
    )
    graph = Graph.chain("block", source, layers)
    folds = {layer.name: list(layer.folds())[number % 3] for number, layer in enumerate(layers)}
    assert_pipeline_exact(graph, folds, tmp_path)


REFERENCE: list[Case] = [(EXTREMES[number], list(EXTREMES[number].folds())[1]) for number in (0, 2, 5)]


def test_a_row_a_cycle() -> None:
    """In a network of 16 x 16 pixels they keep up with words of 16 pixels."""
    layers: list[Layer] = [
        concat(0, (8, 16, 16), (4, 16, 16)),
        concat(1, (8, 8, 16), (8, 8, 16)),
        concat(2, (8, 16, 8), (8, 16, 8)),
        crop((8, 16, 16), (4, 0, 0), (4, 16, 16)),
        crop((8, 16, 16), (0, 3, 3), (8, 10, 10)),
        pad((8, 14, 14), (1, 1, 1, 1)),
    ]
    for layer in layers:
        assert min(layer.stage(fold).interval for fold in layer.folds()) == 16, layer.kind


JOINED = concat(0, (4, 2, 3), (2, 2, 3))


@pytest.mark.parametrize(
    ("case", "before", "after"),
    [
        ((JOINED, Fold(px=1, pe=2, simd=2)), "TURN[PARTS] = {2, 1}", "TURN[PARTS] = {1, 2}"),
        ((pad((2, 2, 4), (1, 2, 0, 3)), Fold(px=2, pe=2, simd=2)), "group < FIRST", "group <= FIRST"),
        (
            (crop((4, 4, 8), (0, 1, 2), (4, 2, 6)), Fold(px=2, pe=4, simd=4)),
            "at >= FIRST &&",
            "at > FIRST &&",
        ),
    ],
)
def test_words_read_too_soon_are_caught(tmp_path: Path, case: Case, before: str, after: str) -> None:
    assert_caught(case, tmp_path, before, after)


EMITTED = {
    "concat": Emitted(
        layer=JOINED,
        fold=Fold(px=3, pe=6, simd=6),
        mutants=(
            ("in1.read(), 4", "in1.read(), 3"),
            ("l % (N / PX)", "l / (N / PX)"),
            ("pixel * CHANNELS + first", "pixel + first"),
        ),
    ),
    "concat_in_turn": Emitted(
        layer=JOINED,
        fold=Fold(px=1, pe=2, simd=2),
        mutants=(("part.lane[l]", "part.lane[0]"), ("part.lane[l]", "part.lane[PX * CHANNELS - 1 - l]")),
    ),
    "crop": Emitted(
        layer=crop((4, 4, 8), (0, 1, 2), (4, 2, 3), (1, 1, 2)),
        fold=Fold(px=2, pe=4, simd=4),
        mutants=(("FIRST_PIXEL = 0", "FIRST_PIXEL = 1"), ("FIRST_CHANNEL + c", "FIRST_CHANNEL + x")),
    ),
    "pad": Emitted(
        layer=pad((2, 2, 4), (1, 2, 0, 3), value=-1.5),
        fold=Fold(px=2, pe=2, simd=2),
        mutants=(("VALUE = 0xe8", "VALUE = 0xe9"), ("x * CHANNELS_IN + c", "x + c")),
    ),
}
