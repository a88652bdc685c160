"""Operations on integers of onnxruntime's own domain, as its quantize_static writes them (QOperator).

Each is the operation on what the integers stand for, and a quantiser behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hlsgen.frontends.onnx.elementwise import ELEMENTWISE
from hlsgen.frontends.onnx.joining import concat
from hlsgen.frontends.onnx.model import Node
from hlsgen.frontends.onnx.quant import (
    dequantised,
    input_of,
    integer_bias,
    integer_parameters,
    integer_weights,
    requantised_by,
)
from hlsgen.frontends.onnx.reading import Handler, Reading
from hlsgen.frontends.onnx.sums import gemm, multiplied, reshaped
from hlsgen.frontends.onnx.values import Constant, Integers, Known, Real
from hlsgen.frontends.onnx.windows import WINDOWS

FLOATS: dict[str, Handler] = {**ELEMENTWISE, **WINDOWS, "Concat": concat}


def _operand(reading: Reading, node: Node, place: int) -> str:
    """The name of what integers stand for; their scale and zero point are the next two inputs."""
    known = reading.value(node, place)
    name = f"{node.outputs[0]}/operand_{place}"
    if isinstance(known, Constant):
        own = replace(node, inputs=node.inputs[place : place + 3], attributes={})
        reading.known[name] = dequantised(reading, own, known, 0)
        return name
    rank = known.real.rank if isinstance(known, Integers) else 1
    scale, zero, _, _ = integer_parameters(reading, node, place + 1, rank)
    reading.known[name] = Real(view=input_of(reading, node, place, scale, zero))
    return name


def _computed(reading: Reading, node: Node, op: str, places: Sequence[int], result: int) -> Sequence[Known]:
    """An operation on floats; places: of its operands' integers; result: of the scale of its own."""
    operands = tuple(_operand(reading, node, place) for place in places)
    plain = replace(node, op=op, domain="", inputs=operands)
    if all(isinstance(reading.known[name], Constant) for name in operands):
        reading.view(plain)  # refuses it
    (found, *_) = FLOATS[op](reading, plain)
    assert isinstance(found, Real), "an operand is computed"
    return [requantised_by(reading, node, found.view, result)]


def _unary(op: str) -> Handler:
    return lambda reading, node: _computed(reading, node, op, (0,), 3)


def _binary(op: str) -> Handler:
    return lambda reading, node: _computed(reading, node, op, (0, 3), 6)


def _pooled(op: str) -> Handler:
    """A pool, with the channels first or last."""

    def pool(reading: Reading, node: Node) -> Sequence[Known]:
        if not node.flag("channels_last"):
            return _computed(reading, node, op, (0,), 3)
        name = _operand(reading, node, 0)
        view = reading.view(replace(node, inputs=(name,)))
        first = reading.builder.permute(view, (view.rank - 1, *range(view.rank - 1)))
        reading.known[name] = Real(view=first)
        (found,) = FLOATS[op](reading, replace(node, op=op, domain="", inputs=(name,)))
        assert isinstance(found, Real), "its operand is computed"
        last = reading.builder.permute(found.view, (*range(1, view.rank), 0))
        return [requantised_by(reading, node, last, 3)]

    return pool


def _concat(reading: Reading, node: Node) -> Sequence[Known]:
    return _computed(reading, node, "Concat", range(2, len(node.inputs), 3), 0)


def _softmax(reading: Reading, node: Node) -> Sequence[Known]:
    """Along an axis; in operator sets before 13, which it names itself, over all axes from it on."""
    if int(node.attribute("opset", reading.opset)) >= 13 or reading.opset < 13:
        return _computed(reading, node, "Softmax", (0,), 3)
    name = _operand(reading, node, 0)
    view = reading.view(replace(node, inputs=(name,)))
    axis = reading.axis(node, int(node.attribute("axis", 1)), view.rank)
    flat = reading.builder.softmax(reading.builder.flatten(view, axis), axis)
    reading.known.pop(name)
    return [requantised_by(reading, node, reading.builder.reshape(flat, view.shape), 3)]


def _gemm(reading: Reading, node: Node) -> Sequence[Known]:
    """QGemm: weights by columns or, transposed, by rows; a bias of int32; a float result without a scale."""
    scale, zero, _, _ = integer_parameters(reading, node, 1, 1)
    weights = integer_weights(reading, node, 3, axis=0 if node.flag("transB") else 1)
    if not node.flag("transB"):
        weights = reshaped(weights, lambda array: array.T)
    bias = integer_bias(reading, node, 6, weights, float(scale[0]))
    name = f"{node.outputs[0]}/operand"
    names = [f"{name}_{number}" for number in range(3)]
    alpha = node.number("alpha", 1.0)
    reading.known[names[0]] = Real(view=input_of(reading, node, 0, scale, zero))
    reading.known[names[1]] = multiplied(weights, alpha)
    if bias is not None:
        reading.known[names[2]] = multiplied(bias, alpha)
    inputs = tuple(names[: 2 if bias is None else 3])
    plain = replace(node, op="Gemm", domain="", inputs=inputs, attributes={"transB": 1} | _transposed(node))
    (found,) = gemm(reading, plain)
    assert isinstance(found, Real), "its first operand is computed"
    return [requantised_by(reading, node, found.view, 7) if node.input(7) else found]


def _transposed(node: Node) -> dict[str, int]:
    return {"transA": 1} if node.flag("transA") else {}


MICROSOFT: dict[str, Handler] = {
    "QGemm": _gemm,
    "QLinearAdd": _binary("Add"),
    "QLinearAveragePool": _pooled("AveragePool"),
    "QLinearConcat": _concat,
    "QLinearGlobalAveragePool": _pooled("GlobalAveragePool"),
    "QLinearLeakyRelu": _unary("LeakyRelu"),
    "QLinearMul": _binary("Mul"),
    "QLinearReduceMean": _unary("ReduceMean"),
    "QLinearSigmoid": _unary("Sigmoid"),
    "QLinearSoftmax": _softmax,
}
"""Operations of the domain com.microsoft."""
