"""ONNX's Concat, of tensors and of constants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hlsgen.frontends.builder.views import Value
from hlsgen.frontends.onnx.model import Node
from hlsgen.frontends.onnx.reading import Reading
from hlsgen.frontends.onnx.values import Array, Constant, Known, Real


def concat(reading: Reading, node: Node) -> Sequence[Known]:
    """A constant among its inputs is padding, and what is added there: its numbers have no stream."""
    known = [reading.value(node, index) for index in range(len(node.inputs))]
    views = [reading.view(node, index) for index, one in enumerate(known) if not isinstance(one, Constant)]
    rank = views[0].rank
    axis = reading.axis(node, int(node.attribute("axis", 0)), rank)
    for view in views[1:]:
        reading.same_rank(node, views[0], view)
    parts = [
        _frame(reading, node, one.values, rank) if isinstance(one, Constant) else reading.view(node, index)
        for index, one in enumerate(known)
    ]
    if len({tuple(size for i, size in enumerate(part.shape) if i != axis) for part in parts}) > 1:
        given = ", ".join(str([reading.batch, *part.shape]) for part in parts)
        raise node.problem(f"its inputs {given} differ in more than axis {axis + 1}", "equal other axes")
    return [Real(view=_joined(reading, parts, axis))]


def _frame(reading: Reading, node: Node, array: Array, rank: int) -> Array:
    """One frame of a constant that is joined to tensors of `rank` axes. Raises DesignError: there is none."""
    frame = reading.per_frame(node, array.astype(np.float64), rank)
    if array.ndim != rank + 1 or array.shape[0] != reading.batch or not np.isfinite(frame).all():
        message = f"a constant of shape {list(array.shape)} is joined to frames of {rank} axes"
        raise node.problem(message, "finite constants with as many axes as the tensors, alike for each frame")
    return frame


def _joined(reading: Reading, parts: Sequence[Value | Array], axis: int) -> Value:
    """Values and constants one behind the other, at least one of them a value."""
    builder = reading.builder
    pending: list[Array] = []
    made: list[Value] = []
    for part in parts:
        if not isinstance(part, Value):
            pending.append(part)
        elif pending and not made:
            made, pending = [_surrounded(reading, part, axis, pending, [])], []
        elif pending:
            made[-1], pending = _surrounded(reading, made[-1], axis, [], pending), []
            made.append(part)
        else:
            made.append(part)
    if pending:
        made[-1] = _surrounded(reading, made[-1], axis, [], pending)
    return made[0] if len(made) == 1 else builder.concat(made, axis)


def _surrounded(
    reading: Reading, x: Value, axis: int, before: Sequence[Array], behind: Sequence[Array]
) -> Value:
    """`x` between constants: padded with zeros, to which they are added."""
    amounts = [(0, 0)] * x.rank
    amounts[axis] = (sum(one.shape[axis] for one in before), sum(one.shape[axis] for one in behind))
    shift = np.concatenate([*before, np.zeros(x.shape), *behind], axis)
    padded = reading.builder.pad(x, amounts)
    return reading.builder.affine(padded, 1.0, shift) if shift.any() else padded
