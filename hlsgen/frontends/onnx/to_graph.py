"""ONNX models -> graphs: float ones as float graphs, quantised ones as fixed-point graphs of the same codes.

Operators of ai.onnx from operator set 6 to 28, the quantisers of QONNX and Brevitas, and integer models with
QuantizeLinear and DequantizeLinear. The model is read as data: see model.py. Tensors keep the model's
layout, [N, C, H, W]; every frame of the batch is computed by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from hlsgen.base.errors import DesignError, Problem, collecting
from hlsgen.base.fixed import FixedType, Rounding
from hlsgen.base.progress import Say, silent
from hlsgen.frontends.builder.views import Value
from hlsgen.frontends.onnx.alternatives import INSTEAD, name_of, remedy
from hlsgen.frontends.onnx.casts import CASTS
from hlsgen.frontends.onnx.channels_last import of_channels_last
from hlsgen.frontends.onnx.choices import CHOICES
from hlsgen.frontends.onnx.declarations import check_types, declared_shapes, difference, settle
from hlsgen.frontends.onnx.dialects import CHANNELS_LAST
from hlsgen.frontends.onnx.elementwise import ELEMENTWISE
from hlsgen.frontends.onnx.folding import BOUNDED, folded
from hlsgen.frontends.onnx.input_shapes import InputShapes
from hlsgen.frontends.onnx.model import (
    LARGEST_TENSOR,
    Input,
    Node,
    OnnxModel,
    decoded_node,
    initialisers,
    loaded_model,
    onnx_package,
)
from hlsgen.frontends.onnx.opset_6 import as_of_opset_7
from hlsgen.frontends.onnx.patterns import patterns
from hlsgen.frontends.onnx.qlinear import MICROSOFT
from hlsgen.frontends.onnx.quant import (
    INTEGER,
    INTEGER_TYPES,
    QONNX,
    cast_integers,
    clip_integers,
    plain_integers,
)
from hlsgen.frontends.onnx.reading import Handler, Reading, RecordingBuilder
from hlsgen.frontends.onnx.shapes import SHAPES
from hlsgen.frontends.onnx.sums import SUMS
from hlsgen.frontends.onnx.truncation import trunc
from hlsgen.frontends.onnx.values import Constant, Integers, Known, Real
from hlsgen.frontends.onnx.windows import WINDOWS
from hlsgen.layers.thresholds import Thresholds
from hlsgen.model.ir import Graph
from hlsgen.model.precision import Bits, saturating
from hlsgen.passes import INTEGER_PASSES, run_passes
from hlsgen.passes.constant_signs import constant_signs
from hlsgen.passes.integer_graph import Quantisation, integer_graph
from hlsgen.passes.quantisers import FakeQuant

OPERATIONS: dict[str, Handler] = {**CASTS, **CHOICES, **ELEMENTWISE, **INTEGER, **SHAPES, **SUMS, **WINDOWS}
QUANTISERS: dict[str, Handler] = {**QONNX, "Trunc": trunc}
"""Operations of the QONNX domains."""
MOVES_INTEGERS = frozenset({
    "Concat", "DepthToSpace", "Dropout", "Expand", "Flatten", "Gather", "Identity", "MaxPool", "Reshape",
    "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze",
})  # fmt: skip
"""Operations that may come between QuantizeLinear and DequantizeLinear: they select integers."""
TEXTS = "SUO"
"""NumPy's kinds of strings; numbers of four bits are of another kind than the wider ones."""


def graph_of_onnx(
    source: Any,
    *,
    name: str,
    input_types: Sequence[FixedType | None] = (),
    input_shapes: InputShapes = (),
    output_type: FixedType | Bits | None = None,
    say: Say = silent,
) -> Graph:
    """The graph of an ONNX file, or of an onnx.ModelProto.

    A float model gives a float graph. A model with quantisers gives a fixed-point graph; ports carry the
    scale of codes whose values are not the model's. input_types: in the order of the model's inputs, of
    those that no quantiser reads first; inputs beyond the list have its last type. input_shapes: of a frame
    of each input, needed where the model leaves sizes open. output_type: of a quantised model's outputs; by
    default they are exact, or have 16 bits below their step. `say` is told what was mended in
    the model, and what its exporter seems to have changed.
    Raises ToolError: the package onnx is missing. DesignError: the model cannot be read, an operation or one
    of its attributes is not supported, a size is open, something of a quantised model is not quantised.
    """
    model = loaded_model(source, input_shapes, say)
    check_types(onnx_package(), model.proto, model.title)
    graph, known = float_graph(model, name, input_types, say)
    if known is None:
        return graph
    for text in constant_signs(graph):
        say(text)
    if isinstance(output_type, FixedType):
        known = replace(known, output=saturating(output_type))
    return run_passes(integer_graph(graph, known), INTEGER_PASSES)


def float_graph(
    model: OnnxModel, name: str, input_types: Sequence[FixedType | None] = (), say: Say = silent
) -> tuple[Graph, Quantisation | None]:
    """The model in real arithmetic, with `FakeQuant` layers, and what is known of its quantisation, if any.

    Raises as `graph_of_onnx` does.
    """
    reading = Reading(
        model=model,
        builder=RecordingBuilder(name, channels_last=False),
        declared=declared_shapes(model),
        read=frozenset(model.outputs) | {name for node in model.nodes for name in node.inputs},
    )
    wished: dict[str, FixedType] = {}
    for index, one in enumerate(model.inputs):
        type_ = input_types[min(index, len(input_types) - 1)] if input_types else None
        view = _take_input(reading, one)
        if type_ is not None:
            wished[view.source] = type_
    reading.known.update({key: Constant(values=array) for key, array in model.constants.items()})
    _read_nodes(reading, model.nodes)
    settle(model, reading.differences, say)
    for output in model.outputs:
        _give_output(reading, output)
    graph = reading.builder.build()
    quantised = (
        reading.weight_grids
        or any(isinstance(layer, FakeQuant | Thresholds) for layer in graph.layers)
        or any("int" in one.dtype for one in model.inputs)
    )
    if not quantised:
        return graph, None
    return graph, Quantisation(
        weights=reading.plain_grids | reading.weight_grids,
        on_grid=frozenset(reading.on_grid),
        inputs=reading.input_types,
        wished=wished,
        say=say,
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
        return FixedType(bits, bits, not found[1], Rounding.RND) if 1 <= bits <= 64 else None
    found = re.fullmatch(r"FIXED<(\d+),(-?\d+)>", text)
    return FixedType(int(found[1]), int(found[2]), rounding=Rounding.RND) if found else None


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


def _read_nodes(reading: Reading, nodes: Sequence[Node]) -> None:
    """Every node in turn; where one fails, what takes its result is only asked whether it is supported.

    Raises DesignError with all that is refused: what an exporter has taken apart as one, by its name.
    """
    computed = [name for name, known in reading.known.items() if not isinstance(known, Constant)]
    apart = {id(node): pattern for pattern in patterns(nodes, computed) for node in pattern.nodes}
    problems: list[Problem] = []
    for node in nodes:
        pattern = apart.get(id(node))
        if pattern is not None:
            if pattern.problem is not None and pattern.problem not in problems:
                problems.append(pattern.problem)
            continue
        with collecting(problems):
            if any(name and name not in reading.known for name in node.inputs):
                _refuse_unsupported(node)
            else:
                _read_node(reading, node)
    if problems:
        raise DesignError(problems)


def _read_node(reading: Reading, node: Node) -> None:
    wish = _wish(node.name or node.outputs[0])
    if wish in reading.model.outputs:  # the port has that name
        wish = f"{wish}_{node.op.lower()}"
    with reading.builder.at(wish, said=node.label):
        results = _results(reading, node)
    for output, known in zip(node.outputs, results, strict=False):
        _refuse_large(node, known)
        _compare(reading, node, output, known)
    reading.known.update(zip(node.outputs, results, strict=False))
    for output, known in zip(node.outputs, results, strict=False):
        _remember(reading, node, output, known)


def _compare(reading: Reading, node: Node, name: str, known: Known) -> None:
    """Holds a result against what the file declares of it. Raises DesignError: its number of axes."""
    if isinstance(known, Constant):
        shape = known.values.shape
    else:
        shape = reading.shape(known.real if isinstance(known, Integers) else known.view)
    found = difference(node, name, shape, reading.declared)
    if found is not None:
        reading.differences.append(found)


def _remember(reading: Reading, node: Node, name: str, known: Known) -> None:
    """Writes down that the model's tensor `name` is what is known; not of integers with several scales."""
    if not name or isinstance(known, Constant):
        return
    if isinstance(known, Real):
        reading.builder.known_as(name, known.view, kind=node.op, key=name)
    elif known.scale.size == known.zero.size == 1:
        scale, zero = float(known.scale[0]), float(known.zero[0])
        reading.builder.known_as(name, known.real, kind=node.op, key=name, scale=(1 / scale,), shift=(zero,))


def _refuse_large(node: Node, known: Known) -> None:
    view = known.real if isinstance(known, Integers) else known.view if isinstance(known, Real) else None
    if view is not None and view.size > LARGEST_TENSOR:
        raise node.problem(f"its result has {view.size} elements", f"at most {LARGEST_TENSOR}")


def _refuse_unsupported(node: Node) -> None:
    """Refuses an operation that is not there for tensors that depend on the model's inputs."""
    if node.is_quantiser and node.op in QUANTISERS:
        return
    if node.domain == "com.microsoft" and node.op in ("QuantizeLinear", "DequantizeLinear", *MICROSOFT):
        return
    if node.domain == CHANNELS_LAST and node.op in ("BatchNormalization", "Conv", "MaxPool"):
        return
    if not node.domain and node.op in OPERATIONS:
        return
    if not node.domain and node.op in BOUNDED and node.op not in INSTEAD:
        message = "it is computed when all its inputs are constant, and not otherwise"
        raise node.problem(message, remedy(node))
    where = f" of domain {node.domain}" if node.domain else ""
    raise node.problem(f"{name_of(node)}{where} is not supported", remedy(node))


def _results(reading: Reading, node: Node) -> Sequence[Known]:
    if reading.opset < 7:
        node = as_of_opset_7(reading, node)
    known = [reading.known[name] if name else None for name in node.inputs]
    _refuse_texts(node, known)
    if node.domain:
        _refuse_unsupported(node)
    if node.domain == "com.microsoft" and node.op in MICROSOFT:
        return MICROSOFT[node.op](reading, node)
    if node.domain == CHANNELS_LAST:
        return of_channels_last(reading, node, OPERATIONS[node.op])
    if node.op == "If":
        return _chosen(reading, node)
    if node.is_quantiser:
        return QUANTISERS[node.op](reading, node)
    if node.op == "Clip" and _holds_integers(known[0]):
        return clip_integers(reading, node, known[0])
    constants = [one for one in known if isinstance(one, Constant)]
    if len(constants) == len([one for one in known if one is not None]) and node.op != "DequantizeLinear":
        inputs = [one if isinstance(one, Constant) else None for one in known]
        return folded(node, inputs, reading.opset, reading.budget)
    first = next((one for one in known if isinstance(one, Integers)), None)
    if first is not None and node.op == "Cast":
        return cast_integers(reading, node, first)
    if first is not None and node.op in MOVES_INTEGERS:
        return _moved_integers(reading, node, first)
    _refuse_unsupported(node)
    return OPERATIONS[node.op](reading, node)


def _holds_integers(known: Known | None) -> TypeGuard[Integers | Constant]:
    """Whether it stands for codes: integers of an input, or constants that a quantiser made."""
    if isinstance(known, Constant):
        return str(known.values.dtype) in INTEGER_TYPES
    return isinstance(known, Integers)


def _refuse_texts(node: Node, known: Sequence[Known | None]) -> None:
    """Initialisers may hold strings, which some models carry beside what they compute."""
    for name, one in zip(node.inputs, known, strict=True):
        if isinstance(one, Constant) and one.values.dtype.kind in TEXTS:
            raise node.problem(f"its input {name} holds strings, not numbers", "a tensor of numbers there")


def _chosen(reading: Reading, node: Node) -> Sequence[Known]:
    """The branch of an If whose condition is known; it sees the names around it."""
    condition = reading.value(node, 0)
    if not isinstance(condition, Constant):
        raise node.problem("its condition depends on the model's inputs", remedy(node))
    graph = node.attribute("then_branch" if condition.values.any() else "else_branch")
    onnx, title = onnx_package(), reading.model.title
    reading.known.update(
        {key: Constant(values=array) for key, array in initialisers(onnx, graph, title).items()}
    )
    _read_nodes(reading, [decoded_node(onnx, inner, title) for inner in graph.node])
    names = [value.name for value in graph.output]
    if any(name not in reading.known for name in names):
        raise DesignError([])  # what it is made of is told already
    return [reading.known[name] for name in names]


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
        elif isinstance(one, Constant) and node.op == "Concat":  # of integers as well, with a part in it
            reading.known[name] = Constant(values=first.scale * (one.values - first.zero))
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
