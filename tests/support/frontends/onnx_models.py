"""Small ONNX models for the tests, and what other programs compute with them. Needs onnx and onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.frontends.onnx.to_graph import graph_of_onnx
from hlsgen.model.ir import Graph, run_golden
from hlsgen.model.ports import tensor_codes

onnx = pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
ort = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

Array = NDArray[Any]
QONNX = "qonnx.custom_op.general"
IMAGE = ("N", 4, 6, 8)
"""The shape that most tests' inputs have."""


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    """A node whose input and output names are separated by spaces; "-" is an input that is left out."""
    names = ["" if name == "-" else name for name in inputs.split()]
    return onnx.helper.make_node(op, names, outputs.split(), **attributes)


def model(
    nodes: Sequence[Any],
    inputs: Mapping[str, Sequence[int | str]],
    constants: Mapping[str, ArrayLike] | None = None,
    *,
    outputs: str = "y",
    opset: int = 17,
    input_type: int = 1,
    output_type: int = 1,
    domains: Mapping[str, int] | None = None,
) -> Any:
    """A model; float constants become float32, and Python integers int64."""
    helper = onnx.helper
    initialisers = [
        onnx.numpy_helper.from_array(_narrowed(np.asarray(array)), name)
        for name, array in (constants or {}).items()
    ]
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, input_type, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, output_type, ["batch"]) for name in outputs.split()],
        initialisers,
    )
    versions = {"": opset, **(domains or {})}
    made = helper.make_model(
        graph, opset_imports=[helper.make_opsetid(*pair) for pair in versions.items()], ir_version=8
    )
    for output in made.graph.output:
        output.type.tensor_type.ClearField("shape")
        if domains is None and output_type == 1:
            output.type.Clear()  # which is inferred
    if domains is None:
        made = onnx.shape_inference.infer_shapes(made)
    return made


def _narrowed(array: Array) -> Array:
    return array.astype(np.float32) if array.dtype == np.float64 else array


def expected(made: Any, *inputs: Array, optimised: bool = False) -> list[Array]:
    """onnxruntime's outputs, by default without its fusions.

    Fused, the products of eight-bit integers are those of processors with VNNI, on all.
    """
    options = ort.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if not optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]
    results: list[Array] = session.run(None, dict(zip(names, inputs, strict=True)))
    return results


def referred(made: Any, array: Array) -> Array:
    """The reference evaluator's output: NumPy, the same on every processor."""
    from onnx.reference import ReferenceEvaluator

    result: Array = ReferenceEvaluator(made).run(None, {made.graph.input[0].name: array})[0]
    return result


def outputs_of(graph: Graph, *inputs: Array) -> list[Array]:
    """Golden's outputs as real values in the model's layout; fixed-point inputs are encoded."""
    values = {}
    for port, array in zip(graph.inputs, inputs, strict=True):
        real = port.to_tensor(np.asarray(array, np.float64))
        values[port.name] = real if port.tensor.is_float else tensor_codes(port, real, port.name)
    tensors = run_golden(graph, values)
    results = []
    for port in graph.outputs:
        array = port.from_tensor(tensors[port.source])
        type_ = port.tensor.type
        results.append((type_.decode(array) if isinstance(type_, FixedType) else array) * port.scale)
    return results


def assert_same(made: Any, *inputs: Array, tolerance: float = 1e-5) -> Graph:
    """That a float model's graph gives what onnxruntime does, relative to the largest value; the graph."""
    graph = graph_of_onnx(made, name="net")
    wanted = expected(made, *inputs)
    for found, want in zip(outputs_of(graph, *inputs), wanted, strict=True):
        assert found.shape == want.shape
        assert np.abs(found - want).max() <= tolerance * max(1.0, np.abs(want).max())
    return graph


def kinds(graph: Graph) -> list[str]:
    return [layer.kind for layer in graph.layers]


def normal(seed: int, *shape: int) -> Array:
    """float32 numbers of the standard normal distribution."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def one(
    op: str, *constants: Any, shape: Any = IMAGE, opset: int = 17, frames: int = 2, **attributes: Any
) -> Any:
    """That a model of one node is right, with its constants as the other inputs; None: left out."""
    names = [f"c{number}" for number in range(len(constants))]
    inputs = [
        "x",
        *(name if value is not None else "-" for name, value in zip(names, constants, strict=True)),
    ]
    arrays = {name: value for name, value in zip(names, constants, strict=True) if value is not None}
    made = model([node(op, " ".join(inputs), "y", **attributes)], {"x": shape}, arrays, opset=opset)
    size = [frames if isinstance(axis, str) else axis for axis in shape]
    return assert_same(made, 2 * normal(7, *size))


def message(source: Any, **options: Any) -> str:
    """What the refusal of a model says."""
    with pytest.raises(DesignError) as caught:
        graph_of_onnx(source, name="net", **options)
    for problem in caught.value.problems:
        assert problem.message and problem.fix
    return str(caught.value)


def refused(op: str, *constants: Any, shape: Any = IMAGE, opset: int = 17, **attributes: Any) -> str:
    """What the refusal of a model of one node, called wrong, says; None is an input that is left out."""
    names = [f"c{number}" if value is not None else "-" for number, value in enumerate(constants)]
    arrays = {name: value for name, value in zip(names, constants, strict=True) if value is not None}
    made = node(op, " ".join(["x", *names]), "y", name="wrong", **attributes)
    said = message(model([made], {"x": shape}, arrays, opset=opset, domains={}))
    assert f"node wrong ({op})" in said
    return said
