"""Functions on Keras' tensors that compare and choose: masks are values of zeros and ones, see `choosing`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hlsgen.frontends.builder.builder import Value
from hlsgen.frontends.builder.choosing import Numbers, Part, Relation
from hlsgen.frontends.qkeras.weights import Net, array

Operand = Any
"""A Value, or a number or array of the model's."""
Converter = Callable[..., Value]


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


def _parts(net: Net, *operands: Operand) -> list[Part]:
    """What is taken, constants as arrays. Raises DesignError: values of unequal rank."""
    values = [operand for operand in operands if isinstance(operand, Value)]
    if len({value.rank for value in values}) > 1:
        ranks = " and ".join(str(value.rank) for value in values)
        message = f"it works on tensors of {ranks} axes"
        raise net.builder.refusal(message, "tensors with as many axes as each other")
    rank = values[0].rank
    return [one if isinstance(one, Value) else numbers_like(net, one, rank) for one in operands]


def compared(relation: Relation) -> Converter:
    def convert(net: Net, x: Operand, y: Operand) -> Value:
        left, right = _parts(net, x, y)
        return net.builder.compared(left, relation, right)

    return convert


def where(net: Net, condition: Operand, x: Operand = None, y: Operand = None) -> Value:
    if x is None or y is None:
        message = "it gives the places where a condition is true, and how many depends on the input"
        raise net.builder.refusal(message, "where with three arguments")
    return net.builder.choose(*_parts(net, condition, x, y))


def inverse(net: Net, x: Value) -> Value:
    return net.builder.inverse(x)


def both(net: Net, x: Operand, y: Operand) -> Value:
    return net.builder.both(*_parts(net, x, y))


def either(net: Net, x: Operand, y: Operand) -> Value:
    return net.builder.either(*_parts(net, x, y))


def cast(net: Net, x: Value, dtype: Any) -> Value:
    """A cast to a floating-point type. Raises DesignError: to another one, which might round."""
    name = str(getattr(dtype, "name", dtype))
    if name not in ("float32", "float64"):
        raise net.builder.refusal(f"it casts to {name}", "float32")
    return x
