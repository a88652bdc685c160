"""What QKeras computes with logarithms and roots, as every processor computes it.

TensorFlow estimates logarithms and reciprocal roots: their float32 results differ in the last bit from one
processor to the next, on one by the length of an array. So do powers of two that are chosen by
log(x) / log(2) where x is one itself: of 2**15 it is 15 or 14.999999. What becomes part of a design is
computed here, exactly or rounded to the nearest, which is also what TensorFlow gives for nearly all numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.coded import Doubles

Singles = NDArray[np.float32]


def inverse_root(values: Singles) -> Singles:
    """1 / sqrt(values)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return (1 / np.sqrt(values.astype(np.float64))).astype(np.float32)


def powers_of_two(quantizer: Any, values: Any, epsilon: float) -> Doubles:
    """What quantized_po2 or quantized_relu_po2 gives for float32 values; epsilon: Keras' own.

    Raises ValueError: a log2_rounding that there is not.
    """
    x = np.asarray(values, np.float32)
    if not hasattr(quantizer, "negative_slope"):
        return np.where(x < 0, -1.0, 1.0) * _power(quantizer, np.abs(x), epsilon)
    slope = np.float32(quantizer.negative_slope)
    right = _power(quantizer, np.maximum(x, np.float32(0)), epsilon)
    if slope == 0:
        return right
    return np.where(x >= 0, right, -_power(quantizer, np.maximum(-x, np.float32(0)) * slope, epsilon))


def _power(quantizer: Any, sizes: Singles, epsilon: float) -> Doubles:
    """The power of two that is nearest to each size, or not above it, within the quantizer's exponents."""
    least, most = quantizer._min_exp, quantizer._max_exp
    tiny = sizes < np.float32(epsilon)
    limited = np.where(tiny, np.float32(epsilon), sizes)
    if quantizer.max_value is not None:
        limited = np.minimum(limited, np.float32(quantizer.max_value))
    if quantizer.log2_rounding not in ("rnd", "floor"):
        raise ValueError(f"log2_rounding is {quantizer.log2_rounding!r}, neither rnd nor floor")
    square, to_nearest = bool(quantizer.quadratic_approximation), quantizer.log2_rounding == "rnd"
    exponents = (_root_exponents if square else _exponents)(limited, to_nearest)
    chosen = np.clip(exponents, least, most) * (2 if square else 1)
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(np.float32(1), np.where(tiny, least, chosen)).astype(np.float64)


def _exponents(sizes: Singles, to_nearest: bool) -> NDArray[np.int64]:
    """log2(sizes) rounded to the nearest, or down."""
    mantissas, exponents = np.frexp(sizes.astype(np.float64))  # 0.5 <= mantissa < 1
    upper = to_nearest & (mantissas * mantissas > 0.5)  # exact: twice 24 bits
    return exponents.astype(np.int64) - 1 + upper


def _root_exponents(sizes: Singles, to_nearest: bool) -> NDArray[np.int64]:
    """log2(sqrt(sizes)) rounded to the nearest, halves to even, or down."""
    mantissas, exponents = np.frexp(sizes.astype(np.float64))
    whole, half = np.divmod(exponents.astype(np.int64) - 1, 2)
    upper = to_nearest & (half == 1) & ((mantissas > 0.5) | (whole % 2 == 1))
    return np.asarray(whole + upper)


def folded_weights(layer: Any, kernel: Any) -> tuple[Singles, Singles]:
    """(kernel, bias) of a QKeras convolution with its batch normalisation folded in: its get_folded_weights.

    kernel: the layer's, [.., M], or [.., C, multiplier] of a depthwise one.
    """
    norm, weights = layer.batchnorm, _singles(kernel)
    factor = inverse_root(_singles(norm.moving_variance) + np.float32(norm.epsilon))
    if norm.gamma is not None:
        factor = factor * _singles(norm.gamma)
    bias = _singles(layer.bias) if layer.use_bias else np.zeros_like(factor)
    shift = factor * (bias - _singles(norm.moving_mean))
    if norm.beta is not None:
        shift = shift + _singles(norm.beta)
    channels = weights.shape[-1:] if weights.shape[-1] == factor.size else weights.shape[-2:]
    return weights * factor.reshape(channels), shift


def _singles(variable: Any) -> Singles:
    return np.asarray(variable, np.float32)
