"""Layers of Keras and QKeras without weights: pooling, joining, shapes, activations."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from hlsgen.base.fixed import FloatType
from hlsgen.frontends.builder.builder import Value
from hlsgen.frontends.qkeras.activations import activated, elu, leaky, softmax
from hlsgen.frontends.qkeras.quantizers import quantised_weights, real
from hlsgen.frontends.qkeras.resampling import resized, upsampled
from hlsgen.frontends.qkeras.weights import LAYERS as WEIGHTED
from hlsgen.frontends.qkeras.weights import Build, Net, array, pair, sides

EPSILON = 1e-7
"""Keras' own."""

# activations


def _activation(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """Activation; the function itself is done as every layer's `activation`."""
    return inputs[0]


def _q_activation(net: Net, layer: Any, inputs: list[Value]) -> Value:
    return activated(net.builder, inputs[0], layer.quantizer, net.sigmoid)


def _relu(net: Net, layer: Any, inputs: list[Value]) -> Value:
    builder, x = net.builder, inputs[0]
    if float(layer.threshold):
        raise builder.refusal(f"it has a threshold of {float(layer.threshold):g}", "threshold=0")
    slope = float(np.float32(layer.negative_slope))
    highest = None if layer.max_value is None else float(np.float32(layer.max_value))
    if not slope:
        return builder.limited(x, 0.0, highest)
    y = builder.leaked(x, [slope])
    return y if highest is None else builder.limited(y, None, highest)


def _leaky_relu(net: Net, layer: Any, inputs: list[Value]) -> Value:
    slope = layer.negative_slope if hasattr(layer, "negative_slope") else layer.alpha  # Keras 3, Keras 2
    return leaky(net.builder, inputs[0], float(slope))


def _thresholded(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """ThresholdedReLU: x where it is above theta, else 0."""
    return net.builder.table(inputs[0], "threshold", (float(np.float32(layer.theta)), 0.0))


def _elu(net: Net, layer: Any, inputs: list[Value]) -> Value:
    return elu(net.builder, inputs[0], float(np.float32(layer.alpha)))


def _softmax(net: Net, layer: Any, inputs: list[Value]) -> Value:
    axes = [without_batch(net, inputs[0], axis) for axis in np.reshape(layer.axis, -1)]
    if len(axes) != 1:
        raise net.builder.refusal("it is a softmax over several axes", "a softmax over one axis")
    return softmax(net.builder, inputs[0], axes[0])


def without_batch(net: Net, x: Value, axis: int) -> int:
    """An axis without the batch of a layer's axis with it. Raises DesignError: it is the batch."""
    without = int(axis) - 1 if axis > 0 else int(axis) + x.rank
    if axis == 0 or not 0 <= without < x.rank:
        raise net.builder.refusal(f"it works along axis {axis} of [batch, ..]", f"an axis from 1 to {x.rank}")
    return without


# pooling


def _max_pool(net: Net, layer: Any, inputs: list[Value]) -> Value:
    return _pooled(net, layer, inputs[0], "max", None)


def _average_pool(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """AveragePooling1D and 2D: pixels of the padding are not counted."""
    return _pooled(net, layer, inputs[0], "average", None)


def _pooled(
    net: Net, layer: Any, x: Value, function: Literal["max", "average"], divisor: int | None
) -> Value:
    kernel, stride = pair(layer.pool_size), pair(layer.strides)
    return net.builder.pool2d(
        x,
        function,
        kernel,
        stride=stride,
        padding=sides(layer, x, kernel, stride),
        divisor=divisor,
        result_type=net.builder.averaged_as() if function == "average" and divisor is None else FloatType(),
    )


def _q_average_pool(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """QAveragePooling2D: with a quantizer the window's sum times the quantised 1 / area."""
    x, kernel = inputs[0], pair(layer.pool_size)
    if not layer.average_quantizer or not net.builder.fixed:
        return _pooled(net, layer, x, "average", None)
    if any(sides(layer, x, kernel, pair(layer.strides))):
        raise net.builder.refusal(
            "at the border it scales averages of fewer pixels as if they were sums of a whole window",
            'padding="valid", or no average_quantizer',
        )
    y = _pooled(net, layer, x, "average", 1)
    return _times_quantised(net, y, layer, kernel[0] * kernel[1])


def _times_quantised(net: Net, sums: Value, layer: Any, area: int) -> Value:
    """Sums over `area` pixels times 1 / area as the layer's quantizer gives it."""
    with net.builder.quantizing():
        factor = quantised_weights(layer.average_quantizer_internal, np.float32(1.0 / area))
        if factor.scale is not None:
            factor = real(factor.values)
    return net.builder.affine_of(sums, factor, None)


def _global_pool(function: Literal["max", "average"]) -> Build:
    def build(net: Net, layer: Any, inputs: list[Value]) -> Value:
        x = inputs[0]
        type_ = net.builder.averaged_as() if function == "average" else FloatType()
        return net.builder.reduce(x, function, range(x.rank - 1), bool(layer.keepdims), type_)

    return build


def _q_global_average(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """QGlobalAveragePooling2D: with a quantizer the sum times the quantised 1 / area."""
    x = inputs[0]
    if not layer.average_quantizer or not net.builder.fixed:
        return _global_pool("average")(net, layer, inputs)
    sums = net.builder.reduce(x, "sum", (0, 1), bool(layer.keepdims))
    return _times_quantised(net, sums, layer, x.shape[0] * x.shape[1])


# several tensors


def _merging(operation: str) -> Build:
    return lambda net, _, inputs: merged(net, inputs, operation)


def _averaged(net: Net, layer: Any, inputs: list[Value]) -> Value:
    return net.builder.scaled(merged(net, inputs, "add"), 1 / len(inputs))


def merged(net: Net, inputs: list[Value], operation: str) -> Value:
    if len({x.rank for x in inputs}) > 1:
        ranks = " and ".join(str(x.rank) for x in inputs)
        raise net.builder.refusal(
            f"it joins tensors of {ranks} axes", "tensors with as many axes as each other"
        )
    result = inputs[0]
    for other in inputs[1:]:
        result = getattr(net.builder, operation)(result, other)
    return result


def _concatenated(net: Net, layer: Any, inputs: list[Value]) -> Value:
    return net.builder.concat(inputs, without_batch(net, inputs[0], layer.axis))


# shapes


def _unchanged(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """What does nothing in inference."""
    return inputs[0]


def _flattened(net: Net, layer: Any, inputs: list[Value]) -> Value:
    return net.builder.reshape(inputs[0], (-1,))


def _reshaped(net: Net, layer: Any, inputs: list[Value]) -> Value:
    return net.builder.reshape(inputs[0], [int(size) for size in layer.target_shape])


def _permuted(net: Net, layer: Any, inputs: list[Value]) -> Value:
    return net.builder.permute(inputs[0], [int(axis) - 1 for axis in layer.dims])


def _repeated(net: Net, layer: Any, inputs: list[Value]) -> Value:
    x = inputs[0]
    return net.builder.expand(net.builder.unsqueeze(x, 0), (int(layer.n), *x.shape))


def _padded(net: Net, layer: Any, inputs: list[Value]) -> Value:
    amounts = np.reshape(layer.padding, (-1, 2)).tolist()
    return net.builder.pad(inputs[0], [*((int(a), int(b)) for a, b in amounts), (0, 0)])


def _cropped(net: Net, layer: Any, inputs: list[Value]) -> Value:
    x = inputs[0]
    for axis, (before, after) in enumerate(np.reshape(layer.cropping, (-1, 2)).tolist()):
        x = net.builder.slice(x, axis, int(before), x.shape[axis] - int(before) - int(after))
    return x


def _rescaling(net: Net, layer: Any, inputs: list[Value]) -> Value:
    shift = array(layer.offset)
    return net.builder.scaled(inputs[0], array(layer.scale), shift if shift.any() else None)


def _normalised(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """Normalization: (x - mean) / deviation, or with `invert` back again; both are known beforehand."""
    # as Keras, whose epsilon keeps the divisor from zero
    deviation = np.maximum(np.sqrt(array(layer.variance)), EPSILON)
    mean = array(layer.mean)
    if layer.invert:
        return net.builder.scaled(inputs[0], deviation[0], mean[0])
    return net.builder.scaled(inputs[0], 1 / deviation[0], -mean[0] / deviation[0])


IDENTITIES = (
    "Identity",
    "Dropout",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "AlphaDropout",
    "GaussianDropout",
    "GaussianNoise",
    "ActivityRegularization",
)
LAYERS: dict[str, Build] = {
    **WEIGHTED,
    **dict.fromkeys(IDENTITIES, _unchanged),
    "Activation": _activation,
    "QActivation": _q_activation,
    "ReLU": _relu,
    "LeakyReLU": _leaky_relu,
    "ThresholdedReLU": _thresholded,
    "ELU": _elu,
    "Softmax": _softmax,
    **dict.fromkeys(("MaxPooling1D", "MaxPooling2D"), _max_pool),
    **dict.fromkeys(("AveragePooling1D", "AveragePooling2D"), _average_pool),
    "QAveragePooling2D": _q_average_pool,
    **dict.fromkeys(("GlobalMaxPooling1D", "GlobalMaxPooling2D"), _global_pool("max")),
    **dict.fromkeys(("GlobalAveragePooling1D", "GlobalAveragePooling2D"), _global_pool("average")),
    "QGlobalAveragePooling2D": _q_global_average,
    "Add": _merging("add"),
    "Subtract": _merging("sub"),
    "Multiply": _merging("mul"),
    "Maximum": _merging("maximum"),
    "Minimum": _merging("minimum"),
    "Average": _averaged,
    "Concatenate": _concatenated,
    "Flatten": _flattened,
    "Reshape": _reshaped,
    "Permute": _permuted,
    "RepeatVector": _repeated,
    **dict.fromkeys(("ZeroPadding1D", "ZeroPadding2D"), _padded),
    **dict.fromkeys(("Cropping1D", "Cropping2D"), _cropped),
    **dict.fromkeys(("UpSampling1D", "UpSampling2D"), upsampled),
    "Resizing": resized,
    "Rescaling": _rescaling,
    "Normalization": _normalised,
}
"""What builds a layer, by its class."""
