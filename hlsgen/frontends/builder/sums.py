"""What the graph builder's operations share: fields of sums of products, and outputs as values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import FloatType, NumberType
from hlsgen.frontends.builder.views import Arrangement, Value
from hlsgen.layers.base import Layer

Array = NDArray[Any]
Pair = tuple[int, int]
FLOAT = FloatType()
NO_BIAS: Array = np.zeros(0)


@dataclass(frozen=True, kw_only=True)
class SumTypes:
    """The number types of a sum of products, but for its input's."""

    weights: NumberType = FLOAT
    bias: NumberType = FLOAT
    accumulator: NumberType = FLOAT
    result: NumberType = FLOAT


FLOATS = SumTypes()


def sum_fields(source: Value, weights: Array, bias: Array | None, types: SumTypes) -> dict[str, Any]:
    """The fields that all kinds of convolution have; weights [M, C / groups, KH, KW]."""
    return {
        "in_shape": source.tensor.shape,
        "input_type": source.tensor.type,
        "out_channels": len(weights),
        "weights": weight_numbers(weights, types.weights),
        "weight_type": types.weights,
        "bias": NO_BIAS if bias is None else numbers(bias, types.bias),
        "bias_type": types.bias,
        "accumulator": types.accumulator,
        "result_type": types.result,
    }


def weight_numbers(values: Array, type_: NumberType) -> Array:
    """Values as `numbers` gives them, but float32 stays so: of a hundred million weights half of the memory.

    What may not be written to is someone else's, and copied.
    """
    if values.dtype != np.float32:
        return numbers(values, type_)
    return values if values.flags.writeable else values.copy()


def numbers(values: Array, type_: NumberType) -> Array:
    """Values of a float32 type as float64, as a float graph has them; codes as they are."""
    return np.asarray(values, np.float64) if isinstance(type_, FloatType) else values


def same_padding(size: int, kernel: int, stride: int, dilation: int = 1) -> Pair:
    """(before, after) of padding "same": ceil(size / stride) outputs, the odd element at the end."""
    reach = (-(-size // stride) - 1) * stride + (kernel - 1) * dilation + 1
    total = max(reach - size, 0)
    return total // 2, total - total // 2


def shown(source: Value, layer: Layer, chw: Arrangement) -> Value:
    """The output of a layer that read `source`, arranged as `chw`, and kept the arrangement.

    Only one axis of a group may change its size, and only if the group's others have one element.
    """
    shape = list(source.shape)
    for group, size in zip(chw, layer.output_shape, strict=True):
        if size != math.prod(shape[axis] for axis in group):
            wide = [axis for axis in group if shape[axis] > 1] or list(group)
            assert len(wide) == 1 or size == 1, "one axis changes"
            for axis in group:
                shape[axis] = size if axis == wide[0] else 1
    return Value.of(layer.name, layer.output, shape, chw)
