"""Constants that are computed when an ONNX model is read are rounded to the nearest, on every processor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from hlsgen.layers.conv2d import Conv2d  # noqa: E402
from tests.support.frontends.onnx_models import model, node, normal  # noqa: E402

COUNT = 2000


def weights_of(nodes: list[Any], constants: dict[str, Any]) -> Any:
    """The constant w, that the nodes compute, of a dense layer: [in, out]."""
    gemm = node("Gemm", "x w", "y")
    rows = constants.pop("rows")
    graph = graph_of_onnx(model([*nodes, gemm], {"x": ("N", rows)}, constants), name="net")
    (layer,) = graph.layers
    assert isinstance(layer, Conv2d)
    return layer.weights[:, :, 0, 0].T


def nearest(values: Any) -> Any:
    return np.array(values, np.float64).astype(np.float32).astype(np.float64)


@pytest.mark.parametrize(
    "operation, function",
    [
        ("Exp", math.exp),
        ("Tanh", math.tanh),
        ("Erf", math.erf),
        ("Sigmoid", lambda x: 1 / (1 + math.exp(-x))),
    ],
)
def test_functions(operation: str, function: Any) -> None:
    values = normal(4, 4, COUNT // 4)
    found = weights_of([node(operation, "c", "w")], {"c": values, "rows": 4})
    wanted = nearest([[function(float(x)) for x in row] for row in values])
    np.testing.assert_array_equal(found, wanted)


def test_matrix_products() -> None:
    left, right = normal(1, 4, 257), normal(2, 257, 100)
    found = weights_of([node("MatMul", "a b", "w")], {"a": left, "b": right, "rows": 4})
    wanted = [
        [math.fsum(left[i].astype(float) * right[:, j].astype(float)) for j in range(100)] for i in range(4)
    ]
    np.testing.assert_array_equal(found, nearest(wanted))


def test_results_beyond_float32_are_infinite_still() -> None:
    with pytest.raises(Exception, match="NaN or infinity|not finite|infinite"):
        weights_of([node("Exp", "c", "w")], {"c": np.full((4, 2), 100, np.float32), "rows": 4})
