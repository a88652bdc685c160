"""Four products a DSP in streaming convolutions: exact up to the very limit of the lanes, and not beyond."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import Codes, FixedType
from hlsgen.cost.stages import stage_resources
from hlsgen.hardware.pipeline import pipeline_of
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.conv2d_stage import ConvStage
from hlsgen.layers.dense import Dense
from hlsgen.layers.packing import lane_of_four, quad_limit, quad_of_types, quad_of_weights
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import run_golden
from hlsgen.targets.board import load_board
from tests.support.layers.emitted import Emitted
from tests.support.layers.stage_cases import Case, assert_caught
from tests.support.pipelines import (
    assert_layers_exact,
    assert_pipeline_exact,
    build_pipeline,
    random_codes,
    side_by_side,
)

INT4, INT3, INT2 = (FixedType(bits, bits) for bits in (4, 3, 2))
UINT4, UINT2 = (FixedType(bits, bits, signed=False) for bits in (4, 2))
NARROW = st.builds(FixedType, st.integers(2, 5), st.integers(0, 3), st.booleans())


def convolution(
    weights: Codes, source: FixedType = UINT4, weight: FixedType = INT4, groups: int = 1
) -> Conv2d:
    """A 3 x 3 or 1 x 1 convolution of an image of 3 x 6 with these weights, its sums exact."""
    out_channels, size, *kernel = weights.shape
    layer = Conv2d(
        name="conv",
        in_shape=(size * groups, 3, 6),
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


def random_weights(shape: tuple[int, ...], weight: FixedType = INT4, seed: int = 0) -> Codes:
    found: Codes = np.random.default_rng(seed).integers(
        weight.min_code, weight.max_code, shape, endpoint=True
    )
    return found


def quads(layer: Conv2d) -> list[Case]:
    return [(layer, fold) for fold in layer.folds() if fold.multipliers == "quad"]


def vectors() -> list[Case]:
    """A dense layer in all its foldings, which share an activation among four channels."""
    wide = convolution(random_weights((8, 12, 1, 1), INT2), source=UINT2, weight=INT2)
    fields = {field: getattr(wide, field) for field in ("input_type", "weight_type", "bias_type", "bias")}
    layer = Dense(
        name="dense",
        in_shape=(4, 1, 3),
        out_channels=8,
        weights=wide.weights,
        accumulator=wide.accumulator,
        result_type=wide.result_type,
        **fields,
    )
    return quads(layer)


def test_foldings_of_every_kind_are_exact(tmp_path: Path) -> None:
    layers = [
        convolution(random_weights((4, 2, 3, 3))),
        convolution(random_weights((4, 2, 3, 3), INT4, 1), source=INT4),
        convolution(random_weights((4, 3, 3, 3), INT2, 2), source=UINT2, weight=INT2),
        convolution(random_weights((8, 4, 1, 1), INT2, 3), source=INT2, weight=INT2, groups=2),
    ]
    cases = [case for layer in layers for case in quads(layer)]
    assert len(cases) > 30 and {fold.px for _, fold in cases} == {1, 2, 3, 6}
    assert {fold.pe for _, fold in vectors()} == {4, 8}
    assert_layers_exact([*cases[::4], *vectors()], tmp_path)


@given(activation=NARROW, weight=NARROW, pixels=st.sampled_from([1, 2]), data=st.data())
def test_lanes_and_chains_are_those_of_integers(
    activation: FixedType, weight: FixedType, pixels: int, data: st.DataObject
) -> None:
    """What a DSP does with the largest numbers of a chain, in Python's integers: four sums come out."""
    lane = lane_of_four(activation, weight, pixels)
    layer = convolution(np.zeros((4, 8, 1, 1), np.int64), activation, weight)
    chain = quad_of_types(layer, pixels)
    if not chain:
        return
    ends = (
        st.sampled_from([weight.min_code, weight.max_code]),
        st.sampled_from([activation.min_code, activation.max_code]),
    )
    sums, total = [0, 0, 0, 0], 0
    for _ in range(chain):
        weights = [data.draw(ends[0]) for _ in range(4 // pixels)]
        inputs = [data.draw(ends[1]) for _ in range(pixels)]
        word = sum(w << (lane * pixels * n) for n, w in enumerate(weights))
        factor = sum(x << (lane * n) for n, x in enumerate(inputs))
        assert -(1 << 26) <= word < 1 << 26 and -(1 << 17) <= factor < 1 << 17
        total += word * factor
        products = [w * x for w in weights for x in inputs]
        sums = [one + product for one, product in zip(sums, products, strict=True)]
    assert -(1 << 47) <= total < 1 << 47
    found = []
    for _ in range(4):
        low = (total + (1 << (lane - 1))) % (1 << lane) - (1 << (lane - 1))
        found.append(low)
        total = (total - low) >> lane
    assert found == sums and total == 0


def test_weights_at_the_limit_of_the_lanes(tmp_path: Path) -> None:
    """As many of the largest products as a lane holds; one more, as in the last two, spills into the next."""
    two = convolution(np.full((4, 24, 1, 1), INT4.min_code), UINT4, INT4)
    one = convolution(np.full((4, 24, 1, 1), INT2.min_code), UINT2, INT2)
    for layer, pixels, chain in ((two, 2, 8), (one, 1, 21)):
        assert quad_of_types(layer, pixels) == quad_of_weights(layer, pixels) == chain
    graph = side_by_side([two, one, two, one])
    names = [layer.name for layer in graph.layers]
    folds = {
        name: Fold(px=pixels, pe=4, simd=24, multipliers="quad")
        for name, pixels in zip(names, (2, 1, 2, 1), strict=True)
    }
    edit = {
        f"src/{name}.h": (f"constexpr int CHAIN = {chain};", f"constexpr int CHAIN = {chain + 2};")
        for name, chain in zip(names[2:], (8, 21), strict=True)
    }
    built = build_pipeline(graph, folds, tmp_path, edit=edit)
    inputs = {port.name: random_codes(port.tensor, 4, 0) for port in graph.inputs}
    for port in graph.inputs:
        assert isinstance(port.tensor.type, FixedType)
        inputs[port.name][3] = port.tensor.type.max_code
    found, golden = built.run(inputs, tmp_path).tensors, run_golden(graph, inputs)
    assert [np.array_equal(found[name], golden[name]) for name in names] == [True, True, False, False]


REFERENCE: list[Case] = [
    (convolution(random_weights((4, 2, 3, 3))), Fold(px=6, pe=2, simd=1, multipliers="quad")),
    (
        convolution(random_weights((4, 2, 3, 3), INT2, 5), source=INT2, weight=INT2),
        Fold(px=1, pe=4, simd=1, multipliers="quad"),
    ),
]


@pytest.mark.parametrize("seed", range(4))
def test_the_chain_is_the_longest_that_is_exact(seed: int) -> None:
    layer = convolution(random_weights((8, 4, 3, 3), INT3, seed), source=UINT2, weight=INT3)
    for pixels in (1, 2):
        chain, limit = quad_of_weights(layer, pixels), quad_limit(layer, pixels)
        assert quad_of_types(layer, pixels) <= chain
        rows = np.abs(layer.weights.astype(np.int64)).reshape(8, -1)
        for length, fits in ((chain, True), (chain + 1, False)):
            most = max(int(rows[:, n : n + length].sum(axis=1).max()) for n in range(36 - length + 1))
            assert (most <= limit) == fits or length > 32


def test_wide_numbers_have_no_room_for_four() -> None:
    eight = FixedType(8, 8, signed=False)
    assert not quads(convolution(np.ones((4, 4, 3, 3), np.int64), source=eight))
    one = FixedType(1, 1, signed=False)
    assert not quads(convolution(np.ones((4, 4, 3, 3), np.int64), source=one))


def test_weights_that_may_change_share_a_multiplier_by_their_type_only(tmp_path: Path) -> None:
    small = convolution(np.ones((4, 2, 3, 3), np.int64))
    place = WeightPlace(layer="conv", place="runtime", any_weights=True)
    at_hand = WeightPlace(layer="conv", place="runtime")
    # four bits of weights and inputs: of one pixel there is no room, of two there is
    assert not any(fold.multipliers == "quad" for fold in place.folds(small))
    two = convolution(random_weights((4, 2, 3, 3), INT2), source=UINT2, weight=INT2)
    fold = Fold(px=2, pe=4, simd=2, multipliers="quad")
    assert fold in list(place.folds(two))
    chains = []
    for where in (place, at_hand):
        stage = where.stage(small, fold)
        assert isinstance(stage, ConvStage)
        chains.append(stage.chain)
    assert chains == [8, 18]
    graph = side_by_side([two])
    (name,) = (layer.name for layer in graph.layers)
    assert_pipeline_exact(graph, {name: fold}, tmp_path, weights={name: replace(place, layer=name)})


def test_other_weights_that_are_too_large_are_refused() -> None:
    graph = side_by_side([convolution(np.ones((4, 2, 3, 3), np.int64))])
    (name,) = (one.name for one in graph.layers)
    fold = Fold(px=2, pe=4, simd=2, multipliers="quad")
    pipeline = pipeline_of(graph, {name: fold}, {name: WeightPlace(layer=name, place="runtime")})
    large = graph.with_layers([replace(graph.layers[0], weights=np.full((4, 2, 3, 3), 7))])  # type: ignore[call-arg]
    with pytest.raises(DesignError, match="four of its products share a multiplier") as refused:
        pipeline.with_graph(large)
    assert "sums of 18 of the other network's are too large" in str(refused.value)


def test_four_bits_take_a_quarter_of_a_dsp_and_fewer_logic_cells() -> None:
    layer = convolution(random_weights((8, 4, 3, 3)))
    board = load_board("u200")
    fabric, quad = (
        stage_resources(layer.stage(Fold(px=6, pe=8, simd=4, multipliers=kind)), board, None)
        for kind in ("dsp", "quad")
    )
    products = 6 * 8 * 4 * 9
    assert (fabric.dsp, quad.dsp) == (0, products // 4)
    assert quad.lut < fabric.lut / 3


SMALL = convolution(random_weights((2, 2, 3, 1), seed=4))
FOLD = Fold(px=2, pe=2, simd=2, multipliers="quad")
MUTANTS = (
    ("dots[i * SHARED_PX + x - first]", "dots[i * SHARED_PX]"),
    ("(o + i) * TERMS", "o * TERMS"),
    ("pixels[first + x][t]", "pixels[x][t]"),
)


@pytest.mark.parametrize(
    ("before", "after"),
    [("if (q > 0) sum[q] +=", "if (q > 1) sum[q] +="), ("<< (i * PIXELS * LANE)", "<< (i * LANE)")],
)
def test_a_fault_of_the_lanes_is_caught(tmp_path: Path, before: str, after: str) -> None:
    graph = side_by_side([convolution(random_weights((4, 2, 3, 3)))])
    (name,) = (one.name for one in graph.layers)
    edit = {"src/hlsgen/quads.h": (before, after)}
    mutant = build_pipeline(graph, {name: replace(FOLD, pe=4)}, tmp_path, edit=edit)
    inputs = {port.name: random_codes(port.tensor, 3, 0) for port in graph.inputs}
    assert not np.array_equal(mutant.run(inputs, tmp_path).tensors[name], run_golden(graph, inputs)[name])


def test_a_fault_of_the_stage_is_caught(tmp_path: Path) -> None:
    wide = convolution(random_weights((2, 2, 3, 3)))
    assert_caught((wide, replace(FOLD, px=6)), tmp_path, *MUTANTS[2])


EMITTED = {"conv_quad": Emitted(layer=SMALL, fold=FOLD, mutants=MUTANTS[:2])}
