"""Products of eight-bit integers that ONNX Runtime computes alike on every processor.

On an x86 processor without VNNI its kernels for uint8 by int8 add two products in an int16, which saturates
(its page on quantisation calls this U8S8), and a convolution of int8 by uint8 takes the weights for int8.
Operands of one sign have neither. So weights take the sign of what they are multiplied with: codes and a zero
point 128 up or down are the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hlsgen.frontends.onnx.functions import every_node
from hlsgen.frontends.onnx.model import onnx_package

OPERANDS = {
    "ConvInteger": ((0, 2), (1, 3)),
    "MatMulInteger": ((0, 2), (1, 3)),
    "QLinearConv": ((0, 2), (3, 5)),
    "QLinearMatMul": ((0, 2), (3, 5)),
}
"""The places of codes and zero point among a node's inputs, of what is multiplied and of the weights."""
OFFSET = 128
"""What the codes of a uint8 have more than those of an int8."""


def make_signs_alike(model: Any) -> None:
    """Gives the weights of these operations the sign of their other operand, in place.

    Operands whose type is not known, or is neither int8 nor uint8, are left as they are.
    """
    if not any(node.op_type in OPERANDS and not node.domain for node in every_node(model.graph)):
        return
    onnx = onnx_package()
    typed = onnx.shape_inference.infer_shapes(model).graph
    types = {name: type_ for graph in _graphs(typed) for name, type_ in _types(graph)}
    for graph in _graphs(model.graph):
        nodes = list(graph.node)
        del graph.node[:]
        for node in nodes:
            if node.op_type in OPERANDS and not node.domain:
                graph.node.extend(_aligned(onnx, node, types))
            graph.node.append(node)


def _graphs(graph: Any) -> Iterator[Any]:
    """A graph and those of its branches and loops."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                if inner.node:
                    yield from _graphs(inner)


def _types(graph: Any) -> Iterator[tuple[str, int]]:
    for value in (*graph.input, *graph.value_info, *graph.output):
        yield value.name, value.type.tensor_type.elem_type
    for tensor in graph.initializer:
        yield tensor.name, tensor.data_type


def _aligned(onnx: Any, node: Any, types: Mapping[str, int]) -> Iterator[Any]:
    """The nodes before `node` that move its weights, whose place in it they take."""
    signed, unsigned = onnx.TensorProto.INT8, onnx.TensorProto.UINT8
    (codes, _), (weights, zero) = OPERANDS[node.op_type]
    wanted, given = types.get(node.input[codes]), types.get(node.input[weights])
    if {wanted, given} != {signed, unsigned}:
        return
    offset = OFFSET if wanted == unsigned else -OFFSET
    node.input.extend([""] * (zero + 1 - len(node.input)))
    for place in (weights, zero):
        made = f"{node.output[0]}/hlsgen_{place}"
        by = onnx.helper.make_tensor(f"{made}_by", onnx.TensorProto.INT32, [], [offset])
        yield onnx.helper.make_node("Constant", [], [by.name], value=by)
        moved = by.name
        if node.input[place]:
            moved = f"{made}_moved"
            yield onnx.helper.make_node(
                "Cast", [node.input[place]], [f"{made}_wide"], to=onnx.TensorProto.INT32
            )
            yield onnx.helper.make_node("Add", [f"{made}_wide", by.name], [moved])
        yield onnx.helper.make_node("Cast", [moved], [made], to=wanted)
        node.input[place] = made
