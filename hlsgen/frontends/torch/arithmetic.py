"""aten operations on each element: activations, sums and products with tensors and constants."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hlsgen.frontends.builder.builder import Value
from hlsgen.frontends.torch.call import Array, Call, converts

# limits


@converts("relu")
def relu(call: Call, self: object) -> Value:
    return call.builder.clamp(call.value(self), 0.0, None)


@converts("relu6")
def relu6(call: Call, self: object) -> Value:
    return call.builder.clamp(call.value(self), 0.0, 6.0)


@converts("hardtanh")
def hardtanh(call: Call, self: object, min_val: object = -1, max_val: object = 1) -> Value:
    return clamp(call, self, min_val, max_val)


@converts("clamp", "clip")
def clamp(call: Call, self: object, min: object = None, max: object = None) -> Value:
    low, high = call.limit(min, "lower limit"), call.limit(max, "upper limit")
    if low is not None and high is not None and low > high:
        raise call.refusal(f"its lower limit {low:g} is above its upper limit {high:g}", "limits in order")
    return call.builder.clamp(call.value(self), low, high)


@converts("clamp_min")
def clamp_min(call: Call, self: object, min: object) -> Value:
    return clamp(call, self, min, None)


@converts("clamp_max")
def clamp_max(call: Call, self: object, max: object) -> Value:
    return clamp(call, self, None, max)


@converts("maximum")
def maximum(call: Call, self: object, other: object) -> Value:
    if isinstance(self, Value) and isinstance(other, Value):
        return call.builder.maximum(self, other)
    x, limit = _value_first(call, self, other)
    return _expanded(call, clamp(call, x, limit, None))


@converts("minimum")
def minimum(call: Call, self: object, other: object) -> Value:
    if isinstance(self, Value) and isinstance(other, Value):
        return call.builder.minimum(self, other)
    x, limit = _value_first(call, self, other)
    return _expanded(call, clamp(call, x, None, limit))


def _value_first(call: Call, left: object, right: object) -> tuple[Value, object]:
    return (call.value(left), right) if isinstance(left, Value) else (call.value(right), left)


# slopes and tables


@converts("leaky_relu")
def leaky_relu(call: Call, self: object, negative_slope: object = 0.01) -> Value:
    return call.builder.leaky(call.value(self), call.number(negative_slope, "negative_slope"))


@converts("rrelu")
def rrelu(
    call: Call,
    self: object,
    lower: object = 1 / 8,
    upper: object = 1 / 3,
    training: bool = False,
    generator: object = None,
) -> Value:
    if training:
        message = "its slope is drawn at random, even in evaluation mode"
        raise call.refusal(message, "F.rrelu(x, training=self.training), or nn.RReLU")
    slope = (call.number(lower, "lower") + call.number(upper, "upper")) / 2
    return call.builder.leaky(call.value(self), slope)


@converts("prelu")
def prelu(call: Call, self: object, weight: object) -> Value:
    x, slopes = call.value(self), call.constant(weight, "weight")
    if slopes.size > 1:
        slopes = slopes.reshape((-1,) + (1,) * (x.rank - 1))
    return call.builder.leaky(x, slopes)


def _table(function: str, *names: str) -> Callable[..., Value]:
    """A converter to a table whose parameters are the arguments `names`."""

    def convert(call: Call, self: object, **given: object) -> Value:
        parameters = tuple(call.number(given[name], name) for name in names)
        return call.builder.table(call.value(self), function, parameters)

    convert.parameters = ("call", "self", *names)  # type: ignore[attr-defined]
    return convert


TABLES = {name: name for name in ("sigmoid", "tanh", "exp", "erf", "abs", "sign", "selu", "silu", "mish")} | {
    "hardsigmoid": "hard_sigmoid",
    "hardswish": "hard_swish",
    "log_sigmoid": "log_sigmoid",
    "softsign": "softsign",
    "special_expit": "sigmoid",
}
for _op, _function in TABLES.items():
    converts(_op)(_table(_function))
converts("sgn")(_table("sign"))
converts("celu")(_table("celu", "alpha"))
converts("softplus")(_table("softplus", "beta", "threshold"))
converts("softshrink")(_table("softshrink", "lambd"))
converts("hardshrink")(_table("hardshrink", "lambd"))
converts("threshold")(_table("threshold", "threshold", "value"))


@converts("gelu")
def gelu(call: Call, self: object, approximate: str = "none") -> Value:
    return call.builder.table(call.value(self), "gelu" if approximate == "none" else "gelu_tanh")


@converts("elu")
def elu(call: Call, self: object, alpha: object = 1, scale: object = 1, input_scale: object = 1) -> Value:
    if call.number(scale, "scale") != 1 or call.number(input_scale, "input_scale") != 1:
        raise call.refusal("it scales its input or its result", "nn.ELU, nn.SELU or nn.CELU")
    return call.builder.table(call.value(self), "elu", (call.number(alpha, "alpha"),))


@converts("glu")
def glu(call: Call, self: object, dim: object = -1) -> Value:
    x = call.value(self)
    axis = call.axis(x, dim)
    half = x.shape[axis] // 2
    values, gates = call.builder.split(x, axis, (half, half))
    return call.builder.mul(values, call.builder.table(gates, "sigmoid"))


# sums and products


@converts("add")
def add(call: Call, self: object, other: object, alpha: object = 1) -> Value:
    return _sum(call, self, other, call.number(alpha, "alpha"))


@converts("sub", "subtract")
def sub(call: Call, self: object, other: object, alpha: object = 1) -> Value:
    return _sum(call, self, other, -call.number(alpha, "alpha"))


@converts("rsub")
def rsub(call: Call, self: object, other: object, alpha: object = 1) -> Value:
    factor = call.number(alpha, "alpha")
    if factor == 1:
        return _sum(call, other, self, -1.0)
    scaled = _affine(call, call.value(self), np.float64(-factor), None)
    return _sum(call, scaled, other, 1.0)


def _sum(call: Call, left: object, right: object, factor: float) -> Value:
    """left + factor * right, one of them perhaps a constant."""
    if isinstance(left, Value) and isinstance(right, Value):
        if factor == -1:
            return call.builder.sub(left, right)
        if factor != 1:
            right = call.builder.affine(right, factor)
        return call.builder.add(left, right)
    if isinstance(left, Value):
        return _affine(call, left, np.float64(1), call.constant(right, "other operand") * factor)
    x = call.value(right, "other operand")
    return _affine(call, x, np.float64(factor), call.constant(left, "other operand"))


@converts("mul", "multiply")
def mul(call: Call, self: object, other: object) -> Value:
    if isinstance(self, Value) and isinstance(other, Value):
        return call.builder.mul(self, other)
    x, factor = (self, other) if isinstance(self, Value) else (other, self)
    return _affine(call, call.value(x), call.constant(factor, "factor"), None)


@converts("div", "divide", "true_divide")
def div(call: Call, self: object, other: object) -> Value:
    if isinstance(other, Value):
        message = "it divides by a tensor that depends on the model's inputs"
        raise call.refusal(message, "a division by constants, softmax, or a batch normalisation")
    divisor = call.constant(other, "divisor")
    if (divisor == 0).any():
        raise call.refusal("it divides by zero", "a divisor other than zero")
    return _affine(call, call.value(self), 1 / divisor, None)


def _affine(call: Call, x: Value, scale: Array | np.float64, shift: Array | None) -> Value:
    """scale * x + shift, the result as large as PyTorch broadcasts it."""
    rank = len(call.shape)
    factors = call.broadcast(np.asarray(scale), rank)
    added = None if shift is None else call.broadcast(shift, rank)
    x = _expanded(call, x)
    if factors.size == 1 and float(factors.reshape(())) == 1 and (added is None or not added.any()):
        return x
    return call.builder.affine(x, factors, added)


def _expanded(call: Call, x: Value) -> Value:
    return call.builder.expand(x, call.shape)


@converts("neg", "negative")
def neg(call: Call, self: object) -> Value:
    return call.builder.affine(call.value(self), -1.0)


@converts("square")
def square(call: Call, self: object) -> Value:
    x = call.value(self)
    return call.builder.mul(x, x)


@converts("pow")
def pow_(call: Call, self: object, exponent: object) -> Value:
    x, power = call.value(self), call.number(exponent, "exponent")
    if not 1 <= power <= 4 or power != math.floor(power):
        raise call.refusal(f"it raises to the power of {power:g}", "an exponent of 1, 2, 3 or 4")
    result = x
    for _ in range(int(power) - 1):
        result = call.builder.mul(result, x)
    return result
