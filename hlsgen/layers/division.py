"""Exact division of integers by constants, and averages that are rounded once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.base.fixed import Codes, FixedType, Rounding, tight_accumulator

FITS_INT64 = 1 << 62
"""Integers below this magnitude may be doubled in int64."""


def exact_reciprocal(count: int, bits: int, least_shift: int = 0) -> tuple[int, int]:
    """(multiplier, shift) with floor(n / count) = n * multiplier >> shift for every 0 <= n < 2**bits.

    The shift is the least that does, but at least `least_shift`: so several counts can share one.
    For a negative n, floor(n / count) = ~floor(~n / count), and 0 <= ~n.

    Proof (Granlund and Montgomery, Division by Invariant Integers using Multiplication, PLDI 1994): let
    multiplier = ceil(2**shift / count) and excess = multiplier * count - 2**shift, so 0 <= excess < count.
    Then n * multiplier / 2**shift = n / count + n * excess / (count * 2**shift). The fraction of n / count is
    at most (count - 1) / count, so the floor stays the same if the second term is below 1 / count, that is
    if n * excess < 2**shift. It suffices that (2**bits - 1) * excess < 2**shift: this is searched for. At
    shift = bits + ceil(log2(count)) it holds, since excess < count. If it holds at a shift it holds at the
    next, where the excess is at most twice as large: so the least shift and all above it serve.
    """
    assert count >= 1 and bits >= 0
    most = (1 << bits) - 1
    shift = least_shift
    while True:
        multiplier = -(-(1 << shift) // count)
        if most * (multiplier * count - (1 << shift)) < 1 << shift:
            return multiplier, shift
        shift += 1


@dataclass(frozen=True, kw_only=True)
class Averaging:
    """Sums divided by counts and cast to `result`, exactly as if the rational number were cast.

    A sum is an integer from `low` to `high`, a code of `fraction` fraction bits; `counts` are the divisors
    that occur, ascending. In hardware, for a sum s and the i-th count:

        n = s << scale
        sign = n < 0 ? -1 : 0                          (all ones)
        q = ((n ^ sign) * multipliers[i] >> shift) ^ sign      (= floor(n / count))
        sticky = q * count != n
        result = the code 2 * q + sticky of quotient_type, cast

    q has a fraction bit more than the result, or more: the real quotient lies at q or strictly between q and
    q + 1, so at the sticky code or on the same side of every number that any rounding mode decides by.
    """

    counts: tuple[int, ...]
    low: int
    high: int
    fraction: int
    result: FixedType

    @property
    def scale(self) -> int:
        """Bits that a sum is shifted up by before the division."""
        return max(0, self.result.fraction + 1 - self.fraction)

    @property
    def bits(self) -> int:
        """Bits of the largest magnitude that is multiplied, n or ~n."""
        return max(self.high, ~self.low).bit_length() + self.scale

    @cached_property
    def shift(self) -> int:
        """The shift that all reciprocals share."""
        return max(exact_reciprocal(count, self.bits)[1] for count in self.counts)

    @cached_property
    def multipliers(self) -> tuple[int, ...]:
        """The multipliers, of the reciprocal of each of `counts`."""
        return tuple(exact_reciprocal(count, self.bits, self.shift)[0] for count in self.counts)

    @cached_property
    def quotient_type(self) -> FixedType:
        """The type of 2 * q + sticky. Raises ValueError above 128 bits."""
        least = (self.low << self.scale) // self.counts[0]
        most = (self.high << self.scale) // self.counts[0]
        return tight_accumulator(2 * least, 2 * most + 1, self.fraction + self.scale + 1)

    def golden(self, sums: Codes, counts: ArrayLike) -> Codes:
        """Codes of `result` for each sum and its count (broadcast)."""
        wide = max(self.high, ~self.low) << self.scale >= FITS_INT64
        kind = object if wide else np.int64
        dividends = sums.astype(kind) << self.scale
        divisors = np.asarray(counts).astype(kind)
        quotients = dividends // divisors
        sticky = (quotients * divisors != dividends).astype(kind)
        return self.result.cast(2 * quotients + sticky, self.quotient_type)


def average_type(source: FixedType, counts: tuple[int, ...], most: int) -> FixedType:
    """The type of averages of up to `most` codes of `source` over any of `counts`.

    It is exact if all counts are powers of two; else it has 8 fraction bits more than `source`, rounded.
    """
    exact = all(count & (count - 1) == 0 for count in counts)
    finer = max(count.bit_length() - 1 for count in counts) if exact else 8
    # More than count codes are summed only where a divisor is set: then averages leave the source's range.
    growth = max(0, (-(-most // counts[0]) - 1).bit_length())
    return FixedType(source.width + growth + finer, source.integer + growth, source.signed, Rounding.RND)
