"""Outputs that no quantiser ends: 16 bits below their step, or of the type that the precision says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("qonnx", reason="needs qonnx: pip install 'hlsgen[onnx]'")

import hlsgen  # noqa: E402
from hlsgen.base.errors import DesignError  # noqa: E402
from hlsgen.base.fixed import FixedType, Overflow, Rounding  # noqa: E402
from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.frontends.onnx_models import Array, normal, onnx, outputs_of  # noqa: E402
from tests.support.frontends.onnx_networks import FRAMES, Net, exact, executed  # noqa: E402

MEMBERS = 5


def network(end: str, seed: int) -> Any:
    """A convolution with a scale for each channel whose results nothing quantises."""
    net = Net((4, 6, 6))
    weights = normal(seed, MEMBERS, 4, 3, 3)
    scale = np.abs(weights).max(axis=(1, 2, 3), keepdims=True) / 7
    x = net.quant("x", np.float32(0.0217))
    y = net.add(
        "Conv", f"{x} {net.quant(net.constant(weights), scale, 4)} {net.constant(normal(9, MEMBERS))}"
    )
    if end == "limits":
        y = net.add("Clip", f"{y} {net.constant(-0.713)} {net.constant(2.291)}")
    if end == "average":
        y = net.add("GlobalAveragePool", y)
    return net.qonnx(y, (MEMBERS, 1, 1) if end == "average" else (MEMBERS, 4, 4))


@pytest.mark.parametrize("end", ["convolution", "limits", "average"])
@pytest.mark.parametrize("seed", range(3))
def test_outputs_have_16_bits_below_their_step(end: str, seed: int) -> None:
    made, array = network(end, seed), 2 * normal(5, FRAMES, 4, 6, 6)
    found = outputs_of(graph_of_onnx(made, name="net"), array)[0]
    wanted = exact(made, array)
    most = np.abs(wanted).max()
    # half of 2**-16 steps, and what 24 bits of a factor move the largest value by
    step = 0.0217 * np.abs(normal(seed, MEMBERS, 4, 3, 3)).max(axis=(1, 2, 3)).min() / 7
    assert np.abs(found - wanted).max() <= step * 2.0**-16 + most * 2.0**-22
    assert np.abs(found - executed(made, array)).max() <= most * 1e-5


TYPE = FixedType(12, 5, True, Rounding.RND, Overflow.SAT)


@pytest.mark.parametrize("end", ["convolution", "limits", "average"])
def test_the_precision_says_the_type_of_outputs(end: str) -> None:
    made, array = network(end, 0), 2 * normal(5, FRAMES, 4, 6, 6)
    graph = graph_of_onnx(made, name="net", output_type=FixedType(12, 5))
    assert (graph.outputs[0].tensor.type, graph.outputs[0].scale) == (TYPE, 1.0)
    wanted = np.clip(exact(made, array), -16, 16 - TYPE.resolution)
    assert np.abs(outputs_of(graph, array)[0] - wanted).max() <= TYPE.resolution * 0.501


def test_design_files_and_python_say_it_alike(tmp_path: Path) -> None:
    onnx.save(network("convolution", 0), tmp_path / "net.onnx")
    text = 'name: net\nboard: u200\nmodel: {onnx: net.onnx}\nprecision: {output: "fixed<12,5>"}\n'
    (tmp_path / "net.yaml").write_text(text)
    designs: list[Any] = [
        hlsgen.load(tmp_path / "net.yaml"),
        hlsgen.from_onnx(tmp_path / "net.onnx", precision={"output": "fixed<12,5>"}),
    ]
    array: Array = 2 * normal(5, FRAMES, 4, 6, 6)
    first, second = (np.asarray(design.golden(array)) for design in designs)
    np.testing.assert_array_equal(first, second)
    assert (np.ldexp(first, TYPE.fraction) % 1 == 0).all()
    (tmp_path / "net.yaml").write_text(text.replace('"fixed<12,5>"', "12"))
    with pytest.raises(DesignError, match="precision of it says types of inputs, outputs"):
        hlsgen.load(tmp_path / "net.yaml")


@pytest.mark.parametrize("output", ["fixed<12,5>", 12])
def test_a_network_in_floating_point_has_it_too(tmp_path: Path, output: Any) -> None:
    net = Net((3, 4, 4))
    y = net.add("Conv", f"x {net.constant(normal(1, 2, 3, 3, 3))}")
    onnx.save(net.onnx(y), tmp_path / "net.onnx")
    array = normal(5, FRAMES, 3, 4, 4)
    precision = {"default": "fixed<16,6>", "output": output}
    design: Any = hlsgen.from_onnx(tmp_path / "net.onnx", precision=precision, calibration=array)
    (port,) = design.graph.outputs
    assert port.tensor.type.width == 12 and port.tensor.type.overflow is Overflow.SAT
