"""aten operations that compare and choose: masks are values of zeros and ones, see `choosing`."""

from __future__ import annotations

from typing import cast

from hlsgen.frontends.builder.builder import Value
from hlsgen.frontends.builder.choosing import MIRRORED, Part, Relation
from hlsgen.frontends.torch.call import Call, converts

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
    return call.builder.compared(_part(call, self), cast(Relation, call.op), _part(call, other))


@converts("where")
def where(call: Call, condition: object, self: object = None, other: object = None) -> Value:
    if self is None or other is None:
        message = "it gives the places where a condition is true, and how many depends on the input"
        raise call.refusal(message, "torch.where with three arguments")
    return call.builder.choose(_part(call, condition), _part(call, self), _part(call, other))


@converts("masked_fill")
def masked_fill(call: Call, self: object, mask: object, value: object) -> Value:
    return where(call, mask, value, self)


def _part(call: Call, argument: object) -> Part:
    if isinstance(argument, Value):
        return argument
    return call.broadcast(call.constant(argument, "other operand"), len(call.shape))


@converts("logical_not", "bitwise_not")
def inverse(call: Call, self: object) -> Value:
    return call.builder.inverse(call.value(self))


@converts("logical_and", "bitwise_and", "__and__")
def both(call: Call, self: object, other: object) -> Value:
    return call.builder.both(_part(call, self), _part(call, other))


@converts("logical_or", "bitwise_or", "__or__")
def either(call: Call, self: object, other: object) -> Value:
    return call.builder.either(_part(call, self), _part(call, other))
