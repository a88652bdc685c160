"""ONNX models -> graphs: float ones as float graphs, quantised ones as fixed-point graphs of the same codes.

Operators of ai.onnx from operator set 9 to 22, the quantisers of QONNX and Brevitas, and integer models with
QuantizeLinear and DequantizeLinear. The model is read as data: see `onnx_model`. Tensors keep the model's
layout, [N, C, H, W]; every frame of the batch is computed by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from hlsgen.errors import DesignError, Problem, collecting
from hlsgen.fixed import FixedType
from hlsgen.frontends.fixed_graph import Quantised, fixed_graph
from hlsgen.frontends.onnx_elementwise import ELEMENTWISE
from hlsgen.frontends.onnx_folding import FOLDED, folded
from hlsgen.frontends.onnx_model import LARGEST_TENSOR, Input, Node, OnnxModel, loaded_model
from hlsgen.frontends.onnx_quant import INTEGER, QUANTISERS, cast_integers, plain_integers
from hlsgen.frontends.onnx_reading import Handler, Reading, RecordingBuilder
from hlsgen.frontends.onnx_shapes import SHAPES
from hlsgen.frontends.onnx_sums import SUMS
from hlsgen.frontends.onnx_values import Constant, Integers, Known, Real
from hlsgen.frontends.onnx_windows import WINDOWS
from hlsgen.frontends.quantisers import FakeQuant
from hlsgen.frontends.views import Value
from hlsgen.ir import Graph

OPERATIONS: dict[str, Handler] = {**ELEMENTWISE, **INTEGER, **SHAPES, **SUMS, **WINDOWS}
MOVES_INTEGERS = frozenset({
    "Concat", "DepthToSpace", "Dropout", "Expand", "Flatten", "Gather", "Identity", "MaxPool", "Reshape",
    "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze",
})  # fmt: skip
"""Operations that may come between QuantizeLinear and DequantizeLinear: they select integers."""
INSTEAD = {
    "DynamicQuantizeLinear": "static quantisation, whose scales are constant",
    "If": "a model without control flow: fold constant conditions before the export",
    "InstanceNormalization": "BatchNormalization",
    "LSTM": "a model without recurrence",
    "GRU": "a model without recurrence",
    "RNN": "a model without recurrence",
    "LayerNormalization": "BatchNormalization",
    "GroupNormalization": "BatchNormalization",
    "LogSoftmax": "Softmax, or no function at the output: the order of the scores is the same",
    "Loop": "a model without control flow",
    "Scan": "a model without control flow",
    "LRN": "BatchNormalization",
    "TopK": "ArgMax for the largest element, or sort outside the model",
    "NonMaxSuppression": "leave it out, and select outside the model",
    "Trunc": "a Quant in its place",
    "FloatQuant": "a Quant in its place",
    "MultiThreshold": "a Quant in its place",
    "QuantAvgPool2d": "an average pool and a Quant in its place",
}
"""For operations that are missing: what could stand in their place."""
CHOICE = "Relu, LeakyRelu, Clip, or a product with a gate such as HardSigmoid"
FUNCTION = "an activation that hlsgen has, such as Relu, Sigmoid, Tanh, Gelu or Softplus; or constant inputs"
OF_CONSTANTS = (
    dict.fromkeys(
        ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal", "Where", "Not", "And"), CHOICE
    )
    | dict.fromkeys(("Sqrt", "Log", "Reciprocal", "Floor", "Ceil", "Round", "Mod"), FUNCTION)
    | dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceSumSquare"), "BatchNormalization, or constant inputs")
    | {"Mean": "Add, and Mul with a constant"}
)
"""For operations that may be computed of constants alone: what could do the same of tensors."""


def graph_of_onnx(source: Any, *, name: str, input_types: Sequence[FixedType | None] = ()) -> Graph:
    """The graph of an ONNX file, or of an onnx.ModelProto.

    A float model gives a float graph. A model with quantisers gives a fixed-point graph; ports carry the
    scale of codes whose values are not the model's. input_types: in the order of the model's inputs, of
    those that no quantiser reads first; inputs beyond the list have its last type.
    Raises ToolError: the package onnx is missing. DesignError: the model cannot be read, an operation or one
    of its attributes is not supported, a size is open, something of a quantised model is not quantised.
    """
    graph, known = float_graph_of_onnx(source, name=name, input_types=input_types)
    return graph if known is None else fixed_graph(graph, known)


def float_graph_of_onnx(
    source: Any, *, name: str, input_types: Sequence[FixedType | None] = ()
) -> tuple[Graph, Quantised | None]:
    """The model in real arithmetic, with `FakeQuant` layers, and what is known of its quantisation, if any.

    Raises as `graph_of_onnx` does.
    """
    model = loaded_model(source)
    _refuse_unknown(model)
    reading = Reading(
        model=model,
        builder=RecordingBuilder(name, channels_last=False),
        read=frozenset(model.outputs) | {name for node in model.nodes for name in node.inputs},
    )
    wished: dict[str, FixedType] = {}
    for index, one in enumerate(model.inputs):
        type_ = input_types[min(index, len(input_types) - 1)] if input_types else None
        view = _take_input(reading, one)
        if type_ is not None:
            wished[view.source] = type_
    reading.known.update({key: Constant(values=array) for key, array in model.constants.items()})
    _read_nodes(reading, model)
    for output in model.outputs:
        _give_output(reading, output)
    graph = reading.builder.build()
    quantised = (
        reading.weight_grids
        or any(isinstance(layer, FakeQuant) for layer in graph.layers)
        or any("int" in one.dtype for one in model.inputs)
    )
    if not quantised:
        return graph, None
    return graph, Quantised(
        weights=reading.plain_grids | reading.weight_grids,
        on_grid=frozenset(reading.on_grid),
        inputs=reading.input_types,
        wished=wished,
    )


# inputs and outputs


def _take_input(reading: Reading, one: Input) -> Value:
    view = reading.builder.input(one.name, one.shape)
    type_ = _declared_type(one)
    if type_ is not None:
        reading.input_types[view.source] = type_
    if "int" not in one.dtype:
        reading.known[one.name] = Real(view=view)
        return view
    ends = np.iinfo(one.dtype)
    reading.known[one.name] = Integers(
        real=view, scale=np.ones(1), zero=np.zeros(1), axis=0, low=int(ends.min), high=int(ends.max)
    )
    return view


def _declared_type(one: Input) -> FixedType | None:
    """The type that the element type says, or QONNX's annotation; None: the model says none."""
    text = one.annotation or (one.dtype.upper() if "int" in one.dtype else "")
    found = re.fullmatch(r"(U?)INT(\d+)", text)
    if found:
        bits = int(found[2])
        return FixedType(bits, bits, not found[1]) if 1 <= bits <= 64 else None
    found = re.fullmatch(r"FIXED<(\d+),(-?\d+)>", text)
    return FixedType(int(found[1]), int(found[2])) if found else None


def _give_output(reading: Reading, name: str) -> None:
    known = reading.known[name]
    if isinstance(known, Constant):
        message = f"the output {name} of {reading.model.title} is constant"
        raise DesignError(Problem(message=message, fix="leave that output out"))
    with reading.builder.at(_wish(name), said=f"output {name}"):
        if isinstance(known, Integers):
            node = Node(
                op="output", domain="", name=name, inputs=(), outputs=(name,), attributes={}, proto=None
            )
            view = plain_integers(reading, node, known)
        else:
            view = known.view
        reading.builder.output(name, view)


# nodes


def _refuse_unknown(model: OnnxModel) -> None:
    """Refuses operations that are not supported, all at once."""
    problems: list[Problem] = []
    for node in model.nodes:
        with collecting(problems):
            _known_operation(node)
    if problems:
        raise DesignError(problems)


def _read_nodes(reading: Reading, model: OnnxModel) -> None:
    """Every node in turn."""
    for node in model.nodes:
        wish = _wish(node.name or node.outputs[0])
        if wish in model.outputs:  # the port has that name
            wish = f"{wish}_{node.op.lower()}"
        with reading.builder.at(wish, said=node.label):
            results = _results(reading, node)
        for output, known in zip(node.outputs, results, strict=False):
            _refuse_large(node, known)
            reading.known[output] = known


def _refuse_large(node: Node, known: Known) -> None:
    view = known.real if isinstance(known, Integers) else known.view if isinstance(known, Real) else None
    if view is not None and view.size > LARGEST_TENSOR:
        raise node.problem(f"its result has {view.size} elements", f"at most {LARGEST_TENSOR}")


def _known_operation(node: Node) -> None:
    if node.is_quantiser and node.op in QUANTISERS:
        return
    if node.domain == "com.microsoft" and node.op in ("QuantizeLinear", "DequantizeLinear"):
        return
    if not node.domain and (node.op in OPERATIONS or node.op in FOLDED):
        return
    where = f" of domain {node.domain}" if node.domain else ""
    fix = INSTEAD.get(node.op)
    if fix is None and node.domain == "com.microsoft":
        fix = "export without onnxruntime's fusions; quantise with quant_format QDQ"
    raise node.problem(
        f"operation {node.op}{where} is not supported",
        fix or "other operations in its place, or that part of the model outside of it",
    )


def _results(reading: Reading, node: Node) -> Sequence[Known]:
    known = [reading.known[name] if name else None for name in node.inputs]
    if node.is_quantiser:
        return QUANTISERS[node.op](reading, node)
    constants = [one for one in known if isinstance(one, Constant)]
    if len(constants) == len([one for one in known if one is not None]) and node.op != "DequantizeLinear":
        inputs = [one if isinstance(one, Constant) else None for one in known]
        return folded(node, inputs, reading.opset, reading.budget)
    first = next((one for one in known if isinstance(one, Integers)), None)
    if first is not None and node.op == "Cast":
        return cast_integers(reading, node, first)
    if first is not None and node.op in MOVES_INTEGERS:
        return _moved_integers(reading, node, first)
    if node.op not in OPERATIONS:
        message = "it is computed when all its inputs are constant, and not otherwise"
        raise node.problem(message, OF_CONSTANTS.get(node.op, "constant inputs"))
    return OPERATIONS[node.op](reading, node)


def _moved_integers(reading: Reading, node: Node, first: Integers) -> Sequence[Known]:
    """An operation that selects integers, on what they stand for."""
    integers = [one for name in node.inputs if isinstance(one := reading.known.get(name), Integers)]
    alike = {(one.scale.tobytes(), one.zero.tobytes()) for one in integers}
    if len(alike) > 1 or first.scale.size > 1:
        message = "its integers have different scales or zero points, or one for each channel"
        raise node.problem(message, "DequantizeLinear before it")
    before = {name: reading.known[name] for name in node.inputs if name}
    for name, one in before.items():
        if isinstance(one, Integers):
            reading.known[name] = Real(view=one.real)
    try:
        results = OPERATIONS[node.op](reading, node)
    finally:
        reading.known.update(before)
    fields = {"scale": first.scale, "zero": first.zero, "axis": 0, "low": first.low, "high": first.high}
    return [Integers(real=one.view, **fields) if isinstance(one, Real) else one for one in results]  # type: ignore[arg-type]


def _wish(name: str) -> str:
    """A layer's name from a node's: /layer1/conv/Conv -> layer1/conv."""
    parts = [part for part in name.split("/") if part]
    if len(parts) > 1 and parts[-1].split("_")[0] in OPERATIONS | dict.fromkeys(("Constant", "Quant")):
        parts = parts[:-1]
    return "/".join(parts) or "layer"
