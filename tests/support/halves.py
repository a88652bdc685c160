"""IEEE 754's binary16 without subnormal numbers, by arithmetic apart from hlsgen's."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

EXTREMES = (
    *(0x0000, 0x8000, 0x0001, 0x03FF, 0x0400, 0x0401, 0x8400, 0x07FF, 0x0BFF),
    *(0x1400, 0x2000, 0x3BFF, 0x3C00, 0x3C01, 0x3800, 0x4000, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00),
)
"""Bits of zeros, subnormal, least, largest and neighbouring numbers, infinities and NaN."""


def flushed(number: np.floating) -> np.float16:
    """A half operand as operations take it."""
    small = abs(float(number)) < 2.0**-14
    return np.float16(math.copysign(0.0, number)) if small else np.float16(number)


def rational_half(exact: Fraction) -> float:
    """A number but 0 rounded to 11 bits, ties to even; beyond the exponents 0 or infinity."""
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    step = Fraction(2) ** (exponent - 10)
    rounded = round(size / step) * step  # of halves to the even one
    if rounded < Fraction(1, 1 << 14):
        return 0.0
    value = math.inf if rounded >= 1 << 16 else float(rounded)
    return math.copysign(value, exact)
