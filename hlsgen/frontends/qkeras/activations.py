"""Activations of Keras and QKeras on values of the graph: functions, and quantizers of activations.

Exact: quantized_bits, quantized_relu (with slope, bound or a sigmoid that is not the real one), binary,
ternary, quantized_po2 and quantized_relu_po2, quantized_tanh and quantized_sigmoid unless real, Keras' relu
and linear, QKeras' functions.
By a table, so within a rounding of QKeras' float32: real tanh and sigmoid, quantized_hswish, softmax and
Keras' other functions. Those rounded by a quantizer that follows are rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hlsgen.base.coded import SIGN, on_grid
from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.frontends.builder.builder import Value
from hlsgen.frontends.qkeras.builder import TypedBuilder
from hlsgen.frontends.qkeras.quantizers import (
    UnsupportedQuantizerError,
    bits_type,
    check_deterministic,
    checked_type,
    exact,
    fixed_scale,
    integer_bits,
    is_quantizer,
    kind_of,
    relu_type,
)
from hlsgen.frontends.qkeras.steps import step_function

PROBABILITY = FixedType(16, 0, False, Rounding.RND_CONV, Overflow.SAT)
SIGNED_UNIT = FixedType(16, 1, True, Rounding.RND_CONV, Overflow.SAT)
"""Types of functions with values up to 1 where no quantizer follows."""
SIGMOIDS = {"hard_sigmoid": 0.5, "smooth_sigmoid": 0.1875}
"""QKeras' piecewise linear sigmoids, limits of slope * x + 0.5 to 0 and 1: their slopes."""
QKERAS = "qkeras.quantizers"


def activated(builder: TypedBuilder, x: Value, activation: Any, sigmoid: str) -> Value:
    """`x` after an activation: None, a function of Keras or QKeras, or a quantizer.

    sigmoid: which of its sigmoids QKeras uses, "hard", "smooth" or "real".
    Raises DesignError: an activation that cannot be built.
    """
    if activation is None:
        return x
    with builder.quantizing():
        if is_quantizer(activation):
            build = QUANTIZERS.get(kind_of(activation))
            if build is None:
                raise UnsupportedQuantizerError(*_refused(kind_of(activation)))
            check_deterministic(activation)
            return build(builder, x, activation, sigmoid)
        return _function(builder, x, activation)


def _refused(kind: str) -> tuple[str, str]:
    """Why a quantizer of activations cannot be built, and what can."""
    if kind == "bernoulli":
        return "bernoulli draws its results by lot", "binary, or quantized_sigmoid"
    return f"{kind} has no fixed-point counterpart", f"one of {', '.join(sorted(QUANTIZERS))}"


# quantizers


def _bits(builder: TypedBuilder, x: Value, quantizer: Any, _: str) -> Value:
    scale = fixed_scale(quantizer)
    if quantizer.bits - bool(quantizer.keep_negative) >= 1:
        y = builder.converted(x, bits_type(quantizer))
    else:
        y = _signs(builder, x, zero_one=not quantizer.keep_negative)
    return y if scale is None else builder.scaled(y, scale)


def _relu(builder: TypedBuilder, x: Value, quantizer: Any, sigmoid: str) -> Value:
    type_ = relu_type(quantizer)
    bound = None if quantizer.is_quantized_clip else quantizer.relu_upper_bound
    if bound is not None and not (bound > 0 and on_grid(float(np.float32(bound)), type_.fraction)):
        raise UnsupportedQuantizerError(
            f"quantized_relu gives multiples of {type_.resolution:g}, but is bounded by {bound:g}",
            "a relu_upper_bound that is such a multiple and above 0",
        )
    slope = float(quantizer.negative_slope)
    if quantizer.use_sigmoid:
        y = _sigmoid_relu(builder, x, quantizer, sigmoid)
    elif slope:
        y = _leaky_relu(builder, x, quantizer, slope)
    else:
        y = builder.converted(x, type_)
    return y if bound is None else builder.clamp(y, None, float(bound), type_)


def _leaky_relu(builder: TypedBuilder, x: Value, quantizer: Any, slope: float) -> Value:
    """Rounded slope * x down to -slope * 2**integer on the left."""
    type_ = relu_type(quantizer)
    least = -slope * 2.0 ** integer_bits(quantizer)
    if not on_grid(least, type_.fraction):
        raise UnsupportedQuantizerError(
            f"quantized_relu with negative_slope={slope:g} is limited to {least:g}, "
            f"which is no multiple of its resolution {type_.resolution:g}",
            "a steeper slope or more bits",
        )
    slopes = exact([slope])
    y = builder.leaky(x, slopes.codes, slopes.type)
    return builder.clamp(y, least, None, type_)


def _sigmoid_relu(builder: TypedBuilder, x: Value, quantizer: Any, sigmoid: str) -> Value:
    """2 * sigmoid(x / 2**integer) - 1, from 0 on, times 2**integer; the sigmoid is rounded to `bits` bits."""
    if quantizer.negative_slope:
        raise UnsupportedQuantizerError(
            "quantized_relu with use_sigmoid and a negative_slope", "one of the two, not both"
        )
    bits = int(quantizer.bits)
    range_ = 2.0 ** integer_bits(quantizer)
    rounded = checked_type(quantizer, bits + 1, 1, False)
    y = _sigmoid(builder, x, sigmoid, 1 / range_, rounded)
    if sigmoid != "real":  # a table ends at 1 by itself
        y = builder.clamp(y, None, 1.0, rounded)
    y = builder.affine_of(y, exact(2 * range_), exact(-range_))
    return builder.converted(y, relu_type(quantizer))


def _sigmoid(builder: TypedBuilder, x: Value, sigmoid: str, factor: float, type_: FixedType) -> Value:
    """QKeras' sigmoid of factor * x, factor a power of two, as `type_`, which begins at 0 and saturates."""
    if sigmoid == "real":
        scaled = x if factor == 1 else builder.affine_of(x, exact(factor), None)
        return builder.table(scaled, "sigmoid", result_type=type_)
    slope = SIGMOIDS[f"{sigmoid}_sigmoid"] * factor
    return builder.affine_of(x, exact(slope), exact(0.5), type_)


def _quantized_sigmoid(builder: TypedBuilder, x: Value, quantizer: Any, sigmoid: str) -> Value:
    type_ = checked_type(quantizer, int(quantizer.bits), 0, False)
    y = _sigmoid(builder, x, "real" if quantizer.use_real_sigmoid else sigmoid, 1.0, type_)
    return builder.clamp(y, type_.resolution, None, type_) if quantizer.symmetric else y


def _quantized_tanh(builder: TypedBuilder, x: Value, quantizer: Any, sigmoid: str) -> Value:
    if quantizer.symmetric and quantizer.bits < 2:
        raise UnsupportedQuantizerError("quantized_tanh of 1 bit and symmetric is always 0", "2 bits or more")
    overflow = Overflow.SAT_SYM if quantizer.symmetric else Overflow.SAT
    type_ = checked_type(quantizer, int(quantizer.bits), 1, True, overflow)
    if quantizer.use_real_tanh:
        return builder.table(x, "tanh", result_type=type_)
    if sigmoid == "real":  # 2 * sigmoid(x) - 1
        half = builder.affine_of(x, exact(0.5), None)
        return builder.table(half, "tanh", result_type=type_)
    slope = 2 * SIGMOIDS[f"{sigmoid}_sigmoid"]
    return builder.converted(x, type_) if slope == 1 else builder.affine_of(x, exact(slope), None, type_)


def _signs(builder: TypedBuilder, x: Value, zero_one: bool, size: Any = 1.0) -> Value:
    """size where x >= 0, else -size (0 if `zero_one`)."""
    below = builder.converted(x, SIGN)
    factor = np.asarray(size, np.float64) * (1 if zero_one else 2)
    return builder.scaled(below, factor, np.asarray(size, np.float64))


def _binary(builder: TypedBuilder, x: Value, quantizer: Any, _: str) -> Value:
    scale = fixed_scale(quantizer)
    return _signs(builder, x, bool(quantizer.use_01), 1.0 if scale is None else scale)


def _ternary(builder: TypedBuilder, x: Value, quantizer: Any, _: str) -> Value:
    """The difference [x >= t] - [x <= -t] of two signs, t rounded up to the grid of x."""
    threshold = quantizer.default_threshold if quantizer.threshold is None else quantizer.threshold
    scale = fixed_scale(quantizer)
    fraction = builder.type_of(x).fraction
    limit = max(0.0, float(np.ceil(np.ldexp(np.float64(np.float32(threshold)), fraction))))
    offset = exact(-np.ldexp(limit, -fraction))
    above = builder.affine_of(x, exact(1.0), offset, SIGN)
    below = builder.affine_of(x, exact(-1.0), offset, SIGN)
    y = builder.sub(above, below)
    return y if scale is None else builder.scaled(y, scale)


def _hswish(builder: TypedBuilder, x: Value, quantizer: Any, _: str) -> Value:
    bound = float(quantizer.relu_upper_bound)
    if bound <= 0 or quantizer.relu_shift <= 0 or quantizer.bits < 2:
        raise UnsupportedQuantizerError(
            f"quantized_hswish of {quantizer.bits} bits, relu_shift={quantizer.relu_shift:g}, "
            f"relu_upper_bound={bound:g}",
            "2 bits or more, shift and bound above 0",
        )
    parameters = (1 / bound, float(quantizer.relu_shift) / bound)
    y = builder.table(x, "hard_swish", parameters, bits_type(quantizer))
    scale = fixed_scale(quantizer)
    return y if scale is None else builder.scaled(y, scale)


def _powers(builder: TypedBuilder, x: Value, quantizer: Any, _: str) -> Value:
    """quantized_po2, quantized_relu_po2: a power of two by the range that x is in."""
    return builder.steps(x, *step_function(quantizer, builder.type_of(x)))


Build = Callable[[TypedBuilder, Value, Any, str], Value]
QUANTIZERS: dict[str, Build] = {
    "quantized_bits": _bits,
    "quantized_relu": _relu,
    "quantized_tanh": _quantized_tanh,
    "quantized_sigmoid": _quantized_sigmoid,
    "quantized_hswish": _hswish,
    "quantized_po2": _powers,
    "quantized_relu_po2": _powers,
    "binary": _binary,
    "ternary": _ternary,
}


# functions


def _function(builder: TypedBuilder, x: Value, function: Any) -> Value:
    """A function of tf_keras.activations or of qkeras.quantizers."""
    name = getattr(function, "__name__", type(function).__name__)
    home = str(getattr(function, "__module__", ""))
    if home == QKERAS and name in PIECEWISE:
        return PIECEWISE[name](builder, x)
    keras_3 = home.startswith("keras.src.")
    functions = FUNCTIONS | KERAS_3 if keras_3 else FUNCTIONS
    if not (keras_3 or home.startswith(("tf_keras.", "tensorflow.python."))) or name not in functions:
        known = ", ".join(sorted(functions))
        raise builder.refusal(
            f"the activation {name} is not known", f"one of {known}, or a quantizer of QKeras"
        )
    return functions[name](builder, x)


def _limited_line(builder: TypedBuilder, x: Value, slope: float, low: float) -> Value:
    """slope * x + (1 + low) / 2 between `low` and 1."""
    shift = (1 + low) / 2
    if not builder.fixed:
        y = x if slope == 1 and not shift else builder.affine(x, slope, shift if shift else None)
        return builder.clamp(y, low, 1.0)
    plain = slope == 1 and not shift
    y = x if plain else builder.affine_of(x, exact(slope), exact(shift) if shift else None)
    return builder.limited(y, low, 1.0)


def _binary_sigmoid(builder: TypedBuilder, x: Value) -> Value:
    if not builder.fixed:
        raise builder.refusal(
            "binary_sigmoid rounds, so it has no place in a float model", "a quantised model"
        )
    one = FixedType(1, 1, False, Rounding.RND_CONV, Overflow.SAT)
    return builder.affine_of(x, exact(0.5), exact(0.5), one)


def _binary_tanh(builder: TypedBuilder, x: Value) -> Value:
    return builder.affine_of(_binary_sigmoid(builder, x), exact(2.0), exact(-1.0))


PIECEWISE: dict[str, Callable[[TypedBuilder, Value], Value]] = {
    "hard_sigmoid": lambda builder, x: _limited_line(builder, x, 0.5, 0.0),
    "smooth_sigmoid": lambda builder, x: _limited_line(builder, x, 0.1875, 0.0),
    "hard_tanh": lambda builder, x: _limited_line(builder, x, 1.0, -1.0),
    "smooth_tanh": lambda builder, x: _limited_line(builder, x, 0.375, -1.0),
    "binary_sigmoid": _binary_sigmoid,
    "binary_tanh": _binary_tanh,
}
"""QKeras' own functions."""


def _table(
    function: str, default: FixedType | None = None, parameters: tuple[float, ...] = ()
) -> Callable[[TypedBuilder, Value], Value]:
    def build(builder: TypedBuilder, x: Value) -> Value:
        type_ = builder.without_exact_type(f"the activation {function}", default)
        return builder.table(x, function, parameters, type_)

    return build


def softmax(builder: TypedBuilder, x: Value, axis: int = -1) -> Value:
    """Softmax along an axis of `x`."""
    return builder.softmax(x, axis, builder.without_exact_type("softmax", PROBABILITY))


def log_softmax(builder: TypedBuilder, x: Value, axis: int = -1) -> Value:
    """The logarithm of the softmax along an axis of `x`."""
    return builder.log_softmax(x, axis, builder.without_exact_type("log_softmax"))


def leaky(builder: TypedBuilder, x: Value, slope: float) -> Value:
    """x where it is not negative, else slope * x, of a slope that Keras has in float32."""
    return builder.leaked(x, [float(np.float32(slope))])


FUNCTIONS: dict[str, Callable[[TypedBuilder, Value], Value]] = {
    "linear": lambda _, x: x,
    "relu": lambda builder, x: builder.clamp(x, 0.0, None),
    "relu6": lambda builder, x: builder.limited(x, 0.0, 6.0),
    "leaky_relu": lambda builder, x: leaky(builder, x, 0.2),
    "softmax": softmax,
    "sigmoid": _table("sigmoid", PROBABILITY),
    "hard_sigmoid": _table("hard_sigmoid", PROBABILITY, (0.2, 0.5)),
    "tanh": _table("tanh", SIGNED_UNIT),
    "softsign": _table("softsign", SIGNED_UNIT),
    "elu": _table("elu"),
    "selu": _table("selu"),
    "gelu": _table("gelu"),
    "swish": _table("silu"),  # Keras' name for it under either
    "softplus": _table("softplus"),
    "exponential": _table("exp"),
    "mish": _table("mish"),
}
"""Keras' own functions, with their default arguments, and those of TensorFlow that it takes for its own."""
KERAS_3: dict[str, Callable[[TypedBuilder, Value], Value]] = {
    "silu": FUNCTIONS["swish"],
    "hard_sigmoid": _table("hard_sigmoid", PROBABILITY),
    "hard_silu": _table("hard_swish"),
    "hard_tanh": lambda builder, x: builder.limited(x, -1.0, 1.0),
    "celu": _table("celu"),
    "log_sigmoid": _table("log_sigmoid"),
    "log_softmax": log_softmax,
    "tanh_shrink": _table("tanhshrink"),
    "soft_shrink": _table("softshrink"),
    "hard_shrink": _table("hardshrink"),
}
"""Functions that only Keras 3 has, or that are others than Keras 2's of the same name."""


def elu(builder: TypedBuilder, x: Value, alpha: float) -> Value:
    """The ELU layer."""
    return _table("elu", None, (alpha,))(builder, x)
