"""Nodes whose inputs are all constant are computed when the model is read: shapes, weights, parameters."""

from __future__ import annotations

import math
import warnings
from types import ModuleType
from typing import Any

import numpy as np

from hlsgen.frontends.onnx_model import LARGEST_TENSOR, Node, onnx_package
from hlsgen.frontends.onnx_values import Array, Constant

# fmt: off
MOVES = frozenset({
    "DepthToSpace", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "SpaceToDepth", "Split",
    "Squeeze", "Tile", "Transpose", "Unsqueeze",
})
"""Operations that move elements of their first input: a quantised constant keeps its grid."""
FOLDED = MOVES | frozenset({
    "Abs", "Add", "And", "BatchNormalization", "Cast", "CastLike", "Ceil", "Clip", "Concat", "Constant",
    "ConstantOfShape", "CumSum", "DequantizeLinear", "Div", "Dropout", "Einsum", "Elu", "Equal", "Erf",
    "Exp", "EyeLike", "Floor", "GatherElements", "GatherND", "Gemm", "Greater", "GreaterOrEqual",
    "LeakyRelu", "Less", "LessOrEqual", "Log", "MatMul", "Max", "Mean", "Min", "Mod", "Mul", "Neg", "Not",
    "Or", "Pad", "Pow", "QuantizeLinear", "Range", "Reciprocal", "ReduceL1", "ReduceL2", "ReduceMax",
    "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Relu", "Round", "Shape", "Sigmoid", "Sign", "Size",
    "Softmax", "Sqrt", "Sub", "Sum", "Tanh", "Trilu", "Where", "Xor",
})
# fmt: on


def folded(node: Node, inputs: list[Constant | None], opset: int) -> list[Constant]:
    """The outputs of a node of constants, as the reference evaluator of onnx computes them.

    Raises DesignError: the operation is not one that is folded, it fails, or its result is too large.
    """
    if node.domain or node.op not in FOLDED:
        message = "all its inputs are constant, and this operation is not computed when the model is read"
        raise node.problem(
            message, "fold it before the export (onnxsim, or onnxruntime's basic optimisation)"
        )
    arrays = [None if constant is None else constant.values for constant in inputs]
    values = _evaluated(node, arrays, opset)
    first = inputs[0] if inputs else None
    if node.op not in MOVES or first is None or first.scale is None:
        return [Constant(values=array) for array in values]
    scales = _evaluated(node, [first.scale, *arrays[1:]], opset)
    grid = {"low": first.low, "high": first.high, "bipolar": first.bipolar}
    return [Constant(values=v, scale=s, **grid) for v, s in zip(values, scales, strict=True)]  # type: ignore[arg-type]


def _evaluated(node: Node, arrays: list[Array | None], opset: int) -> list[Array]:
    onnx = onnx_package()
    feeds = {name: array for name, array in zip(node.inputs, arrays, strict=True) if array is not None}
    model = _alone(onnx, node, feeds, opset)
    _refuse_large(onnx, node, model)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results = onnx.reference.ReferenceEvaluator(model).run(None, feeds)
    except MemoryError:
        raise
    except Exception as error:  # whatever NumPy says of shapes or types that do not fit
        message = (
            f"it cannot be computed: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        )
        raise node.problem(message, "inputs of shapes and types that the operation accepts") from error
    return [np.asarray(result) for result in results]


def _alone(onnx: ModuleType, node: Node, feeds: dict[str, Array], opset: int) -> Any:
    """A model of this node; small inputs as initialisers, from which sizes can be inferred."""
    helper = onnx.helper
    small = [name for name, array in feeds.items() if array.size <= 1024]
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feeds.items()
    ]
    initialisers = [onnx.numpy_helper.from_array(feeds[name], name) for name in small]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.outputs if name]
    graph = helper.make_graph([node.proto], "folded", inputs, outputs, initialisers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def _refuse_large(onnx: ModuleType, node: Node, model: Any) -> None:
    """Refuses before anything is computed what would not fit memory."""
    try:
        inferred = onnx.shape_inference.infer_shapes(model)
    except Exception:  # the evaluator says what is wrong
        return
    for output in inferred.graph.output:
        sizes = [dim.dim_value for dim in output.type.tensor_type.shape.dim]
        if math.prod(sizes) > LARGEST_TENSOR:
            shown = " x ".join(str(size) for size in sizes)
            message = f"it makes a constant of {shown} elements"
            raise node.problem(message, f"constants of at most {LARGEST_TENSOR} elements")
