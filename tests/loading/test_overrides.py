"""Types of the user's own in a model that brings its types: obeyed, said, and judged in decibels."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.base.errors import DesignError, HlsgenWarning
from hlsgen.base.fixed import FixedType
from hlsgen.layers.conv2d import Conv2d
from hlsgen.tracing.judge import judged
from tests.support.frontends.keras_models import WARNINGS, packages

pytestmark = WARNINGS

PIXELS = "ufixed<8,0>"


def qkeras_model() -> Any:
    keras, qkeras = packages().keras, packages().qkeras
    keras.utils.set_random_seed(4)
    bits = {f"{what}_quantizer": qkeras.quantized_bits(4, 0, alpha=1) for what in ("kernel", "bias")}
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            qkeras.QConv2D(4, 3, name="conv", **bits),
            qkeras.QActivation(qkeras.quantized_relu(6, 2), name="relu"),
            keras.layers.MaxPooling2D(name="pool"),
            keras.layers.Flatten(),
            qkeras.QDense(5, name="fc", **bits),
        ]
    )


def onnx_model(scale: float) -> Any:
    """A convolution of 4-bit weights between quantisers, a ReLU, a product."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("qonnx", reason="qonnx is not installed")
    make, rng = onnx.helper, np.random.default_rng(5)
    held = {"s": scale, "z": 0.0, "b": 6.0, "four": 4.0, "ws": 2.0**-3, "one": 0.25}
    arrays = {name: np.float32(value) for name, value in held.items()}
    arrays |= {"w": rng.normal(0, 0.4, (4, 1, 3, 3)), "v": rng.normal(0, 0.4, (144, 5))}

    def quant(x: str, y: str, scale: str, bits: str, signed: int) -> Any:
        fields = {"signed": signed, "narrow": 0, "rounding_mode": "ROUND"}
        return make.make_node(
            "Quant", [x, scale, "z", bits], [y], name=y, domain="qonnx.custom_op.general", **fields
        )

    nodes = [
        quant("x", "xq", "one", "b", 0),
        quant("w", "wq", "ws", "four", 1),
        make.make_node("Conv", ["xq", "wq"], ["c"], name="conv"),
        make.make_node("Relu", ["c"], ["r"], name="relu"),
        quant("r", "rq", "s", "b", 0),
        make.make_node("Flatten", ["rq"], ["f"]),
        quant("v", "vq", "ws", "four", 1),
        make.make_node("MatMul", ["f", "vq"], ["y"], name="fc"),
    ]
    graph = make.make_graph(
        nodes,
        "net",
        [make.make_tensor_value_info("x", 1, [1, 1, 8, 8])],
        [make.make_tensor_value_info("y", 1, [1, 5])],
        [onnx.numpy_helper.from_array(np.asarray(one, np.float32), name) for name, one in arrays.items()],
    )
    sets = [make.make_opsetid("", 17), make.make_opsetid("qonnx.custom_op.general", 1)]
    return make.make_model(graph, opset_imports=sets, ir_version=8)


def told(call: Any) -> tuple[hlsgen.Design, list[str]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        design = call()
    return design, [str(one.message) for one in found if isinstance(one.message, HlsgenWarning)]


def verdict(design: hlsgen.Design) -> str:
    frames = design.given.sampled(8)
    return judged(design.given, frames, design.given.golden_codes(frames.codes)).verdict


def layer_of(design: hlsgen.Design, name: str) -> Any:
    return next(one for one in design.graph.layers if one.name == name)


@pytest.mark.parametrize("named", ["conv", "relu"])
def test_a_result_has_the_type_that_is_said(named: str) -> None:
    """Under the name of the layer, or of what is a part of it; golden is the model rounded there, once."""
    model = qkeras_model()
    precision = {"input": PIXELS, named: {"output": "ufixed<4,2>"}}
    design, said = told(lambda: hlsgen.from_qkeras(model, precision=precision, board="zcu102"))
    assert layer_of(design, "conv").output_type == layer_of(design, "pool").output_type
    assert str(layer_of(design, "conv").output_type) == "ufixed<4,2,rnd,sat>"
    assert any(text.startswith("conv, fc, pool have types of your own") for text in said)
    assert any("of your own" in text for text in design.given.warnings(()))
    assert verdict(design) == "agrees"
    x = np.random.default_rng(1).integers(0, 256, (6, 8, 8, 1)) / 256
    inner = packages().keras.Model(model.input, model.get_layer("conv").output).predict(x, verbose=0)
    rounded = np.clip(np.floor(inner * 4 + 0.5) / 4, 0, 3.75)
    wanted = rounded.reshape(6, 3, 2, 3, 2, 4).max((2, 4)).reshape(6, -1)
    weights, bias = (np.asarray(one) for one in model.get_layer("fc").get_weights())
    fc = model.get_layer("fc")
    wanted = wanted @ fc.kernel_quantizer_internal(weights).numpy() + fc.bias_quantizer_internal(bias).numpy()
    np.testing.assert_array_equal(design.golden(x), wanted)


def test_weights_and_accumulators_have_the_types_that_are_said() -> None:
    model = qkeras_model()
    precision = {"input": PIXELS, "accumulator": "fixed<9,3>", "conv": {"weights": "fixed<3,1>"}}
    design, said = told(lambda: hlsgen.from_qkeras(model, precision=precision, board="zcu102"))
    conv, fc = (layer_of(design, name) for name in ("conv", "fc"))
    assert isinstance(conv, Conv2d) and (conv.weight_type.width, conv.weight_type.integer) == (3, 1)  # type: ignore[union-attr]
    assert str(conv.accumulator) == "fixed<9,3>" and fc.accumulator == FixedType(9, 3)
    assert any("of your own" in text for text in said) and verdict(design) == "agrees"


@pytest.mark.parametrize("wish", ["exact", "tight", "fixed<40,20>"])
def test_sums_that_hold_everything_change_nothing(wish: str) -> None:
    model, x = qkeras_model(), np.random.default_rng(1).integers(0, 256, (6, 8, 8, 1)) / 256
    design, said = told(
        lambda: hlsgen.from_qkeras(model, precision={"input": PIXELS, "accumulator": wish}, board="zcu102")
    )
    assert not any("of your own" in text for text in said)
    np.testing.assert_array_equal(design.golden(x), model.predict(x, verbose=0))


@pytest.mark.parametrize("scale", [0.25, 0.37])
def test_onnx_in_python_and_in_a_file(scale: float, tmp_path: Path) -> None:
    """Of a scale that is no power of two it is said what the type is of. The file has the same keys."""
    import onnx

    model = onnx_model(scale)
    plain, _ = told(lambda: hlsgen.from_onnx(model, board="zcu102"))
    precision = {"rq": {"output": "ufixed<4,3>"}}
    design, said = told(lambda: hlsgen.from_onnx(model, precision=precision, board="zcu102"))
    (made,) = {one.source for one in design.graph.origins if one.name == "rq"}
    assert str(layer_of(design, made).output_type) == "ufixed<4,3,rnd,sat>"
    (text,) = [one for one in said if "of your own" in one]
    assert (f"{made} is the model's values over 0.37" in text) == (scale == 0.37)
    assert verdict(design) == "agrees" and verdict(plain) in ("exact", "ties")
    onnx.save(model, tmp_path / "net.onnx")
    (tmp_path / "net.yaml").write_text(
        'name: net\nboard: zcu102\nmodel: {onnx: net.onnx}\nprecision:\n  rq: {output: "ufixed<4,3>"}\n'
    )
    notes: list[str] = []
    of_file = hlsgen.load(tmp_path / "net.yaml", say=notes.append)
    assert text in notes
    x = np.random.default_rng(2).uniform(0, 16, (3, 1, 8, 8))
    np.testing.assert_array_equal(of_file.golden(x), design.golden(x))


def test_what_cannot_be_is_refused() -> None:
    model = qkeras_model()
    for precision, message in (
        ({"nope": {"output": "fixed<8,3>"}}, "which is no layer of"),
        ({"pool": {"weights": "fixed<8,3>"}}, "of kind pool2d has none"),
        ({"conv": {"input": "fixed<8,3>"}}, "results of other layers"),
        ({"conv": {"output": "half"}}, "types in fixed point"),
        ({"accumulator": "float32"}, "brings its own number types"),
        ({"target_db": 20, "conv": {"output": "fixed<8,3>"}}, "brings its own number types"),
    ):
        with pytest.raises(DesignError, match=message):
            hlsgen.from_qkeras(model, precision=precision, board="zcu102")
