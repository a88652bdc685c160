"""Quantised models whose input a pool or a function reads before anything quantises it: a type is chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

import hlsgen  # noqa: E402
from hlsgen.base.fixed import FixedType  # noqa: E402
from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from hlsgen.passes.integer_graph import CHOSEN  # noqa: E402
from tests.support.frontends.onnx_models import expected, model, node, normal, outputs_of  # noqa: E402
from tests.support.frontends.onnx_networks import Net, statically_quantised  # noqa: E402

FRAMES = 2 * normal(6, 12, 1, 2, 8, 8)


def written(op: str, folder: Path, per_channel: bool, **attributes: Any) -> Any:
    """What quantize_static writes of a network that begins with an operation, of which it says no type."""
    quantization = pytest.importorskip("onnxruntime.quantization")
    nodes = [
        node(op, "x", "p", name="first", **attributes),
        node("Conv", "p w", "c"),
        node("Relu", "c", "r"),
        node("Conv", "r v", "y"),
    ]
    constants = {"w": normal(1, 3, 2, 3, 3), "v": normal(2, 4, 3, 3, 3)}
    return statically_quantised(
        model(nodes, {"x": (1, 2, 8, 8)}, constants),
        folder,
        FRAMES[:, 0],
        quant_format=quantization.QuantFormat.QDQ,
        per_channel=per_channel,
        op_types_to_quantize=["Conv"],
    )


FIRST: dict[str, dict[str, Any]] = {
    "MaxPool": {"kernel_shape": [2, 2]},
    "AveragePool": {"kernel_shape": [2, 2]},
    "Relu": {},
    "LeakyRelu": {"alpha": 0.1},
    "Tanh": {},
}


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("op", FIRST)
def test_networks_of_quantize_static(op: str, per_channel: bool, tmp_path: Path) -> None:
    """The codes of ONNX Runtime; of tanh a code of 1,536 that float32 decides, which 25 outputs read."""
    made = written(op, tmp_path, per_channel, **FIRST[op])
    said: list[str] = []
    graph = graph_of_onnx(made, name="net", say=said.append)
    assert graph.input.type == CHOSEN
    assert any(
        f"input x: first reads it unquantised, so that the model says no type; {CHOSEN}" in t for t in said
    )
    wanted = np.concatenate([expected(made, frame)[0] for frame in FRAMES])
    found = np.concatenate([outputs_of(graph, frame)[0] for frame in FRAMES])
    apart = np.abs(found - wanted) > 1e-4 * np.abs(wanted).max()
    assert np.count_nonzero(apart) <= (25 if op == "Tanh" else 0)


def test_the_choice_is_said_and_can_be_another(tmp_path: Path) -> None:
    made = written("MaxPool", tmp_path, False, kernel_shape=[2, 2])
    with pytest.warns(hlsgen.HlsgenWarning, match=r"input x: first reads it unquantised"):
        hlsgen.from_onnx(made)
    said: list[str] = []
    graph = graph_of_onnx(made, name="net", input_types=[FixedType(12, 4)], say=said.append)
    assert str(graph.input.type) == "fixed<12,4>" and not said


def test_quantisers_that_are_not_alike() -> None:
    net = Net((3, 4, 5))
    total = net.add("Add", f"{net.qdq('x', 0.031, 3)} {net.qdq('x', 0.0213, 7)}")
    made = net.onnx(net.qdq(total, 0.05, 5))
    said: list[str] = []
    graph = graph_of_onnx(made, name="net", say=said.append)
    assert any("its quantisers are not alike" in text for text in said)
    frame = normal(3, 2, 3, 4, 5)
    apart = np.abs(outputs_of(graph, frame)[0] - expected(made, frame)[0]) > 1e-3
    assert np.count_nonzero(apart) <= 1
