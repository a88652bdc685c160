"""What QKeras' quantizers do to weights and activations, read from the objects, as fixed-point types.

QKeras does not count the sign among the integer bits and rounds halves to even:

    quantized_bits(b, i)                     fixed<b,i+1,rnd_conv,sat>; symmetric: sat_sym
    quantized_bits(b, i, keep_negative=0)    ufixed<b,i,rnd_conv,sat>
    quantized_relu(b, i)                     ufixed<b,i,rnd_conv,sat>: saturation is the ReLU
    quantized_tanh(b), not the real tanh     fixed<b,1,rnd_conv,sat> of 1 or 3/8 times x

Weights are what the quantizer itself gives for them, without the straight-through estimator's float32 noise:
x + (q - x) is not q in general. They are codes times a scale. Scales that are powers of two, if need be
different ones for each channel, go into the codes; others stay a real number for each channel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.base.coded import (
    SIGN,
    SIGNIFICANT_BITS,
    Coded,
    Doubles,
    by_filter,
    exactly,
    fraction_bits,
    nearly,
    nearly_each,
    power_of_two,
    value_bits,
)
from hlsgen.base.fixed import MAX_TENSOR_WIDTH, FixedType, Overflow, Rounding
from hlsgen.frontends.qkeras.load import tensorflow_packages
from hlsgen.frontends.qkeras.rounding import powers_of_two

STOCHASTIC_INFERENCE = {"stochastic_binary": "binary", "stochastic_ternary": "ternary"}
"""Quantizers that draw lots in training only."""


class UnsupportedQuantizerError(Exception):
    """A quantizer that has no fixed-point counterpart. `fix`: what would be accepted."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix


def kind_of(quantizer: Any) -> str:
    """The name of a quantizer's class, or of a function; that of a stochastic one is its inference form's."""
    name = getattr(quantizer, "__name__", type(quantizer).__name__)
    return STOCHASTIC_INFERENCE.get(name, name)


def is_quantizer(thing: Any) -> bool:
    """Whether `thing` is a quantizer object of QKeras', and no function of Keras'."""
    return any(base.__name__ == "BaseQuantizer" for base in type(thing).__mro__)


def check_deterministic(quantizer: Any) -> None:
    """Refuses what draws lots. Raises UnsupportedQuantizerError: it does, or quantises only partly."""
    name = type(quantizer).__name__
    if getattr(quantizer, "use_stochastic_rounding", False):
        raise UnsupportedQuantizerError(
            f"{name} has use_stochastic_rounding, which rounds by lot",
            "use_stochastic_rounding=False",
        )
    noise = float(number(getattr(quantizer, "qnoise_factor", 1.0)))
    if noise != 1.0:
        raise UnsupportedQuantizerError(
            f"{name} has a qnoise_factor of {noise:g}: what it gives is only partly quantised",
            "qnoise_factor=1, as at the end of training",
        )


def number(value: Any) -> Any:
    """A number, also where QKeras keeps it in a variable of TensorFlow's."""
    return value.numpy() if hasattr(value, "numpy") else value


def integer_bits(quantizer: Any) -> int:
    """The integer bits of a quantizer. Raises UnsupportedQuantizerError: they differ by channel."""
    value = np.asarray(number(quantizer.integer))
    if value.size != 1 or value != np.floor(value):
        message = f"{type(quantizer).__name__} has {value.tolist()} integer bits"
        raise UnsupportedQuantizerError(message, "one whole number of integer bits for all channels")
    return int(value.reshape(-1)[0])


def bits_type(quantizer: Any) -> FixedType:
    """The type of quantized_bits of two bits or more, of its values before any scale.

    Raises UnsupportedQuantizerError: a width that no type has.
    """
    signed = bool(quantizer.keep_negative)
    symmetric = signed and bool(quantizer.symmetric)
    overflow = Overflow.SAT_SYM if symmetric else Overflow.SAT
    return checked_type(quantizer, int(quantizer.bits), integer_bits(quantizer) + signed, signed, overflow)


def relu_type(quantizer: Any) -> FixedType:
    """The type of quantized_relu; signed if it has a negative slope."""
    signed = quantizer.negative_slope != 0
    return checked_type(quantizer, int(quantizer.bits), integer_bits(quantizer) + signed, signed)


def checked_type(
    quantizer: Any, width: int, integer: int, signed: bool, overflow: Overflow = Overflow.SAT
) -> FixedType:
    """The type of a quantizer's codes, rounding as QKeras. Raises UnsupportedQuantizerError: no such type."""
    try:
        if width > MAX_TENSOR_WIDTH:
            raise ValueError(f"width {width} is outside 1..{MAX_TENSOR_WIDTH}")
        return FixedType(width, integer, signed, Rounding.RND_CONV, overflow)
    except ValueError as error:
        raise UnsupportedQuantizerError(
            f"{type(quantizer).__name__}({quantizer.bits}, ...): {error}", f"1 to {MAX_TENSOR_WIDTH} bits"
        ) from None


def fixed_scale(quantizer: Any) -> Doubles | None:
    """alpha of a quantizer of activations, None for 1. Raises UnsupportedQuantizerError: it is automatic."""
    alpha = quantizer.alpha
    if isinstance(alpha, str):
        raise UnsupportedQuantizerError(
            f'{type(quantizer).__name__} has alpha="{alpha}" for activations: each batch changes the scale',
            "alpha=1 and the integer bits that the activations need",
        )
    if alpha is None or np.all(np.asarray(number(alpha)) == 1):
        return None
    return np.asarray(number(alpha), np.float32).astype(np.float64)


# weights


def quantised_weights(quantizer: Any, values: Any) -> Coded:
    """What the layer computes with: the quantizer's result for `values`, float32 in the shape that it gets.

    Raises UnsupportedQuantizerError: no such quantizer for weights, results that are not finite, or that need
    more than 64 bits together.
    """
    kind = kind_of(quantizer)
    step_of = STEPS.get(kind)
    if step_of is None:
        raise UnsupportedQuantizerError(
            f"{kind} does not quantise weights", f"one of {', '.join(sorted(STEPS))}"
        )
    check_deterministic(quantizer)
    result = called(quantizer, values, "the weights")
    if not np.isfinite(result).all():
        raise UnsupportedQuantizerError(
            f"{kind} makes NaN or infinity of the weights",
            "finite weights, and 2 bits or more with alpha auto",
        )
    scale = _scale(quantizer, kind)
    used = np.where(scale == 0, 1.0, scale)
    multiples = np.rint(result / used / step_of(quantizer, result)) * step_of(quantizer, result)
    in_codes = power_of_two(used) is not None
    base = _in_own_type(quantizer, multiples) if np.all(used == 1) or not in_codes else None
    if base is None:
        base = exact(multiples * used if in_codes else multiples)
    return base if in_codes else Coded(codes=base.codes, type=base.type, scale=scale)


def called(quantizer: Any, values: Any, what: str) -> Doubles:
    """The quantizer's own result, if it can be, without the noise of its straight-through estimator.

    what: the values' name in the error. Raises UnsupportedQuantizerError: QKeras fails.
    """
    through = getattr(quantizer, "use_ste", None)
    try:
        if through is not None:
            quantizer.use_ste = False
        return _computed(quantizer, values)
    except Exception as error:  # TensorFlow's and QKeras' many, for arguments that QKeras cannot compute with
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        message = f"QKeras cannot compute {type(quantizer).__name__} of {what}: {first[:200]}"
        raise UnsupportedQuantizerError(message, "arguments with which QKeras predicts") from None
    finally:
        if through is not None:
            quantizer.use_ste = through


def _computed(quantizer: Any, values: Any) -> Doubles:
    """What the quantizer gives for float32 values, on any processor.

    Powers of two are computed here. QKeras computes what takes a mean or a function in float64, whose errors
    are far below what is kept of a result; all other formulas are exact or rounded alike everywhere.
    """
    backend, singles = tensorflow_packages().keras.backend, np.asarray(values, np.float32)
    if kind_of(quantizer) in ("quantized_po2", "quantized_relu_po2"):
        return powers_of_two(quantizer, singles, backend.epsilon())
    if not _inexact(quantizer):
        return np.asarray(quantizer(singles), np.float64)
    usual = backend.floatx()
    try:
        backend.set_floatx("float64")
        return np.asarray(quantizer(singles.astype(np.float64)), np.float64)
    finally:
        backend.set_floatx(usual)


def _inexact(quantizer: Any) -> bool:
    """Whether the formula has operations that processors round differently: sums and functions."""
    kind = kind_of(quantizer)
    if kind == "quantized_bits":
        return isinstance(quantizer.alpha, str) and quantizer.alpha == "auto_po2"
    return kind in ("binary", "ternary", "quantized_tanh", "quantized_sigmoid")


def _scale(quantizer: Any, kind: str) -> Doubles:
    """The scale that the quantizer has just used."""
    scale = getattr(quantizer, "scale", None) if kind in ("quantized_bits", "binary", "ternary") else None
    return np.asarray(1.0 if scale is None else number(scale), np.float32).astype(np.float64)


def _in_own_type(quantizer: Any, values: Doubles) -> Coded | None:
    """Values in the type that the quantizer's arguments say; None: they say none."""
    if kind_of(quantizer) != "quantized_bits" or quantizer.bits - bool(quantizer.keep_negative) < 1:
        return None
    saturating = bits_type(quantizer)
    type_ = FixedType(saturating.width, saturating.integer, saturating.signed)
    return Coded(codes=type_.encode(values), type=type_)


def _bits_step(quantizer: Any, _: Doubles) -> float:
    magnitude = int(quantizer.bits) - bool(quantizer.keep_negative)
    return 1.0 if magnitude < 1 else float(2.0 ** (integer_bits(quantizer) - magnitude))


def _relu_step(quantizer: Any, _: Doubles) -> float:
    return relu_type(quantizer).resolution


def _exponent_step(_: Any, result: Doubles) -> float:
    """Results are powers of two: the least is the step of all."""
    sizes = np.abs(result[result != 0])
    if not sizes.size:
        return 1.0
    mantissa, exponent = math.frexp(float(sizes.min()))  # a framework's power may be off by its last bit
    return math.ldexp(1.0, exponent if mantissa > 0.75 else exponent - 1)


STEPS: dict[str, Callable[[Any, Doubles], float]] = {
    "quantized_bits": _bits_step,
    "quantized_relu": _relu_step,
    "quantized_tanh": lambda quantizer, _: 2.0 ** (1 - int(quantizer.bits)),
    "quantized_sigmoid": lambda quantizer, _: 2.0 ** -int(quantizer.bits),
    "quantized_po2": _exponent_step,
    "quantized_relu_po2": _exponent_step,
    "binary": lambda *_: 1.0,
    "ternary": lambda *_: 1.0,
}
"""Quantizers for weights: what their results, without the scale, are multiples of."""


# types of numbers


def exact(values: ArrayLike) -> Coded:
    """Values in the narrowest type that holds them. Raises UnsupportedQuantizerError: it has over 64 bits."""
    sizes = np.abs(np.asarray(values, np.float64))
    largest = float(sizes.max(initial=0.0))
    width = value_bits(-largest, largest, fraction_bits(sizes))
    if width > MAX_TENSOR_WIDTH:
        message = f"values from {sizes[sizes != 0].min():g} to {largest:g} in one type need {width} bits"
        fix = f"a quantizer whose values fit {MAX_TENSOR_WIDTH} bits together"
        raise UnsupportedQuantizerError(message, fix)
    return exactly(values, either_sign=True)


def real(values: ArrayLike) -> Coded:
    """Real numbers that stay in the model: with SIGNIFICANT_BITS bits of the largest, or exactly where these
    do.
    """
    return nearly(values, either_sign=True)


def each_real(values: ArrayLike, finest: int = MAX_TENSOR_WIDTH) -> Coded:
    """Real numbers of channels: each with SIGNIFICANT_BITS bits, or exactly where these do.

    finest: as of `nearly_each`; all of them together have at most MAX_TENSOR_WIDTH bits.
    """
    largest = float(np.abs(np.asarray(values, np.float64)).max(initial=0.0))
    room = MAX_TENSOR_WIDTH - 2 - math.frexp(largest)[1]
    return nearly_each(values, SIGNIFICANT_BITS, min(finest, room), either_sign=True)


def plain_type(quantizer: Any) -> FixedType | None:
    """The type that does all that a quantizer of activations does, by a mere cast; None: it does more.

    Raises UnsupportedQuantizerError: its width.
    """
    kind = kind_of(quantizer)
    if kind == "quantized_bits":
        scaled = isinstance(quantizer.alpha, str) or fixed_scale(quantizer) is not None
        return None if scaled or quantizer.bits <= bool(quantizer.keep_negative) else bits_type(quantizer)
    if kind == "quantized_relu":
        bounded = quantizer.relu_upper_bound is not None and not quantizer.is_quantized_clip
        more = quantizer.use_sigmoid or quantizer.negative_slope or bounded
        return None if more else relu_type(quantizer)
    return None


def first_type(quantizer: Any) -> FixedType | None:
    """The type of the cast that a quantizer of activations begins with, whatever it does then; None: none.

    Raises UnsupportedQuantizerError: as `plain_type`.
    """
    kind = kind_of(quantizer)
    if kind == "binary" or (kind == "quantized_bits" and quantizer.bits <= bool(quantizer.keep_negative)):
        return SIGN
    if kind == "quantized_bits":
        fixed_scale(quantizer)  # which refuses one that is automatic
        return bits_type(quantizer)
    if kind == "quantized_relu" and not quantizer.use_sigmoid and not quantizer.negative_slope:
        return relu_type(quantizer)
    return plain_type(quantizer)


def channel_scale(scale: Doubles, shape: Sequence[int], to_filters: Callable[[Doubles], Doubles]) -> Doubles:
    """The scale of each filter [M], of a scale that broadcasts to weights of `shape`.

    to_filters: to [M, C / groups, KH, KW]. Raises UnsupportedQuantizerError: it differs within a filter.
    """
    found = by_filter(to_filters(np.broadcast_to(scale, shape)))
    if found is None:
        raise UnsupportedQuantizerError(
            "the scale of the weights is no power of two and differs within a filter",
            'alpha="auto_po2", or one scale for each output channel',
        )
    return found
