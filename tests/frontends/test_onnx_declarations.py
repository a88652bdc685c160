"""Shapes and types that an ONNX file declares: what differs from what is computed is said or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

import hlsgen  # noqa: E402
from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.frontends.onnx_models import (  # noqa: E402
    IMAGE,
    assert_same,
    expected,
    message,
    model,
    node,
    normal,
    outputs_of,
)

TENSOR = onnx.TensorProto


def resized(*sizes: int, factor: float = 1.7, middle: bool = False) -> Any:
    """A model that declares its resized tensor to have these sizes; middle: as one inside of it."""
    nodes = [node("Resize", "x - s", "r", mode="nearest", name="grow"), node("Relu", "r", "y", name="last")]
    scales = np.array([1, 1, factor, factor], np.float32)
    made = model(nodes, {"x": (1, 2, 5, 7)}, {"s": scales})
    del made.graph.value_info[:]
    del made.graph.output[:]
    declare = onnx.helper.make_tensor_value_info
    if middle:
        made.graph.value_info.append(declare("r", TENSOR.FLOAT, sizes))
    made.graph.output.append(declare("y", TENSOR.FLOAT, None if middle else sizes))
    return made


@pytest.mark.parametrize("middle", [False, True])
def test_another_size_than_onnx_runtime_computes_is_said(middle: bool) -> None:
    said: list[str] = []
    made = resized(1, 2, 9, 12, middle=middle)
    graph = graph_of_onnx(made, name="net", say=said.append)
    frame = normal(1, 1, 2, 5, 7)
    np.testing.assert_allclose(outputs_of(graph, frame)[0], expected(made, frame)[0], rtol=1e-6)
    what = "node grow (Resize): the file declares the shape [1, 2, 9, 12] for r" if middle else "node last"
    assert any(what in text and "ONNX Runtime computes [1, 2, 8, 11]" in text for text in said)


def test_python_is_warned() -> None:
    with pytest.warns(hlsgen.HlsgenWarning, match=r"declares the shape \[1, 2, 9, 12\] for y"):
        hlsgen.from_onnx(resized(1, 2, 9, 12), precision="fixed<16,6>")


def test_what_is_declared_rightly_is_not_said() -> None:
    said: list[str] = []
    graph_of_onnx(resized(1, 2, 8, 11), name="net", say=said.append)
    assert not said


def test_another_number_of_axes_is_refused() -> None:
    text = message(resized(1, 2, 88))
    assert "node last (Relu): the file declares the shape [1, 2, 88] for y, which is [1, 2, 8, 11]" in text


def test_another_element_type_is_refused() -> None:
    made = resized(1, 2, 8, 11)
    made.graph.output[0].type.tensor_type.elem_type = TENSOR.INT64
    with pytest.raises(Exception, match="does not match expected type"):
        expected(made, normal(1, 1, 2, 5, 7))
    assert "elem type differs" in message(made)


def test_what_no_runtime_computes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from hlsgen.frontends.onnx import declarations

    monkeypatch.setattr(declarations, "computed_shapes", lambda *_: ("ONNX Runtime", {"y": (1, 2, 9, 12)}))
    assert "; ONNX Runtime has [1, 2, 9, 12]" in message(resized(1, 2, 9, 12))


@pytest.mark.parametrize("typed", [False, True])
def test_outputs_without_a_shape(typed: bool) -> None:
    made = model([node("Relu", "x", "y")], {"x": IMAGE})
    made.graph.output[0].type.Clear()
    if typed:
        made.graph.output[0].type.tensor_type.elem_type = TENSOR.FLOAT
    assert_same(made, normal(1, 2, 4, 6, 8))
    assert not made.graph.output[0].type.tensor_type.HasField("shape")
