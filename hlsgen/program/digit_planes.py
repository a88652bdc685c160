"""Integers in parts: sums of products that are too wide for a call become sums over calls that are not.

A code is the sum of its parts times powers of 2**bits. Weights have balanced parts, from -2**(bits-1) to
2**(bits-1), so that they are small; activations unsigned ones but for the last, which has the sign.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import FixedType


@dataclass(frozen=True, kw_only=True)
class Split:
    """How many parts weights and activations have, and the bits of a part (of all but the last)."""

    weight_bits: int
    weight_parts: int
    input_bits: int
    input_parts: int

    @property
    def calls(self) -> int:
        return self.weight_parts * self.input_parts


def balanced_parts(codes: NDArray[np.int64], bits: int) -> list[NDArray[np.int64]]:
    """Parts p with codes = sum of p[i] * 2**(bits * i), each from -2**(bits-1) to 2**(bits-1) - 1."""
    parts, left = [], codes.astype(np.int64)
    while True:
        low = ((left + (1 << (bits - 1))) & ((1 << bits) - 1)) - (1 << (bits - 1))
        parts.append(low)
        left = (left - low) >> bits
        if not left.any():
            return parts


def input_parts(type_: FixedType, bits: int) -> list[int]:
    """The largest magnitude of each part of an input's codes."""
    parts, low, high = [], type_.min_code, type_.max_code
    while low < -(1 << bits) or high >= 1 << bits:
        parts.append((1 << bits) - 1)
        low, high = low >> bits, high >> bits
    return [*parts, max(-low, high)]


def split_for(weights: NDArray[np.int64], type_: FixedType, limit: int) -> Split | None:
    """The fewest calls in which no sum is above `limit`, whatever the input; None: there are none.

    weights: [sums, terms], as they are summed up in a call.
    """
    best: Split | None = None
    widest = int(np.abs(weights).max(initial=1)).bit_length() + 1
    for weight_bits in range(widest, 1, -1):
        parts = balanced_parts(weights, weight_bits)
        most = max(int(np.abs(part).sum(axis=1).max()) for part in parts)
        for bits in range(type_.width, 0, -1):
            inputs = input_parts(type_, bits)
            found = Split(
                weight_bits=weight_bits, weight_parts=len(parts), input_bits=bits, input_parts=len(inputs)
            )
            if most * max(inputs) <= limit and (best is None or found.calls < best.calls):
                best = found
    return best
