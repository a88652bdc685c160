"""Each kind of layer as ONNX nodes between tensors [N, C, H, W] of float32 values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import FixedType, NumberType, Overflow, Rounding
from hlsgen.cpu.functions import function_nodes
from hlsgen.cpu.onnx_nodes import Nodes
from hlsgen.cpu.values import limits_of, slopes_of, weights_and_bias
from hlsgen.layers.adaptive_pool import AdaptivePool
from hlsgen.layers.argmax import ArgMax
from hlsgen.layers.base import Layer
from hlsgen.layers.binary import Add, Binary, Mul, Sub
from hlsgen.layers.cast import Cast
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.concat import Concat
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.crop import Crop
from hlsgen.layers.dense import Dense
from hlsgen.layers.global_pool import GlobalPool
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.log_softmax import LogSoftmax
from hlsgen.layers.pad import Pad
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.rearrange import Rearrange
from hlsgen.layers.softmax import Softmax
from hlsgen.layers.steps import Steps
from hlsgen.layers.table import Table
from hlsgen.layers.thresholds import Thresholds


def layer_nodes(layer: Layer, nodes: Nodes, sources: list[str]) -> str:
    """The layer's result, with the rounding and the ends of its type where that is fixed point.

    Raises DesignError: a kind that no framework has.
    """
    maker = next((OPERATORS[kind] for kind in type(layer).__mro__ if kind in OPERATORS), None)
    if maker is None:
        raise DesignError(unknown(layer))
    return quantised(nodes, maker(layer, nodes, *sources), layer.output_type)


def unknown(layer: Layer) -> Problem:
    """A layer that the CPU cannot compute."""
    message = f"{layer.name}: a layer of kind {layer.kind} has no form on the CPU"
    return Problem(message=message, fix="leave it on the FPGA", place=layer.place)


def quantised(nodes: Nodes, x: str, type_: NumberType) -> str:
    """Values as `type_` rounds and limits them; as they are in floating point, or if it holds each anyway."""
    if not isinstance(type_, FixedType) or (type_.overflow, type_.rounding) == (Overflow.WRAP, Rounding.TRN):
        return x
    steps = rounded(nodes, nodes("Mul", x, nodes.constant(2.0**type_.fraction)), type_.rounding)
    if type_.overflow is not Overflow.WRAP:
        least = type_.min_code + (type_.overflow is Overflow.SAT_SYM and type_.signed)
        steps = nodes("Clip", steps, nodes.constant(float(least)), nodes.constant(float(type_.max_code)))
    return nodes("Mul", steps, nodes.constant(type_.resolution))


def rounded(nodes: Nodes, x: str, mode: Rounding) -> str:
    """Whole numbers: halves as the mode has them."""
    if mode is Rounding.RND_CONV:
        return nodes("Round", x)
    if mode is Rounding.TRN:
        return nodes("Floor", x)
    if mode is Rounding.TRN_ZERO:
        return nodes("Mul", nodes("Sign", x), nodes("Floor", nodes("Abs", x)))
    half = nodes.constant(0.5)
    if mode is Rounding.RND:
        return nodes("Floor", nodes("Add", x, half))
    if mode is Rounding.RND_MIN_INF:
        return nodes("Ceil", nodes("Sub", x, half))
    size = nodes("Abs", x)
    if mode is Rounding.RND_ZERO:
        size = nodes("Ceil", nodes("Sub", size, half))
    else:
        size = nodes("Floor", nodes("Add", size, half))
    return nodes("Mul", nodes("Sign", x), size)


def limited(nodes: Nodes, x: str, low: float | None, high: float | None) -> str:
    """Values below `low` and above `high` become these."""
    if low == 0 and high is None:
        return nodes("Relu", x)
    if low is None and high is None:
        return x
    ends = ["" if one is None else nodes.constant(one) for one in (low, high)]
    return nodes("Clip", x, *(ends if high is not None else ends[:1]))


def _conv2d(layer: Conv2d, nodes: Nodes, x: str) -> str:
    weights, bias = weights_and_bias(layer)
    top, left, bottom, right = layer.padding
    found = nodes(
        "Conv",
        x,
        nodes.constant(weights),
        *([nodes.constant(bias)] if bias.size else []),
        kernel_shape=list(layer.kernel),
        strides=list(layer.stride),
        pads=[top, left, bottom, right],
        dilations=list(layer.dilation),
        group=layer.groups,
    )
    return limited(nodes, found, *limits_of(layer))


def _dense(layer: Dense, nodes: Nodes, x: str) -> str:
    """The elements row by row, of a pixel its channels: as a stream brings them."""
    weights, bias = weights_and_bias(layer)
    if layer.in_shape[1:] != (1, 1):
        x = nodes("Transpose", x, perm=[0, 2, 3, 1])
    flat = nodes("Flatten", x, axis=1)
    held = [
        nodes.constant(weights.reshape(layer.out_channels, -1)),
        *([nodes.constant(bias)] if bias.size else []),
    ]
    found = nodes("Gemm", flat, *held, transB=1)
    found = nodes("Reshape", found, nodes.whole(-1, layer.out_channels, 1, 1))
    return limited(nodes, found, *limits_of(layer))


def _pool2d(layer: Pool2d, nodes: Nodes, x: str) -> str:
    top, left, bottom, right = layer.padding
    pads = [top, left, bottom + layer.overhang[0], right + layer.overhang[1]]
    sizes: dict[str, Any] = {"kernel_shape": list(layer.kernel), "strides": list(layer.stride)}
    sizes |= {"pads": pads, "dilations": list(layer.dilation)}
    if layer.function == "max":
        return nodes("MaxPool", x, **sizes)
    taps = layer.kernel[0] * layer.kernel[1]
    found = nodes("AveragePool", x, count_include_pad=1, **sizes)
    if layer.divisor is not None:
        counts = np.full((1, 1, 1, 1), layer.divisor)
    else:
        counts = np.outer(*layer.window_counts)[None, None]
    return found if (counts == taps).all() else nodes("Mul", found, nodes.constant(taps / counts))


def _global_pool(layer: GlobalPool, nodes: Nodes, x: str) -> str:
    op = {"max": "ReduceMax", "average": "ReduceMean", "sum": "ReduceSum"}[layer.function]
    return nodes(op, x, nodes.whole(2, 3), keepdims=1)


def _adaptive_pool(layer: AdaptivePool, nodes: Nodes, x: str) -> str:
    """Windows along the rows, then along the columns."""
    op = {"max": "ReduceMax", "average": "ReduceMean"}[layer.function]
    for axis, (count, size) in enumerate(zip(layer.size, layer.source.shape[1:], strict=True), 2):
        windows = [(at * size // count, -(-(at + 1) * size // count)) for at in range(count)]
        if windows == [(at, at + 1) for at in range(size)]:
            continue
        where = nodes.whole(axis)
        parts = [
            nodes(op, nodes("Slice", x, nodes.whole(first), nodes.whole(end), where), where, keepdims=1)
            for first, end in windows
        ]
        x = nodes("Concat", *parts, axis=axis)
    return x


def _binary(layer: Binary, nodes: Nodes, left: str, right: str) -> str:
    return nodes({Add: "Add", Sub: "Sub", Mul: "Mul"}[type(layer)], left, right)


def _clamp(layer: Clamp, nodes: Nodes, x: str) -> str:
    return limited(nodes, x, *limits_of(layer))


def _leaky(layer: Leaky, nodes: Nodes, x: str) -> str:
    slopes = slopes_of(layer)
    if len(slopes) == 1:
        return nodes("LeakyRelu", x, alpha=float(slopes[0]))
    return nodes("PRelu", x, nodes.constant(slopes.reshape(-1, 1, 1)))


def _argmax(_layer: ArgMax, nodes: Nodes, x: str) -> str:
    return nodes("Cast", nodes("ArgMax", x, axis=1, keepdims=1), to=1)


def _concat(layer: Concat, nodes: Nodes, *parts: str) -> str:
    return nodes("Concat", *parts, axis=1 + layer.axis)


def _crop(layer: Crop, nodes: Nodes, x: str) -> str:
    ends = [
        first + (count - 1) * step + 1
        for first, count, step in zip(layer.begin, layer.size, layer.step, strict=True)
    ]
    cut = (nodes.whole(*layer.begin), nodes.whole(*ends), nodes.whole(1, 2, 3), nodes.whole(*layer.step))
    return nodes("Slice", x, *cut)


def _pad(layer: Pad, nodes: Nodes, x: str) -> str:
    top, left, bottom, right = layer.padding
    before, after = layer.channels
    type_ = layer.source.type
    value = float(layer.value_code) * type_.resolution if isinstance(type_, FixedType) else layer.value
    around = nodes.whole(0, before, top, left, 0, after, bottom, right)
    return nodes("Pad", x, around, nodes.constant(value), mode="constant")


def _rearrange(layer: Rearrange, nodes: Nodes, x: str) -> str:
    """By position in the flat tensor; none where these stay as they are."""
    where = layer.indices.reshape(-1)
    size = int(np.prod(layer.source.shape))
    if not np.array_equal(where, np.arange(size)):
        flat = nodes("Reshape", x, nodes.whole(-1, size))
        x = nodes("Gather", flat, nodes.constant(where, np.int64), axis=1)
    return nodes("Reshape", x, nodes.whole(-1, *layer.output_shape))


def _softmax(_layer: Softmax, nodes: Nodes, x: str) -> str:
    return nodes("Softmax", x, axis=1)


def _log_softmax(_layer: LogSoftmax, nodes: Nodes, x: str) -> str:
    return nodes("LogSoftmax", x, axis=1)


def _table(layer: Table, nodes: Nodes, x: str) -> str:
    return function_nodes(layer, nodes, x)


def _reached(nodes: Nodes, x: str, thresholds: str) -> str:
    """[N, C, H, W, 1] of values, held against thresholds in a last axis -> how many are not above each."""
    wide = nodes("Unsqueeze", x, nodes.whole(-1))
    above = nodes("Cast", nodes("GreaterOrEqual", wide, thresholds), to=1)
    return nodes("ReduceSum", above, nodes.whole(-1), keepdims=0)


def _steps(layer: Steps, nodes: Nodes, x: str) -> str:
    count = _reached(nodes, x, nodes.constant(layer.thresholds))
    return nodes("Gather", nodes.constant(layer.values), nodes("Cast", count, to=7), axis=0)


def _thresholds(layer: Thresholds, nodes: Nodes, x: str) -> str:
    count = _reached(nodes, x, nodes.constant(layer.thresholds[None, :, None, None, :]))
    steps = nodes("Mul", count, nodes.constant(layer.step))
    return nodes("Add", steps, nodes.constant(layer.first))


def _cast(_layer: Cast, _nodes: Nodes, x: str) -> str:
    return x


OPERATORS: dict[type[Layer], Callable[..., str]] = {
    AdaptivePool: _adaptive_pool,
    ArgMax: _argmax,
    Add: _binary,
    Mul: _binary,
    Sub: _binary,
    Cast: _cast,
    Clamp: _clamp,
    Concat: _concat,
    Conv2d: _conv2d,
    Crop: _crop,
    Dense: _dense,
    GlobalPool: _global_pool,
    Leaky: _leaky,
    LogSoftmax: _log_softmax,
    Pad: _pad,
    Pool2d: _pool2d,
    Rearrange: _rearrange,
    Softmax: _softmax,
    Steps: _steps,
    Table: _table,
    Thresholds: _thresholds,
}
"""What writes a layer's nodes, by its kind or the nearest kind that it is one of."""
