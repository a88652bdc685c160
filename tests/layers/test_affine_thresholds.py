"""Scales with few results as comparisons: exact by golden, cheaper than multipliers, chosen by the search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.cost.stages import stage_resources
from hlsgen.designfile.constraints import NetworkConstraints
from hlsgen.explore.options import all_options
from hlsgen.hardware.pipeline import pipeline_of
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.affine import Affine
from hlsgen.layers.affine_thresholds import MOST_RESULT_BITS
from hlsgen.layers.stage import Fold
from hlsgen.layers.thresholds import Thresholds
from hlsgen.search.streaming import balance
from hlsgen.targets.board import load_board
from tests.support.layers.stage_cases import Case
from tests.support.pipelines import assert_layers_exact, side_by_side

SOURCE, FACTOR = FixedType(9, 9), FixedType(10, 2)
RESULT = FixedType(2, 2, False, Rounding.RND_CONV, Overflow.SAT)


def affine(
    channels: int = 6,
    *,
    source: FixedType = SOURCE,
    factor: FixedType = FACTOR,
    result: FixedType = RESULT,
    seed: int = 0,
    least: int = 0,
    limits: tuple[float | None, float | None] = (None, None),
) -> Affine:
    """Scales of 0 and above (least), biases of both signs."""
    generator = np.random.default_rng(seed)
    bias = FixedType(12, 6)
    layer = Affine(
        name="scale",
        in_shape=(channels, 2, 4),
        out_channels=channels,
        groups=channels,
        low=limits[0],
        high=limits[1],
        input_type=source,
        weight_type=factor,
        bias_type=bias,
        accumulator=source,
        result_type=result,
        weights=generator.integers(least, factor.max_code, (channels, 1, 1, 1), endpoint=True),
        bias=generator.integers(bias.min_code, bias.max_code, channels, endpoint=True),
    )
    return layer.retyped((source,), result)


results = st.builds(
    FixedType,
    st.integers(1, MOST_RESULT_BITS),
    st.integers(-2, 5),
    st.booleans(),
    st.sampled_from(list(Rounding)),
    st.just(Overflow.SAT),
)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 1 << 20),
    st.builds(FixedType, st.integers(1, 9), st.integers(0, 5), st.booleans()),
    results,
    st.sampled_from([(None, None), (0.0, None), (-1.0, 1.5)]),
)
def test_every_input_of_any_scale(
    seed: int, source: FixedType, result: FixedType, limits: tuple[float | None, float | None]
) -> None:
    """Thresholds give what golden multiplies, adds, rounds and limits, for every code of every channel."""
    layer = affine(3, seed=seed, source=source, result=result, limits=limits)
    codes = np.arange(source.min_code, source.max_code + 1)
    frames = np.broadcast_to(codes[:, None, None, None], (len(codes), 3, 2, 4))
    wanted = layer.golden(frames)
    found = layer.thresholds
    if found is None:
        assert len(np.unique(wanted)) == 1
        return
    assert not found.check()
    assert found.count < 1 << MOST_RESULT_BITS
    np.testing.assert_array_equal(found.golden(frames), wanted)


def compared(layer: Affine) -> list[Case]:
    return [(layer, fold) for fold in layer.folds() if fold.multipliers == "thresholds"]


def test_stages_are_exact(tmp_path: Path) -> None:
    """Of one bit to four, with few channels at once and with several pixels."""
    layers = [
        affine(seed=1),
        affine(4, result=FixedType(1, 1, False, Rounding.RND, Overflow.SAT), seed=2),
        affine(4, result=FixedType(4, 3, True, Rounding.TRN, Overflow.SAT_SYM), seed=3),
        affine(2, source=FixedType(16, 10), limits=(0.0, 2.0), seed=4),
    ]
    cases = [case for layer in layers for case in compared(layer)[1::3]]
    assert len(cases) > 4
    assert_layers_exact(cases, tmp_path)


def test_where_there_are_none() -> None:
    """Falling scales, results of more bits or that wrap, sums that overflow, a single result."""
    layer = affine()
    assert compared(layer)
    wrapping = FixedType(2, 2, False, Rounding.RND, Overflow.WRAP)
    falling = np.array(layer.weights)
    falling[0] = -1
    for other in (
        replace(layer, weights=falling),
        affine(result=replace(RESULT, width=MOST_RESULT_BITS + 1, integer=MOST_RESULT_BITS + 1)),
        affine(result=wrapping),
        replace(layer, accumulator=FixedType(5, 3)),
        replace(layer, weights=np.zeros((6, 1, 1, 1), np.int64), bias=np.zeros(6, np.int64)),
    ):
        assert other.thresholds is None and not compared(other)
    place = WeightPlace(layer="scale", place="runtime")
    assert not any(fold.multipliers == "thresholds" for fold in place.folds(layer))


def test_cheaper_and_so_chosen() -> None:
    """No DSP and fewer cells than a multiplier with its rounding; both searches take it."""
    board, layer = load_board("u200"), affine(16)
    whole = Fold(px=1, pe=16, simd=16)
    dsp, compares = (
        stage_resources(layer.stage(fold), board, None)
        for fold in (whole, replace(whole, multipliers="thresholds"))
    )
    assert dsp.dsp == 16 and compares.dsp == 0
    assert compares.lut < dsp.lut + 16 * SOURCE.width
    graph = side_by_side([layer])
    chosen = balance(graph, board, NetworkConstraints(target_interval=8), batch=1, clock_mhz=220)
    (stage,) = chosen.pipeline.stages.values()
    assert stage.folding()["multipliers"] == stage.fold.multipliers == "thresholds"
    assert isinstance(stage.layer, Thresholds)
    (options,) = all_options(graph, board, NetworkConstraints()).values()
    found = [one for one in options.options if one.fold.multipliers == "thresholds"]
    assert found and all(one.place is not None and one.place.storage is None for one in found)


def test_other_scales() -> None:
    """Other thresholds of the same hardware; scales that fall are refused."""
    layer = affine()
    graph = side_by_side([layer])
    (one,) = graph.layers
    made = pipeline_of(graph, {one.name: Fold(px=1, pe=6, simd=6, multipliers="thresholds")})
    rising, falling = (
        replace(one, weights=sign * np.maximum(1, np.asarray(layer.weights) // 2))  # type: ignore[call-arg]
        for sign in (1, -1)
    )
    assert rising.hardware_key != one.hardware_key
    fresh = made.with_graph(graph.with_layers([rising])).stages[one.name].layer
    assert isinstance(fresh, Thresholds) and (fresh.first_codes != layer.thresholds.first_codes).any()  # type: ignore[union-attr]
    with pytest.raises(DesignError, match="its results do not rise with its inputs in every channel"):
        made.with_graph(graph.with_layers([falling]))
