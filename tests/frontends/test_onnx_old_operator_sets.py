"""Operator sets 6 to 8, as ONNX Runtime reads them, and what only the reference evaluator knows of set 6."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.frontends.onnx_models import (  # noqa: E402
    IMAGE,
    assert_same,
    message,
    model,
    node,
    normal,
    outputs_of,
    refused,
)

FRAMES = normal(1, 2, 4, 6, 8)


@pytest.mark.parametrize("opset", [7, 8])
def test_a_network(opset: int) -> None:
    nodes = [
        node("Conv", "x w b", "c", pads=[1, 1, 1, 1]),
        node("BatchNormalization", "c one b one one", "n"),
        node("PRelu", "n slopes", "p"),
        node("Add", "p x", "a"),
        node("MaxPool", "a", "m", kernel_shape=[2, 2], strides=[2, 2]),
        node("Upsample", "m", "u", mode="nearest", scales=[1.0, 1.0, 2.0, 1.5]),
        node("Dropout", "u", "d", ratio=0.5),
        node("Flatten", "d", "f"),
        node("Gemm", "f v c3", "y"),
    ]
    constants = {
        "w": normal(2, 4, 4, 3, 3),
        "b": normal(3, 4),
        "one": np.ones(4),
        "slopes": np.full((4, 1, 1), 0.25),
        "v": normal(4, 4 * 6 * 6, 3),
        "c3": normal(5, 3),
    }
    assert_same(model(nodes, {"x": IMAGE}, constants, opset=opset), FRAMES)


def test_what_operator_set_6_has_in_common_with_later_ones() -> None:
    nodes = [node("Conv", "x w", "c"), node("Relu", "c", "r"), node("Flatten", "r", "y")]
    assert_same(model(nodes, {"x": IMAGE}, {"w": normal(2, 3, 4, 3, 3)}, opset=6), FRAMES)


def of_opset_6(op: str, constant: Any, **attributes: Any) -> Any:
    made = model([node(op, "x c", "y", **attributes)], {"x": IMAGE}, {"c": constant}, opset=6, domains={})
    return outputs_of(graph_of_onnx(made, name="net"), FRAMES)[0]


def test_operands_along_an_axis() -> None:
    """ONNX Runtime has none of these: what the operator set's text says, written with NumPy."""
    channels, rows = normal(2, 4), normal(3, 4, 6)
    np.testing.assert_allclose(
        of_opset_6("Add", channels, broadcast=1, axis=1), FRAMES + channels[:, None, None], rtol=1e-6
    )
    np.testing.assert_allclose(
        of_opset_6("Mul", rows, broadcast=1, axis=1), FRAMES * rows[:, :, None], rtol=1e-6
    )
    np.testing.assert_allclose(of_opset_6("Sub", normal(4, 8), broadcast=1), FRAMES - normal(4, 8), rtol=1e-6)
    np.testing.assert_allclose(of_opset_6("Div", np.float32(3), broadcast=1), FRAMES / 3, rtol=1e-6)
    slopes = of_opset_6("PRelu", channels)
    np.testing.assert_allclose(
        slopes, np.where(FRAMES < 0, FRAMES * channels[:, None, None], FRAMES), rtol=1e-6
    )


def test_upsampling() -> None:
    made = node("Upsample", "x", "y", mode="nearest", height_scale=2.0, width_scale=3.0)
    graph = graph_of_onnx(model([made], {"x": IMAGE}, opset=6, domains={}), name="net")
    np.testing.assert_array_equal(outputs_of(graph, FRAMES)[0], FRAMES.repeat(2, 2).repeat(3, 3))


def test_what_is_not_read() -> None:
    sizes = [np.ones(4, np.float32)] * 4
    assert "spatial 0" in refused("BatchNormalization", *sizes, opset=7, spatial=0)
    nodes = [
        node("ReduceMean", "x", "m", axes=[2, 3], keepdims=0),
        node("Add", "x m", "y", broadcast=1, axis=0),
    ]
    assert "broadcasts a computed tensor" in message(model(nodes, {"x": IMAGE}, opset=6, domains={}))
