"""Logarithms of softmax: golden against SciPy and against plain integers, the stage against golden."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax as exact_log_softmax

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.base.type_text import parse_type
from hlsgen.layers.log_softmax import LOG_FRACTION, LogSoftmax
from hlsgen.layers.softmax import INDEX_BITS, RECIPROCAL_FRACTION, REST_BITS
from hlsgen.layers.stage import Fold, divisors
from tests.layers.test_softmax_golden import (
    SOURCES,
    assert_order_survives,
    one_pixel,
    pixels,
    scattered,
)
from tests.support.layers.emitted import Emitted
from tests.support.layers.exact import FLOAT, fixed_types, messages, tensor
from tests.support.layers.stage_cases import Case, assert_each_caught, few_kernels, one_kernel
from tests.support.pipelines import assert_layers_exact

RESULTS = [
    "fixed<16,6>",
    "fixed<16,6,rnd_conv,sat>",
    "fixed<8,5,rnd,sat_sym>",
    "fixed<4,2,trn,wrap>",
    "fixed<20,-4>",
]


def log_softmax(channels: int, source: str | FixedType, result: str, width: int = 1) -> LogSoftmax:
    return LogSoftmax(
        name="log_softmax", source=tensor((channels, 1, width), source), result_type=parse_type(result)
    )


@settings(max_examples=200, deadline=None)
@given(pixel=pixels(), result=st.sampled_from(RESULTS))
def test_order_survives(pixel: tuple[FixedType, list[int]], result: str) -> None:
    type_, codes = pixel
    assert_order_survives(log_softmax(len(codes), type_, result), codes)


@settings(max_examples=60, deadline=None)
@given(
    source=st.sampled_from(SOURCES),
    channels=st.sampled_from([2, 3, 10, 100, 1000, 1024]),
    spread=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_within_two_to_the_minus_thirteen(source: str, channels: int, spread: float, seed: int) -> None:
    """Of SciPy's in float64, where the result holds as much: also far below the largest channel."""
    layer = log_softmax(channels, source, "fixed<48,24,rnd_conv,sat>", width=4)
    type_ = layer.source_type
    codes = scattered(type_, channels, spread, seed, 17)
    exact = exact_log_softmax(type_.decode(codes), axis=1)
    got = layer.golden(codes) * layer.fixed_result.resolution
    assert np.abs(got - exact).max() <= 2.0**-13 + 2.0**-18


def test_float_equals_scipy_also_of_extreme_scores() -> None:
    values = 30 * np.random.default_rng(0).standard_normal((2, 7, 3, 4))
    values[0, :, 0, 0] = [1e30, -1e30, 0, 1e30, 5, 1e-30, 1e29]
    values[0, :, 0, 1] = -1e4
    layer = LogSoftmax(name="log_softmax", source=tensor((7, 3, 4)), result_type=FLOAT)
    np.testing.assert_allclose(
        layer.golden(values), exact_log_softmax(values, axis=1), rtol=1e-12, atol=1e-15
    )


def as_hardware(layer: LogSoftmax, codes: list[int]) -> list[int]:
    """The arithmetic that the docstring of LogSoftmax promises, for one pixel in Python integers."""
    shift = layer.exp_shift
    distances = [max(codes) - x for x in codes]
    total = 0
    for d in distances:
        i, r = d >> shift, d & (1 << shift) - 1
        if i < layer.exp_segments:
            total += int(layer.exp_bases[i]) - (int(layer.exp_drops[i]) * r >> shift)
    n = total.bit_length() - 1 - layer.exp_fraction
    s, t = total << layer.sum_growth - n, layer.exp_fraction + layer.sum_growth
    j, k = s >> t - INDEX_BITS & (1 << INDEX_BITS) - 1, s >> t - RECIPROCAL_FRACTION & (1 << REST_BITS) - 1
    log = n * layer.ln2 + int(layer.log_bases[j]) + (int(layer.log_rises[j]) * k >> REST_BITS)
    assert 0 <= log <= layer.log_type.max_code
    result, least = layer.fixed_result, layer.fixed_result.lowest_code
    common = max(layer.source_type.fraction, LOG_FRACTION)
    found = []
    for d in distances:
        y = -((d << common - layer.source_type.fraction) + (log << common - LOG_FRACTION))
        assert layer.total_type.min_code <= y <= 0 and layer.total_type.fraction == common
        scale = 200  # beyond every fraction
        below = y << scale - common < least << scale - result.fraction
        found.append(least if below else int(result.cast(np.array([y], object), layer.total_type)[0]))
    top = max(least + 1, found[distances.index(0)])
    return [top if d == 0 else min(y, top - 1) for y, d in zip(found, distances, strict=True)]


@settings(max_examples=150, deadline=None)
@given(pixel=pixels(), result=st.sampled_from(RESULTS))
def test_arithmetic_is_as_documented(pixel: tuple[FixedType, list[int]], result: str) -> None:
    type_, codes = pixel
    layer = log_softmax(len(codes), type_, result)
    assert [int(y) for y in layer.golden(one_pixel(codes)).reshape(-1)] == as_hardware(layer, codes)


@pytest.mark.parametrize("source", ["fixed<64,8>", "ufixed<64,50>", "fixed<40,8>", "fixed<32,-40>"])
def test_wide_sources(source: str) -> None:
    layer = log_softmax(4, source, "fixed<16,6,rnd,sat>")
    type_ = layer.source_type
    codes = [type_.max_code, type_.max_code - 1, type_.max_code // 2, type_.min_code]
    given_codes = np.array(codes, np.int64 if type_.signed else object).reshape(1, 4, 1, 1)
    assert [int(y) for y in layer.golden(given_codes).reshape(-1)] == as_hardware(layer, codes)


@pytest.mark.parametrize(
    ("channels", "source"), [(1, "fixed<8,4>"), (1000, "fixed<16,6>"), (10, "ufixed<8,-3>")]
)
def test_the_type_without_a_wish_holds_every_result(channels: int, source: str) -> None:
    layer = log_softmax(channels, source, "fixed<16,6>")
    type_ = layer.result_within(16, layer.source_type)
    ends = [layer.source_type.min_code, *[layer.source_type.max_code] * max(1, channels - 1)][:channels]
    low = exact_log_softmax(np.array(ends) * layer.source_type.resolution).min()
    assert type_.min_code * type_.resolution <= low
    assert type_.min_code * type_.resolution >= 8 * min(low, -4.0)  # and is not much wider


def test_rules() -> None:
    layer = log_softmax(3, "fixed<16,6>", "fixed<16,6>")
    assert "has no negative values" in messages(replace(layer, result_type=parse_type("ufixed<16,6>")))
    assert "has no negative values" in messages(replace(layer, result_type=parse_type("fixed<1,1>")))
    assert "float32 is mixed" in messages(replace(layer, result_type=FLOAT))
    assert "need more than 120 bits" in messages(log_softmax(3, "fixed<32,-100>", "fixed<16,6>"))
    for source, result in ("fixed<64,32>", "fixed<16,6>"), ("fixed<16,6>", "fixed<64,32>"):
        with pytest.raises(DesignError, match="a log_softmax .* needs numbers of more bits than are built"):
            log_softmax(3, source, result).stage(Fold())


# ---------------------------------------------------------------- the stage


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A layer that keeps its rules; several pixels a cycle whether they divide the width or not."""
    shape = (draw(st.sampled_from([1, 2, 3, 4, 6, 10, 12])), draw(st.integers(1, 3)), draw(st.integers(1, 5)))
    types = fixed_types()
    layer = draw(
        st.builds(
            lambda source, result: LogSoftmax(name="layer", source=tensor(shape, source), result_type=result),
            types,
            types,
        ).filter(lambda one: not one.check())
    )
    simd = draw(st.sampled_from(divisors(shape[0])))
    return layer, Fold(px=draw(st.integers(1, shape[2])), pe=simd, simd=simd)


def fold(px: int, simd: int) -> Fold:
    return Fold(px=px, pe=simd, simd=simd)


SOME: list[Case] = [
    (log_softmax(10, "fixed<16,6>", "fixed<16,6>", 3), fold(1, 2)),
    (log_softmax(10, "fixed<16,6>", "fixed<16,5,rnd_conv,sat>", 3), fold(2, 10)),
    (log_softmax(100, "fixed<8,4>", "fixed<8,5,rnd,wrap>", 2), fold(1, 4)),
    (log_softmax(6, "fixed<12,12>", "fixed<16,6,rnd,sat_sym>", 3), fold(1, 1)),  # a table without slopes
    (log_softmax(4, "ufixed<6,-14>", "fixed<10,3>", 2), fold(1, 2)),  # a table of one piece
    (log_softmax(1, "fixed<8,4>", "fixed<4,1>"), fold(1, 1)),
    (log_softmax(10, "fixed<8,1>", "fixed<3,3>", 3), fold(1, 2)),  # others come near the largest
    (log_softmax(5, "fixed<40,8>", "fixed<50,10>", 3), fold(3, 5)),
]


REFERENCE = [SOME[3], SOME[4], SOME[7]]


@few_kernels
@given(cases=one_kernel(cases(), 6))
def test_any_layer_and_folding_is_exact(tmp_path_factory: pytest.TempPathFactory, cases: list[Case]) -> None:
    """Those of SOME among them that the reference headers do not have."""
    others = [one for one in SOME if one not in REFERENCE]
    assert_layers_exact([*others, *cases], tmp_path_factory.mktemp("log_softmax"))


def test_faults_are_caught(tmp_path: Path) -> None:
    mutants = [
        (SOME[6], "if (code > below)", "if (code > by.largest)"),
        (SOME[2], "if (total < least) return least_code;", ""),
    ]
    assert_each_caught(mutants, tmp_path)


EMITTED = {
    "log_softmax": Emitted(
        layer=log_softmax(4, "fixed<8,4>", "fixed<8,4>", 3),
        fold=fold(1, 2),
        mutants=(
            ("distance - log;", "distance + log;"),
            ("at.growth * LN2", "at.growth + LN2"),
            ("if (x == 0)", "if (x != 0)"),
        ),
    ),
}
