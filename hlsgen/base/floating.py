"""Floating point: float32, and half, which is IEEE 754's binary16.

half is what the vendor's half cores compute, AMD's Floating-Point Operator (PG060): every operation is
rounded to nearest, ties to even, and there are no subnormal numbers. An operand below 2**-14 counts as zero
with its sign (AMD says so of the operator in PG109, "Denormalized Numbers"), and so does a result. Of a
result just below 2**-14 no page says whether it is rounded before it is looked at; here it is, as a
normalised significand is: from 2**-14 - 2**-26 on it becomes 2**-14.

Golden holds half numbers in float32 arrays between operations. A float32 operation on them followed by one
rounding to half is the half operation, rounded once: products of two 11-bit significands are exact in 24
bits, and a sum that is rounded to 24 >= 2 * 11 + 2 bits and then to 11 is the sum rounded to 11 bits
(Figueroa, "When is double rounding innocuous?", 1995). Below 2**-14, where half has fewer bits, sums are
whole multiples of 2**-24 and so exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[Any]
"""float32 values, or float16 ones where they are the codes of a half tensor."""

HALF_BITS = 16
FLOAT_BITS = 32
SMALLEST_HALF = 2.0**-14
"""The least positive half number that operations know."""
ROUNDED_TO_ZERO = 2.0**-14 - 2.0**-26
"""What is smaller rounds to a number below SMALLEST_HALF, and so becomes zero."""
HALF_NAN = 0x7E00
"""The one NaN that operations give, as bits."""
BLOCK = 1 << 15


@dataclass(frozen=True)
class FloatType:
    """IEEE single precision, C++ `float`, whose codes are float32 values; or, with 16 bits, `half`, whose
    codes are float16 values without subnormal ones.
    """

    container_bits: int = FLOAT_BITS

    def __post_init__(self) -> None:
        if self.container_bits not in (HALF_BITS, FLOAT_BITS):
            raise ValueError(f"float{self.container_bits} is not supported; use float32 or half")

    @property
    def is_half(self) -> bool:
        return self.container_bits == HALF_BITS

    @property
    def width(self) -> int:
        """Bits of an element in a stream."""
        return self.container_bits

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float16 if self.is_half else np.float32)

    @property
    def largest(self) -> float:
        """The largest finite number."""
        return float(np.finfo(self.dtype).max)

    @property
    def cpp(self) -> str:
        return "half" if self.is_half else "float"

    def __str__(self) -> str:
        return "half" if self.is_half else "float32"

    def literal(self, value: float) -> str:
        """The nearest number of the type as a C++ literal of type float that stands for exactly it."""
        return f"{np.float32(self.nearest(value))!s}f"

    def nearest(self, value: float) -> float:
        """The number of the type that is nearest to a finite one."""
        return float(self.rounded(np.asarray(value, np.float32)))

    def encode(self, values: ArrayLike) -> Floats:
        """The nearest numbers. Raises ValueError on NaN, inf and values beyond the type's range."""
        given = np.asarray(values)
        # of many weights in float32 no other array is made
        doubles = given if given.dtype == np.float32 else np.asarray(given, np.float64)
        flat = doubles.reshape(-1)
        if not all(np.isfinite(flat[first : first + BLOCK]).all() for first in range(0, flat.size, BLOCK)):
            raise ValueError(f"NaN and infinity are no {self} values")
        with np.errstate(over="ignore", under="ignore"):
            floats = doubles.astype(self.dtype)
        if not np.isfinite(floats).all():
            raise ValueError(f"a value exceeds the range of {self} (about {self.largest:.2g})")
        return _without_subnormals(floats, doubles) if self.is_half else floats

    def decode(self, codes: Floats) -> NDArray[np.float64]:
        return np.asarray(codes).astype(np.float64)

    def rounded(self, values: Floats) -> Floats:
        """float32 results of an operation on numbers of this type as such numbers, float32 again."""
        if not self.is_half:
            return values
        with np.errstate(over="ignore", under="ignore"):
            halves = np.asarray(values, np.float32).astype(np.float16).astype(np.float32)
        return _without_subnormals(halves, values)

    def stored(self, values: Floats) -> Floats:
        """float32 numbers of this type as its codes; of NaN there is one."""
        if not self.is_half:
            return values
        codes: Floats = np.asarray(values).astype(np.float16)
        unknown = np.isnan(codes)
        nan = np.array(HALF_NAN, np.uint16).view(np.float16)
        return np.where(unknown, nan, codes) if unknown.any() else codes


FLOAT32 = FloatType()
HALF = FloatType(HALF_BITS)


def _without_subnormals(rounded: Floats, values: Floats) -> Floats:
    """`rounded`, with zeros of the same sign for what is too small of the `values` that it comes from."""
    small = np.abs(values) < ROUNDED_TO_ZERO
    zeros = np.copysign(np.zeros((), rounded.dtype), rounded)
    return np.where(small, zeros, rounded) if small.any() else rounded
