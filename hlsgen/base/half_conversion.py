"""Numbers in half become fixed point, and fixed point becomes half: each exact, then rounded once.

half -> fixed   rounded and fitted as the type's modes say; an infinity is the end of the type's range and NaN
                is 0, whatever the modes
fixed -> half   to the nearest, ties to even, as every half operation: beyond 65,504 infinite, below 2**-14 a
                zero of its sign (floating.py)
"""

from __future__ import annotations

import numpy as np

from hlsgen.base.fixed import DOUBLE_MANTISSA_BITS, Codes, FixedType
from hlsgen.base.floating import HALF, ROUNDED_TO_ZERO, SMALLEST_HALF, Floats

HALF_FRACTION = 24
"""Every half is a whole multiple of 2**-24, its least step."""
BEYOND_HALF = FixedType(43, 43 - HALF_FRACTION)
"""Holds every half exactly, and what stands for infinity: 2**17, twice of what half ends at."""
INFINITE = 2.0**17
SURPLUS = 12
"""Bits that a code of up to 64 has beyond those that a double holds, and one to keep."""


def fixed_from_half(halves: Floats, type_: FixedType) -> Codes:
    """float16 numbers as codes of `type_`."""
    values = np.asarray(halves).astype(np.float64)
    values = np.where(np.abs(values) < SMALLEST_HALF, 0.0, values)
    finite = np.nan_to_num(values, nan=0.0, posinf=INFINITE, neginf=-INFINITE)
    codes = type_.cast(np.ldexp(finite, HALF_FRACTION).astype(np.int64), BEYOND_HALF)
    codes[np.isposinf(values)] = type_.max_code
    codes[np.isneginf(values)] = type_.lowest_code
    return codes


def half_from_fixed(codes: Codes, source: FixedType) -> Floats:
    """Codes of `source`, of up to 64 bits, as float16 numbers."""
    doubles = np.ldexp(_sticky(np.asarray(codes)).astype(np.float64), -source.fraction)
    with np.errstate(over="ignore", under="ignore"):
        halves = doubles.astype(HALF.dtype)
    # float16 has fewer bits below 2**-14, which is what a number just below it would be rounded to
    size = np.abs(doubles)
    halves = np.where(size < SMALLEST_HALF, np.copysign(SMALLEST_HALF, doubles).astype(HALF.dtype), halves)
    zeros = np.copysign(np.zeros((), HALF.dtype), halves)
    return np.where(size < ROUNDED_TO_ZERO, zeros, halves)


def _sticky(codes: Codes) -> Codes:
    """`codes` as doubles hold them: of longer ones the lowest bits as one, set if any is, which rounds to
    fewer bits as they do.
    """
    long = np.abs(codes.astype(np.float64)) >= 2.0 ** (DOUBLE_MANTISSA_BITS - 1)
    if not long.any():
        return codes
    floor = codes >> SURPLUS
    shortened = (floor | ((floor << SURPLUS) != codes)) << SURPLUS
    return np.where(long, shortened, codes)
