"""Functions on Keras' tensors that compare and choose: masks are values of zeros and ones, see `choosing`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hlsgen.frontends.builder.builder import Value
from hlsgen.frontends.builder.choosing import Numbers, Relation
from hlsgen.frontends.qkeras.weights import Net, array

Operand = Any
"""A Value, or a number or array of the model's."""
Converter = Callable[..., Value]
MIRRORED: dict[Relation, Relation] = {
    "gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq", "ne": "ne"
}  # fmt: skip
"""By a relation the one with its sides exchanged."""


def numbers_like(net: Net, value: Operand, rank: int) -> Numbers:
    """A number or array as one that broadcasts to a value of `rank` axes, without its batch."""
    numbers = array(value)
    if numbers.ndim > rank and numbers.shape[0] == 1:
        numbers = numbers[0]
    if numbers.ndim > rank:
        raise net.builder.refusal(
            f"its constant has shape {numbers.shape}", "one that is alike for each frame"
        )
    return numbers


def _parts(net: Net, *operands: Operand) -> tuple[list[Value | Numbers], tuple[int, ...]]:
    """What is taken, constants as arrays, and the shape of the result. Raises DesignError: other axes."""
    values = [operand for operand in operands if isinstance(operand, Value)]
    if len({value.rank for value in values}) > 1:
        ranks = " and ".join(str(value.rank) for value in values)
        message = f"it works on tensors of {ranks} axes"
        raise net.builder.refusal(message, "tensors with as many axes as each other")
    rank = values[0].rank
    parts = [one if isinstance(one, Value) else numbers_like(net, one, rank) for one in operands]
    return parts, np.broadcast_shapes(*(part.shape for part in parts))


def compared(relation: Relation) -> Converter:
    def convert(net: Net, x: Operand, y: Operand) -> Value:
        (left, right), shape = _parts(net, x, y)
        builder, asked = net.builder, relation
        if not isinstance(left, Value):
            left, right, asked = right, left, MIRRORED[relation]
        assert isinstance(left, Value)
        if isinstance(right, Value):
            return builder.compared(builder.sub(left, right), asked, 0.0)
        left = builder.expand(left, shape)
        if right.size == 1:
            return builder.compared(left, asked, float(right.reshape(())))
        return builder.compared(builder.scaled(left, 1.0, -right), asked, 0.0)

    return convert


def where(net: Net, condition: Operand, x: Operand = None, y: Operand = None) -> Value:
    if x is None or y is None:
        message = "it gives the places where a condition is true, and how many depends on the input"
        raise net.builder.refusal(message, "where with three arguments")
    (mask, chosen, other), shape = _parts(net, condition, x, y)
    return net.builder.expand(net.builder.choose(mask, chosen, other), shape)


def inverse(net: Net, x: Value) -> Value:
    return net.builder.inverse(x)


def both(net: Net, x: Operand, y: Operand) -> Value:
    return where(net, y, x, 0.0) if isinstance(y, Value) else where(net, x, y, 0.0)


def either(net: Net, x: Operand, y: Operand) -> Value:
    return where(net, y, 1.0, x) if isinstance(y, Value) else where(net, x, 1.0, y)


def cast(net: Net, x: Value, dtype: Any) -> Value:
    """To a floating-point type. Raises DesignError: to another one, which might round."""
    name = str(getattr(dtype, "name", dtype))
    if name not in ("float32", "float64"):
        raise net.builder.refusal(f"it casts to {name}", "float32")
    return x
