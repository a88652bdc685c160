"""ONNX operations that compare and choose: masks are values of zeros and ones, see `choosing`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hlsgen.frontends.builder.choosing import Relation
from hlsgen.frontends.builder.views import Value
from hlsgen.frontends.onnx.model import Node
from hlsgen.frontends.onnx.reading import Handler, Reading
from hlsgen.frontends.onnx.values import Array, Constant, Known, Real

RELATIONS: dict[str, Relation] = {
    "Greater": "gt", "GreaterOrEqual": "ge", "Less": "lt", "LessOrEqual": "le", "Equal": "eq"
}  # fmt: skip
MIRRORED: dict[str, Relation] = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq"}
"""By a relation the one with its sides exchanged."""


def _part(reading: Reading, node: Node, index: int, rank: int) -> Value | Array:
    """A tensor, or a constant of finite numbers as it broadcasts to tensors of `rank` axes."""
    known = reading.value(node, index)
    if not isinstance(known, Constant):
        return reading.view(node, index)
    array = reading.per_frame(node, known.values.astype(np.float64), rank)
    if not np.isfinite(array).all():
        raise node.problem("a constant is infinite or no number", "finite constants")
    return array


def _parts(reading: Reading, node: Node) -> tuple[list[Value | Array], tuple[int, ...]]:
    """What it takes, and the shape of the result. Raises DesignError: shapes that do not broadcast."""
    count = len(node.inputs)
    views = [
        reading.view(node, index)
        for index in range(count)
        if not isinstance(reading.value(node, index), Constant)
    ]
    for view in views[1:]:
        reading.same_rank(node, views[0], view)
    parts = [_part(reading, node, index, views[0].rank) for index in range(count)]
    try:
        return parts, np.broadcast_shapes(*(part.shape for part in parts))
    except ValueError:
        shapes = ", ".join(str(list(part.shape)) for part in parts)
        message = f"shapes {shapes} of a frame do not broadcast"
        raise node.problem(message, "shapes whose axes are equal or 1") from None


def compare(reading: Reading, node: Node) -> Sequence[Known]:
    (left, right), shape = _parts(reading, node)
    relation, builder = RELATIONS[node.op], reading.builder
    if not isinstance(left, Value):
        left, right, relation = right, left, MIRRORED[relation]
    assert isinstance(left, Value), "constants are folded"
    if isinstance(right, Value):
        mask = builder.compared(builder.sub(left, right), relation, 0.0)
    elif right.size == 1:
        mask = builder.expand(builder.compared(left, relation, float(right.reshape(()))), shape)
    else:
        mask = builder.compared(builder.affine(builder.expand(left, shape), 1.0, -right), relation, 0.0)
    return [Real(view=mask, integral=True)]


def where(reading: Reading, node: Node) -> Sequence[Known]:
    (condition, chosen, other), shape = _parts(reading, node)
    return [Real(view=reading.builder.expand(reading.builder.choose(condition, chosen, other), shape))]


def inverse(reading: Reading, node: Node) -> Sequence[Known]:
    return [Real(view=reading.builder.inverse(reading.view(node)), integral=True)]


def logic(reading: Reading, node: Node) -> Sequence[Known]:
    """Both, or either, of two masks."""
    (left, right), shape = _parts(reading, node)
    if not isinstance(left, Value):
        left, right = right, left
    builder = reading.builder
    if node.op == "And":
        made = builder.choose(right, left, np.zeros(()))
    else:
        made = builder.choose(right, np.ones(()), left)
    return [Real(view=builder.expand(made, shape), integral=True)]


CHOICES: dict[str, Handler] = {
    **dict.fromkeys(RELATIONS, compare),
    "And": logic,
    "Not": inverse,
    "Or": logic,
    "Where": where,
}
