"""Quantised ONNX models that compute with their input before they quantise it, as FINN's TFC and CNV do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

import hlsgen  # noqa: E402
from hlsgen.errors import DesignError  # noqa: E402
from tests.frontends.onnx_models import QONNX, Array, normal, onnx  # noqa: E402
from tests.frontends.onnx_networks import FRAMES, Net, executed  # noqa: E402

SIDE = 4
PIXELS = "ufixed<8,0>"


def first_layers(bits: int, ahead: bool = True) -> Any:
    """2x - 1 of a picture as a vector (or not, `ahead`), a quantiser, weights of one bit, a quantiser."""
    net = Net((1, SIDE, SIDE))
    flat = net.add("Reshape", f"x {net.constant([FRAMES, SIDE * SIDE], np.int64)}")
    if ahead:
        flat = net.add("Mul", f"{flat} {net.constant(2.0)}")
        flat = net.add("Sub", f"{flat} {net.constant(1.0)}")
    x = _quantised(net, flat, bits)
    signs = net.constant(normal(1, 6, SIDE * SIDE))
    weights = net.add("BipolarQuant", f"{signs} {net.constant(1.0)}", domain=QONNX)
    turned = net.add("Transpose", weights, perm=[1, 0])
    scores = net.add("MatMul", f"{x} {turned}")
    return net.qonnx(_quantised(net, net.add("Mul", f"{scores} {net.constant(0.125)}"), bits), (6,))


def _quantised(net: Net, x: str, bits: int) -> str:
    if bits == 1:
        return net.add("BipolarQuant", f"{x} {net.constant(1.0)}", domain=QONNX)
    return net.quant(x, 0.5, bits, narrow=1)


def pixels() -> Array:
    """Codes of 8 bits as numbers from 0 up to 1, one half among them."""
    codes = np.random.default_rng(0).integers(0, 256, (FRAMES, 1, SIDE, SIDE))
    codes[0, 0, 0] = [0, 127, 128, 255]
    return (codes / 256).astype(np.float32)


@pytest.mark.parametrize("bits", [1, 2, 8])
def test_the_type_that_the_input_comes_in_is_said(bits: int) -> None:
    made = first_layers(bits)
    design = hlsgen.from_onnx(made, precision={"input": PIXELS})
    assert str(design.graph.input.type) == "ufixed<8,0,rnd,sat>"
    np.testing.assert_array_equal(design.golden(pixels()), executed(made, pixels()))


def test_the_refusal_says_how() -> None:
    with pytest.raises(DesignError, match="reads the input x of the quantised model as it is") as caught:
        hlsgen.from_onnx(first_layers(2))
    assert 'precision={"input": "ufixed<8,0>"}' in str(caught.value)


def test_a_design_file_says_it_as_the_inputs_type(tmp_path: Path) -> None:
    onnx.save(first_layers(2), tmp_path / "net.onnx")
    text = f'name: net\nboard: u200\nmodel: {{onnx: net.onnx}}\ninput: {{type: "{PIXELS}"}}\n'
    (tmp_path / "net.yaml").write_text(text)
    design = hlsgen.load(tmp_path / "net.yaml")
    np.testing.assert_array_equal(design.golden(pixels()), executed(first_layers(2), pixels()))


def test_what_a_quantiser_reads_first_has_its_type_already() -> None:
    with pytest.raises(DesignError, match="the network's own quantizers make x fixed<2,1"):
        hlsgen.from_onnx(first_layers(2, ahead=False), precision={"input": PIXELS})


def test_nothing_else_can_be_said_of_a_quantised_network() -> None:
    with pytest.raises(DesignError, match="brings its own number types"):
        hlsgen.from_onnx(first_layers(2, ahead=False), precision="fixed<16,6>")
