"""Sums of windows times weights as matrix products, in blocks that bound the memory of large layers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.exact_sums import MatrixProduct, whole_product
from hlsgen.base.fixed import Codes

BLOCK_ELEMENTS = 1 << 22
"""Products or window elements that golden holds at a time: bounds its memory for large layers."""


def grouped(windows: Codes, weights: Codes, groups: int, channels: slice) -> Iterator[tuple[Codes, Codes]]:
    """Windows [frames, C', OH, OW, KH, KW] and weights [M', C', KH, KW] of `channels` of each group."""
    size, members = weights.shape[1], weights.shape[0] // groups
    for group in range(groups):
        window = windows[:, group * size : (group + 1) * size][:, channels]
        yield window, weights[group * members : (group + 1) * members, channels]


def by_matrix(
    windows: Codes, weights: Codes, groups: int, channels: slice, multiply: MatrixProduct = whole_product
) -> NDArray[np.float64]:
    """Windows [frames, C, OH, OW, KH, KW] x weights [M, C / groups, KH, KW] -> [frames, M, OH, OW].

    In float64, over `channels` of each group; depthwise by one product a tap. multiply: what makes the
    products; the default is for whole numbers whose sums are exact.
    """
    if groups > 1 and weights.shape[1] == 1:
        return _depthwise(windows, weights, groups)
    parts = [_product(*pair, multiply) for pair in grouped(windows, weights, groups, channels)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _depthwise(windows: Codes, weights: Codes, channels: int) -> NDArray[np.float64]:
    frames, _, rows, columns, high, wide = windows.shape
    members = weights.shape[0] // channels
    taps = weights.reshape(channels, members, high, wide).astype(np.float64)
    out = np.zeros((frames, channels, members, rows, columns))
    for row, column in product(range(high), range(wide)):
        tap = windows[..., row, column].astype(np.float64)
        out += tap[:, :, None] * taps[None, :, :, row, column, None, None]
    return out.reshape(frames, channels * members, rows, columns)


def _product(windows: Codes, weights: Codes, multiply: MatrixProduct) -> NDArray[np.float64]:
    """[frames, C, OH, OW, KH, KW], of floats, x [M, C, KH, KW] -> [frames, M, OH, OW], by matrix products."""
    matrix = weights.reshape(weights.shape[0], -1)
    frames, _, rows, columns, _, _ = windows.shape
    out = np.empty((frames, weights.shape[0], rows, columns))
    step = max(1, BLOCK_ELEMENTS // (matrix.shape[1] * columns))
    # of a large layer's weights never all in floating point at once
    filters = max(1, BLOCK_ELEMENTS // matrix.shape[1])
    # of small images several frames at a time: the weights are read once for all of them
    together = max(1, step // rows)
    for first in range(0, len(matrix), filters):
        part = matrix[first : first + filters].astype(windows.dtype, copy=False)
        for frame, top in product(range(0, frames, together), range(0, rows, step)):
            block = windows[frame : frame + together, :, top : top + step]
            some, _, lines = block.shape[:3]
            fields = block.transpose(1, 4, 5, 0, 2, 3).reshape(matrix.shape[1], -1)
            sums = multiply(part, fields).reshape(len(part), some, lines, columns)
            out[frame : frame + some, first : first + filters, top : top + lines] = sums.transpose(1, 0, 2, 3)
    return out
