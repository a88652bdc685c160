"""ONNX's Cast, to a type or to that of another tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hlsgen.frontends.onnx.folding import folded
from hlsgen.frontends.onnx.model import Node, onnx_package
from hlsgen.frontends.onnx.quant import cast_integers
from hlsgen.frontends.onnx.reading import Handler, Reading
from hlsgen.frontends.onnx.values import Constant, Integers, Known, Real


def cast(reading: Reading, node: Node) -> Sequence[Known]:
    real = reading.real(node)
    floats = {1: "float32", 10: "float16", 11: "float64", 16: "bfloat16"}
    if int(node.attribute("to", 1)) in floats or real.integral:
        return [real]
    message = "it turns real values into another type, and rounds them"
    raise node.problem(message, "QuantizeLinear or Quant to quantise, or no Cast")


def cast_like(reading: Reading, node: Node) -> Sequence[Known]:
    """A Cast to the type of the second input, whose values do not matter."""
    known, like = reading.value(node, 0), reading.value(node, 1)
    if isinstance(like, Constant):
        dtype = like.values.dtype
    elif isinstance(like, Real):
        dtype = np.dtype(np.int64 if like.integral else np.float32)
    else:
        dtype = np.min_scalar_type(like.low or like.high)
    helper, inputs = onnx_package().helper, node.inputs[:1]
    to = int(helper.np_dtype_to_tensor_dtype(dtype))
    proto = helper.make_node("Cast", inputs, node.outputs, name=node.name, to=to)
    plain = replace(node, inputs=inputs, attributes={"to": to}, proto=proto)
    if isinstance(known, Constant):
        return folded(plain, [known], reading.opset, reading.budget)
    return cast_integers(reading, plain, known) if isinstance(known, Integers) else cast(reading, plain)


CASTS: dict[str, Handler] = {"Cast": cast, "CastLike": cast_like}
