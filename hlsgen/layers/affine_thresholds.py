"""An affine layer of few results as comparisons: no product, no sum, no rounding, no limits.

A scale that is not negative, its rounding and its limits keep the order of their inputs, so that each result
begins at some code of the channel's input: that is its threshold, found by halving the layer's own golden.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hlsgen.base.coded import Doubles
from hlsgen.base.fixed import Codes, FixedType, Overflow
from hlsgen.layers.base import Tensor
from hlsgen.layers.thresholds import LITERAL_BITS, Thresholds, ThresholdsStage

if TYPE_CHECKING:
    from hlsgen.layers.affine import Affine

MOST_RESULT_BITS = 4
"""Bits of a result up to which thresholds are looked at: 15 of them a channel."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AffineThresholds(ThresholdsStage):
    """The stage of an affine layer that compares instead of multiplying."""

    @property
    def chooses_multipliers(self) -> bool:
        return True


def rises(layer: Affine) -> bool:
    """Whether larger inputs have results that are as large or larger, of few bits, in every channel."""
    source, result = layer.input_type, layer.result_type
    if not isinstance(source, FixedType) or not isinstance(result, FixedType) or not layer.weights.size:
        return False
    few = result.width <= MOST_RESULT_BITS and source.width <= LITERAL_BITS // 2
    limited = result.overflow in (Overflow.SAT, Overflow.SAT_SYM)
    return few and limited and int(np.min(layer.weights)) >= 0 and layer.accumulator_suffices()


def thresholds_of(layer: Affine) -> Thresholds | None:
    """What gives the same for every input; None: it does not rise, or has a single result."""
    if not rises(layer):
        return None
    source, result = layer.input_type, layer.result_type
    assert isinstance(source, FixedType) and isinstance(result, FixedType)
    lone = replace(layer, in_shape=(layer.out_channels, 1, 1))
    first = int(_results(lone, source.min_code).min())
    last = int(_results(lone, source.max_code).max())
    if first == last:
        return None
    rows = [_first_inputs(lone, wanted, source) for wanted in range(first + 1, last + 1)]
    return Thresholds(
        name=layer.name,
        inputs=layer.inputs,
        place=layer.place,
        source=Tensor(shape=layer.in_shape, type=source),
        result_type=result,
        thresholds=np.stack(rows, axis=1),
        first=first * result.resolution,
        step=result.resolution,
    )


def _first_inputs(layer: Affine, wanted: int, source: FixedType) -> Doubles:
    """[C] the least input of each channel whose result is `wanted` or above; infinite: there is none."""
    low = np.full(layer.out_channels, source.min_code, np.int64)
    high = np.full(layer.out_channels, source.max_code + 1, np.int64)
    while (low < high).any():
        middle = (low + high) // 2  # below the end, so that it is a code, but where both have met
        reached = _results(layer, np.minimum(middle, source.max_code)) >= wanted
        open_ = low < high
        high = np.where(open_ & reached, middle, high)
        low = np.where(open_ & ~reached, middle + 1, low)
    values = np.ldexp(low.astype(np.float64), -source.fraction)
    return np.where(low > source.max_code, np.inf, values)


def _results(layer: Affine, codes: Codes | int) -> Codes:
    """[C] the result of each channel for its code, by the layer's golden."""
    frame = np.broadcast_to(np.asarray(codes, np.int64).reshape(-1, 1, 1), (layer.out_channels, 1, 1))
    found: Codes = layer.golden(frame[None])[0, :, 0, 0]
    return found
