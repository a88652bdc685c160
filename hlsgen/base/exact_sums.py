"""Matrix products whose bits do not depend on the machine.

A BLAS adds in the order that suits the processor, with or without fused multiply-adds, so that its results
differ in the last bits from one machine to the next. Here the factors are cut into slices of so few bits that
every sum of their products is exact in float64, in any order; the BLAS does the work all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
MatrixProduct = Callable[[Any, Any], NDArray[np.floating[Any]]]

BLOCK_ELEMENTS = 1 << 22
"""Elements of `left` that are cut into slices at a time."""
CACHED_ELEMENTS = 1 << 14
"""Of these, few enough for a cache, all steps of the cutting are taken before the next ones are read."""
SIGNIFICANT = 53
"""Bits of a float64."""
LONGEST_SINGLE = 1 << 16
"""Terms whose squares float32 sums up to one part in 2**8, however it adds."""
EXACT_SINGLE = (1 << 24) * (1 - 2.0**-7)
"""Whole numbers below 2**24 are exact in float32; less what the norms may be wrong by."""
PART_ROOM = 1.2
"""Parts are not quite equal: each gets so much room."""
MOST_PARTS = 8
"""For more parts float64 is as fast."""


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
    low = values.min(axis=axis, keepdims=True, initial=0.0)
    most = np.maximum(values.max(axis=axis, keepdims=True, initial=0.0), -low)
    exponents = np.frexp(most)[1]
    with np.errstate(over="ignore"):
        powers = np.ldexp(1.0, bits - exponents)
    quick = bool(np.isfinite(powers).all())  # of numbers next to 0 ldexp alone scales
    first, second = np.empty(values.shape), np.empty(values.shape)
    step = max(1, CACHED_ELEMENTS // max(1, values.shape[1]))
    for top in range(0, len(values), step):
        rows = slice(top, top + step)
        along = rows if axis == 1 else slice(None)
        whole, rest = first[rows], second[rows]
        if quick:
            np.multiply(values[rows], powers[along], out=rest)
        else:
            np.ldexp(values[rows], bits - exponents[along], out=rest)
        np.rint(rest, out=whole)
        rest -= whole
        rest *= 2.0**bits
        np.rint(rest, out=rest)
    return [first, second], exponents


def whole_product(left: Singles, right: Singles) -> NDArray[np.floating[Any]]:
    """[M, K] x [K, N] -> [M, N] of whole numbers, exact if all sums are below 2**53.

    In float32, which takes half the time, in as many parts of K as that takes. By Cauchy and Schwarz no sum
    of some products of a row and a column, in any order, is beyond the product of their Euclidean norms.
    """
    inner = left.shape[1]
    if left.dtype != np.float32 or inner > LONGEST_SINGLE:
        return left.astype(np.float64, copy=False) @ right.astype(np.float64, copy=False)
    count = math.ceil(PART_ROOM * _largest_sum(left, right) / EXACT_SINGLE)
    if count <= 1:
        return left @ right
    if count > MOST_PARTS:
        return left.astype(np.float64) @ right.astype(np.float64)
    total = np.zeros((len(left), right.shape[1]))
    step = -(-inner // count)
    for first in range(0, inner, step):
        columns, rows = left[:, first : first + step], right[first : first + step]
        if _largest_sum(columns, rows) < EXACT_SINGLE:
            total += columns @ rows
        else:
            total += columns.astype(np.float64) @ rows.astype(np.float64)
    return total


def _largest_sum(left: Singles, right: Singles) -> float:
    """What no sum of products of a row of `left` and a column of `right` is beyond, but for rounding."""
    rows = np.einsum("mk,mk->m", left, left)
    columns = np.einsum("kn,kn->n", right, right)
    return math.sqrt(float(rows.max(initial=0.0)) * float(columns.max(initial=0.0)))
