"""The front wave as a stage: any folding of random convolutions against golden and its schedule."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.base.errors import MismatchError
from hlsgen.base.fixed import FloatType
from hlsgen.hardware.banks import Pattern
from hlsgen.hardware.conv_band import access_patterns
from hlsgen.hardware.conv_words import FLOAT_SUM_LATENCY
from hlsgen.hardware.wave_folds import spread_folds, wave_folds
from hlsgen.hardware.wave_stage import WaveStage
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.dense import Dense
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import run_golden
from tests.layers.test_conv2d_stage import small
from tests.support.kernels import conv
from tests.support.layers.emitted import Emitted
from tests.support.layers.random_convolutions import convolutions
from tests.support.layers.stage_cases import assert_caught, few_kernels, one_kernel
from tests.support.pipelines import (
    FRAMES,
    assert_layers_exact,
    assert_pipeline_exact,
    in_mutant,
    random_codes,
    random_floats,
    side_by_side,
)

FLOAT = FloatType()


def in_float32(layer: Conv2d, seed: int) -> Conv2d:
    """`layer` with weights and a bias of floats of many sizes."""
    generator = np.random.default_rng(seed)
    return replace(
        layer,
        input_type=FLOAT,
        weight_type=FLOAT,
        bias_type=FLOAT,
        accumulator=FLOAT,
        result_type=FLOAT,
        weights=random_floats(layer.weights.shape, generator),
        bias=random_floats(layer.bias.shape, generator),
    )


@st.composite
def folded(draw: st.DrawFn) -> tuple[Conv2d, Fold]:
    layer = draw(convolutions())
    if draw(st.booleans()):
        layer = in_float32(layer, draw(st.integers(0, 1 << 30)))
    fold = draw(st.sampled_from(list(wave_folds(layer))))
    return layer, draw(st.sampled_from([fold, *spread_folds(layer, fold)]))


@few_kernels
@given(cases=one_kernel(folded(), 12))
def test_any_folding_is_exact(
    tmp_path_factory: pytest.TempPathFactory, cases: list[tuple[Conv2d, Fold]]
) -> None:
    assert_layers_exact(cases, tmp_path_factory.mktemp("wave"))


def dense(channels: int, outputs: int) -> Conv2d:
    """A dense layer in float32: a single column, so that filters have to run within the channels."""
    like = conv((channels, 1, 1), outputs, kernel=(1, 1))
    values = {field.name: getattr(like, field.name) for field in fields(like)}
    return in_float32(Dense(**values), 7)


def test_sums_of_floats_come_round_late_enough() -> None:
    layer = dense(24, 20)
    for fold in wave_folds(layer):
        stage = WaveStage(layer=layer, fold=fold)
        if stage.passes[2] > 1:
            assert stage.sum_distance >= FLOAT_SUM_LATENCY, fold
    crowded = WaveStage(layer=layer, fold=Fold(rows=1, pe=1, simd=2))
    assert crowded.filters_inside and crowded.columns == 1, "twenty sums take turns: nothing idles"


def test_weights_that_arrive_at_run_time(tmp_path: Path) -> None:
    cases = [
        (in_float32(conv((6, 7, 9), 4), 3), Fold(rows=3, pe=2, simd=3)),
        (dense(24, 20), Fold(rows=1, pe=5, simd=4)),
    ]
    cases.append(
        (
            conv((4, 9, 8), 6, input_type="fixed<8,3>", weight_type="fixed<8,1>"),
            Fold(rows=2, pe=6, simd=2, multipliers="packed", fabric_pe=2),
        )
    )
    graph = side_by_side([layer for layer, _ in cases])
    folds = {layer.name: fold for layer, (_, fold) in zip(graph.layers, cases, strict=True)}
    places = {name: WeightPlace(layer=name, place="runtime") for name in folds}
    assert_pipeline_exact(graph, folds, tmp_path, weights=places)


def test_every_map_of_a_search_is_proven() -> None:
    """The linear maps that the search takes, without the proof that the mapper of one layer keeps."""
    for layer in (
        conv((4, 30, 28), 4),
        conv((4, 30, 28), 4, stride=(2, 2)),
        conv((3, 17, 16), 4, kernel=(5, 3)),
    ):
        for fold in wave_folds(layer):
            stage = WaveStage(layer=layer, fold=fold)
            patterns: tuple[Pattern, ...] = access_patterns(stage.wave, stage.px_in)
            assert stage.bank_map.proves(patterns), fold


FIXED = conv(
    (4, 11, 13),
    4,
    padding=(1, 1, 1, 1),
    input_type="fixed<16,6>",
    weight_type="fixed<16,2>",
    result_type="fixed<16,6,rnd,sat>",
)
FOLD = Fold(rows=2, pe=2, simd=2)
MUTANTS = [
    (
        "an offset of the banks",
        "(at.bank.value, OFFSET[at.slot])",
        "(at.bank.value, {} ? OFFSET[0] : OFFSET[at.slot])",
    ),
    (
        "a bank of the fill",
        "next.bank.value, OFFSET[next.slot]);",
        "next.bank.value, {} ? 0 : OFFSET[next.slot]);",
    ),
    ("the tile's last rows", "at.tile.last ? LAST_ROWS : ROWS", "at.tile.last && !{} ? LAST_ROWS : ROWS"),
    (
        "the half that leaves",
        "results_of(results, !upper, last)",
        "results_of(results, {} ? upper : !upper, last)",
    ),
    (
        "the pass of the weights",
        "at.filters * CF + at.channels;",
        "at.filters * CF + !{} * at.channels;",
    ),
    ("the first rows", "next.start(0);", "if ({}) next.slot.reset(1);\n    next.start(0);"),
    (
        "the turn of a sum",
        "if (in_image) partial[r][p][column] = sum;",
        "if (in_image) partial[r][p][{} ? 0 : column] = sum;",
    ),
    ("a period too short", "left.start(PERIOD);", "left.start({} ? PERIOD - 1 : PERIOD);"),
]


def test_mutants_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = side_by_side([FIXED])
    name = graph.layers[0].name
    edits = [
        (before, after.format(in_mutant(number))) for number, (_, before, after) in enumerate(MUTANTS, 1)
    ]
    monkeypatch.setenv("MUTANT", "0")
    built = assert_pipeline_exact(graph, {name: FOLD}, tmp_path, edit={f"src/{name}.h": edits})
    inputs = {port.name: random_codes(port.tensor, FRAMES, n) for n, port in enumerate(graph.inputs)}
    golden = run_golden(graph, inputs)[name]
    for number, (what, _, _) in enumerate(MUTANTS, 1):
        monkeypatch.setenv("MUTANT", str(number))
        try:
            found = built.run(inputs, tmp_path).tensors[name]
        except MismatchError:
            continue
        assert not np.array_equal(found, golden), what


def test_a_longer_delay_of_the_drain_is_caught(tmp_path: Path) -> None:
    assert_caught((FIXED, FOLD), tmp_path, "? DRAIN_DELAY : 1)", "? DRAIN_DELAY + 1 : 1)")


def depthwise(channels: int) -> Conv2d:
    """A depthwise convolution in float32."""
    layer = conv((channels, 5, 6), channels)
    return replace(layer, groups=channels, weights=layer.weights[:, :1])


EMITTED = {
    "conv_wave": Emitted(
        layer=small((4, 5, 6), 4),
        fold=Fold(rows=2, pe=2, simd=2),
        mutants=(
            ("column >= 0 && column < IN_WIDTH", "column >= 1 && column < IN_WIDTH"),
            ("at.channels.value == 0 ||", "at.channels.value == 1 ||"),
            ("window[s][i][v + STRIDE_W]", "window[s][i][v + 0]"),
        ),
    ),
    "conv_wave_groups": Emitted(
        layer=depthwise(4),
        fold=Fold(rows=2, pe=2, simd=2, fabric_pe=1),
        mutants=(
            ("window[g * SIMD / GP + s]", "window[(GP - 1 - g) * SIMD / GP + s]"),
            ("* FOLDS_OUT + at.group * NF + at.filters", "* FOLDS_OUT + at.filters"),
        ),
    ),
}


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("hlsgen::ram<in_t, BAND_DEPTH, ", "hlsgen::ram<in_t, BAND_DEPTH, 99", "sooner than its dependence"),
        (
            "WAVE_BANK[WAVE_ROWS * STRIDE_W] = {0, 1",
            "WAVE_BANK[WAVE_ROWS * STRIDE_W] = {0, 0",
            "more ports than it has",
        ),
    ],
    ids=["promise", "ports"],
)
def test_memories_watch_their_ports_and_promises(
    before: str, after: str, message: str, tmp_path: Path
) -> None:
    """In every C-simulation, and said as what they are: not by a result that happens to differ."""
    graph = side_by_side([FIXED])
    name = graph.layers[0].name
    with pytest.raises(MismatchError, match=message):
        assert_pipeline_exact(graph, {name: FOLD}, tmp_path, edit={f"src/{name}.h": (before, after)})
