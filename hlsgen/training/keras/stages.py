"""Each kind of layer as Keras layers that compute what golden does, those with weights as QKeras has them.

Tensors are [N, H, W, C]: the layout that TensorFlow computes on every processor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import FixedType, NumberType, Overflow, Rounding
from hlsgen.layers.affine import Affine
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
from hlsgen.layers.pad import Pad
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.rearrange import Rearrange
from hlsgen.model.ir import Port
from hlsgen.training.keras.packages import keras, qkeras, tf
from hlsgen.training.keras.quantisers import (
    Signs,
    activation_quantiser,
    bias_quantiser,
    weight_quantiser,
)

LAST = (3, 1, 2)
"""Where the axes C, H, W of a tensor lie in [N, H, W, C]."""
FIRST = (0, 3, 1, 2)
"""The permutation from [N, H, W, C] to [N, C, H, W]."""
Function = Callable[..., Any]


class Computed(keras.layers.Layer):  # type: ignore[misc]
    """A function of tensors that has no weights."""

    def __init__(self, function: Function, **options: Any) -> None:
        super().__init__(**options)
        self.function = function

    def call(self, *sources: Any) -> Any:
        return self.function(*sources)


def result_of(type_: NumberType, name: str) -> Any:
    """The quantizer of a layer's results; None: they have that type of their own.

    Raises DesignError: a type that training cannot follow.
    """
    assert isinstance(type_, FixedType)
    if type_.overflow is Overflow.WRAP and type_.rounding is Rounding.TRN:
        return None
    if type_.overflow is Overflow.WRAP and type_.rounding is Rounding.RND:
        # averages, whose own type has room for each
        type_ = FixedType(type_.width, type_.integer, type_.signed, type_.rounding, Overflow.SAT)
    return activation_quantiser(type_, name)


def input_of(port: Port, dtype: str) -> tuple[Any, Any]:
    """An input of the framework's layout, and its frames as the input's type rounds and limits them."""
    type_ = port.tensor.type
    assert isinstance(type_, FixedType)
    saturating = FixedType(type_.width, type_.integer, type_.signed, type_.rounding, Overflow.SAT)
    laid_out = [port.tensor.shape[axis] for axis in port.axes]
    back = [0, *(1 + int(np.argsort(port.axes)[axis]) for axis in (1, 2, 0))]
    given = keras.Input(port.shape, name=f"{port.name}_input", dtype=dtype)
    frames = Computed(
        lambda x: tf.transpose(tf.reshape(x, [-1, *laid_out]), back), name=f"{port.name}_frames", dtype=dtype
    )(given)
    quantised = qkeras.QActivation(
        activation_quantiser(saturating, port.name), name=f"{port.name}_quantised", dtype=dtype
    )
    return given, quantised(frames)


def output_of(port: Port, x: Any, dtype: str) -> Any:
    """Frames in the framework's layout of an output's tensor."""
    axes, shape = [0, *(LAST[axis] for axis in port.axes)], [-1, *port.shape]
    shown = Computed(
        lambda x: tf.reshape(tf.transpose(x, axes), shape), name=f"{port.name}_output", dtype=dtype
    )
    return shown(x)


class Products:
    """A convolution or a dense layer of QKeras: what `conv2d` and `dense` of hlsgen add up, limited.

    layer: of Keras, whose kernel and bias are what is trained.
    """

    def __init__(self, layer: Conv2d, has_bias: bool, name: str, dtype: str) -> None:
        assert isinstance(layer.weight_type, FixedType) and isinstance(layer.input_type, FixedType)
        self.of, self.name, self.dtype = layer, name, dtype
        self.bias_fraction = layer.input_type.fraction + layer.weight_type.fraction
        # weights of one bit are -1 and 1 of a type of two, which no training shall make 0
        signs = layer.weight_type.width == 2 and layer.only_signs
        self.quantiser = Signs(layer.weight_type.resolution) if signs else weight_quantiser(layer.weight_type)
        biases = bias_quantiser(self.bias_fraction) if has_bias else None
        self.is_flat = isinstance(layer, Dense)
        # each of a multiple of the channels from one of them
        self.is_depthwise = not self.is_flat and layer.groups > 1 and layer.group_channels == 1
        # what TensorFlow does not stride over is computed everywhere, and taken from there
        undilated = layer.dilation == (1, 1) or layer.stride == (1, 1)
        self.strided = undilated and (len(set(layer.stride)) == 1 or not self.is_depthwise)
        common = {"use_bias": has_bias, "bias_quantizer": biases, "name": name, "dtype": dtype}
        around = {
            "strides": layer.stride if self.strided else (1, 1),
            "dilation_rate": layer.dilation,
            "padding": "valid",
        }
        if self.is_flat:
            made = qkeras.QDense(
                layer.out_channels, kernel_quantizer=self.quantiser, kernel_initializer="zeros", **common
            )
        elif self.is_depthwise:
            made = qkeras.QDepthwiseConv2D(
                layer.kernel,
                depth_multiplier=layer.out_channels // layer.groups,
                depthwise_quantizer=self.quantiser,
                depthwise_initializer="zeros",
                **common,
                **around,
            )
        else:
            made = qkeras.QConv2D(
                layer.out_channels,
                layer.kernel,
                groups=layer.groups,
                kernel_quantizer=self.quantiser,
                kernel_initializer="zeros",
                **common,
                **around,
            )
        self.layer = made

    def __call__(self, x: Any) -> Any:
        """The sums, limited, of a Keras tensor."""
        layer, dtype = self.of, self.dtype
        if self.is_flat:
            # the order in which a stream brings the elements: row, column, channel
            flat = Computed(lambda x: tf.reshape(x, [tf.shape(x)[0], layer.read_shape[0]]), dtype=dtype)
            x = self.layer(flat(x))
            x = Computed(lambda x: x[:, None, None, :], dtype=dtype)(x)
        else:
            top, left, bottom, right = layer.padding
            if any(layer.padding):
                x = keras.layers.ZeroPadding2D(((top, bottom), (left, right)), dtype=dtype)(x)
            x = self.layer(x)
            if not self.strided:
                rows, columns = layer.stride
                x = Computed(lambda x: x[:, ::rows, ::columns], dtype=dtype)(x)
        assert isinstance(layer.accumulator, FixedType)
        step = layer.accumulator.resolution
        low, high = (None if code is None else float(code) * step for code in layer.clamp_codes)
        if low is None and high is None:
            return x
        return Computed(lambda x: limited(x, low, high), dtype=dtype)(x)

    @property
    def kernel(self) -> Any:
        return self.layer.depthwise_kernel if self.is_depthwise else self.layer.kernel

    def load(self, weights: Any, bias: Any) -> None:
        """Puts weights [M, C / groups, KH, KW] and a bias [M] (or of no elements) into the layer."""
        self.kernel.assign(self.laid_out(np.asarray(weights, np.float32)))
        if bias.size:
            self.layer.bias.assign(np.asarray(bias, np.float32))

    def laid_out(self, weights: Any) -> Any:
        """Weights [M, C / groups, KH, KW] in the layout of the layer's kernel."""
        if self.is_flat:
            return weights.reshape(self.of.out_channels, -1).T
        if self.is_depthwise:
            by_channel = weights.reshape(self.of.groups, -1, *self.of.kernel)
            return by_channel.transpose(2, 3, 0, 1)
        return weights.transpose(2, 3, 1, 0)

    def values(self) -> tuple[Any, Any]:
        """The weights, as hlsgen lays them out, and the bias that it computes with now, exactly."""
        kernel = np.asarray(self.quantiser(tf.cast(self.kernel, tf.float64)))
        shape = self.of.weights.shape
        if self.is_flat:
            weights = kernel.T.reshape(shape)
        elif self.is_depthwise:
            weights = kernel.transpose(2, 3, 0, 1).reshape(shape)
        else:
            weights = kernel.transpose(3, 2, 0, 1)
        if not self.layer.use_bias:
            return weights, np.zeros(0)
        return weights, np.asarray(self.layer.bias_quantizer_internal(tf.cast(self.layer.bias, tf.float64)))


def limited(x: Any, low: float | None, high: float | None) -> Any:
    """Values below `low` and above `high` become these."""
    if low == 0.0 and high is None:
        return tf.nn.relu(x)
    x = x if low is None else tf.maximum(x, tf.constant(low, x.dtype))
    return x if high is None else tf.minimum(x, tf.constant(high, x.dtype))


def function_of(layer: Layer) -> Function:
    """What computes the values of a layer without weights. Raises DesignError: a kind that has no module."""
    maker = MAKERS.get(type(layer))
    if maker is None:
        raise unknown(layer)
    return maker(layer)


def unknown(layer: Layer) -> DesignError:
    message = f"{layer.name}: training has no module for a layer of kind {layer.kind}"
    fix = "a network that ends with the scores, without what is computed of them; or leave --train out"
    return DesignError(Problem(message=message, fix=fix, place=layer.place))


def _clamp(layer: Clamp) -> Function:
    low, high = (
        None if code is None else float(code) * layer.source_type.resolution for code in layer.limit_codes
    )
    return lambda x: limited(x, low, high)


def _leaky(layer: Leaky) -> Function:
    slopes = layer.fixed_slope.decode(layer.slopes).reshape(-1)
    return lambda x: tf.where(x >= 0, x, x * tf.constant(slopes, x.dtype))


def _cast(_layer: Cast) -> Function:
    return lambda x: tf.identity(x)


def _concat(layer: Concat) -> Function:
    return lambda *parts: tf.concat(parts, axis=LAST[layer.axis])


def _binary(layer: Binary) -> Function:
    operations: dict[type, Function] = {
        Add: lambda left, right: left + right,
        Sub: lambda left, right: left - right,
        Mul: lambda left, right: left * right,
    }
    return operations[type(layer)]


def _pool2d(layer: Pool2d) -> Function:
    top, left, bottom, right = layer.padding
    around = [[0, 0], [top, bottom + layer.overhang[0]], [left, right + layer.overhang[1]], [0, 0]]
    _, rows, columns = layer.output_shape
    size = ((rows - 1) * layer.stride[0] + 1, (columns - 1) * layer.stride[1] + 1)
    starts = [
        (row * layer.dilation[0], column * layer.dilation[1])
        for row in range(layer.kernel[0])
        for column in range(layer.kernel[1])
    ]

    def taps(x: Any, value: float) -> list[Any]:
        padded = tf.pad(x, around, constant_values=tf.constant(value, x.dtype)) if np.any(around) else x
        ends = ((row, row + size[0], column, column + size[1]) for row, column in starts)
        return [padded[:, a : b : layer.stride[0], c : d : layer.stride[1]] for a, b, c, d in ends]

    if layer.function == "max":
        return lambda x: tf.reduce_max(tf.stack(taps(x, -np.inf)), axis=0)
    counts = np.array(float(layer.divisor or 0))
    if layer.divisor is None:
        counts = np.outer(*layer.window_counts).astype(np.float64)[:, :, None]
    return lambda x: tf.add_n(taps(x, 0.0)) / tf.constant(counts, x.dtype)


def _global_pool(layer: GlobalPool) -> Function:
    if layer.function == "max":
        return lambda x: tf.reduce_max(x, axis=(1, 2), keepdims=True)
    divisor = layer.pixels if layer.function == "average" else 1
    return lambda x: tf.reduce_sum(x, axis=(1, 2), keepdims=True) / tf.constant(float(divisor), x.dtype)


def _rearrange(layer: Rearrange) -> Function:
    """Elements by their places in [C, H, W], as places in [H, W, C]."""
    channels, height, width = layer.source.shape
    numbers = np.arange(channels * height * width).reshape(height, width, channels).transpose(2, 0, 1)
    places = numbers.reshape(-1)[layer.indices].transpose(1, 2, 0)
    return lambda x: tf.gather(tf.reshape(x, [tf.shape(x)[0], numbers.size]), places, axis=1)


def _pad(layer: Pad) -> Function:
    top, left, bottom, right = layer.padding
    type_ = layer.source.type
    assert isinstance(type_, FixedType)
    value = float(layer.value_code) * type_.resolution
    around = [[0, 0], [top, bottom], [left, right], list(layer.channels)]
    return lambda x: tf.pad(x, around, constant_values=tf.constant(value, x.dtype))


def _crop(layer: Crop) -> Function:
    channels, rows, columns = (
        slice(first, first + (count - 1) * step + 1, step)
        for first, count, step in zip(layer.begin, layer.size, layer.step, strict=True)
    )
    return lambda x: x[:, rows, columns, channels]


MAKERS: dict[type[Layer], Callable[[Any], Function]] = {
    Add: _binary,
    Cast: _cast,
    Clamp: _clamp,
    Concat: _concat,
    Crop: _crop,
    GlobalPool: _global_pool,
    Leaky: _leaky,
    Mul: _binary,
    Pad: _pad,
    Pool2d: _pool2d,
    Rearrange: _rearrange,
    Sub: _binary,
}
"""What computes a layer's values, by its kind; convolutions and dense layers have `Products`."""
WEIGHTED = (Conv2d, Dense, Affine)
