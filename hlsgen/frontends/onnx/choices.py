"""ONNX operations that compare and choose: masks are values of zeros and ones, see `choosing`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hlsgen.frontends.builder.choosing import Part, Relation
from hlsgen.frontends.onnx.model import Node
from hlsgen.frontends.onnx.reading import Handler, Reading
from hlsgen.frontends.onnx.values import Constant, Known, Real

RELATIONS: dict[str, Relation] = {
    "Greater": "gt", "GreaterOrEqual": "ge", "Less": "lt", "LessOrEqual": "le", "Equal": "eq"
}  # fmt: skip


def _part(reading: Reading, node: Node, index: int, rank: int) -> Part:
    """A tensor, or a constant of finite numbers as it broadcasts to tensors of `rank` axes."""
    known = reading.value(node, index)
    if not isinstance(known, Constant):
        return reading.view(node, index)
    array = reading.per_frame(node, known.values.astype(np.float64), rank)
    if not np.isfinite(array).all():
        raise node.problem("a constant is infinite or no number", "finite constants")
    return array


def _parts(reading: Reading, node: Node) -> list[Part]:
    """The tensors and constants that it takes."""
    count = len(node.inputs)
    views = [
        reading.view(node, index)
        for index in range(count)
        if not isinstance(reading.value(node, index), Constant)
    ]
    for view in views[1:]:
        reading.same_rank(node, views[0], view)
    return [_part(reading, node, index, views[0].rank) for index in range(count)]


def compare(reading: Reading, node: Node) -> Sequence[Known]:
    left, right = _parts(reading, node)
    return [Real(view=reading.builder.compared(left, RELATIONS[node.op], right), integral=True)]


def where(reading: Reading, node: Node) -> Sequence[Known]:
    return [Real(view=reading.builder.choose(*_parts(reading, node)))]


def inverse(reading: Reading, node: Node) -> Sequence[Known]:
    return [Real(view=reading.builder.inverse(reading.view(node)), integral=True)]


def logic(reading: Reading, node: Node) -> Sequence[Known]:
    """Both, or either, of two masks."""
    builder = reading.builder
    joined = builder.both if node.op == "And" else builder.either
    return [Real(view=joined(*_parts(reading, node)), integral=True)]


CHOICES: dict[str, Handler] = {
    **dict.fromkeys(RELATIONS, compare),
    "And": logic,
    "Not": inverse,
    "Or": logic,
    "Where": where,
}
