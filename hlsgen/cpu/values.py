"""The numbers that layers compute with, as values: of codes in fixed point, as they are in floating point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import FixedType
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.leaky import Leaky

Floats = NDArray[np.float64]
Limits = tuple[float | None, float | None]


def weights_and_bias(layer: Conv2d) -> tuple[Floats, Floats]:
    """Weights [M, C / groups, KH, KW] and the bias [M], empty for none."""
    weights = np.asarray(layer.weights)
    return layer.weight_type.decode(weights), layer.bias_type.decode(np.asarray(layer.bias))


def slopes_of(layer: Leaky) -> Floats:
    """One slope, or one for each channel."""
    return np.asarray(layer.slope_type.decode(np.asarray(layer.slopes)), np.float64)


def limits_of(layer: Conv2d | Clamp) -> Limits:
    """The least and the largest result; None: there is no such limit."""
    type_ = layer.accumulator if isinstance(layer, Conv2d) else layer.source.type
    if not isinstance(type_, FixedType):
        return layer.low, layer.high
    codes = layer.clamp_codes if isinstance(layer, Conv2d) else layer.limit_codes
    low, high = (None if code is None else float(code) * type_.resolution for code in codes)
    return low, high
