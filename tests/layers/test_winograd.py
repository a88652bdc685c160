"""Winograd's F(2, 3) in integers: equal to the convolution, exact in a multiplier's lanes up to the chain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType
from hlsgen.hardware.conv_folding import Folding, folding_faults
from hlsgen.layers import winograd
from hlsgen.layers.conv2d import Conv2d
from tests.support.kernels import conv

INT8 = {"input_type": "fixed<8,1>", "weight_type": "fixed<8,1>", "result_type": "fixed<24,8>"}
CODE = st.integers(-128, 127)


def rows_at(point: int, d: list[int]) -> int:
    """v of a point, as the table of the algorithm has it."""
    return [d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]][point]


@given(st.lists(CODE, min_size=4, max_size=4), st.lists(CODE, min_size=3, max_size=3))
def test_four_products_make_two_rows(d: list[int], g: list[int]) -> None:
    u = winograd.factors(np.array(g).reshape(1, 1, 3, 1)).reshape(4).tolist()
    m = [rows_at(point, d) * u[point] for point in range(4)]
    assert (m[1] + m[2]) % 2 == 0
    assert m[0] + (m[1] + m[2]) // 2 == sum(x * y for x, y in zip(d, g, strict=False))
    assert (m[1] - m[2]) // 2 - m[3] == sum(x * y for x, y in zip(d[1:], g, strict=True))


@pytest.mark.parametrize(
    ("type_", "lanes"),
    [
        (FixedType(8, 1), (18, 17, 18, 18)),  # -128 - 128 = -256, and one lent: ten bits above the lane
        (FixedType(8, 0, signed=False), (18, 17, 18, 18)),  # 255 + 255
        (FixedType(7, 1), (18, 18, 18, 18)),
        (FixedType(9, 1), (17, 16, 17, 17)),
    ],
)
def test_lanes(type_: FixedType, lanes: tuple[int, ...]) -> None:
    assert tuple(winograd.lane(type_, point) for point in range(4)) == lanes


@settings(max_examples=200)
@given(st.data())
def test_lanes_stay_apart_up_to_the_chain(data: st.DataObject) -> None:
    """At every point: words of 27 bits, their products added, then taken apart as the emitted C++ does."""
    type_ = data.draw(st.sampled_from([FixedType(8, 1), FixedType(8, 0, signed=False), FixedType(6, 1)]))
    weights = np.array(data.draw(st.lists(CODE, min_size=18, max_size=18))).reshape(1, 2, 3, 3)
    layer = conv((2, 5, 5), 1, **INT8 | {"input_type": str(type_)})
    chain = winograd.longest_chain(replace(layer, weights=weights), simd=2)
    code = st.sampled_from([type_.min_code, type_.max_code, 0])
    for point in range(4):
        lane, factors = winograd.lane(type_, point), winograd.factors(weights)[point].reshape(6).tolist()
        for first in range(0, 6, chain or 7):
            rows = [[data.draw(code) for _ in range(8)] for _ in factors[first : first + chain]]
            lower, upper = ([rows_at(point, d[n : n + 4]) for d in rows] for n in (0, 4))
            words = [(high << lane) + low for low, high in zip(lower, upper, strict=True)]
            assert all(-(1 << 26) <= word < 1 << 26 for word in words)
            both = sum(x * u for x, u in zip(words, factors[first:], strict=False))
            low = (both + (1 << lane - 1)) % (1 << lane) - (1 << lane - 1)
            assert low == sum(x * u for x, u in zip(lower, factors[first:], strict=False))
            lent = both >> lane - 1 & 1
            assert (both >> lane) + lent == sum(x * u for x, u in zip(upper, factors[first:], strict=False))


@pytest.mark.parametrize(
    ("code", "input_type", "chain"),
    [
        (127, "fixed<8,1>", 0),  # 381 at the point that adds rows, where 255 is the limit
        (64, "fixed<8,1>", 1),
        (42, "fixed<8,1>", 2),
        (14, "fixed<8,1>", 6),
        (42, "ufixed<8,0>", 1),  # 126 of 128
    ],
)
def test_chain_of_equal_weights(code: int, input_type: str, chain: int) -> None:
    layer = conv((2, 5, 5), 2, **INT8 | {"input_type": input_type})
    assert winograd.longest_chain(replace(layer, weights=np.full((2, 2, 3, 3), code)), simd=2) == chain


def test_one_product_more_collides() -> None:
    """Just above the limit the lower lane's sum leaves its bits."""
    limit = winograd.limit(FixedType(8, 1), winograd.SUM_POINT)
    assert limit * 256 < 1 << 16 <= (limit + 1) * 256


@pytest.mark.parametrize(
    "layer",
    [
        conv((2, 9, 9), 2),
        conv((2, 9, 9), 2, (2, 3), **INT8),
        conv((2, 9, 9), 2, stride=(2, 1), **INT8),
        conv((2, 9, 9), 2, dilation=(2, 1), **INT8),
        conv((2, 9, 9), 2, input_type="fixed<18,2>", weight_type="fixed<18,2>"),
    ],
    ids=["float", "kernel of two rows", "stride", "dilation", "wide"],
)
def test_where_it_is_no_algorithm(layer: Conv2d) -> None:
    (fault,) = folding_faults(layer, rows=2, pe=2, simd=2, fabric_pe=0, algorithm="winograd")
    assert fault.key == "algorithm" and fault.fix == "algorithm: direct"


def test_rows_come_in_pairs() -> None:
    layer = conv((2, 9, 9), 2, **INT8)
    (fault,) = folding_faults(layer, rows=3, pe=2, simd=2, fabric_pe=0, algorithm="winograd")
    assert str(fault) == "rows: 3 is odd, and winograd computes rows in pairs"
    assert Folding(rows=2, pe=2, simd=2).algorithm == "direct"
