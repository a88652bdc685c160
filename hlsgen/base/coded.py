"""Real numbers as integer codes: exactly in the narrowest type, or to so many bits; and types of given codes.

For what a design computes with though nobody gave it a type: quantised weights and their scales, biases,
multipliers, the values of a step function. Frontends read what a framework's own quantisers say, and make
numbers and types of it here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hlsgen.base.fixed import Codes, FixedType, Overflow, Rounding

Doubles = NDArray[np.float64]

SIGNIFICANT_BITS = 24
"""Bits of the largest of numbers that have no exact type; with a sign they fit a port of a DSP slice."""
SIGN = FixedType(1, 1, True, Rounding.TRN, Overflow.SAT)
"""The type of a sign: -1 for what is below 0, else 0, so that twice that and one more is -1 or 1."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Coded:
    """Numbers as codes of `type`, times `scale`, which broadcasts to them; None: 1."""

    codes: Codes
    type: FixedType
    scale: Doubles | None = None

    @property
    def values(self) -> Doubles:
        """The numbers, in float64."""
        exact = self.type.decode(self.codes)
        return exact if self.scale is None else exact * self.scale


# numbers -> codes


def exactly(values: ArrayLike, *, either_sign: bool = False) -> Coded:
    """The codes of values in the narrowest type that holds them. Raises ValueError: it has over 128 bits.

    either_sign: as `held`.
    """
    type_ = narrowest(values, either_sign=either_sign)
    return Coded(codes=type_.encode(values), type=type_)


def nearly(
    values: ArrayLike,
    bits: int = SIGNIFICANT_BITS,
    *,
    most_fraction: int | None = None,
    either_sign: bool = False,
) -> Coded:
    """The codes of values exactly if `bits` bits and a sign hold them, else to the nearest of such codes.

    The error is at most 2**-bits of the largest code's value. most_fraction: finer fractions than that are
    rounded. either_sign: as `held`.
    """
    numbers = np.asarray(values, np.float64)
    largest = float(np.abs(numbers).max(initial=0.0))
    fraction = bits - math.frexp(largest)[1]
    if np.rint(np.ldexp(largest, fraction)) == 1 << bits:  # rounded up to a power of two
        fraction -= 1
    if most_fraction is not None:
        fraction = min(fraction, most_fraction)
    rounded = np.ldexp(np.rint(np.ldexp(numbers, fraction)), -fraction)
    return exactly(rounded, either_sign=either_sign)


def nearly_each(values: ArrayLike, bits: int, finest: int, *, either_sign: bool = False) -> Coded:
    """As `nearly`, with `bits` significant bits for each number, not for the largest alone.

    finest: fraction bits beyond which a small number keeps no more of its bits.
    """
    numbers = np.asarray(values, np.float64)
    coarse = nearly(numbers, bits, either_sign=either_sign)
    small = np.abs(numbers[numbers != 0]).min(initial=math.inf)
    fraction = min(finest, bits - math.frexp(small)[1]) if small < math.inf else finest
    if fraction <= bits - math.frexp(float(np.abs(numbers).max(initial=0.0)))[1]:
        return coarse
    return exactly(np.ldexp(np.rint(np.ldexp(numbers, fraction)), -fraction), either_sign=either_sign)


# types


def narrowest(values: ArrayLike, *, either_sign: bool = False) -> FixedType:
    """The narrowest type that holds each value exactly. Raises ValueError: it has over 128 bits."""
    numbers, fraction = np.asarray(values, np.float64), fraction_bits(values)
    ends = numbers.min(initial=0.0), numbers.max(initial=0.0)
    codes = [int(Fraction(float(end)) * Fraction(2) ** fraction) for end in ends]
    return held(np.array(codes, object), fraction, either_sign=either_sign)


def held(codes: Codes, fraction: int, *, either_sign: bool = False) -> FixedType:
    """The narrowest type with these codes; unsigned if none is negative.

    either_sign: the type is signed and holds the negative of each code too, so that it depends on the sizes
    of the numbers alone: a network trained further, in which a factor changes its sign, keeps its types.
    """
    low, high = int(codes.min(initial=0)), int(codes.max(initial=0))
    if either_sign:
        low, high = -max(high, -low), max(high, -low)
    type_ = code_type(low, high, fraction)
    return FixedType(type_.width, type_.integer, either_sign or type_.signed)


def code_type(low: int, high: int, fraction: int, rounding: Rounding = Rounding.RND_CONV) -> FixedType:
    """The narrowest saturating type with every code from `low` to `high`; symmetric: without one code."""
    width = max((code if code >= 0 else ~code).bit_length() for code in (low, high)) + (low < 0)
    width = max(1, width)
    symmetric = low < 0 and low == -high and width > 1 and high == (1 << (width - 1)) - 1
    overflow = Overflow.SAT_SYM if symmetric else Overflow.SAT
    return FixedType(width, width - fraction, low < 0, rounding, overflow)


def value_bits(least: float, most: float, fraction: int) -> int:
    """Bits of a type with `fraction` that reaches from `least` to `most`."""
    largest = max(abs(least), abs(most))
    return (math.frexp(largest)[1] if largest else 0) + fraction + (least < 0)


# bits of numbers


def power_of_two(values: Doubles) -> NDArray[np.int64] | None:
    """The exponents of values that are all powers of two; None: some is not, or is negative."""
    mantissas, exponents = np.frexp(values)
    return exponents.astype(np.int64) - 1 if np.all(mantissas == 0.5) else None


def fraction_bits(values: ArrayLike) -> int:
    """The fewest fraction bits, perhaps negative, with which all values are whole codes; 0 if all are 0."""
    numbers = np.asarray(values, np.float64)
    mantissas, exponents = np.frexp(numbers[numbers != 0])
    if not mantissas.size:
        return 0
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return int((53 - exponents - zeros).max())


def on_grid(values: ArrayLike, fraction: int) -> bool:
    """Whether types with so many fraction bits have all the values, if their range has."""
    with np.errstate(over="ignore"):
        steps = np.ldexp(np.asarray(values, np.float64), fraction)
    return bool(np.isfinite(values).all() and (steps == np.rint(steps)).all())


def trailing_zeros(codes: Codes) -> int:
    """The low bits that are zero in all codes; 0 if all bits are."""
    every = int(np.bitwise_or.reduce(np.abs(codes)))
    return (every & -every).bit_length() - 1 if every else 0


def by_filter(scales: Doubles) -> Doubles | None:
    """The scale of each filter [M], of one for each weight [M, ...]; None: they differ within a filter.

    A weight of scale 0 is 0 under any scale.
    """
    flat = scales.reshape(len(scales), -1)
    largest = np.asarray(flat.max(axis=1))
    return largest if ((flat == 0) | (flat == largest[:, None])).all() else None
