"""Products by constant weights as shifts and adders: exact, costed by adder, refused where they cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.cost.stages import stage_resources
from hlsgen.designfile.constraints import NetworkConstraints, NoFit, WeightConstraints
from hlsgen.emit import adder_lines
from hlsgen.explore.options import all_options
from hlsgen.hardware.pipeline import pipeline_of
from hlsgen.hardware.storage import Storage
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers import constant_products
from hlsgen.layers.adder_graph import digit_count
from hlsgen.layers.constant_products import adders_of, has_adders
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.conv2d_stage import ConvStage
from hlsgen.layers.dense import Dense
from hlsgen.layers.stage import Fold
from hlsgen.search.streaming import balance
from hlsgen.targets.board import load_board
from tests.layers.test_quad_stage import convolution, random_weights
from tests.support.layers.emitted import Emitted
from tests.support.layers.random_convolutions import convolutions
from tests.support.layers.stage_cases import Case, assert_each_caught, few_kernels, one_kernel
from tests.support.pipelines import assert_layers_exact, side_by_side

INT8, INT4, INT2 = (FixedType(bits, bits) for bits in (8, 4, 2))
UINT2 = FixedType(2, 2, signed=False)
WEIGHTS = random_weights((2, 2, 3, 1), INT4, 5)
SMALL = replace(convolution(WEIGHTS, UINT2, INT4), bias=np.array([5, -8])).retyped((UINT2,), None)
FOLD = Fold(px=2, pe=2, simd=2, multipliers="constants")


def with_adders(layer: Conv2d) -> list[Case]:
    return [(layer, fold) for fold in layer.folds() if fold.multipliers == "constants"]


@few_kernels
@given(one_kernel(convolutions()))
def test_any_convolution_is_exact(tmp_path_factory: pytest.TempPathFactory, layers: list[Conv2d]) -> None:
    """Every type, stride, padding and number of groups; each with one pixel at a time and with the most."""
    cases = [case for layer in layers if has_adders(layer) for case in with_adders(layer)]
    assert {layer for layer, _ in cases} == {layer for layer in layers if has_adders(layer)}
    chosen = cases[:: 1 + len(cases) // 10]
    assert_layers_exact(chosen, tmp_path_factory.mktemp("kernel"))


def kinds() -> list[Conv2d]:
    """Signs, thirds, a vector, a row of zeros, negative weights alone, 16 bits, a group for each channel."""
    generator = np.random.default_rng(0)
    dense = Dense(
        **{**vars_of(convolution(random_weights((5, 12, 1, 1), INT8), UINT2, INT8)), "in_shape": (12, 1, 1)}
    )
    zeros = random_weights((3, 2, 3, 3), INT8, 3)
    zeros[1] = 0
    zeros[2] = -np.abs(zeros[2])
    return [
        dense,
        convolution(zeros, INT8, INT8),
        convolution(generator.integers(-1, 1, (6, 4, 3, 3), endpoint=True), INT2, INT2),
        convolution(2 * generator.integers(0, 2, (4, 4, 3, 3)) - 1, FixedType(1, 1), INT2),
        convolution(random_weights((3, 2, 1, 1), FixedType(16, 16)), FixedType(16, 16), FixedType(16, 16)),
        convolution(random_weights((6, 1, 3, 3), INT8, 5), INT8, INT8, groups=6),
        convolution(random_weights((4, 3, 3, 3), INT8, 6), UINT2, INT8, groups=2),
    ]


def test_kinds_of_layers(tmp_path: Path) -> None:
    ends = [case for layer in kinds() for case in with_adders(layer)[:2]]
    assert_layers_exact(ends, tmp_path)


def test_adders_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of many weights are: a vector, rows of zeros and of negative weights, groups."""
    monkeypatch.setattr(adder_lines, "PART", 7)
    chosen = [with_adders(kinds()[number])[0] for number in (0, 1, 6)]
    assert_layers_exact(chosen, tmp_path)
    for path in (tmp_path / "src").glob("*_weights.h"):
        assert path.read_text().count("part") > 2, path.name


def vars_of(layer: Conv2d) -> dict[str, object]:
    names = ("name", "in_shape", "out_channels", "input_type", "weight_type", "bias_type", "accumulator")
    return {name: getattr(layer, name) for name in (*names, "result_type", "weights", "bias")}


REFERENCE: list[Case] = [(SMALL, FOLD)]


def test_adders_are_those_of_the_weights() -> None:
    """By channel, row and column, group beside group; of other weights there are others."""
    layer = convolution(random_weights((4, 3, 2, 1), INT8, 2), INT8, INT8, groups=2)
    inputs = np.random.default_rng(0).integers(-128, 127, (20, 12))
    wanted = np.einsum("ngt,gmt->ngm", inputs.reshape(20, 2, 6), np.reshape(layer.weights, (2, 2, 6)))
    np.testing.assert_array_equal(adders_of(layer).of(inputs), wanted.reshape(20, 4))
    other = replace(layer, weights=np.asarray(layer.weights)[::-1].copy())
    assert adders_of(other).outputs != adders_of(layer).outputs
    assert adders_of(replace(layer, name="copy")) is adders_of(layer)
    assert other.hardware_key != layer.hardware_key != None  # noqa: E711


def test_where_there_are_adders(monkeypatch: pytest.MonkeyPatch) -> None:
    """All channels at once, constant weights that no memory is asked for, and not too many digits."""
    assert {(fold.pe, fold.simd) for _, fold in with_adders(SMALL)} == {(2, 2)}
    assert {fold.px for _, fold in with_adders(SMALL)} == {1, 2, 4, 8}
    place = WeightPlace(layer="conv", place="constant")
    assert any(fold.multipliers == "constants" for fold in place.folds(SMALL))
    for other in (
        replace(place, place="runtime"),
        replace(place, place="stream"),
        replace(place, any_weights=True, place="runtime"),
        replace(place, storage=Storage.BRAM),
    ):
        assert not any(fold.multipliers == "constants" for fold in other.folds(SMALL))
    assert not with_adders(convolution(np.zeros((2, 2, 3, 1), np.int64), UINT2, INT8))
    digits = digit_count(WEIGHTS)
    monkeypatch.setattr(constant_products, "MOST_DIGITS", digits)
    assert has_adders(SMALL)
    monkeypatch.setattr(constant_products, "MOST_DIGITS", digits - 1)
    assert not has_adders(SMALL)


def test_other_weights_have_other_adders_unless_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = side_by_side([SMALL])
    (name,) = (one.name for one in graph.layers)
    made = pipeline_of(graph, {name: FOLD})
    ones = graph.with_layers(
        [replace(graph.layers[0], weights=np.eye(2, 6, dtype=np.int64).reshape(2, 2, 3, 1))]
    )  # type: ignore[call-arg]
    stage = made.with_graph(ones).stages[name]
    assert isinstance(stage, ConvStage) and stage.adders is not None
    assert stage.adders.count < adders_of(SMALL).count
    most = pipeline_of(ones, {name: FOLD})
    monkeypatch.setattr(constant_products, "MOST_DIGITS", 11)
    with pytest.raises(
        DesignError, match=r"its weights have 12 signed digits, and adders are made of up to 11"
    ):
        most.with_graph(graph)


@pytest.mark.parametrize(
    ("layer", "wish", "folds", "said"),
    [
        (
            SMALL,
            WeightConstraints(place="runtime"),
            {},
            "all used at once weights: constant",
        ),
        (SMALL, WeightConstraints(), {"pe": 1}, "is for weights in the source that are all used at once"),
        (
            convolution(np.zeros((2, 2, 3, 1), np.int64), UINT2, INT8),
            WeightConstraints(),
            {},
            "none of its weights is other than 0",
        ),
    ],
)
def test_asked_for_where_they_cannot_be(
    layer: Conv2d, wish: WeightConstraints, folds: dict[str, object], said: str
) -> None:
    graph = side_by_side([layer])
    (name,) = (one.name for one in graph.layers)
    fixed = {name: {**folds, "multipliers": "constants"}}
    constraints = NetworkConstraints(folds=fixed, weights=wish)
    board = load_board("u200")
    with pytest.raises(NoFit) as caught:
        balance(graph, board, constraints, batch=1, clock_mhz=220)
    assert said in f"{caught.value} {caught.value.fix}"


def test_explore_chooses_them_by_layer() -> None:
    """In no memory: a design file with their storage would ask for one."""
    graph, board = side_by_side([SMALL]), load_board("u200")
    (found,) = all_options(graph, board, NetworkConstraints()).values()
    assert "constants" in {one.fold.multipliers for one in found.options}
    for option in found.every:
        if option.fold.multipliers == "constants":
            assert option.place is not None and option.place.storage is None


def test_what_they_take() -> None:
    """No DSPs, a LUT a bit of each adder for each pixel; a third of multipliers in logic cells."""
    board = load_board("u200")
    layer = convolution(random_weights((16, 16, 3, 3), INT8), INT8, INT8)
    adders = adders_of(layer)
    whole = Fold(px=1, pe=16, simd=16)
    dsp, fabric, constants, two = (
        stage_resources(layer.stage(fold), board, None)
        for fold in (
            whole,
            replace(whole, multipliers="fabric"),
            replace(whole, multipliers="constants"),
            replace(whole, multipliers="constants", px=2),
        )
    )
    assert (dsp.dsp, constants.dsp) == (16 * 16 * 9, 0)
    assert abs(two.lut - constants.lut - adders.bits) < 0.1 * adders.bits
    assert adders.count < 0.6 * digit_count(np.asarray(layer.weights))
    assert constants.lut < 0.35 * fabric.lut
    memory = WeightPlace(layer="conv", place="constant").memory(
        layer.stage(replace(whole, multipliers="constants")), board
    )
    assert memory is None


def test_faults_in_the_adders_are_caught(tmp_path: Path) -> None:
    faults = [(" - ", " + "), ("* 4", "* 2"), ("dot[0] = ", "dot[1] = "), ("x[1]", "x[2]"), ("-8}", "-7}")]
    mutants = [((SMALL, FOLD), before, after) for before, after in faults]
    assert_each_caught(mutants, tmp_path, "{}_weights.h")


EMITTED = {
    "conv_constants": Emitted(
        layer=SMALL,
        fold=FOLD,
        mutants=(
            ("codes[g * TERMS + t]", "codes[g * TERMS + TERMS - 1 - t]"),
            ("gather(here, at.out_row, at.out_step, x, g", "gather(here, at.out_row, at.out_step, 0, g"),
        ),
    ),
}
