"""Nodes whose inputs are all constant are computed when the model is read: shapes, weights, parameters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from hlsgen.frontends.builder.limits import FOLDED_TIMES, MOST_FOLDED_BYTES, MOST_FOLDED_MACS
from hlsgen.frontends.onnx.model import LARGEST_TENSOR, Node, onnx_package
from hlsgen.frontends.onnx.values import Array, Constant

MOST_WORK = 1 << 32
"""Elements of the result times those of the largest input, of operations that sum over them."""
MOST_TOLD = 1 << 10
"""Elements of an input whose values say what shape the result has."""
# fmt: off
MOVES = frozenset({
    "DepthToSpace", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "SpaceToDepth", "Split",
    "Squeeze", "Tile", "Transpose", "Unsqueeze",
})
"""Operations that move elements of their first input: a quantised constant keeps its grid."""
BOUNDED = MOVES | frozenset({
    "Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", "BatchNormalization",
    "BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Cast", "CastLike", "Ceil",
    "Celu", "Clip", "Compress", "Concat", "Constant", "ConstantOfShape", "Cos", "Cosh", "CumProd",
    "CumSum", "DequantizeLinear", "Div", "Dropout", "Elu", "Equal", "Erf", "Exp", "EyeLike", "Floor",
    "GatherElements", "Gelu", "Gemm", "Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish", "IsInf",
    "IsNaN", "LeakyRelu", "Less", "LessOrEqual", "Log", "LogSoftmax", "MatMul", "Max", "Mean", "Min",
    "Mish", "Mod", "Mul", "Neg", "NonZero", "Not", "Or", "PRelu", "Pad", "Pow", "QuantizeLinear",
    "Range", "Reciprocal", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
    "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Relu", "Round",
    "ScatterElements", "ScatterND", "Selu", "Shape", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Size",
    "Softmax", "Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Swish", "Tan", "Tanh", "ThresholdedRelu",
    "TopK", "Trilu", "Unique", "Where", "Xor",
})
"""Operations whose time and result are bounded by their inputs, or by what `_elements` says."""
TYPED = frozenset({
    "Cast", "CastLike", "Constant", "ConstantOfShape", "DequantizeLinear", "EyeLike", "QuantizeLinear",
    "Range",
})
"""Operations that are exact, or whose result's type says how it is computed."""
DRAWN = frozenset({
    "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
})
"""Operations that give something else each time."""
NEVER = DRAWN | frozenset({"ImageDecoder", "Loop", "Scan", "SequenceMap"})
"""Operations that are not computed when a model is read, constant or not."""
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
        """Asks for bytes without taking them. Raises DesignError: that many are not left."""
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

    Raises DesignError: the operation is none of ONNX's or draws numbers, it fails, its result is too large.
    """
    if node.domain or node.op in NEVER:
        message = "all its inputs are constant, and this operation is not computed when the model is read"
        fix = "fold it before the export (onnxsim, or onnxruntime's basic optimisation)"
        raise node.problem(message, "a constant in its place" if node.op in DRAWN else fix)
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
    kept = node.op in MOVES or node.op in TYPED
    given = {name: array for name, array in zip(node.inputs, arrays, strict=True) if array is not None}
    feeds = given if kept else {name: _doubled(array) for name, array in given.items()}
    if node.op not in BOUNDED:
        # ONNX infers no shape from types that the operation does not have
        _refuse_unbounded(onnx, _alone(onnx, node, given, opset), node, given)
    elif feeds:
        # an input may be named twice
        _refuse_large(node, [array for array in arrays if array is not None], budget)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results = onnx.reference.ReferenceEvaluator(_alone(onnx, node, feeds, opset)).run(None, feeds)
    except MemoryError:
        raise
    except Exception as error:  # whatever NumPy says of shapes or types that do not fit
        message = (
            f"it cannot be computed: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        )
        raise node.problem(message, "inputs of shapes and types that the operation accepts") from error
    made = [np.asarray(result) for result in results if not isinstance(result, list | dict)]
    if len(made) < len(results) or any(array.dtype.kind not in "biuf" for array in made):
        raise node.problem("its result is no tensor of numbers", "tensors of numbers")
    with np.errstate(over="ignore"):
        made = made if kept else [_as_given(array, arrays) for array in made]
    budget.spend(node, made, list(feeds.values()))
    return made


def _doubled(array: Array) -> Array:
    """float32 and float16 as float64: the bits of its functions and sums that processors compute differently
    are far below those of the result.
    """
    return array.astype(np.float64) if array.dtype in (np.float16, np.float32) else array


def _as_given(result: Array, arrays: list[Array | None]) -> Array:
    """A float64 result in the type of the operands that `_doubled` changed."""
    types = [one.dtype for one in arrays if one is not None and one.dtype in (np.float16, np.float32)]
    return result.astype(types[0]) if types and result.dtype == np.float64 else result


def _alone(onnx: ModuleType, node: Node, feeds: dict[str, Array], opset: int) -> Any:
    """A model of this node."""
    helper = onnx.helper
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in feeds.items()
    ]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.outputs if name]
    graph = helper.make_graph([node.proto], "folded", inputs, outputs)
    # the reference evaluator lacks operations of older sets, which are read as those of 7
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", max(opset, 7))])


def _refuse_unbounded(onnx: ModuleType, model: Any, node: Node, feeds: dict[str, Array]) -> None:
    """Refuses by the shape that ONNX infers what would take too long or not fit memory."""
    told = onnx.ModelProto()
    told.CopyFrom(model)
    for name, array in feeds.items():
        if array.size <= MOST_TOLD:
            told.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    try:
        told = onnx.shape_inference.infer_shapes(told, data_prop=True)
    except onnx.shape_inference.InferenceError as error:
        message = f"it cannot be computed: {str(error).strip().splitlines()[-1]}"
        raise node.problem(message, "inputs of shapes and types that the operation accepts") from error
    shapes = [value.type.tensor_type.shape.dim for value in told.graph.output]
    if not all(value.type.tensor_type.HasField("shape") for value in told.graph.output) or not all(
        dim.HasField("dim_value") for shape in shapes for dim in shape
    ):
        message = "all its inputs are constant, and the size of its result is not known before it is computed"
        raise node.problem(message, "a constant in its place (onnxsim, or onnxruntime's basic optimisation)")
    elements = sum(math.prod(dim.dim_value for dim in shape) for shape in shapes)
    if elements * max((array.size for array in feeds.values()), default=1) > MOST_WORK:
        message = f"all its inputs are constant, and it makes {elements} elements of them"
        raise node.problem(message, "a smaller constant, or that constant in its place")


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
    """The most elements of a result, of an operation that may have more than its inputs."""
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
