"""Words of one format to another: every pair of foldings of neighbouring layers, odd widths included."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.errors import MismatchError
from hlsgen.base.fixed import FixedType
from hlsgen.hardware.pipeline import pipeline_of
from hlsgen.hardware.processes import WidthConverter
from hlsgen.layers.base import Tensor
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.stage import Fold, StreamFormat
from hlsgen.model.ir import Graph, Port, run_golden
from tests.support.layers.stage_cases import few_kernels, one_kernel
from tests.support.pipelines import assert_pipeline_exact, build_pipeline, random_codes

BYTE = FixedType(8, 8)
PAIRS = 12


def pointwise(name: str, source: str, shape: tuple[int, int, int], channels: int, seed: int) -> Conv2d:
    """A 1 x 1 convolution of bytes with weights -1, 0 and 1, its sums wrapped to a byte."""
    weights = np.random.default_rng(seed).integers(-1, 2, (channels, shape[0], 1, 1))
    plain = Conv2d(
        name=name,
        inputs=(source,),
        in_shape=shape,
        out_channels=channels,
        kernel=(1, 1),
        input_type=BYTE,
        weight_type=FixedType(2, 2),
        bias_type=BYTE,
        accumulator=BYTE,
        result_type=BYTE,
        weights=weights,
        bias=np.zeros(0, np.int64),
    )
    return plain.retyped((BYTE,), BYTE)


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[Conv2d, Fold, Conv2d, Fold]:
    channels = draw(st.sampled_from([1, 2, 3, 4, 6, 8, 12]))
    height, width = draw(st.integers(1, 3)), draw(st.integers(1, 13))
    first = pointwise("first", "x", (2, height, width), channels, draw(st.integers(0, 99)))
    second = pointwise("second", "first", (channels, height, width), 2, draw(st.integers(0, 99)))
    return (
        first,
        draw(st.sampled_from(list(first.folds()))),
        second,
        draw(st.sampled_from(list(second.folds()))),
    )


def side_by_side(pairs: list[tuple[Conv2d, Fold, Conv2d, Fold]]) -> tuple[Graph, dict[str, Fold]]:
    inputs, layers, outputs, folds = [], [], [], {}
    for number, (first, first_fold, second, second_fold) in enumerate(pairs):
        source = Port.of(f"x{number}", first.sources[0])
        one = replace(first, name=f"first{number}", inputs=(source.name,))
        two = replace(second, name=f"second{number}", inputs=(one.name,))
        inputs.append(source)
        layers += [one, two]
        outputs.append(Port.of(f"y{number}", two.output, two.name))
        folds |= {one.name: first_fold, two.name: second_fold}
    return Graph(name="pairs", inputs=tuple(inputs), layers=tuple(layers), outputs=tuple(outputs)), folds


@few_kernels
@given(pairs=one_kernel(neighbours(), PAIRS))
def test_any_two_foldings_fit(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[Conv2d, Fold, Conv2d, Fold]]
) -> None:
    graph, folds = side_by_side(pairs)
    assert_pipeline_exact(graph, folds, tmp_path_factory.mktemp("pairs"))


def two_layers() -> Graph:
    first, second = pointwise("a", "x", (2, 2, 8), 8, 0), pointwise("b", "a", (8, 2, 8), 2, 1)
    return Graph(
        name="net",
        inputs=(Port.of("x", first.sources[0]),),
        layers=(first, second),
        outputs=(Port.of("y", second.output, "b"),),
    )


def words(channels: int, width: int, px: int, ch: int) -> StreamFormat:
    return StreamFormat(tensor=Tensor(shape=(channels, 2, width), type=BYTE), px=px, channels=ch)


@pytest.mark.parametrize(
    ("before", "after", "form"),
    [
        ((1, 2), (1, 8), "gather_channels"),
        ((2, 8), (2, 4), "split_channels"),
        ((1, 8), (3, 8), "gather_pixels"),
        ((4, 8), (2, 8), "split_pixels"),
        ((1, 4), (2, 8), "regroup"),
        ((2, 8), (3, 8), "regroup"),
        ((1, 4), (1, 8), "gather_channels"),
    ],
)
def test_each_form_keeps_the_number_of_words(
    before: tuple[int, int], after: tuple[int, int], form: str
) -> None:
    one, two = words(8, 7, *before), words(8, 7, *after)
    process = WidthConverter(name="c", reads=("a",), writes=("b",), before=one, after=two)
    schedule = process.schedule(3)
    assert process.form == form
    assert len(schedule.reads[0]) == 3 * one.frame_words
    assert len(schedule.writes[0]) == 3 * two.frame_words
    assert (np.diff(schedule.reads[0]) > 0).all() and (np.diff(schedule.writes[0]) > 0).all()
    assert max(schedule.reads[0][-1], schedule.writes[0][-1]) < schedule.iterations


def test_a_small_change_of_both_goes_through_words_of_all_channels() -> None:
    graph = two_layers()
    folds = {"a": Fold(px=1, pe=2, simd=2), "b": Fold(px=2, pe=1, simd=8)}
    forms = [one.form for one in pipeline_of(graph, folds).processes if isinstance(one, WidthConverter)]
    assert forms == ["gather_channels", "gather_pixels"]


def test_a_fault_in_a_converter_is_caught(tmp_path: Path) -> None:
    graph = two_layers()
    folds = {"a": Fold(px=1, pe=2, simd=2), "b": Fold(px=1, pe=1, simd=8)}
    fault = {
        "src/hlsgen/stream.h": (
            "(l / CH * RATIO + r) * CH + l % CH] = word.lane[l];",
            "(l / CH * RATIO + r) + l % CH] = word.lane[l];",
        )
    }
    built = build_pipeline(graph, folds, tmp_path, edit=fault)
    inputs = {"x": random_codes(graph.input, 3, 0)}
    run = built.run(inputs, tmp_path)
    assert (run.tensors["b"] != run_golden(graph, inputs)["b"]).any()


def test_a_depth_that_is_no_number_of_words_is_refused(tmp_path: Path) -> None:
    folds = {"a": Fold(px=1, pe=8, simd=2), "b": Fold(px=1, pe=1, simd=8)}
    built = build_pipeline(two_layers(), folds, tmp_path)
    for asked in ([], ["a_s"], ["a_s="], ["a_s=deep"], ["a_s=-1"]):
        command = [str(built.executable), str(tmp_path), "--depth", *asked]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (2, "error: --depth takes STREAM=WORDS\n"), asked


def test_a_fifo_that_is_too_shallow_stands_still_and_says_where(tmp_path: Path) -> None:
    graph = two_layers()
    folds = {"a": Fold(px=1, pe=8, simd=2), "b": Fold(px=1, pe=1, simd=8)}
    built = build_pipeline(graph, folds, tmp_path)
    inputs = {"x": random_codes(graph.input, 3, 0)}
    with pytest.raises(MismatchError, match="(?s)deadlock.*waits to write a_s, which is full"):
        built.run(inputs, tmp_path, bounded=True, depths={"a_s": 0})
