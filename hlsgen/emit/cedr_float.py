"""Convolutions and dense layers in float32 as calls of DASH_GEMM_flt.

CEDR's public API has no convolution of floats (DASH_CONV_2D_int reads 16-bit integers), but it multiplies
matrices of complex floats. A layer is one such product for each group: a row for each pixel of the result, a
column for each two filters, whose weights are its real and its imaginary part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.floating import FLOAT32
from hlsgen.emit.cedr_layers import geometry_of
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.dense import Dense

TOLERANCE_BITS = 14
"""A result may differ from golden by its largest value / 2^14: each element sums in an order of its own."""


@dataclass(frozen=True, kw_only=True)
class FloatLayer:
    """A convolution or dense layer in float32 as calls."""

    layer: Conv2d

    @property
    def conv_calls(self) -> int:
        return 0

    @property
    def zip_calls(self) -> int:
        return 0

    @property
    def gemm_calls(self) -> int:
        """Calls of DASH_GEMM_flt a frame."""
        return self.layer.groups

    @property
    def gemm_products(self) -> int:
        """Complex products of a call."""
        _, rows, columns = self.layer.output_shape
        terms, pairs = self.matrices.shape[1:3]
        return int(rows * columns * terms * pairs)

    @property
    def filter_weights(self) -> NDArray[np.float32]:
        """[M, C / groups, KH, KW]; of a dense layer the kernel is as large as its image."""
        layer = self.layer
        weights = np.asarray(layer.weights, np.float32)
        if not isinstance(layer, Dense):
            return weights
        channels, height, width = layer.in_shape  # its weights are in the order of a stream
        return weights.reshape(-1, height, width, channels).transpose(0, 3, 1, 2)

    @property
    def matrices(self) -> NDArray[np.float32]:
        """[groups, terms, pairs of filters, 2]: the last pair has a zero for a filter that it lacks."""
        weights, groups = self.filter_weights, self.layer.groups
        of_groups = weights.reshape(groups, len(weights) // groups, -1).transpose(0, 2, 1)
        even = np.pad(of_groups, ((0, 0), (0, 0), (0, of_groups.shape[2] % 2)))
        return np.ascontiguousarray(even.reshape(*even.shape[:2], -1, 2))

    @property
    def biases(self) -> NDArray[np.float32]:
        """[M]; zeros for a layer without biases."""
        bias = np.asarray(self.layer.bias, np.float32)
        return bias if bias.size else np.zeros(self.layer.out_channels, np.float32)

    @property
    def numbers(self) -> dict[str, Any]:
        """What the templates name of the layer."""
        layer = self.layer
        kernel = self.filter_weights.shape[2:]
        return {
            **geometry_of(layer),
            "function": "float_convolution",
            "kernel_h": kernel[0],
            "kernel_w": kernel[1],
            "dilation_h": layer.dilation[0],
            "dilation_w": layer.dilation[1],
            "low": None if layer.low is None else float(np.float32(layer.low)),
            "high": None if layer.high is None else float(np.float32(layer.high)),
            "calls": self.gemm_calls,
        }


def float_layer(layer: Layer) -> FloatLayer | None:
    """The layer as calls; None: it is no convolution or dense layer, or not in float32 throughout."""
    if not isinstance(layer, Conv2d):
        return None
    types = (layer.input_type, layer.weight_type, layer.bias_type, layer.accumulator, layer.result_type)
    return FloatLayer(layer=layer) if all(one == FLOAT32 for one in types) else None
