"""aten operations that compare and choose: masks are values of zeros and ones, see `choosing`."""

from __future__ import annotations

from typing import cast

import numpy as np

from hlsgen.frontends.builder.builder import Value
from hlsgen.frontends.builder.choosing import Relation
from hlsgen.frontends.torch.call import Array, Call, converts

MIRRORED: dict[str, Relation] = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq", "ne": "ne"}
"""By a relation the one with its sides exchanged."""
COMPARISONS = frozenset(MIRRORED)
CHOICES = frozenset({"where", "masked_fill"})
"""Operations that give what they are given, whole numbers and truth values too."""
LOGICAL = frozenset({
    "logical_and", "logical_or", "logical_not", "bitwise_and", "bitwise_or", "bitwise_not",
    "__and__", "__or__",
})  # fmt: skip
"""Operations that are those of logic where all that they take is true or false."""


@converts(*sorted(COMPARISONS))
def compared(call: Call, self: object, other: object) -> Value:
    relation = cast(Relation, call.op)
    if isinstance(self, Value) and isinstance(other, Value):
        return call.builder.compared(call.builder.sub(self, other), relation, 0.0)
    if not isinstance(self, Value):
        self, other, relation = other, self, MIRRORED[relation]
    x, number = call.value(self), call.constant(other, "other operand")
    if number.size == 1:
        return call.builder.expand(call.builder.compared(x, relation, float(number.reshape(()))), call.shape)
    moved = call.builder.affine(
        call.builder.expand(x, call.shape), 1.0, -call.broadcast(number, len(call.shape))
    )
    return call.builder.compared(moved, relation, 0.0)


@converts("where")
def where(call: Call, condition: object, self: object = None, other: object = None) -> Value:
    if self is None or other is None:
        message = "it gives the places where a condition is true, and how many depends on the input"
        raise call.refusal(message, "torch.where with three arguments")
    condition, chosen, rest = (_part(call, each) for each in (condition, self, other))
    return call.builder.expand(call.builder.choose(condition, chosen, rest), call.shape)


@converts("masked_fill")
def masked_fill(call: Call, self: object, mask: object, value: object) -> Value:
    return where(call, mask, value, self)


def _part(call: Call, argument: object) -> Value | Array:
    if isinstance(argument, Value):
        return argument
    return call.broadcast(call.constant(argument, "other operand"), len(call.shape))


@converts("logical_not", "bitwise_not")
def inverse(call: Call, self: object) -> Value:
    return call.builder.inverse(call.value(self))


@converts("logical_and", "bitwise_and", "__and__")
def both(call: Call, self: object, other: object) -> Value:
    left, right = _part(call, self), _part(call, other)
    if not isinstance(left, Value):
        left, right = right, left
    zero = np.zeros(())
    return call.builder.expand(call.builder.choose(right, left, zero), call.shape)


@converts("logical_or", "bitwise_or", "__or__")
def either(call: Call, self: object, other: object) -> Value:
    left, right = _part(call, self), _part(call, other)
    if not isinstance(left, Value):
        left, right = right, left
    return call.builder.expand(call.builder.choose(right, np.ones(()), left), call.shape)
