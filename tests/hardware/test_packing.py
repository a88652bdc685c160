"""Two products a DSP: exact up to the bound, and wrong beyond it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.packing import LANE_BITS, longest_chain, widths_pack
from tests.support.kernels import conv


def lanes(w0: list[int], w1: list[int], a: list[int]) -> tuple[int, int]:
    """What the DSP's accumulator holds, taken apart as dot_packed does."""
    both = sum(((y << LANE_BITS) + x) * z for x, y, z in zip(w0, w1, a, strict=True))
    low = (both + (1 << LANE_BITS - 1)) % (1 << LANE_BITS) - (1 << LANE_BITS - 1)
    return low, (both - low) >> LANE_BITS


def int8_layer(weights: np.ndarray, input_type: str = "fixed<8,3>") -> Conv2d:
    layer = conv(
        (weights.shape[1], 5, 5),
        weights.shape[0],
        input_type=input_type,
        weight_type="fixed<8,1>",
        result_type="fixed<24,12>",
    )
    return replace(layer, weights=weights)


@settings(max_examples=200)
@given(st.data())
def test_lanes_stay_apart_up_to_the_chain(data: st.DataObject) -> None:
    code = st.integers(-128, 127)
    weights = np.array(data.draw(st.lists(code, min_size=36, max_size=36))).reshape(2, 2, 3, 3)
    chain = longest_chain(int8_layer(weights), simd=2, pe=2)
    flat = weights.reshape(2, 18).tolist()
    for first in range(0, 18, chain):
        w0, w1 = flat[0][first : first + chain], flat[1][first : first + chain]
        a = data.draw(st.lists(st.sampled_from([-128, 127, -1, 1, 0]), min_size=len(w0), max_size=len(w0)))
        expected = (
            sum(x * z for x, z in zip(w0, a, strict=True)),
            sum(y * z for y, z in zip(w1, a, strict=True)),
        )
        assert lanes(w0, w1, a) == expected


@pytest.mark.parametrize(
    ("code", "input_type", "chain"),
    [
        (-128, "fixed<8,3>", 7),  # 7 * 128 * 128 < 2^17 <= 8 * 128 * 128
        (127, "fixed<8,3>", 8),
        (-128, "ufixed<8,0>", 4),  # 4 * 128 * 255
        (3, "fixed<8,3>", 18),
    ],
)
def test_chain_of_equal_weights(code: int, input_type: str, chain: int) -> None:
    assert longest_chain(int8_layer(np.full((2, 2, 3, 3), code), input_type), simd=2, pe=2) == chain


def test_one_product_more_collides() -> None:
    w, a = [-128] * 8, [-128] * 8
    assert lanes(w[:7], w[:7], a[:7]) == (7 * 2**14, 7 * 2**14)
    assert lanes(w, w, a) != (8 * 2**14, 8 * 2**14)


@pytest.mark.parametrize(
    ("activation", "weight", "packs"),
    [
        (FixedType(8, 1), FixedType(8, 1), True),
        (FixedType(9, 1), FixedType(8, 1), True),
        (FixedType(8, 1), FixedType(8, 1, signed=False), True),
        (FixedType(8, 1), FixedType(9, 1), False),  # -256 beside a negative weight leaves 27 bits
        (FixedType(8, 8, signed=False), FixedType(8, 1), True),
        (FixedType(8, 1), FixedType(9, 1, signed=False), False),  # ten bits with their sign
        (FixedType(8, 1), FixedType(10, 1), False),
        (FixedType(19, 1), FixedType(8, 1), False),
    ],
)
def test_widths(activation: FixedType, weight: FixedType, packs: bool) -> None:
    assert widths_pack(activation, weight) is packs
