"""Products by weights that never change as shifts and adders: where that can be, and a layer's adders."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import Problem
from hlsgen.base.fixed import FixedType
from hlsgen.layers.adder_graph import AdderGraph, Interval, adder_graph, digit_count
from hlsgen.layers.stage import Fold

if TYPE_CHECKING:
    from hlsgen.layers.conv2d import Conv2d

MOST_DIGITS = 8192
"""Signed digits of all weights up to which adders are made: some 4,000 of them, a line of C++ each."""
MOST_WEIGHT_BITS = 16
"""Shifts are at most so far."""
ADDERS_A_CYCLE = 2
"""Adders one behind the other between two registers, an estimate: a sum of 16 bits takes 1.0 to 1.7 ns."""


def weights_at_once(layer: Conv2d, fold: Fold) -> bool:
    """Whether each weight has hardware of its own: all channels are taken, and all results made, at once."""
    return (fold.simd, fold.pe, fold.rows) == (layer.read_shape[0], layer.out_channels, 0)


def has_adders(layer: Conv2d) -> bool:
    """Whether a layer's products can be adders: fixed-point weights of few digits."""
    if not isinstance(layer.input_type, FixedType) or not isinstance(layer.weight_type, FixedType):
        return False
    if (
        layer.weight_type.width > MOST_WEIGHT_BITS
        or layer.weights.size > MOST_DIGITS * layer.weight_type.width
    ):
        return False
    return 0 < digit_count(np.asarray(layer.weights)) <= MOST_DIGITS


def too_many_digits(layer: Conv2d) -> Problem:
    """What is to be said where `has_adders` is false."""
    if not isinstance(layer.input_type, FixedType) or not isinstance(layer.weight_type, FixedType):
        return layer.problem("shifts and adders are for products in fixed point", "multipliers: auto")
    digits = digit_count(np.asarray(layer.weights))
    if not digits:
        return layer.problem(
            "none of its weights is other than 0, so that there is nothing to add", "multipliers: auto"
        )
    message = (
        f"its weights have {digits:,} signed digits, and adders are made of up to "
        f"{MOST_DIGITS:,}, of weights of up to {MOST_WEIGHT_BITS} bits"
    )
    return layer.problem(message, "multipliers: auto for it, or weights of fewer bits")


def adders_of(layer: Conv2d) -> AdderGraph:
    """The sums of a window's products by the layer's weights: inputs by group, channel, row and column."""
    assert isinstance(layer.input_type, FixedType)
    weights = np.asarray(layer.weights).reshape(layer.groups, layer.out_channels // layer.groups, -1)
    ends = layer.input_type.min_code, layer.input_type.max_code
    return _adders_of(weights.tobytes(), weights.dtype.str, weights.shape, ends)


# searches ask for it with every folding, and for copies of a layer
@lru_cache(maxsize=128)
def _adders_of(data: bytes, dtype: str, shape: tuple[int, int, int], ends: tuple[int, int]) -> AdderGraph:
    groups, members, terms = shape
    weights = np.frombuffer(data, dtype).reshape(shape)
    matrix: NDArray[np.int64] = np.zeros((groups * members, groups * terms), np.int64)
    for group in range(groups):
        rows, columns = (
            slice(group * members, (group + 1) * members),
            slice(group * terms, (group + 1) * terms),
        )
        matrix[rows, columns] = weights[group]
    return adder_graph(matrix, (Interval(*ends),) * (groups * terms))
