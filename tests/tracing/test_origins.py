"""Names and layouts of tensors: the framework's own run of everything that hlsgen reads is the judge."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from hlsgen.base.fixed import Codes
from hlsgen.model.ir import Graph, run_golden
from hlsgen.model.origins import Floats, LayerValues
from hlsgen.model.ports import inputs_of


def own_values(graph: Graph, arrays: Sequence[Floats]) -> dict[str, Floats]:
    """What the graph gives for each name that still has values, in the framework's layout."""
    if graph.input.is_float:
        inputs: Mapping[str, Codes] = {
            port.name: port.to_tensor(np.asarray(array, np.float64))
            for port, array in zip(graph.inputs, arrays, strict=True)
        }
    else:
        inputs = inputs_of("net", graph.inputs, list(arrays) if len(arrays) > 1 else arrays[0])
    codes, tensors = run_golden(graph, inputs), graph.tensors()
    return {
        one.name: one.values(tensors[one.source].type.decode(codes[one.source]))
        for one in graph.origins
        if not one.joined
    }


def assert_same(
    graph: Graph, theirs: LayerValues, arrays: Sequence[Floats], tolerance: float = 1e-4
) -> set[str]:
    """The names whose values were compared: each is as the framework has it, in shape and numbers."""
    wanted = theirs.of([np.asarray(array, np.float64) for array in arrays]).layers
    found = own_values(graph, arrays)
    for name in wanted.keys() & found.keys():
        assert found[name].shape == wanted[name].shape, name
        np.testing.assert_allclose(
            found[name],
            wanted[name],
            rtol=tolerance,
            atol=tolerance * np.abs(wanted[name]).max(),
            err_msg=name,
        )
    return set(wanted.keys() & found.keys())


def frames(graph: Graph, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [np.float32(rng.normal(0, 1, (3, *port.shape))) for port in graph.inputs]


def test_every_operation_of_pytorch() -> None:
    pytest.importorskip("torch", reason="needs torch")
    from hlsgen.frontends.torch.layer_values import layer_values
    from hlsgen.frontends.torch.to_graph import graph_of_module
    from tests.support.torch_examples import EXAMPLES, Examples

    count = 0
    for shapes, cases in EXAMPLES.items():
        model = Examples(cases).eval()
        graph = graph_of_module(model, shapes, name="net")
        compared = assert_same(graph, layer_values(model, shapes, graph.origins), frames(graph))
        missed = {one.name for one in graph.origins if not one.joined} - compared
        assert not missed
        count += len(compared)
    assert count > 150


@pytest.mark.skipif(importlib.util.find_spec("qkeras") is None, reason="needs qkeras")
def test_every_layer_of_keras() -> None:
    from hlsgen.frontends.qkeras.layer_values import layer_values
    from hlsgen.frontends.qkeras.to_graph import graph_of_keras
    from tests.support.frontends.keras_models import inputs_for
    from tests.support.keras_examples import examples

    count = 0
    for model in examples():
        graph = graph_of_keras(model, name="net")
        arrays = inputs_for(graph)
        compared = assert_same(graph, layer_values(model, graph.origins), arrays, 1e-3)
        assert compared == {one.name for one in graph.origins if not one.joined}
        count += len(compared)
    assert count > 80


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_operator_of_onnx() -> None:
    pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    pytest.importorskip("qonnx", reason="needs qonnx")
    from hlsgen.frontends.onnx.layer_values import layer_values
    from hlsgen.frontends.onnx.to_graph import graph_of_onnx
    from tests.support.onnx_examples import examples

    count = 0
    for model in examples():
        graph = graph_of_onnx(model, name="net")
        theirs = layer_values(model, (), graph.origins)
        count += len(assert_same(graph, theirs, frames(graph)))
    assert count > 80
