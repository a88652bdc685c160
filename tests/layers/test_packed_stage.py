"""Two products a DSP in streaming convolutions: exact up to the very limit of the lanes, and not beyond."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import Codes, FixedType
from hlsgen.cost.stages import stage_resources
from hlsgen.hardware.pipeline import pipeline_of
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.conv2d_stage import ConvStage
from hlsgen.layers.packing import chain_of_types, chain_of_weights, longest_chain
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import run_golden
from hlsgen.targets.board import load_board
from tests.support.layers.stage_cases import Case
from tests.support.pipelines import (
    assert_layers_exact,
    assert_pipeline_exact,
    build_pipeline,
    random_codes,
    side_by_side,
)

SIGNED = FixedType(8, 3)
UNSIGNED = FixedType(8, 3, signed=False)
NINE = FixedType(9, 2)


def convolution(
    weights: Codes, *, source: FixedType = SIGNED, weight: FixedType = SIGNED, groups: int = 1
) -> Conv2d:
    """A 3 x 3 or 1 x 1 convolution of an image of 4 x 5 with these weights, its sums exact."""
    out_channels, size, *kernel = weights.shape
    layer = Conv2d(
        name="conv",
        in_shape=(size * groups, 4, 5),
        out_channels=out_channels,
        kernel=(kernel[0], kernel[1]),
        padding=(kernel[0] // 2,) * 4,
        groups=groups,
        input_type=source,
        weight_type=weight,
        bias_type=weight,
        accumulator=weight,
        result_type=weight,
        weights=weights,
        bias=np.zeros(0, np.int64),
    )
    return layer.retyped((source,), None)


def random_weights(shape: tuple[int, ...], weight: FixedType, seed: int = 0, low: int | None = None) -> Codes:
    least = weight.min_code if low is None else low
    return np.random.default_rng(seed).integers(least, weight.max_code, shape, endpoint=True)


def packed_folds(layer: Conv2d) -> list[Fold]:
    return [fold for fold in layer.folds() if fold.multipliers == "packed"]


def test_every_packed_folding_is_exact(tmp_path: Path) -> None:
    layers = [
        convolution(random_weights((4, 2, 3, 3), SIGNED)),
        convolution(random_weights((6, 4, 1, 1), SIGNED, 1), source=UNSIGNED),
        convolution(random_weights((8, 2, 3, 3), SIGNED, 2), groups=2),
        convolution(random_weights((4, 3, 3, 3), NINE, 3, low=-60) % 61, weight=NINE),
    ]
    cases = [(layer, fold) for layer in layers for fold in packed_folds(layer)]
    assert len(cases) >= 20 and {case.px for _, case in cases} >= {1, 5}
    assert_layers_exact(cases, tmp_path)


def test_weights_at_the_limit_of_the_lanes(tmp_path: Path) -> None:
    """Seven products of -128 x -128 nearly fill the lower lane; an eighth would spill into the upper one."""
    layer = convolution(np.full((2, 8, 1, 1), -128, np.int64))
    assert chain_of_types(layer) == chain_of_weights(layer) == 7
    fold = Fold(pe=2, simd=8, multipliers="packed")
    graph = side_by_side([layer, layer])
    exact, mutant = (one.name for one in graph.layers)
    edit = {f"src/{mutant}.h": ("constexpr int CHAIN = 7;", "constexpr int CHAIN = 8;")}
    built = build_pipeline(graph, {exact: fold, mutant: fold}, tmp_path, edit=edit)
    inputs = {port.name: random_codes(port.tensor, 3, 0) for port in graph.inputs}
    found, golden = built.run(inputs, tmp_path).tensors, run_golden(graph, inputs)
    np.testing.assert_array_equal(found[exact], golden[exact])
    assert not np.array_equal(found[mutant], golden[mutant])


REFERENCE: list[Case] = [
    (
        convolution(random_weights((4, 2, 3, 3), SIGNED), source=UNSIGNED),
        Fold(px=5, pe=2, simd=1, multipliers="packed"),
    )
]


def test_nine_bits_pack_if_the_weights_leave_the_least_code_out() -> None:
    weights = np.full((2, 3, 1, 1), 20, np.int64)
    assert chain_of_types(convolution(weights, weight=NINE)) == 0
    assert packed_folds(convolution(weights, weight=NINE))
    weights[1, 2] = NINE.min_code
    assert not packed_folds(convolution(weights, weight=NINE))


@pytest.mark.parametrize("seed", range(5))
def test_the_chain_of_all_foldings_is_no_longer_than_that_of_one(seed: int) -> None:
    layer = convolution(random_weights((8, 4, 3, 3), SIGNED, seed), source=UNSIGNED)
    chain = chain_of_weights(layer)
    exact = [longest_chain(layer, simd, 4) for simd in (1, 2, 4)]
    assert chain_of_types(layer) <= chain <= min(exact)
    limit = ((1 << 17) - 1) // 255
    rows = np.abs(layer.weights[::2].astype(np.int64)).reshape(4, -1)
    for length, fits in ((chain, True), (chain + 1, False)):
        most = max(int(rows[:, n : n + length].sum(axis=1).max()) for n in range(36 - length + 1))
        assert (most <= limit) == fits


def test_weights_that_may_change_pack_by_their_type_only() -> None:
    small = convolution(np.ones((4, 2, 3, 3), np.int64))
    place = WeightPlace(layer="conv", place="runtime", any_weights=True)
    at_hand = WeightPlace(layer="conv", place="runtime")
    fold = Fold(pe=4, simd=2, multipliers="packed")
    chains = []
    for where in (place, at_hand):
        stage = where.stage(small, fold)
        assert isinstance(stage, ConvStage)
        chains.append(stage.chain)
    assert chains == [7, 18]
    wide = convolution(np.ones((4, 2, 3, 3), np.int64), weight=NINE)
    assert not any(one.multipliers == "packed" for one in place.folds(wide))
    assert any(one.multipliers == "packed" for one in at_hand.folds(wide))


def test_other_weights_that_do_not_pack_are_refused(tmp_path: Path) -> None:
    layer = convolution(np.ones((4, 2, 3, 3), np.int64))
    graph = side_by_side([layer])
    (name,) = (one.name for one in graph.layers)
    fold = Fold(pe=4, simd=2, multipliers="packed")
    pipeline = pipeline_of(graph, {name: fold}, {name: WeightPlace(layer=name, place="runtime")})
    assert pipeline.with_graph(graph).stages[name].fold == fold
    large = graph.with_layers([replace(graph.layers[0], weights=np.full((4, 2, 3, 3), 127))])  # type: ignore[call-arg]
    with pytest.raises(DesignError, match="sums of 18 of the other network's are too large") as refused:
        pipeline.with_graph(large)
    assert "multipliers: dsp" in str(refused.value)


def test_packed_multipliers_take_half_the_dsps_and_fabric_none() -> None:
    layer = convolution(random_weights((8, 4, 3, 3), SIGNED))
    board = load_board("u200")
    dsp, packed, fabric = (
        stage_resources(layer.stage(Fold(pe=8, simd=4, multipliers=kind)), board, None)
        for kind in ("dsp", "packed", "fabric")
    )
    assert (dsp.dsp, packed.dsp, fabric.dsp) == (288, 144, 0)
    assert dsp.lut < packed.lut < fabric.lut


def test_products_in_logic_cells_and_weights_at_run_time(tmp_path: Path) -> None:
    layers = [convolution(random_weights((4, 2, 3, 3), SIGNED, n), source=UNSIGNED) for n in range(2)]
    graph = side_by_side(layers)
    folds = dict(
        zip(
            (layer.name for layer in graph.layers),
            (Fold(pe=2, simd=2, multipliers="fabric"), Fold(pe=4, simd=1, multipliers="packed")),
            strict=True,
        )
    )
    places = {name: WeightPlace(layer=name, place="runtime", any_weights=True) for name in folds}
    built = assert_pipeline_exact(graph, folds, tmp_path, weights=places)
    text = [(tmp_path / "src" / f"{name}.h").read_text() for name in built.pipeline.stages]
    assert "hlsgen::in_fabric" in text[0] and "dot_pair" not in text[0]
    assert "hlsgen::dot_pair<CHAIN" in text[1]
