"""Winograd's F(2, 3) along the rows: two rows of a sum over three kernel rows by four products, not six.

With rows d0..d3 of a column and rows g0..g2 of the kernel, each product belongs to a point:

    point   rows v     kernel u
    0       d0 - d2    g0
    1       d1 + d2    g0 + g1 + g2   (twice the textbook's, so that it is whole)
    2       d2 - d1    g0 - g1 + g2   (likewise)
    3       d1 - d3    g2

    row 0 = u0 v0 + (u1 v1 + u2 v2) / 2,   row 1 = (u1 v1 - u2 v2) / 2 - u3 v3

Sums over input channels and kernel columns are made at each point; both halves are whole numbers, so that the
results are those of the convolution, bit for bit. (Winograd 1980; Lavin and Gray 2015 for convolutions.)

Two products share a DSP as in packing.py, but it is the rows that lie beside each other, (v' << lane) + v for
two pairs of rows, as the same u multiplies all of them. So that is done once for all output channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from hlsgen.base.fixed import Codes, FixedType, NumberType
from hlsgen.layers.packing import LONGEST_CHAIN, PACKED_BITS, signed_bits

if TYPE_CHECKING:
    from hlsgen.layers.conv2d import Conv2d

POINTS = 4
KERNEL_ROWS = 3
ROWS = 2
"""Output rows that the products of four points make."""
SUM_POINT = 1
"""The point that adds rows; all others subtract them."""
MOST_MULTIPLIER_BITS = (27, 18)
"""Of a DSP48E2, both ports."""
LONGEST_LANE = 18
"""A lane as in packing.py at the most: narrower codes leave more room above, which is not needed."""


def fits(layer: Conv2d) -> bool:
    """Whether `layer` can be computed so: fixed point, three kernel rows side by side, steps of one row, and
    operands that are still one DSP's.
    """
    if not isinstance(layer.input_type, FixedType) or not isinstance(layer.weight_type, FixedType):
        return False
    shape = layer.kernel[0] == KERNEL_ROWS and layer.stride[0] == 1 and layer.dilation[0] == 1
    widths = sorted((row_bits(layer.input_type), factor_bits(layer.weight_type)), reverse=True)
    return shape and all(bits <= most for bits, most in zip(widths, MOST_MULTIPLIER_BITS, strict=True))


def row_bits(input_type: NumberType) -> int:
    """Bits of v, a sum or difference of two rows."""
    assert isinstance(input_type, FixedType)
    return signed_bits(input_type) + 1


def factor_bits(weight_type: NumberType) -> int:
    """Bits of u, a sum of three weights at the most."""
    assert isinstance(weight_type, FixedType)
    return signed_bits(weight_type) + 2


def row_range(input_type: FixedType, point: int) -> tuple[int, int]:
    """The least and the largest v of a point."""
    low, high = input_type.min_code, input_type.max_code
    return (2 * low, 2 * high) if point == SUM_POINT else (low - high, high - low)


def lane(input_type: FixedType, point: int) -> int:
    """Bits from one v to the other in a multiplier's word; 0 if two of them do not fit.

    The upper one may have to lend one to the lower, so that its least value is one less.
    """
    low, high = row_range(input_type, point)
    for bits in range(LONGEST_LANE, 0, -1):
        end = 1 << (PACKED_BITS - bits - 1)
        if -end <= low - 1 and high < end:
            return bits
    return 0


def limit(input_type: FixedType, point: int) -> int:
    """The largest sum |u| over a chain that keeps the lanes apart; 0 where nothing is packed."""
    bits = lane(input_type, point)
    low, high = row_range(input_type, point)
    return ((1 << bits - 1) - 1) // max(-low, high) if bits else 0


def factors(weights: Codes) -> Codes:
    """u of all points, [M, C, 3, KW] -> [4, M, C, KW]."""
    first, middle, last = (np.asarray(weights)[:, :, row].astype(np.int64) for row in range(KERNEL_ROWS))
    return np.stack([first, first + middle + last, first - middle + last, last])


# a search asks for it with every folding
@lru_cache(maxsize=256)
def longest_chain(layer: Conv2d, simd: int) -> int:
    """The most products that may be added before the lanes are taken apart, at every point: 0 if not one.

    A pass sums `simd` input channels and the kernel's columns at each point; no chunk of the chain may have
    sum |u| above the point's limit.
    """
    assert isinstance(layer.input_type, FixedType)
    terms = simd * layer.kernel[1]
    limits = [limit(layer.input_type, point) for point in range(POINTS)]
    if not all(limits):
        return 0
    chains = range(min(terms, LONGEST_CHAIN), 0, -1)
    return next((chain for chain in chains if keeps_apart(layer.weights, terms, chain, limits)), 0)


def keeps_apart(weights: Codes, terms: int, chain: int, limits: Sequence[int]) -> bool:
    """Whether no chunk of `chain` of the `terms` factors of a pass exceeds its point's limit in magnitude.

    weights: [M, C, 3, KW].
    """
    magnitudes = np.abs(factors(weights)).reshape(POINTS, -1, terms)
    sums = np.add.reduceat(magnitudes, np.arange(0, terms, chain), axis=2)
    return bool((sums.max(axis=(1, 2)) <= np.array(limits)).all())
