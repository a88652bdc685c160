"""The golden convolution against torch and against float64, independent of any kernel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType
from hlsgen.layers.base import pairwise_sum
from hlsgen.layers.conv2d import Conv2d
from tests.support.kernels import conv, frames_for

torch = pytest.importorskip("torch", reason="torch is not installed: golden is not compared with it")


def by_torch(layer: Conv2d, frames: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """The layer in float64 by torch; exact for integers below 2^53."""
    top, left, bottom, right = layer.padding
    x = torch.nn.functional.pad(torch.from_numpy(frames.astype(np.float64)), (left, right, top, bottom))
    weights = torch.from_numpy(layer.weights.astype(np.float64))
    offset = torch.from_numpy(bias.astype(np.float64)) if bias.size else None
    out = torch.nn.functional.conv2d(x, weights, offset, stride=layer.stride, dilation=layer.dilation)
    return out.numpy()


@st.composite
def fixed_layers(draw: st.DrawFn) -> Conv2d:
    kernel = draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    dilation = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    return conv(
        (draw(st.integers(1, 4)), reach[0] + draw(st.integers(0, 6)), reach[1] + draw(st.integers(0, 6))),
        draw(st.integers(1, 4)),
        kernel,
        stride=draw(st.tuples(st.integers(1, 3), st.integers(1, 3))),
        padding=draw(st.tuples(*[st.integers(0, 3)] * 4)),
        dilation=dilation,
        input_type=draw(st.sampled_from(["fixed<8,3>", "ufixed<7,0>", "fixed<12,14>"])),
        weight_type=draw(st.sampled_from(["fixed<8,1>", "ufixed<5,2>"])),
        result_type="fixed<50,30>",
        bias=draw(st.booleans()),
        seed=draw(st.integers(0, 99)),
    )


@settings(max_examples=80, deadline=None)
@given(fixed_layers())
def test_sums_equal_torch_on_integers(layer: Conv2d) -> None:
    frames = frames_for(layer, 3)
    sums = layer.sums(frames, simd=1)
    assert isinstance(layer.accumulator, FixedType)
    assert layer.accumulator.fraction == layer.product_fraction
    np.testing.assert_array_equal(sums.astype(np.float64), by_torch(layer, frames, layer.bias))


def test_wide_sums_are_exact_without_float64() -> None:
    """Products of 40 x 40 bits leave float64 and int64: the golden goes over to Python integers."""
    layer = conv(
        (2, 5, 5),
        2,
        input_type="fixed<40,20>",
        weight_type="fixed<40,2>",
        result_type="fixed<50,30>",
        bias=False,
    )
    frames = frames_for(layer, 1)
    sums = layer.sums(frames, simd=1)
    field = frames[0, :, 1:4, 2:5].astype(object)
    assert int(sums[0, 1, 1, 2]) == int((field * layer.weights[1].astype(object)).sum())


@pytest.mark.parametrize("simd", [1, 2, 4])
def test_fp32_is_within_n_eps_of_float64(simd: int) -> None:
    layer = conv((4, 12, 12), 3, padding=(1, 1, 1, 1))
    frames = frames_for(layer, 2)
    got = layer.golden(frames, simd=simd)
    exact = layer.float64_sums(frames)
    magnitude = by_torch(conv_of_magnitudes(layer), np.abs(frames), np.abs(layer.bias))
    n = layer.in_shape[0] * layer.taps + 1
    assert got.dtype == np.float32
    assert (np.abs(got - exact) <= n * np.finfo(np.float32).eps * magnitude).all()
    assert np.abs(got - exact).max() > 0  # fp32 rounds: a float64 golden would hide its order


def conv_of_magnitudes(layer: Conv2d) -> Conv2d:
    from dataclasses import replace

    return replace(layer, weights=np.abs(layer.weights.astype(np.int64)))


def test_passes_change_the_order_of_fp32() -> None:
    layer = conv((4, 12, 12), 3)
    frames = frames_for(layer, 1)
    assert (layer.golden(frames, simd=1) != layer.golden(frames, simd=4)).any()


def test_pairwise_sum_adds_neighbours() -> None:
    big, one = np.float32(2**24), np.float32(1)
    terms = [np.array(v) for v in (one, one, big, one, one)]
    # ((1 + 1) + (2^24 + 1)) + 1: the 1 beside 2^24 is rounded away, the pair is not; in sequence all are
    assert pairwise_sum(terms) == np.float32(2**24 + 4)
    assert pairwise_sum([np.array(one)]) == one


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 999), bits=st.integers(2, 6))
def test_worst_case_sum_is_the_worst_case(seed: int, bits: int) -> None:
    layer = conv(
        (2, 3, 3),
        2,
        input_type=f"fixed<{bits},1>",
        weight_type="fixed<4,1>",
        result_type="fixed<30,20>",
        seed=seed,
    )
    low, high = layer.worst_case_sum
    source = layer.input_type
    assert isinstance(source, FixedType)
    largest = np.where(layer.weights[0] > 0, source.max_code, source.min_code)[None]
    most = int(layer.sums(largest, simd=1)[0, 0, 0, 0])
    assert low <= most <= high
    per_filter = [
        int(layer.sums(np.where(w > 0, source.max_code, source.min_code)[None], simd=1)[0, m].max())
        for m, w in enumerate(layer.weights)
    ]
    assert high == max(0, *per_filter, *(int(b) for b in layer.bias))
