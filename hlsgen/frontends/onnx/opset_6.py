"""Nodes of ONNX's operator set 6 as those of set 7: its operations broadcast by two attributes."""

from __future__ import annotations

from dataclasses import replace

from hlsgen.frontends.onnx.model import Node, onnx_package
from hlsgen.frontends.onnx.reading import Reading
from hlsgen.frontends.onnx.values import Constant, Integers

BROADCAST_BY_ATTRIBUTE = frozenset({
    "Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "PRelu", "Sub", "Xor",
})  # fmt: skip
"""Operations whose second operand stands along `axis` of the first, where that is said."""


def as_of_opset_7(reading: Reading, node: Node) -> Node:
    """The node, whose second operand has ones behind its axes in place of the attribute `axis`.

    The slopes of a PRelu belong to the channels. Raises DesignError: a computed tensor would be moved.
    """
    if node.op not in BROADCAST_BY_ATTRIBUTE:
        return node
    first, second = reading.value(node, 0), reading.value(node, 1)
    attributes = {key: value for key, value in node.attributes.items() if key not in ("axis", "broadcast")}
    axis = node.attribute("axis", 1 if node.op == "PRelu" else None)
    inputs = list(node.inputs)
    if axis is not None and not (isinstance(second, Constant) and second.values.size == 1):
        if isinstance(first, Constant):
            rank = first.values.ndim
        else:
            rank = (first.real if isinstance(first, Integers) else first.view).rank + 1
        if not isinstance(second, Constant):
            raise node.problem("it broadcasts a computed tensor along an axis", "operator set 7 or newer")
        behind = max(0, rank - int(axis) % rank - second.values.ndim)
        inputs[1] = f"{node.outputs[0]}/along_{axis}"
        values = second.values.reshape(*second.values.shape, *[1] * behind)
        reading.known[inputs[1]] = replace(second, values=values, scale=None)
    proto = onnx_package().helper.make_node(node.op, inputs, node.outputs, name=node.name, **attributes)
    return replace(node, inputs=tuple(inputs), attributes=attributes, proto=proto)
