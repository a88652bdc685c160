"""Dense and affine layers, and what a convolution becomes with other types."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.base.type_text import parse_type
from hlsgen.layers.affine import Affine
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.dense import Dense
from tests.support.kernels import conv
from tests.support.layers.exact import FLOAT, cast, codes_of, fixed_types, messages, sources_of, tensor, value

FLOATS: dict[str, Any] = {
    name: FLOAT for name in ("input_type", "weight_type", "bias_type", "accumulator", "result_type")
}


def dense(features: int, outputs: int, bias: bool = True, seed: int = 0) -> Dense:
    rng = np.random.default_rng(seed)
    return Dense(
        name="dense",
        in_shape=(features, 1, 1),
        out_channels=outputs,
        weights=rng.standard_normal((outputs, features, 1, 1)),
        bias=rng.standard_normal(outputs if bias else 0),
        **FLOATS,
    )


def affine(channels: int, seed: int = 0) -> Affine:
    rng = np.random.default_rng(seed)
    return Affine(
        name="affine",
        in_shape=(channels, 2, 3),
        out_channels=channels,
        groups=channels,
        weights=rng.standard_normal((channels, 1, 1, 1)),
        bias=rng.standard_normal(channels),
        **FLOATS,
    )


def fixed(layer: Conv2d, source: FixedType, weight: FixedType, bias: FixedType, seed: int) -> Conv2d:
    """The layer with random codes of these types, and the natural type of its sums."""
    rng = np.random.default_rng(seed)
    coded = replace(
        layer,
        weight_type=weight,
        weights=codes_of(weight, layer.weights.shape, rng),
        bias_type=bias,
        bias=codes_of(bias, layer.bias.shape, rng),
    )
    return coded.retyped((source,), None)


@pytest.mark.parametrize("bias", [True, False])
def test_float_dense_equals_torch(bias: bool) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    layer = dense(5, 3, bias)
    assert layer.check() == [] and layer.output_shape == (3, 1, 1) and layer.macs == 15
    (values,) = sources_of(layer, 1)
    offset = torch.from_numpy(layer.bias) if bias else None
    wanted = torch.nn.functional.linear(
        torch.from_numpy(values[:, :, 0, 0]), torch.from_numpy(layer.weights[:, :, 0, 0]), offset
    )
    np.testing.assert_allclose(layer.golden(values)[:, :, 0, 0], wanted.numpy(), rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4)),
    source=fixed_types(widest=12),
    seed=st.integers(0, 99),
)
def test_an_image_is_read_by_row_column_and_channel(
    shape: tuple[int, int, int], source: FixedType, seed: int
) -> None:
    """As torch does with the image permuted and flattened: in floating point and in codes."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    features = math.prod(shape)
    layer = replace(dense(features, 3), in_shape=shape)
    assert layer.check() == [] and layer.output_shape == (3, 1, 1) and layer.macs == 3 * features
    (values,) = sources_of(layer, seed)
    flat = torch.from_numpy(values).permute(0, 2, 3, 1).flatten(1)
    weights = torch.from_numpy(layer.weights[:, :, 0, 0])
    wanted = torch.nn.functional.linear(flat, weights, torch.from_numpy(layer.bias))
    np.testing.assert_allclose(layer.golden(values)[:, :, 0, 0], wanted.numpy(), rtol=1e-9, atol=1e-9)
    coded = fixed(layer, source, FixedType(7, 2), FixedType(8, 3), seed)
    (codes,) = sources_of(coded, seed)
    vectors = codes.transpose(0, 2, 3, 1).reshape(-1, features, 1, 1)
    of_vectors = replace(coded, in_shape=(features, 1, 1))
    np.testing.assert_array_equal(coded.golden(codes), of_vectors.golden(vectors))


def test_float_affine_scales_and_shifts() -> None:
    layer = affine(4)
    assert layer.check() == [] and layer.output_shape == (4, 2, 3) and layer.macs == 24
    (values,) = sources_of(layer, 1)
    wanted = values * layer.weights.reshape(4, 1, 1) + layer.bias.reshape(4, 1, 1)
    np.testing.assert_allclose(layer.golden(values), wanted, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    source=fixed_types(widest=12),
    weight=fixed_types(widest=12),
    bias=fixed_types(widest=16),
    result=fixed_types(),
    has_bias=st.booleans(),
    seed=st.integers(0, 99),
)
def test_fixed_dense(
    source: FixedType, weight: FixedType, bias: FixedType, result: FixedType, has_bias: bool, seed: int
) -> None:
    layer = fixed(dense(4, 3, has_bias), source, weight, bias, seed)
    assert isinstance(layer, Dense) and layer.check() == [] and layer.result_type == layer.accumulator
    (codes,) = sources_of(layer, seed)
    wanted = by_fractions(layer, codes)
    for one in (layer, layer.retyped((source,), result)):
        got = one.golden(codes)
        assert isinstance(one.result_type, FixedType)
        if one.result_type != one.accumulator or one is layer:
            expected = [[cast(exact, one.result_type) for exact in frame] for frame in wanted]
            np.testing.assert_array_equal(got[:, :, 0, 0], expected)


def by_fractions(layer: Conv2d, codes: np.ndarray[Any, Any]) -> list[list[Fraction]]:
    source, weight, bias = layer.input_type, layer.weight_type, layer.bias_type
    assert isinstance(source, FixedType) and isinstance(weight, FixedType) and isinstance(bias, FixedType)
    offsets = [value(b, bias) for b in layer.bias] or [Fraction(0)] * layer.out_channels
    return [
        [
            sum(
                (
                    value(x, source) * value(w, weight)
                    for x, w in zip(frame[:, 0, 0], row[:, 0, 0], strict=True)
                ),
                offset,
            )
            for row, offset in zip(layer.weights, offsets, strict=True)
        ]
        for frame in codes
    ]


def test_fixed_affine() -> None:
    source, weight, bias = (parse_type(text) for text in ("fixed<8,4>", "fixed<8,1>", "fixed<9,3>"))
    layer = fixed(affine(4), source, weight, bias, 3)  # type: ignore[arg-type]
    assert isinstance(layer, Affine) and layer.check() == []
    (codes,) = sources_of(layer, 1)
    # 4 + 7 fraction bits of a product, 6 of the bias
    exact = codes * layer.weights.reshape(4, 1, 1) + (layer.bias.reshape(4, 1, 1) << 5)
    np.testing.assert_array_equal(layer.golden(codes), exact)
    assert isinstance(layer.accumulator, FixedType) and layer.accumulator.fraction == 11


def test_retyped_gives_the_tight_accumulator() -> None:
    layer = conv((2, 4, 4), 3, input_type="fixed<8,4>", weight_type="fixed<8,1>", bias=True)
    wide = layer.retyped((parse_type("fixed<12,6>"),), parse_type("fixed<10,5>"))
    assert str(wide.input_type) == "fixed<12,6>" and str(wide.result_type) == "fixed<10,5>"
    assert isinstance(wide.accumulator, FixedType)
    low, high = wide.worst_case_sum
    assert wide.accumulator.fraction == wide.sum_fraction
    assert wide.accumulator.min_code <= low and high <= wide.accumulator.max_code
    assert low < wide.accumulator.min_code // 2 or high > wide.accumulator.max_code // 2
    assert wide.weights is layer.weights and wide.check() == []
    assert wide.retyped((parse_type("fixed<12,6>"),), None).result_type == wide.accumulator


def test_retyped_to_float() -> None:
    layer = replace(conv((2, 4, 4), 3), kernel=(3, 3))
    assert layer.retyped((FLOAT,), None).accumulator == FLOAT
    assert layer.retyped((FLOAT,), None).result_type == FLOAT


def test_sums_too_wide_are_named() -> None:
    layer = replace(
        conv((2, 4, 4), 3, input_type="fixed<8,4>", weight_type="fixed<8,1>"),
        weight_type=parse_type("fixed<64,0>"),
        weights=np.full((3, 2, 3, 3), 1 << 62),
    )
    with pytest.raises(DesignError, match="sums of fixed<64,0> times fixed<64,0> need more than 128 bits"):
        layer.retyped((parse_type("fixed<64,0>"),), None)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stride": (2, 1)}, "a dense layer has no kernel, stride"),
        (
            {"groups": 5, "out_channels": 5},
            "a dense layer has no kernel, stride, padding, dilation or groups",
        ),
        ({"input_type": parse_type("fixed<8,4>")}, "float32 is mixed with fixed point"),
    ],
)
def test_dense_rules(changes: dict[str, Any], words: str) -> None:
    assert words in messages(replace(dense(5, 3), **changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"groups": 2}, "scales each of its 4 channels, not 4 of them in 2 groups"),
        ({"out_channels": 8}, "not 8 of them in 4 groups"),
        ({"padding": (1, 0, 0, 0)}, "an affine layer has no kernel"),
    ],
)
def test_affine_rules(changes: dict[str, Any], words: str) -> None:
    assert words in messages(replace(affine(4), **changes))


def test_the_source_is_told_to_the_graph() -> None:
    assert dense(5, 3).sources == (tensor((5, 1, 1)),)
