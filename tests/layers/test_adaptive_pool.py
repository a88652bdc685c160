"""Adaptive pools: golden against torch and fractions, the stage against golden."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.base.type_text import parse_type
from hlsgen.emit.dataflow import dataflow_files
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.pipeline import pipeline_of
from hlsgen.layers.adaptive_pool import AdaptivePool
from hlsgen.layers.stage import Fold
from hlsgen.targets.board import load_board
from tests.support.layers.emitted import Emitted
from tests.support.layers.exact import FLOAT, cast, fixed_types, messages, sources_of, tensor, value
from tests.support.layers.stage_cases import (
    Case,
    cases_of,
    every_fold,
    few_kernels,
)
from tests.support.pipelines import assert_layers_exact, side_by_side


@st.composite
def pools(draw: st.DrawFn, most_bits: int = 40) -> AdaptivePool:
    side = st.integers(1, 9)
    return AdaptivePool(
        name="pool",
        source=tensor((draw(st.integers(1, 6)), draw(side), draw(side)), draw(fixed_types(most_bits))),
        result_type=draw(fixed_types(most_bits)),
        function=draw(st.sampled_from(["max", "average"])),
        size=(draw(side), draw(side)),
    )


def pool(source: str, result: str, shape: tuple[int, int, int], size: tuple[int, int]) -> AdaptivePool:
    return AdaptivePool(
        name="pool",
        source=tensor(shape, source),
        result_type=parse_type(result),
        function="average",
        size=size,
    )


# ---------------------------------------------------------------- golden


@settings(max_examples=200, deadline=None)
@given(layer=pools(), seed=st.integers(0, 99), larger=st.integers(1, 5))
def test_golden_is_torchs(layer: AdaptivePool, seed: int, larger: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    channels, height, width = layer.source.shape
    layer = replace(layer, source=tensor((channels, height * larger, width)), result_type=FLOAT)
    (frames,) = sources_of(layer, seed)
    of = {"max": "adaptive_max_pool2d", "average": "adaptive_avg_pool2d"}[layer.function]
    wanted = getattr(torch.nn.functional, of)(torch.from_numpy(frames - 9), layer.size).numpy()
    got = layer.golden(frames - 9)  # negative throughout: a zero would win
    assert got.dtype == np.float64 and layer.output_shape == wanted.shape[1:]
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=0 if layer.function == "max" else 1e-12)


@settings(max_examples=100, deadline=None)
@given(layer=pools(64), seed=st.integers(0, 99))
def test_fixed_pools_are_rounded_once(layer: AdaptivePool, seed: int) -> None:
    if layer.check() or layer.source_type == layer.result_type:
        return
    (frames,) = sources_of(layer, seed)
    got = layer.golden(frames)
    _, height, width = layer.source.shape
    for frame, channel, y, x in np.ndindex(*got.shape):
        pixels = [
            value(frames[frame, channel, row, column], layer.source_type)
            for row, column in np.ndindex(height, width)
            if _covers(y, row, height, layer.size[0]) and _covers(x, column, width, layer.size[1])
        ]
        exact = max(pixels) if layer.function == "max" else Fraction(sum(pixels)) / len(pixels)
        assert got[frame, channel, y, x] == cast(exact, layer.fixed_result)


def _covers(output: int, element: int, size: int, outputs: int) -> bool:
    """Whether [element, element + 1) and the output's share of the axis have more than a point in common."""
    return element * outputs < (output + 1) * size and (element + 1) * outputs > output * size


@settings(max_examples=60, deadline=None)
@given(layer=pools(), source=fixed_types(widest=16), seed=st.integers(0, 9))
def test_natural_types_hold_the_result(layer: AdaptivePool, source: FixedType, seed: int) -> None:
    layer = replace(layer, source=tensor(layer.source.shape), result_type=FLOAT).retyped((source,), None)
    (codes,) = sources_of(layer, seed)
    exact = layer.retyped((FLOAT,), None).golden(source.decode(codes))
    error = np.abs(layer.fixed_result.decode(layer.golden(codes)) - exact).max()
    powers = all(count & (count - 1) == 0 for count in layer.distinct_counts)
    limit = 1e-9 if layer.function == "max" or powers else 0.5001
    assert error <= limit * layer.fixed_result.resolution


def test_windows() -> None:
    layer = pool("fixed<8,4>", "fixed<8,4>", (1, 7, 4), (3, 7))
    assert layer.windows[0] == ((0, 3), (2, 5), (4, 7))
    assert layer.windows[1] == ((0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4))
    assert layer.distinct_counts == (3, 6)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"size": (0, 2)}, "it is to give 0 x 2 rows and columns"),
        ({"result_type": FLOAT}, "float32 is mixed with fixed point"),
        ({"result_type": FixedType(64, -60)}, "need more than 128 bits"),
    ],
)
def test_broken_rules_are_named(changes: dict[str, Any], words: str) -> None:
    layer = pool("fixed<8,4>", "fixed<8,4>", (1, 4, 4), (3, 3))
    assert layer.check() == []
    said = messages(replace(layer, **changes))
    assert words in said and said.startswith("error: pool: ")


# ---------------------------------------------------------------- the stage

SMALL = pool("fixed<6,3>", "fixed<9,3,rnd>", (6, 7, 5), (4, 2))
LARGER = pool("fixed<6,3>", "fixed<9,3,rnd>", (2, 2, 3), (5, 7))
MIXED = replace(pool("fixed<6,3>", "fixed<6,3>", (4, 3, 8), (5, 3)), function="max")
WIDE = pool("fixed<62,20>", "fixed<60,17,rnd_conv,sat>", (1, 5, 4), (3, 3))
SIGNAL = pool("ufixed<5,3>", "ufixed<7,3>", (3, 1, 9), (1, 4))
POWERS = pool("fixed<6,3>", "fixed<9,3,rnd>", (2, 3, 3), (4, 2))


@few_kernels
@given(cases=cases_of(pools()))
def test_any_pool_and_folding_is_exact(tmp_path_factory: pytest.TempPathFactory, cases: list[Case]) -> None:
    assert_layers_exact(cases, tmp_path_factory.mktemp("adaptive"))


def test_extremes_are_exact(tmp_path: Path) -> None:
    """Totals in memories, dividends of several digits, counts that are powers of two, one row."""
    long = pool("fixed<6,3>", "fixed<9,3,rnd>", (6, 4, 23), (3, 17))
    assert POWERS.distinct_counts == (2, 4)
    ends = [
        case
        for layer in (LARGER, MIXED, SIGNAL, POWERS, long)
        for case in every_fold(layer)[:: len(list(layer.folds())) - 1]
    ]
    assert_layers_exact([*every_fold(SMALL, WIDE), *ends], tmp_path)


REFERENCE: list[Case] = [(SMALL, Fold(pe=2, simd=2)), (MIXED, Fold()), (WIDE, Fold())]


def test_the_code_does_not_grow_with_the_image() -> None:
    """A larger image's stage differs from a small one's in numbers alone."""
    small = pool("fixed<6,3>", "fixed<9,3,rnd>", (2, 7, 5), (3, 2))
    large = pool("fixed<6,3>", "fixed<9,3,rnd>", (2, 14, 35), (6, 14))
    graph = side_by_side([small, large])
    pipeline = pipeline_of(graph, {layer.name: Fold() for layer in graph.layers})
    files = dataflow_files(pipeline, KernelNames(kernel="cases", source="test"), load_board("u200"))
    texts = [files[f"src/{name}.h"] for name in pipeline.stages]
    # few words lie in registers, more in a memory
    stored = [
        re.sub(r"(read|write)_word<", r"\1_register<", text.replace("word_memory", "word_registers"))
        for text in texts
    ]
    stored = [re.sub(r"(read|write)_word\(", r"\1_register(", text) for text in stored]
    numberless = [re.sub(r"\d+", "0", text) for text in stored]
    bound = re.compile(r"#pragma HLS (array_partition|aggregate|bind_storage|dependence).*\n")
    assert bound.sub("", numberless[0]) == bound.sub("", numberless[1])


def test_a_sum_too_wide_is_refused() -> None:
    layer = pool("fixed<64,20>", "fixed<64,60>", (1, 100_000, 50_001), (1, 2))
    assert not layer.check()
    with pytest.raises(DesignError, match="are not built"):
        layer.stage(Fold()).constants()


EMITTED = {
    "adaptive_pool": Emitted(
        layer=SMALL,
        fold=Fold(pe=2, simd=2),
        mutants=(
            ("row.count() - LEAST_ROWS", "row.count() - row.count()"),
            ("return held + x", "return held - x"),
            ("at.takes() ? x : held", "held"),
            ("phase != 0", "phase > STEP"),
            ("length = ends() ? 1", "length = ends() ? 2"),
        ),
    ),
    "adaptive_max": Emitted(
        layer=MIXED,
        fold=Fold(pe=4, simd=4),
        mutants=(("held < x ? x : held", "held < x ? held : x"), ("at.takes() ? x : held", "x")),
    ),
}
