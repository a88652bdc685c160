"""Nodes whose inputs are all constant are computed when the model is read: shapes, weights, parameters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from hlsgen.frontends.limits import FOLDED_TIMES, MOST_FOLDED_BYTES, MOST_FOLDED_MACS
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
    "ConstantOfShape", "CumSum", "DequantizeLinear", "Div", "Dropout", "Elu", "Equal", "Erf",
    "Exp", "EyeLike", "Floor", "GatherElements", "Gemm", "Greater", "GreaterOrEqual",
    "LeakyRelu", "Less", "LessOrEqual", "Log", "MatMul", "Max", "Mean", "Min", "Mod", "Mul", "Neg", "Not",
    "Or", "Pad", "Pow", "QuantizeLinear", "Range", "Reciprocal", "ReduceL1", "ReduceL2", "ReduceMax",
    "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Relu", "Round",
    "Shape", "Sigmoid", "Sign", "Size", "Softmax", "Sqrt", "Sub", "Sum", "Tanh", "Trilu", "Where", "Xor",
})
BROADCAST = frozenset({
    "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater",
    "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or", "PRelu", "Pow", "Sub",
    "Sum", "Where", "Xor",
})
"""Operations whose result may be larger than each of their inputs, because these broadcast."""
# fmt: on


class Budget:
    """The bytes that may still be computed of a model's constants; `own`: those of the constants."""

    def __init__(self, own: int) -> None:
        self.left = max(MOST_FOLDED_BYTES, FOLDED_TIMES * own)

    def check(self, node: Node, needed: int) -> None:
        """Raises DesignError: that many bytes are not left."""
        if needed > self.left:
            message = f"it makes a constant of {needed:,} bytes; {self.left:,} are left for what is computed"
            raise node.problem(f"{message} of this model's constants", "smaller constants")

    def spend(self, node: Node, results: Sequence[Array], inputs: Sequence[Array]) -> None:
        """Counts the results that are not a view of an input. Raises as `check` does."""
        fresh = (one for one in results if not any(np.may_share_memory(one, other) for other in inputs))
        needed = sum(one.nbytes for one in fresh)
        self.check(node, needed)
        self.left -= needed


def folded(node: Node, inputs: list[Constant | None], opset: int, budget: Budget) -> list[Constant]:
    """The outputs of a node of constants, as the reference evaluator of onnx computes them.

    Raises DesignError: the operation is not one that is folded, it fails, or its result is too large.
    """
    if node.domain or node.op not in FOLDED:
        message = "all its inputs are constant, and this operation is not computed when the model is read"
        raise node.problem(
            message, "fold it before the export (onnxsim, or onnxruntime's basic optimisation)"
        )
    arrays = [None if constant is None else constant.values for constant in inputs]
    values = _evaluated(node, arrays, opset, budget)
    first = inputs[0] if inputs else None
    if node.op not in MOVES or first is None or first.scale is None:
        return [Constant(values=array) for array in values]
    scales = _evaluated(node, [first.scale, *arrays[1:]], opset, budget)
    grid = {"low": first.low, "high": first.high, "bipolar": first.bipolar}
    return [Constant(values=v, scale=s, **grid) for v, s in zip(values, scales, strict=True)]  # type: ignore[arg-type]


def _evaluated(node: Node, arrays: list[Array | None], opset: int, budget: Budget) -> list[Array]:
    onnx = onnx_package()
    feeds = {name: array for name, array in zip(node.inputs, arrays, strict=True) if array is not None}
    model = _alone(onnx, node, feeds, opset)
    if feeds:
        # an input may be named twice
        _refuse_large(node, [array for array in arrays if array is not None], budget)
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
    arrays_made = [np.asarray(result) for result in results]
    budget.spend(node, arrays_made, list(feeds.values()))
    return arrays_made


def _alone(onnx: ModuleType, node: Node, feeds: dict[str, Array], opset: int) -> Any:
    """A model of this node."""
    helper = onnx.helper
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feeds.items()
    ]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.outputs if name]
    graph = helper.make_graph([node.proto], "folded", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def _refuse_large(node: Node, arrays: Sequence[Array], budget: Budget) -> None:
    """Refuses before anything is computed what would not fit memory."""
    try:
        elements = _elements(node, arrays)
    except (IndexError, OverflowError, ValueError):  # the evaluator says what is wrong
        return
    if elements > LARGEST_TENSOR:
        message = f"it makes a constant of {elements} elements"
        raise node.problem(message, f"at most {LARGEST_TENSOR} elements")
    budget.check(node, elements * max(array.itemsize for array in arrays))
    if node.op in ("MatMul", "Gemm"):
        # [M, K] x [K, N]: the root of M K times K N times M N
        work = math.isqrt(arrays[0].size * arrays[1].size * elements)
        if work > MOST_FOLDED_MACS:
            message = f"it is a product of constants with {work:,} multiply-accumulates"
            raise node.problem(message, f"at most {MOST_FOLDED_MACS:,}: that constant in its place")


def _elements(node: Node, arrays: Sequence[Array]) -> int:
    """At most so many elements has the result of an operation that may have more than its inputs."""
    first, *rest = arrays
    match node.op:
        case "ConstantOfShape":
            return math.prod(int(size) for size in first.reshape(-1))
        case "Range":
            start, limit, delta = (float(array.reshape(())) for array in arrays)
            return math.ceil((limit - start) / delta) if delta else 0
        case "Expand":
            return math.prod(np.broadcast_shapes(first.shape, tuple(map(int, rest[0].reshape(-1)))))
        case "Tile":
            return first.size * math.prod(int(times) for times in rest[0].reshape(-1))
        case "Pad":
            pads = np.abs(rest[0].reshape(2, -1).astype(object)).sum(axis=0)
            return math.prod(size + int(pads.max(initial=0)) for size in first.shape)
        case "Gather":
            axis = int(node.attribute("axis", 0))
            return int(rest[0].size * first.size // max(first.shape[axis], 1))
        case "MatMul":
            batch = np.broadcast_shapes(first.shape[:-2], rest[0].shape[:-2])
            rows = first.shape[-2] if first.ndim > 1 else 1
            columns = rest[0].shape[-1] if rest[0].ndim > 1 else 1
            return math.prod(batch) * rows * columns
        case "Gemm":
            return int(max(first.shape) * max(rest[0].shape))
        case "Concat":
            return sum(array.size for array in arrays)
        case op if op in BROADCAST:
            return math.prod(np.broadcast_shapes(*(array.shape for array in arrays)))
    return 0
