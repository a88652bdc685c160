"""aten operations with weights, over windows and along axes: convolutions, pools, means, normalisation."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hlsgen.frontends.builder.builder import Value
from hlsgen.frontends.builder.sums import same_padding
from hlsgen.frontends.torch.arithmetic import maximum, minimum
from hlsgen.frontends.torch.call import Array, Call, Missing, converts

Pair = tuple[int, int]
NO_INDICES = Missing(what="the indices of a max pool", fix="a network without nn.MaxUnpool")


@converts("conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d", "convolution", "_convolution")
def convolution(
    call: Call,
    input: object,
    weight: object,
    bias: object = None,
    stride: object = 1,
    padding: object = 0,
    dilation: object = 1,
    groups: object = 1,
    output_padding: object = 0,
    transposed: bool | None = None,
    benchmark: object = None,
    deterministic: object = None,
    cudnn_enabled: object = None,
    allow_tf32: object = None,
) -> Value:
    """transposed: None where the operation's name says it."""
    x, weights = _operands(call, input, weight)
    axes = x.rank - 1
    spread = call.spatial(dilation, "dilation", axes, 1)
    if padding == "same":
        # its stride is 1, so that the size of the input is all one
        windows = zip(weights.shape[2:], spread, strict=True)
        (top, bottom), (left, right) = (same_padding(1, taps, 1, space) for taps, space in windows)
        border = (top, left, bottom, right)
    else:
        down, across = call.spatial(0 if padding == "valid" else padding, "padding", axes, 0)
        border = (down, across, down, across)
    offset = call.optional(bias, "bias")
    steps = call.spatial(stride, "stride", axes, 1)
    parts = call.whole(groups, "number of groups")
    fields: dict[str, Any] = {"stride": steps, "padding": border, "dilation": spread, "groups": parts}
    if call.op.startswith("conv_transpose") if transposed is None else transposed:
        more = call.spatial(output_padding, "output_padding", axes, 0)
        return call.builder.conv_transpose2d(x, weights, offset, output_padding=more, **fields)
    return call.builder.conv2d(x, weights, offset, **fields)


def _operands(call: Call, argument: object, weight: object) -> tuple[Value, NDArray[np.floating[Any]]]:
    """The input, and the weights with a kernel of two axes."""
    x, weights = call.value(argument), call.weights(weight)
    if x.rank not in (2, 3) or weights.ndim != x.rank + 1:
        message = f"it has an input of {x.rank + 1} axes with the batch, and weights of {weights.ndim}"
        raise call.refusal(message, "a batch of images or signals: [N, C, H, W] or [N, C, L]")
    return x, weights if x.rank == 3 else weights[:, :, None]


@converts("linear")
def linear(call: Call, input: object, weight: object, bias: object = None) -> Value:
    weights = call.weights(weight)
    return call.builder.dense(call.value(input), weights, call.optional(bias, "bias"))


@converts("matmul", "mm", "mv")
def matmul(call: Call, self: object, other: object = None, mat2: object = None, vec: object = None) -> Value:
    right = next((each for each in (other, mat2, vec) if each is not None), None)
    if isinstance(self, Value) and isinstance(right, Value):
        message = "it multiplies two matrices that both depend on the model's inputs"
        raise call.refusal(message, "convolutions and linear layers, whose weights are constant")
    if isinstance(self, Value):
        weights = call.broadcast(call.constant(right, "right matrix"), max(2, self.rank))
        if weights.ndim == 1:
            return call.builder.squeeze(call.builder.dense(self, weights[None]), (-1,))
        return call.builder.dense(self, _matrix(call, weights).T)
    x = call.value(right, "right matrix")
    weights = call.constant(self, "left matrix")
    if x.rank < 2 or weights.ndim < 2:
        raise call.refusal("it sums over the batch", "weights on the right: x @ weights")
    return call.builder.dense(x, _matrix(call, call.broadcast(weights, max(2, x.rank))), axis=-2)


def _matrix(call: Call, weights: Array) -> Array:
    """Weights without leading axes of one element."""
    if weights.ndim > 2 and any(size != 1 for size in weights.shape[:-2]):
        message = f"it multiplies by {weights.shape[0]} different matrices"
        raise call.refusal(message, "one matrix, or a convolution with groups")
    return weights.reshape(weights.shape[-2:])


@converts("addmm")
def addmm(call: Call, self: object, mat1: object, mat2: object, beta: object = 1, alpha: object = 1) -> Value:
    scale = call.number(alpha, "alpha")
    weights = call.constant(mat2, "right matrix").T * scale
    added = call.constant(self, "bias") * call.number(beta, "beta")
    bias = np.broadcast_to(call.broadcast(added, 1), (len(weights),)).copy()
    return call.builder.dense(call.value(mat1), weights, bias)


@converts("_native_batch_norm_legit_no_training")
def batch_norm(
    call: Call,
    input: object,
    weight: object,
    bias: object,
    running_mean: object,
    running_var: object,
    momentum: object,
    eps: object,
) -> list[object]:
    x = call.value(input)
    scale = 1 / np.sqrt(call.constant(running_var, "running variance") + call.number(eps, "eps"))
    if weight is not None:
        scale = scale * call.constant(weight, "weight")
    shift = -call.constant(running_mean, "running mean") * scale
    if bias is not None:
        shift = shift + call.constant(bias, "bias")
    along = (-1,) + (1,) * (x.rank - 1)
    y = call.builder.affine(x, scale.reshape(along), shift.reshape(along))
    none = Missing(what="the batch's statistics", fix="the running statistics")
    return [y, none, none]


# windows


@converts("max_pool1d", "max_pool2d", "max_pool1d_with_indices", "max_pool2d_with_indices")
def max_pool(
    call: Call,
    self: object,
    kernel_size: object,
    stride: object = (),
    padding: object = 0,
    dilation: object = 1,
    ceil_mode: bool = False,
) -> Value | list[object]:
    x = call.value(self)
    axes = _spatial_axes(call, x)
    spread = call.spatial(dilation, "dilation", axes, 1)
    y = call.builder.pool2d(
        x, "max", dilation=spread, **_windows(call, x, kernel_size, stride, padding, spread, ceil_mode)
    )
    return [y, NO_INDICES] if call.op.endswith("_with_indices") else y


@converts("avg_pool1d", "avg_pool2d")
def avg_pool(
    call: Call,
    self: object,
    kernel_size: object,
    stride: object = (),
    padding: object = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: object = None,
) -> Value:
    x = call.value(self)
    return call.builder.pool2d(
        x,
        "average",
        count_include_pad=count_include_pad,
        divisor=None if divisor_override is None else call.whole(divisor_override, "divisor_override"),
        **_windows(call, x, kernel_size, stride, padding, (1, 1), ceil_mode),
    )


def _spatial_axes(call: Call, x: Value) -> int:
    """1 for a pool of signals, 2 for one of images. PyTorch takes inputs without channels or batch too."""
    axes = 1 if "1d" in call.op else 2
    if x.rank != axes + 1:
        message = f"its input has {x.rank + 1} axes with the batch"
        shape = "[N, C, L]" if axes == 1 else "[N, C, H, W]"
        raise call.refusal(message, f"an input of {axes + 2} axes: {shape}")
    return axes


def _windows(
    call: Call, x: Value, kernel: object, stride: object, padding: object, dilation: Pair, ceil_mode: bool
) -> dict[str, Any]:
    """The fields of a pool's windows. PyTorch's default stride is the kernel."""
    axes = _spatial_axes(call, x)
    sides = call.spatial(kernel, "kernel_size", axes, 1)
    steps = call.spatial(stride, "stride", axes, 1) if stride not in ((), [], None) else sides
    down, across = call.spatial(padding, "padding", axes, 0)
    height, width = (1, x.shape[1]) if axes == 1 else x.shape[1:]
    overhang = (0, 0)
    if ceil_mode:
        overhang = (
            _overhang(height, sides[0], steps[0], down, dilation[0]),
            _overhang(width, sides[1], steps[1], across, dilation[1]),
        )
    border = (down, across, down, across)
    return {"kernel": sides, "stride": steps, "padding": border, "overhang": overhang}


def _overhang(size: int, kernel: int, stride: int, padding: int, dilation: int) -> int:
    """How far the last window of ceil_mode, which begins in the image or before it, overhangs the padding."""
    reach = (kernel - 1) * dilation + 1
    windows = -(-(size + 2 * padding - reach) // stride) + 1
    if (windows - 1) * stride >= size + padding:
        windows -= 1
    return max(0, (windows - 1) * stride + reach - (size + 2 * padding))


@converts("adaptive_avg_pool1d", "adaptive_avg_pool2d")
def adaptive_avg_pool(call: Call, self: object, output_size: object) -> Value:
    return _adaptive(call, call.value(self), "average")


@converts("adaptive_max_pool1d", "adaptive_max_pool2d")
def adaptive_max_pool(call: Call, self: object, output_size: object) -> list[object]:
    y = _adaptive(call, call.value(self), "max")
    return [y, NO_INDICES]


def _adaptive(call: Call, x: Value, function: Literal["max", "average"]) -> Value:
    _spatial_axes(call, x)
    return call.builder.adaptive_pool(x, function, call.shape[1:])


# axes


@converts("mean")
def mean(call: Call, self: object, dim: object = None, keepdim: bool = False, dtype: object = None) -> Value:
    return _reduced(call, self, "average", dim, keepdim, dtype)


@converts("sum")
def sum_(call: Call, self: object, dim: object = None, keepdim: bool = False, dtype: object = None) -> Value:
    return _reduced(call, self, "sum", dim, keepdim, dtype)


@converts("amax")
def amax(call: Call, self: object, dim: object = (), keepdim: bool = False) -> Value:
    return _reduced(call, self, "max", list(dim) if isinstance(dim, list | tuple) else dim, keepdim, None)


@converts("amin")
def amin(call: Call, self: object, dim: object = (), keepdim: bool = False) -> Value:
    x = call.value(self)
    return call.builder.smallest(x, call.axes(x, list(dim) if isinstance(dim, tuple) else dim), keepdim)


@converts("max")
def max_(
    call: Call, self: object, dim: object = None, keepdim: bool = False, other: object = None
) -> Value | list[Value]:
    if other is not None:
        return maximum(call, self, other)
    values = _reduced(call, self, "max", dim, keepdim, None)
    return [values, argmax(call, self, dim, keepdim)]


@converts("min")
def min_(
    call: Call, self: object, dim: object = None, keepdim: bool = False, other: object = None
) -> Value | list[Value]:
    if other is not None:
        return minimum(call, self, other)
    return [amin(call, self, dim, keepdim), argmin(call, self, dim, keepdim)]


def _reduced(
    call: Call,
    argument: object,
    function: Literal["max", "average", "sum"],
    dim: object,
    keep: bool,
    dtype: object,
) -> Value:
    call.keep_type(dtype)
    x = call.value(argument)
    return call.builder.reduce(x, function, call.axes(x, dim), keep)


@converts("argmax")
def argmax(call: Call, self: object, dim: object = None, keepdim: bool = False) -> Value:
    x = call.value(self)
    axes = call.axes(x, dim)
    return call.builder.argmax(x, axes[0], keepdim)


@converts("argmin")
def argmin(call: Call, self: object, dim: object = None, keepdim: bool = False) -> Value:
    x = call.value(self)
    return call.builder.argmin(x, call.axes(x, dim)[0], keepdim)


@converts("softmax", "_softmax")
def softmax(
    call: Call, self: object, dim: object, dtype: object = None, half_to_float: bool = False
) -> Value:
    """Softmax, and what PyTorch's own decompositions make of one."""
    call.keep_type(dtype)
    x = call.value(self)
    return call.builder.softmax(x, call.axis(x, dim))


@converts("log_softmax", "_log_softmax")
def log_softmax(
    call: Call, self: object, dim: object, dtype: object = None, half_to_float: bool = False
) -> Value:
    call.keep_type(dtype)
    x = call.value(self)
    return call.builder.log_softmax(x, call.axis(x, dim))
