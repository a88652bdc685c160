"""A sign of values that are never below 0: said when a model is read, on every way to read one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("qonnx", reason="needs qonnx: pip install 'hlsgen[onnx]'")

import hlsgen  # noqa: E402
from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.command_line import run  # noqa: E402
from tests.support.frontends.onnx_models import QONNX, normal, onnx, outputs_of  # noqa: E402
from tests.support.frontends.onnx_networks import FRAMES, Net, executed  # noqa: E402

MESSAGE = "is the sign of values that are never below 0"


def network(*before: str) -> Any:
    """Nodes, then a BipolarQuant, of a quantised input [4, 6, 6]."""
    net = Net((4, 6, 6))
    y = net.quant("x", np.float32(0.0217))
    for op in before:
        match op:
            case "Clip":
                y = net.add("Clip", f"{y} {net.constant(0.0)} {net.constant(1.0)}")
            case "Quant":
                y = net.quant(y, 0.25, 4, signed=0)
            case "Reshape":
                y = net.add("Reshape", f"{y} {net.constant([0, 4, 36, 1], np.int64)}")
            case "Mul":
                y = net.add("Mul", f"{y} {net.constant(0.3)}")
            case "Less":
                y = net.add("Add", f"{y} {net.constant(-0.1)}")
            case "MaxPool":
                y = net.add(op, y, kernel_shape=[1, 1])
            case _:
                y = net.add(op, y)
    y = net.add("BipolarQuant", f"{y} {net.constant(0.7)}", domain=QONNX)
    return net.qonnx(y, (4, 36, 1) if "Reshape" in before else (4, 6, 6))


@pytest.mark.parametrize(
    "before",
    [
        ("Relu",),
        ("Clip",),
        ("Relu", "Reshape"),
        ("Relu", "MaxPool"),
        ("Quant",),
        ("Relu", "Mul"),
        ("Sigmoid",),
        ("Abs",),
    ],
)
def test_signs_of_what_is_never_negative_are_said(before: tuple[str, ...]) -> None:
    said: list[str] = []
    made, array = network(*before), normal(5, FRAMES, 4, 6, 6)
    graph = graph_of_onnx(made, name="net", say=said.append)
    assert len(said) == 1 and MESSAGE in said[0] and "+0.7" in said[0]
    found = outputs_of(graph, array)[0]
    np.testing.assert_allclose(found, executed(made, array), atol=1e-6)
    assert (found > 0).all()


@pytest.mark.parametrize("before", [(), ("Relu", "Less"), ("Neg",), ("Relu", "Neg"), ("Tanh",)])
def test_other_signs_are_not(before: tuple[str, ...]) -> None:
    said: list[str] = []
    graph_of_onnx(network(*before), name="net", say=said.append)
    assert not said


def test_python_warns_and_the_command_line_notes(tmp_path: Path) -> None:
    onnx.save(network("Relu"), tmp_path / "net.onnx")
    (tmp_path / "net.yaml").write_text("name: net\nboard: u200\nmodel: {onnx: net.onnx}\n")
    with pytest.warns(hlsgen.HlsgenWarning, match=MESSAGE):
        hlsgen.from_onnx(tmp_path / "net.onnx")
    with pytest.warns(hlsgen.HlsgenWarning, match=MESSAGE):
        hlsgen.load(tmp_path / "net.yaml")
    assert MESSAGE in " ".join(run("check", str(tmp_path / "net.yaml")).stderr.split())
