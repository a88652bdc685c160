"""What layers in float32 make of a window. The rules of windows.py for what only moves values hold too."""

from __future__ import annotations

import numpy as np

from hlsgen.base.fixed import Codes
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.dense import Dense
from hlsgen.layers.pool import Pool
from hlsgen.program.float_epilogue import FloatEpilogue
from hlsgen.program.tasks import Window


def float_weights(layer: Conv2d) -> tuple[Codes, tuple[int, int]]:
    """Weights [M, C / groups, KH, KW] and the kernel: that of a dense layer is its image."""
    weights = np.asarray(layer.weights, np.float32)
    if not isinstance(layer, Dense):
        return weights, layer.kernel
    channels, height, width = layer.in_shape
    return weights.reshape(-1, height, width, channels).transpose(0, 3, 1, 2), (height, width)


def pooled_by(layer: Pool, window: Window, count: int) -> tuple[Codes | None, FloatEpilogue]:
    """Weights of a pool's sums, None of largest values, and what is done to them. count: of an average."""
    if layer.function == "max":
        return None, FloatEpilogue()
    ones = np.ones((layer.source.shape[0], 1, *window.kernel), np.float32)
    if layer.function == "sum":
        return ones, FloatEpilogue()
    return ones, FloatEpilogue().averaged(count)
