"""Which layers of a network become calls of the DASH API that CEDR schedules, and with which numbers.

DASH_CONV_2D_int takes one channel of 16-bit integers and a square mask of floats, stride 1, results as large
as the image, and saturates sums at 16 bits; DASH_GEMM_flt and DASH_ZIP_flt take complex floats. Integers are
exact in these as long as no sum of a convolution is beyond 16 bits and none of the others beyond 24: codes
and weights are split until that holds for these weights and any input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import FixedType, Overflow
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.dense import Dense
from hlsgen.program.digit_planes import Split, balanced_parts, split_for

CONV_LIMIT = (1 << 15) - 1
"""The largest sum that DASH_CONV_2D_int gives back."""
FLOAT_LIMIT = 1 << 24
"""Integers to here, and so all sums of them to here in whatever order, are exact in float32."""
INPUT_BITS = 15
"""Magnitude of what DASH_CONV_2D_int reads."""
MOST_BITS = 62
"""Of sums in the application's own 64-bit integers, shifted to the fraction of the result."""


@dataclass(frozen=True, kw_only=True)
class CalledLayer:
    """A convolution or dense layer as calls. split: of its codes. side: of a mask; 0: of a dense layer.

    zip: whether a channel's sums may be added by DASH_ZIP_flt.
    """

    layer: Conv2d
    split: Split
    side: int
    zip: bool

    @property
    def conv_calls(self) -> int:
        """Calls of DASH_CONV_2D_int a frame."""
        layer = self.layer
        return layer.out_channels * layer.group_channels * self.split.calls if self.side else 0

    @property
    def zip_calls(self) -> int:
        return self.conv_calls if self.zip else 0

    @property
    def gemm_calls(self) -> int:
        return 0 if self.side else 1

    @property
    def gemm_products(self) -> int:
        """Complex products of the call of DASH_GEMM_flt."""
        columns = (self.layer.out_channels * self.split.weight_parts + 1) // 2
        return self.layer.group_channels * columns * self.split.input_parts

    @property
    def padded(self) -> tuple[int, int]:
        """Rows and columns of the image that calls get: the layer's padded one, and as much as windows take.

        A mask is as large as the larger side of the kernel, and must not lack pixels on the other.
        """
        layer = self.layer
        _, height, width = layer.read_shape
        top, left, bottom, right = layer.padding
        rows = (layer.output_shape[1] - 1) * layer.stride[0] + self.side
        columns = (layer.output_shape[2] - 1) * layer.stride[1] + self.side
        return max(height + top + bottom, rows), max(width + left + right, columns)

    @property
    def pixels(self) -> int:
        """Of the image of a call of DASH_CONV_2D_int."""
        return self.padded[0] * self.padded[1]


def called_layer(layer: Layer) -> CalledLayer | None:
    """The layer as calls; None: it is no convolution or dense layer, or no exact calls do it."""
    if not isinstance(layer, Conv2d) or layer.is_float or not _fits(layer):
        return None
    assert isinstance(layer.input_type, FixedType)
    weights = layer.weights.astype(np.int64)
    if isinstance(layer, Dense):
        split = split_for(weights.reshape(layer.out_channels, -1), layer.input_type, FLOAT_LIMIT)
        return None if split is None else CalledLayer(layer=layer, split=split, side=0, zip=False)
    of_a_call = weights.reshape(layer.out_channels * layer.group_channels, -1)
    split = split_for(of_a_call, layer.input_type, CONV_LIMIT)
    if split is None:
        return None
    added = layer.group_channels * CONV_LIMIT <= FLOAT_LIMIT
    return CalledLayer(layer=layer, split=split, side=max(layer.reach), zip=added)


def _fits(layer: Conv2d) -> bool:
    """Whether the application's own integers hold its sums and make its results."""
    types = (layer.input_type, layer.weight_type, layer.accumulator, layer.result_type)
    if not all(isinstance(one, FixedType) for one in types) or not layer.accumulator_suffices():
        return False
    accumulator, result = layer.accumulator, layer.result_type
    assert isinstance(accumulator, FixedType) and isinstance(result, FixedType)
    left = max(0, result.fraction - accumulator.fraction)
    right = max(0, accumulator.fraction - result.fraction)
    narrow = accumulator.width + left <= MOST_BITS and right < MOST_BITS and result.width <= MOST_BITS
    return narrow and result.overflow in (Overflow.WRAP, Overflow.SAT, Overflow.SAT_SYM)


def parts_of(called: CalledLayer) -> NDArray[np.float32]:
    """The masks [parts, M, C, side, side]: dilated and padded with zeros to squares. Of a dense layer the
    matrix [F, columns] of complex numbers: the columns are [parts, M], two of them in one, its real and its
    imaginary part; a last one without a fellow has zeros.
    """
    layer = called.layer
    parts = balanced_parts(layer.weights.astype(np.int64), called.split.weight_bits)
    if not called.side:
        columns = np.concatenate([part.reshape(layer.out_channels, -1) for part in parts])
        if len(columns) % 2:
            columns = np.concatenate([columns, np.zeros_like(columns[:1])])
        return np.ascontiguousarray(columns.T.astype(np.float32))
    down, right = layer.dilation
    masks = np.zeros((len(parts), layer.out_channels, layer.group_channels, called.side, called.side))
    for place, part in enumerate(parts):
        masks[place, :, :, : layer.reach[0] : down, : layer.reach[1] : right] = part
    return masks.astype(np.float32)


def biases_of(called: CalledLayer) -> NDArray[np.int64]:
    """The biases [M] in codes of the sums; zeros where there are none."""
    return np.asarray(called.layer.bias_codes).astype(np.int64)


def geometry_of(layer: Conv2d) -> dict[str, Any]:
    """What the templates name of any layer, in fixed or floating point."""
    channels, height, width = layer.in_shape
    return {
        "name": layer.name,
        "channels": channels,
        "height": height,
        "width": width,
        "filters": layer.out_channels,
        "groups": layer.groups,
        "rows": layer.output_shape[1],
        "columns": layer.output_shape[2],
        "top": layer.padding[0],
        "left": layer.padding[1],
        "stride_h": layer.stride[0],
        "stride_w": layer.stride[1],
    }


def numbers_of(called: CalledLayer) -> dict[str, Any]:
    """What the templates name of the layer."""
    layer, split = called.layer, called.split
    accumulator, result = layer.accumulator, layer.result_type
    assert isinstance(accumulator, FixedType) and isinstance(result, FixedType)
    low, high = layer.clamp_codes
    return {
        **geometry_of(layer),
        "function": "convolution" if called.side else "dense",
        "padded_height": called.padded[0],
        "padded_width": called.padded[1],
        "side": called.side,
        "weight_parts": split.weight_parts,
        "weight_bits": split.weight_bits,
        "input_parts": split.input_parts,
        "input_bits": split.input_bits,
        "zip": called.zip,
        "finer": layer.sum_fraction - layer.product_fraction,
        "low": accumulator.min_code if low is None else low,
        "high": accumulator.max_code if high is None else high,
        "drop": accumulator.fraction - result.fraction,
        "rounding": result.rounding.value,
        "overflow": "WRAP" if result.overflow is Overflow.WRAP else "SAT",
        "bits": result.width,
        # a value of the very same type is copied, whatever its overflow
        "least": result.min_code if result == accumulator else result.lowest_code,
        "most": result.max_code,
        "calls": called.conv_calls + called.zip_calls + called.gemm_calls,
    }
