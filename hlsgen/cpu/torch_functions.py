"""Each kind of layer as a function of PyTorch between tensors [N, C, H, W] of float32 values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType, NumberType, Overflow, Rounding
from hlsgen.cpu.operators import unknown
from hlsgen.cpu.packages import package
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
from hlsgen.layers.functions import FUNCTIONS
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

Tensor: TypeAlias = Any
Compute: TypeAlias = Callable[..., Tensor]
"""Tensors [N, C, H, W] of a layer's sources -> its result, likewise."""


def layer_function(layer: Layer) -> Compute:
    """What computes the layer, with the rounding and the ends of its type where that is fixed point.

    Raises DesignError: a kind that no framework has. ToolError: there is no PyTorch.
    """
    maker = next((MAKERS[kind] for kind in type(layer).__mro__ if kind in MAKERS), None)
    if maker is None:
        raise DesignError(unknown(layer))
    computed, result = maker(package("torch"), layer), _quantiser(package("torch"), layer.output_type)
    return computed if result is None else lambda *sources: result(computed(*sources))


def _quantiser(torch: Any, type_: NumberType) -> Compute | None:
    """Values as `type_` rounds and limits them; None: it holds each anyway, or is floating point."""
    if not isinstance(type_, FixedType) or (type_.overflow, type_.rounding) == (Overflow.WRAP, Rounding.TRN):
        return None
    least = type_.min_code + (type_.overflow is Overflow.SAT_SYM and type_.signed)
    scale, step, most, round_ = 2.0**type_.fraction, type_.resolution, type_.max_code, ROUND[type_.rounding]
    if type_.overflow is Overflow.WRAP:
        return lambda x: round_(torch, x * scale) * step
    return lambda x: torch.clamp(round_(torch, x * scale), float(least), float(most)) * step


ROUND: dict[Rounding, Callable[[Any, Tensor], Tensor]] = {
    Rounding.TRN: lambda torch, x: torch.floor(x),
    Rounding.TRN_ZERO: lambda torch, x: torch.trunc(x),
    Rounding.RND: lambda torch, x: torch.floor(x + 0.5),
    Rounding.RND_MIN_INF: lambda torch, x: torch.ceil(x - 0.5),
    Rounding.RND_ZERO: lambda torch, x: torch.sign(x) * torch.ceil(torch.abs(x) - 0.5),
    Rounding.RND_INF: lambda torch, x: torch.sign(x) * torch.floor(torch.abs(x) + 0.5),
    Rounding.RND_CONV: lambda torch, x: torch.round(x),
}
"""Whole numbers nearby, halves as each mode has them."""


def _held(torch: Any, values: Any) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, np.float32))


def _limited(torch: Any, computed: Compute, low: float | None, high: float | None) -> Compute:
    if low is None and high is None:
        return computed
    if low == 0 and high is None:
        return lambda *x: torch.relu(computed(*x))
    return lambda *x: torch.clamp(computed(*x), low, high)


def _conv2d(torch: Any, layer: Conv2d) -> Compute:
    weights, bias = weights_and_bias(layer)
    top, left, bottom, right = layer.padding
    even, functional = (top, left) == (bottom, right), torch.nn.functional
    kernel, offset = _held(torch, weights), _held(torch, bias) if bias.size else None
    around = (0, 0) if not even else (top, left)

    def convolved(x: Tensor) -> Tensor:
        x = x if even else functional.pad(x, (left, right, top, bottom))
        return functional.conv2d(x, kernel, offset, layer.stride, around, layer.dilation, layer.groups)

    return _limited(torch, convolved, *limits_of(layer))


def _dense(torch: Any, layer: Dense) -> Compute:
    weights, bias = weights_and_bias(layer)
    matrix = _held(torch, weights.reshape(layer.out_channels, -1))
    offset = _held(torch, bias) if bias.size else None

    def product(x: Tensor) -> Tensor:
        flat = x.permute(0, 2, 3, 1).flatten(1)
        return torch.nn.functional.linear(flat, matrix, offset)[:, :, None, None]

    return _limited(torch, product, *limits_of(layer))


def _pool2d(torch: Any, layer: Pool2d) -> Compute:
    functional = torch.nn.functional
    top, left, bottom, right = layer.padding
    around = (left, right + layer.overhang[1], top, bottom + layer.overhang[0])
    if layer.function == "max":
        low = -float("inf")
        return lambda x: functional.max_pool2d(
            functional.pad(x, around, value=low) if any(around) else x,
            layer.kernel,
            layer.stride,
            dilation=layer.dilation,
        )
    counts = np.full((1, 1), layer.divisor) if layer.divisor is not None else np.outer(*layer.window_counts)
    divided = _held(torch, counts)
    if layer.dilation != (1, 1):
        ones = torch.ones((layer.source.shape[0], 1, *layer.kernel))
        return lambda x: (
            functional.conv2d(
                functional.pad(x, around), ones, None, layer.stride, 0, layer.dilation, layer.source.shape[0]
            )
            / divided
        )
    return lambda x: (
        functional.avg_pool2d(functional.pad(x, around), layer.kernel, layer.stride, divisor_override=1)
        / divided
    )


def _global_pool(_torch: Any, layer: GlobalPool) -> Compute:
    return {
        "max": lambda x: x.amax(dim=(2, 3), keepdim=True),
        "average": lambda x: x.mean(dim=(2, 3), keepdim=True),
        "sum": lambda x: x.sum(dim=(2, 3), keepdim=True),
    }[layer.function]


def _adaptive_pool(torch: Any, layer: AdaptivePool) -> Compute:
    functional = torch.nn.functional
    pool = functional.adaptive_max_pool2d if layer.function == "max" else functional.adaptive_avg_pool2d
    return lambda x: pool(x, layer.size)


def _binary(torch: Any, layer: Binary) -> Compute:
    found: Compute = {Add: torch.add, Sub: torch.sub, Mul: torch.mul}[type(layer)]
    return found


def _clamp(torch: Any, layer: Clamp) -> Compute:
    return _limited(torch, lambda x: x, *limits_of(layer))


def _leaky(torch: Any, layer: Leaky) -> Compute:
    slopes = _held(torch, slopes_of(layer))
    return lambda x: torch.nn.functional.prelu(x, slopes)


def _argmax(_torch: Any, _layer: ArgMax) -> Compute:
    return lambda x: x.argmax(dim=1, keepdim=True).to(x.dtype)


def _concat(torch: Any, layer: Concat) -> Compute:
    return lambda *parts: torch.cat(parts, dim=1 + layer.axis)


def _crop(_torch: Any, layer: Crop) -> Compute:
    cuts = tuple(
        slice(first, first + (count - 1) * step + 1, step)
        for first, count, step in zip(layer.begin, layer.size, layer.step, strict=True)
    )
    return lambda x: x[(slice(None), *cuts)]


def _pad(torch: Any, layer: Pad) -> Compute:
    top, left, bottom, right = layer.padding
    type_ = layer.source.type
    value = float(layer.value_code) * type_.resolution if isinstance(type_, FixedType) else layer.value
    around = (left, right, top, bottom, *layer.channels)
    return lambda x: torch.nn.functional.pad(x, around, value=value)


def _rearrange(torch: Any, layer: Rearrange) -> Compute:
    where, shape = layer.indices.reshape(-1), layer.output_shape
    if np.array_equal(where, np.arange(int(np.prod(layer.source.shape)))):
        return lambda x: x.reshape(-1, *shape)
    indices = torch.from_numpy(np.ascontiguousarray(where, np.int64))
    return lambda x: x.flatten(1)[:, indices].reshape(-1, *shape)


def _softmax(torch: Any, _layer: Softmax) -> Compute:
    return lambda x: torch.softmax(x, dim=1)


def _log_softmax(torch: Any, _layer: LogSoftmax) -> Compute:
    return lambda x: torch.log_softmax(x, dim=1)


def _table(torch: Any, layer: Table) -> Compute:
    parameters = FUNCTIONS[layer.function].filled(layer.parameters)
    written = TORCH_FUNCTIONS[layer.function]
    return lambda x: written(torch, x, *parameters)


def _steps(torch: Any, layer: Steps) -> Compute:
    thresholds, values = _held(torch, layer.thresholds), _held(torch, layer.values)
    return lambda x: values[torch.bucketize(x.contiguous(), thresholds, right=True)]


def _thresholds(torch: Any, layer: Thresholds) -> Compute:
    channels = layer.source.shape[0]
    rows = _held(torch, np.broadcast_to(layer.thresholds, (channels, layer.count)))

    def compared(x: Tensor) -> Tensor:
        parts: Sequence[Tensor] = [
            torch.bucketize(x[:, at].contiguous(), rows[at], right=True) for at in range(channels)
        ]
        return torch.stack(list(parts), dim=1).to(x.dtype) * layer.step + layer.first

    return compared


def _cast(_torch: Any, _layer: Cast) -> Compute:
    return lambda x: x


MAKERS: dict[type[Layer], Callable[[Any, Any], Compute]] = {
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
"""What makes a layer's function, by its kind or the nearest kind that it is one of."""


def _hard_sigmoid(torch: Any, x: Tensor, slope: float, offset: float) -> Tensor:
    return torch.clamp(x * slope + offset, 0, 1)


TORCH_FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "abs": lambda torch, x: torch.abs(x),
    "bipolar": lambda torch, x: torch.where(x >= 0, 1.0, -1.0),
    "celu": lambda torch, x, alpha: torch.nn.functional.celu(x, alpha),
    "elu": lambda torch, x, alpha: torch.nn.functional.elu(x, alpha),
    "erf": lambda torch, x: torch.erf(x),
    "exp": lambda torch, x: torch.exp(x),
    "gelu": lambda torch, x: torch.nn.functional.gelu(x),
    "gelu_tanh": lambda torch, x: torch.nn.functional.gelu(x, approximate="tanh"),
    "hard_sigmoid": _hard_sigmoid,
    "hard_swish": lambda torch, x, slope, offset: x * _hard_sigmoid(torch, x, slope, offset),
    "hardshrink": lambda torch, x, limit: torch.nn.functional.hardshrink(x, limit),
    "log_sigmoid": lambda torch, x: torch.nn.functional.logsigmoid(x),
    "mish": lambda torch, x: torch.nn.functional.mish(x),
    "selu": lambda torch, x: torch.selu(x),
    "sigmoid": lambda torch, x: torch.sigmoid(x),
    "sign": lambda torch, x: torch.sign(x),
    "silu": lambda torch, x, beta: x * torch.sigmoid(beta * x),
    "softplus": lambda torch, x, beta, threshold: torch.nn.functional.softplus(x, beta, threshold),
    "softshrink": lambda torch, x, limit: torch.nn.functional.softshrink(x, limit),
    "softsign": lambda torch, x: torch.nn.functional.softsign(x),
    "tanh": lambda torch, x: torch.tanh(x),
    "tanhshrink": lambda torch, x: x - torch.tanh(x),
    "threshold": lambda torch, x, threshold, value: torch.nn.functional.threshold(x, threshold, value),
}
"""PyTorch's form of each function of FUNCTIONS."""
