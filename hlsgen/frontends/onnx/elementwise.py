"""ONNX operations element by element: arithmetic, limits, activation functions.

Exporters write some functions as several nodes: x * sigmoid(x), 0.5 * x * (1 + erf(x / sqrt 2)) and the
like. Each value remembers what it is made of, and a product that completes such a function becomes that
function; what then nobody reads is left out of the graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from hlsgen.frontends.builder.views import Value
from hlsgen.frontends.onnx.model import Node
from hlsgen.frontends.onnx.reading import Handler, Reading
from hlsgen.frontends.onnx.sums import product
from hlsgen.frontends.onnx.values import Applied, Array, Constant, Gate, Known, Polynomial, Real, Sum

NO_LIMIT = 3.4028234e38
"""Exporters write the ends of float32 for no limit."""
SAME = 1e-6
"""Relative difference of numbers that differ by the rounding of float32 constants only."""
ROOT_HALF = math.sqrt(0.5)
TANH_GELU = (0.0, math.sqrt(2 / math.pi), 0.0, math.sqrt(2 / math.pi) * 0.044715)
"""The polynomial whose tanh makes the approximate GELU (Hendrycks and Gimpel, 2016)."""


# arithmetic


def moved(reading: Reading, node: Node, x: Real, scale: Array | float, shift: Array | float) -> Real:
    """scale * x + shift, constants that broadcast."""
    scales, shifts = np.asarray(scale, np.float64), np.asarray(shift, np.float64)
    view, scales = reading.broadcast(node, x.view, scales)
    view, shifts = reading.broadcast(node, view, shifts)
    if not (np.isfinite(scales).all() and np.isfinite(shifts).all()):
        raise node.problem("a constant is infinite or no number", "finite constants")
    if (scales == 1).all() and not shifts.any():
        return Real(view=view)
    if scales.size != 1 or shifts.size != 1 or view.shape != x.view.shape:
        return Real(view=reading.builder.affine(view, scales, shifts if shifts.any() else None))
    return _moved_alike(reading, x, float(scales.reshape(())), float(shifts.reshape(())))


def _moved_alike(reading: Reading, x: Real, factor: float, offset: float) -> Real:
    """factor * x + offset; a chain of such is one layer, or none."""
    if isinstance(x.origin, Gate):
        gate = replace(x.origin, factor=x.origin.factor * factor, offset=x.origin.offset * factor + offset)
        return Real(view=reading.builder.affine(x.view, factor, offset or None), origin=gate)
    origin = x.polynomial.moved(factor, offset)
    if len(origin.coefficients) != 2:  # of x - x it has one
        return Real(view=reading.builder.affine(x.view, factor, offset or None), origin=origin)
    shift, slope = origin.coefficients
    if shift == 0 and abs(slope - 1) < SAME:
        return Real(view=origin.base)
    return Real(view=reading.builder.affine(origin.base, slope, shift or None), origin=origin)


def _constant_and_real(reading: Reading, node: Node) -> tuple[int, Array] | None:
    """Which input is constant, and its array; None: neither."""
    for index in (0, 1):
        known = reading.value(node, index)
        if isinstance(known, Constant):
            return index, known.values.astype(np.float64)
    return None


def add(reading: Reading, node: Node) -> Sequence[Known]:
    found = _constant_and_real(reading, node)
    if found is None:
        return [_two(reading, node, reading.builder.add, Polynomial.plus)]
    index, array = found
    x = reading.real(node, 1 - index)
    biased = _biased(reading, node, x, index)
    return [moved(reading, node, x, 1.0, array) if biased is None else biased]


def _biased(reading: Reading, node: Node, x: Real, index: int) -> Real | None:
    """A matrix product made anew with the constant as its bias; None: it is no such sum."""
    constant = reading.value(node, index)
    if not isinstance(x.origin, Sum) or not isinstance(constant, Constant):
        return None
    outputs = x.origin.weights.values.shape[0]
    bias = reading.per_frame(node, constant.values, x.view.rank)
    along = [1] * x.view.rank
    along[x.origin.axis] = outputs
    if bias.size != outputs or [1] * (x.view.rank - bias.ndim) + list(bias.shape) != along:
        return None
    flat = replace(
        constant,
        values=bias.reshape(-1),
        scale=None
        if constant.scale is None
        else np.broadcast_to(constant.scale, constant.values.shape).ravel(),
    )
    view = product(reading, node, x.origin.base, x.origin.weights, flat, x.origin.axis)
    return Real(view=view)


def sub(reading: Reading, node: Node) -> Sequence[Known]:
    found = _constant_and_real(reading, node)
    if found is None:
        return [_two(reading, node, reading.builder.sub, lambda a, b: a.plus(b.moved(-1.0, 0.0)))]
    index, array = found
    x = reading.real(node, 1 - index)
    return [moved(reading, node, x, 1.0, -array) if index else moved(reading, node, x, -1.0, array)]


def mul(reading: Reading, node: Node) -> Sequence[Known]:
    found = _constant_and_real(reading, node)
    if found is not None:
        return [moved(reading, node, reading.real(node, 1 - found[0]), found[1], 0.0)]
    left, right = reading.real(node, 0), reading.real(node, 1)
    for gate, x in ((left, right), (right, left)):
        whole = _gated(reading, gate, x)
        if whole is not None:
            return [whole]
    return [_two(reading, node, reading.builder.mul, Polynomial.times)]


def _gated(reading: Reading, gate: Real, x: Real) -> Real | None:
    """base * gate as one function; None: it is none."""
    origin, polynomial = gate.origin, x.polynomial
    if not isinstance(origin, Gate) or polynomial.base != origin.base or polynomial.slope is None:
        return None
    if abs(origin.offset) > SAME * abs(origin.factor):
        return None
    factor = origin.factor * polynomial.slope
    result = Real(view=reading.builder.table(origin.base, origin.function, origin.parameters))
    return _moved_alike(reading, result, factor, 0.0)


def div(reading: Reading, node: Node) -> Sequence[Known]:
    divisor = reading.value(node, 1)
    if not isinstance(divisor, Constant) or not divisor.values.all():
        what = "zero" if isinstance(divisor, Constant) else "a tensor"
        raise node.problem(f"it divides by {what}", "a division by constants other than 0")
    array = divisor.values
    return [moved(reading, node, reading.real(node), 1.0 / array.astype(np.float64), 0.0)]


def _two(
    reading: Reading,
    node: Node,
    operation: Callable[[Value, Value], Value],
    combined: Callable[[Polynomial, Polynomial], Polynomial | None],
) -> Real:
    left, right = reading.real(node, 0), reading.real(node, 1)
    joined = _joined(reading, node, operation, left, right)
    first, second = left.polynomial, right.polynomial
    origin = combined(first, second) if first.base == second.base else None
    return replace(joined, origin=origin)


def _joined(
    reading: Reading, node: Node, operation: Callable[[Value, Value], Value], left: Real, right: Real
) -> Real:
    """An operation of the builder on two values that broadcast."""
    reading.same_rank(node, left.view, right.view)
    try:
        np.broadcast_shapes(left.view.shape, right.view.shape)
    except ValueError:
        shapes = " and ".join(str(list(reading.shape(x.view))) for x in (left, right))
        raise node.problem(f"shapes {shapes} do not broadcast", "shapes whose axes are equal or 1") from None
    return Real(view=operation(left.view, right.view))


def add_all(reading: Reading, node: Node) -> Sequence[Known]:
    known = [reading.value(node, index) for index in range(len(node.inputs))]
    first, *others = [index for index, one in enumerate(known) if not isinstance(one, Constant)]
    total = reading.real(node, first)
    for index in others:
        view = reading.view(node, index)
        reading.same_rank(node, total.view, view)
        total = Real(view=reading.builder.add(total.view, view))
    for one in known:
        if isinstance(one, Constant):
            total = moved(reading, node, total, 1.0, one.values)
    return [total]


def mean(reading: Reading, node: Node) -> Sequence[Known]:
    (total,) = add_all(reading, node)
    assert isinstance(total, Real)
    return [moved(reading, node, total, 1.0 / len(node.inputs), 0.0)]


def neg(reading: Reading, node: Node) -> Sequence[Known]:
    return [moved(reading, node, reading.real(node), -1.0, 0.0)]


def power(reading: Reading, node: Node) -> Sequence[Known]:
    exponent = reading.number(node, 1, "exponent")
    if exponent not in (1.0, 2.0, 3.0):
        message = f"it raises to the power {'of a tensor' if exponent is None else f'{exponent:g}'}"
        raise node.problem(message, "a constant exponent of 1, 2 or 3")
    x = reading.real(node)
    result = x
    for _ in range(int(exponent) - 1):
        origin = None
        if result.polynomial.base == x.polynomial.base:
            origin = result.polynomial.times(x.polynomial)
        result = Real(view=reading.builder.mul(result.view, x.view), origin=origin)
    return [result]


# limits


def relu(reading: Reading, node: Node) -> Sequence[Known]:
    return [Real(view=reading.builder.clamp(reading.view(node), 0.0, None))]


def clip(reading: Reading, node: Node) -> Sequence[Known]:
    if reading.opset < 11:
        low, high = node.attribute("min"), node.attribute("max")
    else:
        low, high = reading.number(node, 1, "lower limit"), reading.number(node, 2, "upper limit")
    return [_limited(reading, node, reading.real(node), low, high)]


def _limited(reading: Reading, node: Node, x: Real, low: float | None, high: float | None) -> Real:
    low = None if low is None or low <= -NO_LIMIT else float(low)
    high = None if high is None or high >= NO_LIMIT else float(high)
    if low is not None and high is not None and low > high:
        low = high  # as ONNX defines it
    if low is None and high is None:
        return x
    view = reading.builder.clamp(x.view, low, high)
    origin = None
    coefficients = x.polynomial.coefficients
    if low == 0 and high is not None and high > 0 and len(coefficients) == 2:
        parameters = (coefficients[1] / high, coefficients[0] / high)
        origin = Gate(base=x.polynomial.base, function="hard_swish", parameters=parameters, factor=high)
    return Real(view=view, origin=origin)


def maximum(reading: Reading, node: Node) -> Sequence[Known]:
    return [_extreme(reading, node, low=True)]


def minimum(reading: Reading, node: Node) -> Sequence[Known]:
    return [_extreme(reading, node, low=False)]


def _extreme(reading: Reading, node: Node, *, low: bool) -> Real:
    given = [i for i in range(len(node.inputs)) if node.input(i)]
    reals = [i for i in given if not isinstance(reading.value(node, i), Constant)]
    limits = [reading.number(node, i, "limit") for i in given if i not in reals]
    numbers = [limit for limit in limits if limit is not None]
    x = reading.real(node, reals[0])
    operation = reading.builder.maximum if low else reading.builder.minimum
    for index in reals[1:]:
        x = _joined(reading, node, operation, x, reading.real(node, index))
    if not numbers:
        return x
    return _limited(reading, node, x, max(numbers) if low else None, None if low else min(numbers))


def leaky_relu(reading: Reading, node: Node) -> Sequence[Known]:
    slope = node.number("alpha", 0.01)
    return [Real(view=reading.builder.leaky(reading.view(node), slope))]


def p_relu(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    view, slopes = reading.broadcast(node, x, reading.needed(node, 1).values.astype(np.float64))
    if view.shape != x.shape or not np.isfinite(slopes).all():
        message = f"its slopes have the shape {list(slopes.shape)}, or are not finite"
        raise node.problem(message, "slopes that broadcast to the input")
    return [Real(view=reading.builder.leaky(x, slopes))]


# functions


def _table(function: str, *attributes: tuple[str, float]) -> Handler:
    """A function by name; attributes with their defaults are its parameters."""

    def handler(reading: Reading, node: Node) -> Sequence[Known]:
        parameters = tuple(node.number(name, default) for name, default in attributes)
        return [Real(view=reading.builder.table(reading.view(node), function, parameters))]

    return handler


def sigmoid(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.real(node)
    origin = None
    if x.polynomial.slope is not None:
        parameters = () if x.polynomial.slope == 1 else (x.polynomial.slope,)
        origin = Gate(base=x.polynomial.base, function="silu", parameters=parameters)
    return [Real(view=reading.builder.table(x.view, "sigmoid"), origin=origin)]


def tanh(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.real(node)
    origin: Gate | None = None
    if isinstance(x.origin, Applied) and x.origin.function == "softplus":
        origin = Gate(base=x.origin.base, function="mish")
    elif x.polynomial.matches(*TANH_GELU):
        origin = Gate(base=x.polynomial.base, function="gelu_tanh", factor=2.0, offset=-1.0)
    return [Real(view=reading.builder.table(x.view, "tanh"), origin=origin)]


def erf(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.real(node)
    origin = None
    if x.polynomial.matches(0.0, ROOT_HALF):
        origin = Gate(base=x.polynomial.base, function="gelu", factor=2.0, offset=-1.0)
    return [Real(view=reading.builder.table(x.view, "erf"), origin=origin)]


def softplus(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    origin = Applied(base=x, function="softplus")
    return [Real(view=reading.builder.table(x, "softplus"), origin=origin)]


def hard_sigmoid(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    parameters = (node.number("alpha", 0.2), node.number("beta", 0.5))
    origin = Gate(base=x, function="hard_swish", parameters=parameters)
    return [Real(view=reading.builder.table(x, "hard_sigmoid", parameters), origin=origin)]


def gelu(reading: Reading, node: Node) -> Sequence[Known]:
    kind = {"none": "gelu", "tanh": "gelu_tanh"}.get(node.attribute("approximate", "none"))
    if kind is None:
        message = f"approximate is {node.attribute('approximate')}"
        raise node.problem(message, 'approximate "none" or "tanh"')
    return [Real(view=reading.builder.table(reading.view(node), kind))]


def selu(reading: Reading, node: Node) -> Sequence[Known]:
    alpha = node.number("alpha", 1.67326319217681884765625)
    gamma = node.number("gamma", 1.05070102214813232421875)
    view = reading.builder.table(reading.view(node), "elu", (alpha,))
    return [moved(reading, node, Real(view=view), gamma, 0.0)]


def shrink(reading: Reading, node: Node) -> Sequence[Known]:
    bias, limit = node.number("bias", 0.0), node.number("lambd", 0.5)
    if bias not in (0.0, limit):
        message = f"it shrinks by {bias:g} beyond {limit:g}"
        raise node.problem(message, "a bias of 0 (hard) or equal to lambd (soft)")
    kind = "softshrink" if bias else "hardshrink"
    return [Real(view=reading.builder.table(reading.view(node), kind, (limit,)))]


def thresholded_relu(reading: Reading, node: Node) -> Sequence[Known]:
    limit = node.number("alpha", 1.0)
    return [Real(view=reading.builder.table(reading.view(node), "threshold", (limit, 0.0)))]


ELEMENTWISE: dict[str, Handler] = {
    "Abs": _table("abs"),
    "Add": add,
    "Celu": _table("celu", ("alpha", 1.0)),
    "Clip": clip,
    "Div": div,
    "Elu": _table("elu", ("alpha", 1.0)),
    "Erf": erf,
    "Exp": _table("exp"),
    "Gelu": gelu,
    "HardSigmoid": hard_sigmoid,
    "HardSwish": _table("hard_swish"),
    "LeakyRelu": leaky_relu,
    "Max": maximum,
    "Mean": mean,
    "Min": minimum,
    "Mish": _table("mish"),
    "Mul": mul,
    "Neg": neg,
    "PRelu": p_relu,
    "Pow": power,
    "Relu": relu,
    "Selu": selu,
    "Shrink": shrink,
    "Sigmoid": sigmoid,
    "Sign": _table("sign"),
    "Softplus": softplus,
    "Softsign": _table("softsign"),
    "Sub": sub,
    "Sum": add_all,
    "Swish": _table("silu", ("alpha", 1.0)),
    "Tanh": tanh,
    "ThresholdedRelu": thresholded_relu,
}
