"""Layers of Keras and QKeras that have weights: convolutions, dense layers, batch normalisations, PReLU.

Quantised weights are exact. A scale of theirs that is no power of two (alpha="auto") stays out of the
convolution: it multiplies the sums afterwards. Batch normalisation is a multiplication and an addition. Such
real numbers keep 24 significant bits in a quantised model, and are exact where they have no more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.coded import SIGN, Coded, Doubles
from hlsgen.base.fixed import FixedType
from hlsgen.frontends.builder.builder import Value
from hlsgen.frontends.builder.sums import same_padding
from hlsgen.frontends.qkeras.builder import TypedBuilder
from hlsgen.frontends.qkeras.quantizers import (
    channel_scale,
    each_real,
    number,
    quantised_weights,
    real,
)
from hlsgen.frontends.qkeras.rounding import folded_weights
from hlsgen.model.precision import whole_range

Pair = tuple[int, int]
Sides = tuple[int, int, int, int]
Weights = Coded | Doubles


@dataclass(frozen=True, kw_only=True)
class DefaultTypes:
    """Types for what has no quantizer in a model that has some.

    results: of layers whose weights have none. weights: None: as wide, with the integer bits that they need.
    """

    results: FixedType
    weights: FixedType | None = None

    def quantised(self, values: Any) -> Coded:
        """Weights in their type."""
        numbers = array(values)
        type_ = self.weights or whole_range(numbers, self.results.width)
        return Coded(codes=type_.encode(numbers), type=FixedType(type_.width, type_.integer, type_.signed))


@dataclass(frozen=True, kw_only=True)
class Net:
    """What building a layer needs besides it: the builder, and which sigmoid QKeras uses.

    default: types for what has no quantizer; None: everything that needs one has one.
    """

    builder: TypedBuilder
    sigmoid: str
    default: DefaultTypes | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Filters:
    """weights [M, C / groups, KH, KW] and bias [M] of a convolution, whose sums are times `scale` [M]."""

    weights: Weights
    bias: Weights | None
    scale: Doubles | None

    @property
    def fused_bias(self) -> Weights | None:
        """The bias, if it is added to the sums as they are."""
        return self.bias if self.scale is None else None


Build = Callable[[Net, Any, list[Value]], Value]


def array(variable: Any) -> Doubles:
    """A variable's, tensor's or array's numbers, [shape]; float32 numbers as they are."""
    return np.asarray(number(variable), np.float32).astype(np.float64)


def sides(layer: Any, x: Value, kernel: Pair, stride: Pair, dilation: Pair = (1, 1)) -> Sides:
    """(top, left, bottom, right) of a layer's padding for an image, or a signal as an image of one row."""
    size = x.shape[:2] if x.rank == 3 else (1, x.shape[0])
    if layer.padding == "causal":
        return 0, (kernel[1] - 1) * dilation[1], 0, 0
    if layer.padding != "same":
        return 0, 0, 0, 0
    rows, columns = (same_padding(*each) for each in zip(size, kernel, stride, dilation, strict=True))
    return rows[0], columns[0], rows[1], columns[1]


def pair(values: Any) -> Pair:
    """(vertical, horizontal) of a layer's sizes; those of a layer of signals are horizontal."""
    sizes = tuple(int(value) for value in np.reshape(values, -1))
    return (1, sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1])


def filters(
    net: Net,
    kernel: Any,
    bias: Any,
    quantizer: Any,
    bias_quantizer: Any,
    to_filters: Callable[[NDArray[Any]], NDArray[Any]],
) -> Filters:
    """A layer's weights; `kernel` and `bias` (None: none) are its variables, or what it folds them to.

    to_filters: from the layout of `kernel` to [M, C / groups, KH, KW].
    """
    if not net.builder.fixed:
        return Filters(
            weights=to_filters(array(kernel)), bias=None if bias is None else array(bias), scale=None
        )
    with net.builder.quantizing():
        weights = _quantised_kernel(net, kernel, quantizer)
        scale = weights.scale
        if scale is not None:
            scale = channel_scale(scale, weights.codes.shape, to_filters)
        used = Coded(codes=to_filters(weights.codes), type=weights.type)
        if net.builder.wanted == SIGN and bias is not None and bias_quantizer is None:
            # into the thresholds of the sign, exactly
            ones = np.ones(len(used.codes))
            return Filters(weights=used, bias=array(bias), scale=ones if scale is None else scale)
        return Filters(
            weights=used,
            bias=_quantised_bias(bias, bias_quantizer),
            scale=scale,
        )


def _quantised_kernel(net: Net, kernel: Any, quantizer: Any) -> Coded:
    if quantizer is not None:
        return quantised_weights(quantizer, kernel)
    assert net.default is not None  # `unquantised` layers are refused where there is no default
    return net.default.quantised(kernel)


def _quantised_bias(bias: Any, quantizer: Any) -> Coded | None:
    """The bias, with 24 bits if it has no quantizer; None: there is none, or it is all zeros without one."""
    if bias is None or quantizer is None and not array(bias).any():
        return None
    if quantizer is None:
        return real(array(bias))
    found = quantised_weights(quantizer, bias)
    return found if found.scale is None else real(found.values)


def rescaled(net: Net, x: Value, used: Filters) -> Value:
    """The sums of a convolution without its scale and bias, with them."""
    if used.scale is None:
        return x
    if net.builder.wanted == SIGN:
        bias = used.bias.values if isinstance(used.bias, Coded) else used.bias
        return net.builder.scaled(x, used.scale, bias)
    assert used.bias is None or isinstance(used.bias, Coded)
    return net.builder.affine_of(x, each_real(used.scale), used.bias)


def convolved(net: Net, x: Value, used: Filters, layer: Any, dilation: Pair, groups: int) -> Value:
    """A convolution with the layer's strides and padding."""
    kernel = _kernel_of(used.weights)
    stride = pair(layer.strides)
    y = net.builder.conv2d(
        x,
        **net.builder.parameters(used.weights, used.fused_bias),
        stride=stride,
        padding=sides(layer, x, kernel, stride, dilation),
        dilation=dilation,
        groups=groups,
    )
    return rescaled(net, y, used)


def _kernel_of(weights: Weights) -> Pair:
    shape = (weights.codes if isinstance(weights, Coded) else weights).shape
    return shape[2], shape[3]


def _internal(layer: Any, name: str) -> Any:
    """The quantizer object of a QKeras layer; None: it has none, or the layer is Keras' own."""
    return getattr(layer, f"{name}_quantizer_internal", None)


def _bias(layer: Any) -> Any:
    return layer.bias if layer.use_bias else None


def _folded(layer: Any, kernel: Any) -> tuple[Any, Any]:
    """A layer's kernel and bias (None: none), its own batch normalisation folded in."""
    return folded_weights(layer, kernel) if hasattr(layer, "get_folded_weights") else (kernel, _bias(layer))


def _conv_filters(kernel: NDArray[Any]) -> NDArray[Any]:
    """A kernel [KH, KW, C / groups, M], or [K, C / groups, M] of a signal, as [M, C / groups, KH, KW]."""
    image = kernel if kernel.ndim == 4 else kernel[None]
    return image.transpose(3, 2, 0, 1)


def _depthwise_filters(kernel: NDArray[Any]) -> NDArray[Any]:
    """A kernel [KH, KW, C, multiplier] as [C * multiplier, 1, KH, KW]."""
    image = kernel if kernel.ndim == 4 else kernel[None]
    rows, columns, channels, multiplier = image.shape
    return image.transpose(2, 3, 0, 1).reshape(channels * multiplier, 1, rows, columns)


def _conv(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """Conv1D, Conv2D, QConv1D, QConv2D, QConv2DBatchnorm."""
    kernel, bias = _folded(layer, layer.kernel)
    used = filters(net, kernel, bias, _internal(layer, "kernel"), _internal(layer, "bias"), _conv_filters)
    return convolved(net, inputs[0], used, layer, pair(layer.dilation_rate), int(layer.groups))


def _depthwise(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """DepthwiseConv1D, DepthwiseConv2D, QDepthwiseConv2D, QDepthwiseConv2DBatchnorm."""
    # Keras 3 calls it as every convolution's
    own = layer.depthwise_kernel if hasattr(layer, "depthwise_kernel") else layer.kernel
    kernel, bias = _folded(layer, own)
    used = filters(
        net, kernel, bias, _internal(layer, "depthwise"), _internal(layer, "bias"), _depthwise_filters
    )
    channels = inputs[0].shape[-1]
    return convolved(net, inputs[0], used, layer, pair(layer.dilation_rate), channels)


def _separable(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """SeparableConv1D, SeparableConv2D, QSeparableConv1D, QSeparableConv2D: depthwise, then 1 x 1."""
    depthwise = filters(
        net, layer.depthwise_kernel, None, _internal(layer, "depthwise"), None, _depthwise_filters
    )
    x = inputs[0]
    with net.builder.at(f"{layer.name}_depthwise", said=f"layer {layer.name}"):
        x = convolved(net, x, depthwise, layer, pair(layer.dilation_rate), x.shape[-1])
    pointwise = filters(
        net,
        layer.pointwise_kernel,
        _bias(layer),
        _internal(layer, "pointwise"),
        _internal(layer, "bias"),
        _conv_filters,
    )
    y = net.builder.conv2d(x, **net.builder.parameters(pointwise.weights, pointwise.fused_bias))
    return rescaled(net, y, pointwise)


def _dense(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """Dense, QDense, QDenseBatchnorm: along the last axis."""
    kernel, bias = _folded(layer, layer.kernel)
    used = filters(net, kernel, bias, _internal(layer, "kernel"), _internal(layer, "bias"), _dense_filters)
    parameters = net.builder.parameters(used.weights, used.fused_bias)
    weights = parameters.pop("weights")
    return rescaled(net, net.builder.dense(inputs[0], weights[:, :, 0, 0], **parameters), used)


def _dense_filters(kernel: NDArray[Any]) -> NDArray[Any]:
    return kernel.T[:, :, None, None]


def _transposed(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """Conv1DTranspose, Conv2DTranspose, QConv2DTranspose: the gradient of a convolution to its input."""
    used = filters(
        net,
        layer.kernel,
        _bias(layer),
        _internal(layer, "kernel"),
        _internal(layer, "bias"),
        _transposed_filters,
    )
    x = inputs[0]
    kernel, stride, dilation = _kernel_of(used.weights), pair(layer.strides), pair(layer.dilation_rate)
    size = x.shape[:2] if x.rank == 3 else (1, x.shape[0])
    shape = tuple(layer.compute_output_shape((None, *x.shape)))[1:-1]
    wanted = shape if len(shape) == 2 else (1, *shape)
    cuts, extra = [], []
    for side in (0, 1):
        reach = (kernel[side] - 1) * dilation[side] + 1
        before = 0
        if layer.padding == "same":
            before = same_padding(wanted[side], kernel[side], stride[side], dilation[side])[0]
        end = (size[side] - 1) * stride[side] + reach - before - wanted[side]
        cuts.append((before, max(end, 0)))
        extra.append(max(-end, 0))
    parameters = net.builder.parameters(used.weights, used.fused_bias)
    y = net.builder.conv_transpose2d(
        x,
        parameters.pop("weights").swapaxes(0, 1),
        **parameters,
        stride=stride,
        padding=(cuts[0][0], cuts[1][0], cuts[0][1], cuts[1][1]),
        output_padding=(extra[0], extra[1]),
        dilation=dilation,
    )
    return rescaled(net, y, used)


def _transposed_filters(kernel: NDArray[Any]) -> NDArray[Any]:
    """A kernel [KH, KW, M, C], or [K, M, C] of a signal, as [M, C, KH, KW]."""
    image = kernel if kernel.ndim == 4 else kernel[None]
    return image.transpose(2, 3, 0, 1)


def _normalisation(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """BatchNormalization, QBatchNormalization: (x - mean) / sqrt(variance + epsilon) * gamma + beta."""
    x = inputs[0]
    axes = [int(axis) for axis in np.reshape(layer.axis, -1)]
    if axes not in ([x.rank], [-1]):
        raise net.builder.refusal(
            f"it normalises axis {axes} of [batch, ..], not the last one", "axis=-1: channels last"
        )
    mean = _normal(net, layer, "mean", layer.moving_mean)
    variance = _normal(net, layer, "variance", layer.moving_variance)
    factor = 1 / np.sqrt(variance + float(np.float32(layer.epsilon)))
    if layer.scale:
        factor = factor * _normal(net, layer, "gamma", layer.gamma)
    shift = -mean * factor
    if layer.center:
        shift = shift + _normal(net, layer, "beta", layer.beta)
    return net.builder.scaled(x, factor, shift)


def _normal(net: Net, layer: Any, name: str, variable: Any) -> Doubles:
    """A parameter of a batch normalisation, quantised if it has a quantizer."""
    quantizer = _internal(layer, name)
    if quantizer is None or not net.builder.fixed:
        return array(variable)
    with net.builder.quantizing():
        return quantised_weights(quantizer, variable).values


def _prelu(net: Net, layer: Any, inputs: list[Value]) -> Value:
    return net.builder.leaked(inputs[0], array(layer.alpha))


_PLAIN = ("Conv1D", "Conv2D", "Conv1DTranspose", "Conv2DTranspose", "Dense")
_QUANTISED = ("QConv1D", "QConv2D", "QConv2DTranspose", "QConv2DBatchnorm", "QDense", "QDenseBatchnorm")
_DEPTHWISE = ("DepthwiseConv1D", "DepthwiseConv2D", "QDepthwiseConv2D", "QDepthwiseConv2DBatchnorm")
_SEPARABLE = ("SeparableConv1D", "SeparableConv2D", "QSeparableConv1D", "QSeparableConv2D")
KERNELS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((*_PLAIN, *_QUANTISED), ("kernel",)),
    **dict.fromkeys(_DEPTHWISE, ("depthwise",)),
    **dict.fromkeys(_SEPARABLE, ("depthwise", "pointwise")),
    "PReLU": ("alpha",),
}
"""The weights that a quantised model has to quantise, by class of layer."""


def unquantised(layer: Any) -> tuple[str, ...]:
    """Names of the layer's weights that have no quantizer, though they have to be multiplied with.

    A bias needs none: it is added once, with 24 significant bits.
    """
    names = KERNELS.get(type(layer).__name__, ())
    return tuple(name for name in names if _internal(layer, name) is None)


LAYERS: dict[str, Build] = {
    **dict.fromkeys(("Conv1D", "Conv2D", "QConv1D", "QConv2D", "QConv2DBatchnorm"), _conv),
    **dict.fromkeys(_DEPTHWISE, _depthwise),
    **dict.fromkeys(_SEPARABLE, _separable),
    **dict.fromkeys(("Conv1DTranspose", "Conv2DTranspose", "QConv2DTranspose"), _transposed),
    **dict.fromkeys(("Dense", "QDense", "QDenseBatchnorm"), _dense),
    **dict.fromkeys(("BatchNormalization", "QBatchNormalization"), _normalisation),
    "PReLU": _prelu,
}
