"""Products of few bits counted bit by bit: exact for signs, thirds and all of them, and cheaper by LUTs."""

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
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import run_golden
from hlsgen.targets.board import load_board
from tests.layers.test_quad_stage import convolution, random_weights
from tests.support.layers.emitted import Emitted
from tests.support.layers.stage_cases import Case
from tests.support.pipelines import (
    assert_layers_exact,
    assert_pipeline_exact,
    build_pipeline,
    in_mutant,
    random_codes,
    side_by_side,
)

INT4, INT3, INT2, SIGN = (FixedType(bits, bits) for bits in (4, 3, 2, 1))
UINT4, UINT2, BIT = (FixedType(bits, bits, signed=False) for bits in (4, 2, 1))


def signs(shape: tuple[int, ...], seed: int = 0) -> Codes:
    found: Codes = 2 * np.random.default_rng(seed).integers(0, 2, shape) - 1
    return found


def counted(layer: Conv2d) -> list[Case]:
    return [(layer, fold) for fold in layer.folds() if fold.multipliers == "popcount"]


def test_foldings_of_every_kind_are_exact(tmp_path: Path) -> None:
    """Signs times signs, times a bit and times several; thirds; all codes; sums of 6 to 72 products."""
    shape = (4, 8, 3, 3)
    layers = [
        convolution(signs(shape), SIGN, INT2),
        convolution(signs(shape, 1), BIT, INT2),
        convolution(signs(shape, 2), INT2, INT2),
        convolution(signs((4, 3, 3, 3), 3), UINT4, INT3),
        convolution(random_weights(shape, INT2, 4) // 2 * 2 + 1, UINT2, INT2),
        convolution(random_weights((8, 3, 3, 3), INT2, 5), INT2, INT2, groups=2),
        convolution(random_weights(shape, INT4, 6), UINT4, INT4),
        convolution(random_weights(shape, INT4, 7), INT4, INT4),
        convolution(random_weights((4, 8, 1, 1), UINT2, 8), UINT2, UINT2),
        convolution(random_weights(shape, BIT, 9), BIT, BIT),
        convolution(random_weights(shape, SIGN, 9), INT3, SIGN),
    ]
    folds = [counted(layer) for layer in layers]
    cases = [case for number, found in enumerate(folds) for case in found[number % 3 :: 1 + len(found) // 2]]
    assert len(cases) > 15 and {layer.only_signs for layer in layers} == {False, True}
    assert_layers_exact(cases, tmp_path)


def test_the_largest_sums(tmp_path: Path) -> None:
    """Every product at an end of its range: all planes are full."""
    types = [(INT2, UINT2), (INT4, INT4)]
    graph = side_by_side(
        [convolution(np.full((2, 13, 1, 1), weight.min_code), source, weight) for weight, source in types]
    )
    fold = Fold(px=2, pe=2, simd=13, multipliers="popcount")
    built = build_pipeline(graph, {layer.name: fold for layer in graph.layers}, tmp_path)
    inputs = {}
    for port, (_, source) in zip(graph.inputs, types, strict=True):
        ends = np.array([source.min_code, source.max_code])
        inputs[port.name] = np.broadcast_to(ends[:, None, None, None], (2, *port.tensor.shape)).copy()
    golden = run_golden(graph, inputs)
    for name, found in built.run(inputs, tmp_path).tensors.items():
        np.testing.assert_array_equal(found, golden[name], err_msg=name)


REFERENCE: list[Case] = [
    (convolution(signs((4, 3, 3, 3)), SIGN, INT2), Fold(px=2, pe=2, simd=3, multipliers="popcount")),
    (
        convolution(random_weights((4, 3, 3, 3), INT2), UINT2, INT2),
        Fold(px=3, pe=2, simd=3, multipliers="popcount"),
    ),
]


def test_any_weights_at_run_time(tmp_path: Path) -> None:
    """Where any weights of the type may come, signs are no more than the weights at hand."""
    layer = convolution(signs((4, 2, 3, 3)), UINT2, INT2)
    graph = side_by_side([layer])
    (name,) = (one.name for one in graph.layers)
    fold = Fold(px=1, pe=2, simd=2, multipliers="popcount")
    place = WeightPlace(layer=name, place="runtime", any_weights=True)
    assert_pipeline_exact(graph, {name: fold}, tmp_path, weights={name: place})
    assert "dot_planes" in (tmp_path / "src" / f"{name}.h").read_text()
    at_hand = pipeline_of(graph, {name: fold}, {name: WeightPlace(layer=name, place="runtime")})
    other = graph.with_layers([replace(graph.layers[0], weights=signs((4, 2, 3, 3), 1))])  # type: ignore[call-arg]
    assert at_hand.with_graph(other).stages[name].fold == fold
    zeros = graph.with_layers([replace(graph.layers[0], weights=np.zeros((4, 2, 3, 3), np.int64))])  # type: ignore[call-arg]
    with pytest.raises(DesignError, match="its weights are -1 and 1 alone"):
        at_hand.with_graph(zeros)


@pytest.mark.parametrize(
    ("source", "weight", "only_signs", "most"),
    [(SIGN, INT2, True, 2.2), (UINT2, INT2, True, 4.3), (UINT2, INT2, False, 8.4), (UINT4, INT4, False, 34)],
)
def test_logic_cells_of_a_product(
    source: FixedType, weight: FixedType, only_signs: bool, most: float
) -> None:
    """Fewer than multipliers with adders; FINN estimates 6.6, 9.8, 13.1 and 43.9 for these widths."""
    shape = (16, 16, 3, 3)
    layer = convolution(signs(shape) if only_signs else random_weights(shape, weight), source, weight)
    board = load_board("u200")
    whole = Fold(px=1, pe=16, simd=16)
    counts = replace(whole, multipliers="popcount")
    fabric, popcount, nothing = (
        stage_resources(layer.stage(fold), board, None) for fold in (whole, counts, replace(counts, pe=1))
    )
    products = 15 * 16 * 9
    assert popcount.dsp == 0
    assert 1 < (popcount.lut - nothing.lut) / products < most
    assert popcount.lut < fabric.lut


def test_wide_numbers_are_not_counted() -> None:
    assert not counted(convolution(random_weights((4, 8, 3, 3), INT4), FixedType(5, 5), INT4))
    assert not counted(convolution(random_weights((4, 5, 1, 1), INT2), UINT2, INT2))


PLANES = convolution(random_weights((2, 4, 3, 1), INT2, 1), UINT2, INT2)
SIGNS = convolution(signs((2, 4, 3, 1), 1), SIGN, INT2)
FOLD = Fold(px=2, pe=2, simd=4, multipliers="popcount")


def test_faults_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by the first layer or by the second."""
    graph = side_by_side([PLANES, SIGNS])
    planes, signed = (one.name for one in graph.layers)
    faults = [
        (planes, "counting<SIXES>::of(fours) * 4", "counting<SIXES>::of(fours) * ({} ? 2 : 4)"),
        (planes, "first & second", "({} ? first | second : first & second)"),
        (planes, "3 * t + n < N", "3 * t + n + int{} < N"),
        (planes, "place == BITS - 1", "place == BITS - 1 + int{}"),
        (signed, "-total", "({} ? total : ap_int<SUM_BITS>(-total))"),
        (signed, "= !sign", "= {} ? sign : ap_uint<1>(!sign)"),
    ]
    edits = [(before, after.format(in_mutant(number))) for number, (_, before, after) in enumerate(faults, 1)]
    folds = {planes: FOLD, signed: FOLD}
    built = build_pipeline(graph, folds, tmp_path, edit={"src/hlsgen/bit_sums.h": edits})
    inputs = {port.name: random_codes(port.tensor, 3, 0) for port in graph.inputs}
    golden = run_golden(graph, inputs)
    monkeypatch.setenv("MUTANT", "0")
    for name, found in built.run(inputs, tmp_path).tensors.items():
        np.testing.assert_array_equal(found, golden[name])
    for number, (name, before, _) in enumerate(faults, 1):
        monkeypatch.setenv("MUTANT", str(number))
        assert not np.array_equal(built.run(inputs, tmp_path).tensors[name], golden[name]), before


EMITTED = {
    "conv_popcount": Emitted(
        layer=PLANES, fold=FOLD, mutants=(("WEIGHT_SIGNED = true", "WEIGHT_SIGNED = false"),)
    ),
    "conv_signs": Emitted(layer=SIGNS, fold=FOLD, mutants=(("totals[x])", "totals[0])"),)),
}
