"""Softmax and argmax: against float64, against plain integers, and what they keep of the order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.fixed import Codes, FixedType
from hlsgen.base.type_text import parse_type
from hlsgen.layers.argmax import ArgMax
from hlsgen.layers.log_softmax import LogSoftmax
from hlsgen.layers.softmax import INDEX_BITS, RECIPROCAL_FRACTION, REST_BITS, Softmax
from tests.support.casts import overflowing
from tests.support.layers.exact import FLOAT, messages, tensor

SOURCES = [
    "fixed<16,10>", "fixed<16,2>", "fixed<16,6>", "fixed<16,0>", "ufixed<16,3>", "fixed<8,4>", "fixed<16,18>"
]  # fmt: skip
RESULTS = ["ufixed<16,0>", "fixed<16,1,rnd,sat>", "ufixed<8,0,rnd,wrap>", "fixed<16,6>", "ufixed<3,1>"]


def softmax(channels: int, source: str | FixedType, result: str, size: int = 1) -> Softmax:
    return Softmax(name="softmax", source=tensor((channels, 1, size), source), result_type=parse_type(result))


@st.composite
def pixels(draw: st.DrawFn, most: int = 40) -> tuple[FixedType, list[int]]:
    """A type and codes of it: anywhere, all close together, or only a few different values."""
    type_ = parse_type(draw(st.sampled_from(SOURCES)))
    assert isinstance(type_, FixedType)
    low, high = type_.min_code, type_.max_code
    kind = draw(st.sampled_from(["anywhere", "close", "few"]))
    if kind == "close":
        low = draw(st.integers(low, high))
        high = min(high, low + draw(st.integers(0, 40)))
    codes = st.integers(low, high)
    if kind == "few":
        codes = st.sampled_from(draw(st.lists(codes, min_size=1, max_size=3)))
    return type_, draw(st.lists(codes, min_size=1, max_size=most))


def one_pixel(codes: list[int]) -> Codes:
    return np.array(codes).reshape(1, -1, 1, 1)


def assert_order_survives(layer: Softmax | LogSoftmax, codes: list[int]) -> None:
    """The first largest stays the first largest; equal inputs give equal results; never out of order."""
    assert layer.check() == []
    got = layer.golden(one_pixel(codes)).reshape(-1)
    assert int(np.argmax(got)) == int(np.argmax(codes))
    order = np.argsort(codes, kind="stable")
    for left, right in zip(order[:-1], order[1:], strict=True):
        assert got[left] <= got[right]
        assert codes[left] != codes[right] or got[left] == got[right]


def scattered(type_: FixedType, channels: int, spread: float, seed: int, farthest: float) -> Codes:
    """[3, channels, 1, 4] around the middle of the type. In the first pixel one is far above many alike."""
    rng = np.random.default_rng(seed)
    half = spread**4 * (type_.max_code - type_.min_code) / 2
    middle = (type_.max_code + type_.min_code) / 2
    codes = np.clip(
        np.rint(middle + half * (2 * rng.random((3, channels, 1, 4)) - 1)), type_.min_code, type_.max_code
    ).astype(np.int64)
    below = int(rng.uniform(4, farthest) / type_.resolution)
    codes[0, :, 0, 0] = max(type_.min_code, type_.max_code - below)
    codes[0, 0, 0, 0] = type_.max_code
    return codes


@settings(max_examples=300, deadline=None)
@given(pixel=pixels(), result=st.sampled_from(RESULTS))
def test_order_survives(pixel: tuple[FixedType, list[int]], result: str) -> None:
    type_, codes = pixel
    assert_order_survives(softmax(len(codes), type_, result), codes)


@settings(max_examples=60, deadline=None)
@given(
    source=st.sampled_from(SOURCES),
    channels=st.sampled_from([2, 3, 10, 100, 1000, 1024]),
    spread=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_within_two_to_the_minus_eight(source: str, channels: int, spread: float, seed: int) -> None:
    """In fact within 2**-13.8 of float64 with 16-bit results: the LSB of fixed<16,1> twice."""
    layer = softmax(channels, source, "fixed<16,1,rnd,sat>", size=4)
    type_ = layer.source_type
    # the sum of what lies below a peak must not be lost
    codes = scattered(type_, channels, spread, seed, 9)
    got = layer.golden(codes) * layer.fixed_result.resolution
    exact = layer.retyped((FLOAT,), None).golden(type_.decode(codes))
    np.testing.assert_allclose(exact.sum(axis=1), 1)
    assert np.abs(got - exact).max() <= 2.0**-13.8 < 2.0**-8


def test_float_equals_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    values = 30 * np.random.default_rng(0).standard_normal((2, 7, 3, 4))
    layer = Softmax(name="softmax", source=tensor((7, 3, 4)), result_type=FLOAT)
    wanted = torch.softmax(torch.from_numpy(values), 1).numpy()
    np.testing.assert_allclose(layer.golden(values), wanted, rtol=1e-12)


def as_hardware(layer: Softmax, codes: list[int]) -> list[int]:
    """The arithmetic that the docstring of Softmax promises, for one pixel in Python integers."""
    shift = layer.exp_shift
    distances = [max(codes) - x for x in codes]
    powers = []
    for d in distances:
        assert 0 <= d <= layer.distance_type.max_code
        i, r = d >> shift, d & (1 << shift) - 1
        inside = i < layer.exp_segments == len(layer.exp_bases)
        powers.append(int(layer.exp_bases[i]) - (int(layer.exp_drops[i]) * r >> shift) if inside else 0)
    assert min(powers) >= 0 and max(powers) == 1 << layer.exp_fraction <= layer.exp_type.max_code
    total = sum(powers)
    assert total <= layer.sum_type.max_code
    n = total.bit_length() - 1 - layer.exp_fraction
    assert 0 <= n <= layer.sum_growth
    s, t = total << layer.sum_growth - n, layer.exp_fraction + layer.sum_growth
    assert s >> t == 1
    j, k = s >> t - INDEX_BITS & (1 << INDEX_BITS) - 1, s >> t - RECIPROCAL_FRACTION & (1 << REST_BITS) - 1
    reciprocal = int(layer.reciprocal_bases[j]) - (int(layer.reciprocal_drops[j]) * k >> REST_BITS)
    assert 0 < reciprocal <= layer.reciprocal_type.max_code
    quotients = [e * reciprocal >> n for e in powers]
    assert max(quotients) <= 1 << layer.quotient_type.fraction
    limited = np.array([min(q, layer.limit) for q in quotients], object)
    assert overflowing(layer.fixed_result, limited, layer.quotient_type) == 0
    results = [int(y) for y in layer.fixed_result.cast(limited, layer.quotient_type)]
    top = max(1, results[distances.index(0)])
    return [top if d == 0 else min(y, top - 1) for y, d in zip(results, distances, strict=True)]


@settings(max_examples=200, deadline=None)
@given(pixel=pixels(), result=st.sampled_from(RESULTS))
def test_arithmetic_is_as_documented(pixel: tuple[FixedType, list[int]], result: str) -> None:
    type_, codes = pixel
    layer = softmax(len(codes), type_, result)
    assert [int(y) for y in layer.golden(one_pixel(codes)).reshape(-1)] == as_hardware(layer, codes)


@pytest.mark.parametrize("source", [*SOURCES, "fixed<64,8>", "ufixed<64,50>"])
@pytest.mark.parametrize("channels", [1, 5, 1024])
def test_tables_are_monotone(source: str, channels: int) -> None:
    """No chord rises, and each ends where the next begins: so e falls with d, and 1 / s with s."""
    layer = softmax(channels, source, "ufixed<16,0>")
    assert layer.exp_bases[0] == 1 << layer.exp_fraction
    assert layer.reciprocal_bases[0] == 1 << RECIPROCAL_FRACTION
    for bases, drops in (
        (layer.exp_bases, layer.exp_drops),
        (layer.reciprocal_bases, layer.reciprocal_drops),
    ):
        assert drops.min() >= 0 and bases.min() >= 0
        np.testing.assert_array_equal(bases[:-1] - drops[:-1], bases[1:])


@pytest.mark.parametrize("source", ["fixed<64,8>", "ufixed<64,50>", "fixed<40,8>"])
def test_wide_sources(source: str) -> None:
    layer = softmax(5, source, "fixed<16,1,rnd,sat>")
    type_ = layer.source_type
    near = type_.max_code - int(0.03 / type_.resolution)  # almost a whole segment of the exponentials
    codes = [type_.max_code, type_.max_code - 1, near, type_.max_code // 2, type_.min_code]
    given_codes = np.array(codes, np.int64 if type_.signed else object).reshape(1, 5, 1, 1)
    assert [int(y) for y in layer.golden(given_codes).reshape(-1)] == as_hardware(layer, codes)


def test_one_does_not_wrap() -> None:
    got = softmax(3, "fixed<16,6>", "ufixed<16,0>").golden(one_pixel([20000, 0, -20000])).reshape(-1)
    assert list(got) == [65535, 0, 0]


def test_softmax_rules() -> None:
    layer = softmax(3, "fixed<16,6>", "ufixed<16,0>")
    assert "holds no probabilities" in messages(replace(layer, result_type=parse_type("fixed<8,9>")))
    assert "holds no probabilities" in messages(replace(layer, result_type=parse_type("fixed<1,0>")))
    assert "float32 is mixed" in messages(replace(layer, result_type=FLOAT))


def argmax(channels: int, source: str, result: str = "ufixed<8,8>") -> ArgMax:
    return ArgMax(name="argmax", source=tensor((channels, 2, 3), source), result_type=parse_type(result))


@settings(max_examples=60, deadline=None)
@given(channels=st.integers(1, 9), seed=st.integers(0, 99), spread=st.integers(0, 100))
def test_argmax_is_the_first_largest(channels: int, seed: int, spread: int) -> None:
    codes = np.random.default_rng(seed).integers(-spread, spread + 1, (2, channels, 2, 3))
    layer = argmax(channels, "fixed<8,4>").retyped((parse_type("fixed<8,4>"),), None)
    assert layer.check() == [] and layer.output_shape == (1, 2, 3)
    assert layer.result_type == FixedType(*[max(1, (channels - 1).bit_length())] * 2, signed=False)
    got = layer.golden(codes)
    for frame, y, x in np.ndindex(2, 2, 3):
        values = [int(code) for code in codes[frame, :, y, x]]
        assert int(got[frame, 0, y, x]) == values.index(max(values))
    np.testing.assert_array_equal(layer.retyped((FLOAT,), None).golden(codes * 0.5), got)


def test_argmax_rules() -> None:
    assert argmax(256, "fixed<8,4>").check() == []
    for channels, result in ((257, "ufixed<8,8>"), (4, "fixed<8,8>"), (4, "ufixed<8,4>")):
        said = messages(argmax(channels, "fixed<8,4>", result))
        assert f"{result} does not hold the indices 0 to {channels - 1}" in said
