"""Matrix products whose bits do not depend on the machine.

A BLAS adds in the order that suits the processor, with or without fused multiply-adds, so that its results
differ in the last bits from one machine to the next. Here the factors are cut into slices of so few bits that
every sum of their products is exact in float64, in any order; the BLAS does the work all the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MatrixProduct = Callable[[Floats, Floats], Floats]

BLOCK_ELEMENTS = 1 << 22
"""Elements of `left` that are cut into slices at a time."""
SIGNIFICANT = 53
"""Bits of a float64."""


def exact_product(left: Floats, right: Floats) -> Floats:
    """[M, K] x [K, N] -> [M, N]. The same bits on every machine.

    Of each row of `left` and column of `right` the bits count that are 2**-40 of its largest element or more,
    for K up to 2**13 (2**-32 up to 2**21): the error is far below that of float32. Short numbers, of which no
    bits are left out, have their exact sum if it fits a float64.
    """
    inner = left.shape[1]
    bits = (SIGNIFICANT - max(inner - 1, 0).bit_length()) // 2
    columns, column_exponents = _slices(right, bits, axis=0)
    found = np.empty((left.shape[0], right.shape[1]))
    step = max(1, BLOCK_ELEMENTS // max(1, inner))  # of a large `left` never all slices at once
    for first in range(0, len(left), step):
        rows, row_exponents = _slices(left[first : first + step], bits, axis=1)
        total = np.zeros((len(rows[0]), right.shape[1]))
        for order in (2, 1, 0):  # the smallest first
            same = [rows[i] @ columns[order - i] for i in range(2) if 0 <= order - i < 2]
            total = sum(same[1:], same[0]) + total * 2.0**-bits
        np.ldexp(total, row_exponents + column_exponents - 2 * bits, out=found[first : first + step])
    return found


def _slices(values: Floats, bits: int, axis: int) -> tuple[list[Floats], NDArray[np.int32]]:
    """Two slices of whole numbers up to 2**bits, the second times 2**-bits; and the exponents along `axis`.

    values = (first + second * 2**-bits) * 2**(exponent - bits), but for what is below the second.
    """
    exponents = np.frexp(np.abs(values).max(axis=axis, keepdims=True, initial=0.0))[1]
    scaled = np.ldexp(values, bits - exponents)
    first = np.rint(scaled)
    return [first, np.rint((scaled - first) * 2.0**bits)], exponents
