"""Dense and affine layers as stages: they are convolutions by a 1 x 1 kernel, and work through its stage."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType, NumberType, Overflow, Rounding
from hlsgen.layers.affine import Affine
from hlsgen.layers.base import Layer, Shape
from hlsgen.layers.dense import Dense
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import run_golden
from tests.support.layers.emitted import Emitted
from tests.support.layers.stage_cases import Case, cases_of, every_fold, few_kernels
from tests.support.pipelines import assert_layers_exact, build_pipeline, random_codes, side_by_side

SOURCE = FixedType(9, 4)
WEIGHT = FixedType(6, 1)
BIAS = FixedType(8, 3)
RESULT = FixedType(12, 7, True, Rounding.RND, Overflow.SAT)


def codes(
    type_: FixedType, shape: tuple[int, ...], seed: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    generator = np.random.default_rng(seed)
    return generator.integers(type_.min_code, type_.max_code, shape, endpoint=True)


def dense(inputs: int | Shape, outputs: int, *, bias: bool = True, source: NumberType = SOURCE) -> Dense:
    shape = (inputs, 1, 1) if isinstance(inputs, int) else inputs
    inputs = math.prod(shape)
    layer = Dense(
        name="dense",
        in_shape=shape,
        out_channels=outputs,
        input_type=source,
        weight_type=WEIGHT,
        bias_type=BIAS,
        accumulator=WEIGHT,
        result_type=RESULT,
        weights=codes(WEIGHT, (outputs, inputs, 1, 1), inputs),
        bias=codes(BIAS, (outputs * bias,), outputs),
    )
    return layer.retyped((source,), RESULT)


def affine(shape: tuple[int, int, int], *, bias: bool = True, source: NumberType = SOURCE) -> Affine:
    channels = shape[0]
    layer = Affine(
        name="affine",
        in_shape=shape,
        out_channels=channels,
        groups=channels,
        low=0.0,
        input_type=source,
        weight_type=WEIGHT,
        bias_type=BIAS,
        accumulator=WEIGHT,
        result_type=RESULT,
        weights=codes(WEIGHT, (channels, 1, 1, 1), channels),
        bias=codes(BIAS, (channels * bias,), 7),
    )
    return layer.retyped((source,), RESULT)


@st.composite
def layers(draw: st.DrawFn) -> Layer:
    source = FixedType(draw(st.integers(1, 12)), draw(st.integers(0, 4)), draw(st.booleans()))
    if draw(st.booleans()):
        sizes: list[int | Shape] = [1, 2, 7, 12, 30, 64, (3, 2, 4), (4, 1, 6), (1, 5, 5), (2, 3, 1)]
        inputs = draw(st.sampled_from(sizes))
        return dense(inputs, draw(st.integers(1, 10)), bias=draw(st.booleans()), source=source)
    shape = (draw(st.integers(1, 12)), draw(st.integers(1, 4)), draw(st.integers(1, 6)))
    return affine(shape, bias=draw(st.booleans()), source=source)


@few_kernels
@given(cases=cases_of(layers()))
def test_any_layer_and_folding_is_exact(tmp_path_factory: pytest.TempPathFactory, cases: list[Case]) -> None:
    assert_layers_exact(cases, tmp_path_factory.mktemp("dense"))


def test_foldings_of_every_kind_are_exact(tmp_path: Path) -> None:
    """Of a scale: one channel at a time, several at once, and several pixels of all channels. Of an image:
    channels of a pixel at once, whole pixels, and a row. And vectors of many elements.
    """
    scales = every_fold(affine((6, 2, 4)))
    assert {(fold.px, fold.simd) for _, fold in scales} == {
        *((1, simd) for simd in (1, 2, 3, 6)),
        *((px, 6) for px in (2, 4)),
    }
    images = [case for case in every_fold(dense((4, 3, 6), 2)) if case[1].pe == 2]
    assert {fold.simd for _, fold in images} == {1, 2, 4, 8, 12, 24}
    vectors: list[Case] = [
        (dense(1, 1), Fold()),
        (dense(300, 10), Fold(pe=10, simd=4)),
        (dense(300, 2), Fold(pe=1, simd=300)),
        (dense(512, 20), Fold(pe=5, simd=4)),  # its weights come at run time
    ]
    built = assert_layers_exact([*scales, *images, *vectors], tmp_path)
    places = [place.place for place in built.pipeline.weights.values()]
    assert places[-3:] == ["constant", "constant", "runtime"]


def test_columns_in_another_order_are_caught(tmp_path: Path) -> None:
    """Of the same weights in the order channel, row, column the C++ gives other results."""
    layer = dense((4, 3, 6), 5)
    turned = layer.weights.reshape(5, 3, 6, 4).transpose(0, 3, 1, 2).reshape(layer.weights.shape)
    other = side_by_side([replace(layer, weights=turned)] * 2)
    folds = {one.name: Fold(pe=5, simd=simd) for one, simd in zip(other.layers, (2, 12), strict=True)}
    built = build_pipeline(other, folds, tmp_path)
    graph = side_by_side([layer] * 2)
    inputs = {port.name: random_codes(port.tensor, 3, 0) for port in graph.inputs}
    tensors, golden = built.run(inputs, tmp_path).tensors, run_golden(graph, inputs)
    assert [name for name in folds if (tensors[name] == golden[name]).all()] == []


REFERENCE: list[Case] = [
    (dense(30, 6), Fold(pe=2, simd=5)),
    (affine((6, 2, 4)), Fold(px=2, pe=6, simd=6)),
]


def test_intervals() -> None:
    layer = dense(300, 10)
    assert layer.stage(Fold()).interval == 3000
    assert layer.stage(Fold(pe=10, simd=4)).interval == 75
    assert layer.stage(Fold(pe=10, simd=300)).interval == 1
    assert affine((6, 2, 4)).stage(Fold()).interval == 48
    assert affine((6, 2, 4)).stage(Fold(px=4, pe=6, simd=6)).interval == 2


EMITTED = {
    "affine": Emitted(layer=affine((6, 2, 4)), fold=Fold(px=2, pe=2, simd=2)),
    "dense": Emitted(layer=dense(6, 4), fold=Fold(pe=2, simd=3)),
}
