"""Models of HGQ2 read as they are: golden is their own prediction to the last bit."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.frontends.qkeras.load import quiet
from tests.support.frontends.keras_models import WARNINGS

keras = pytest.importorskip("keras", minversion="3", reason="Keras 3 is not installed")
with quiet():
    pytest.importorskip("hgq", reason="HGQ2 is not installed: pip install 'hlsgen[hgq]'")
    from hgq.config import QuantizerConfig, QuantizerConfigScope
    from hgq.layers import (
        QAdd,
        QAveragePooling2D,
        QBatchNormalization,
        QBatchNormDense,
        QConv1D,
        QConv2D,
        QDense,
        QMaxPooling2D,
        QSoftmax,
        Quantizer,
        QUnaryFunctionLUT,
    )
    from hgq.utils import trace_minmax

pytestmark = [*WARNINGS, pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")]
L = keras.layers


def by_channel(**rest: Any) -> Any:
    return QuantizerConfigScope(place="datalane", heterogeneous_axis=(-1,), homogeneous_axis=None, **rest)


def drawn(model: Any, seed: int, *, signs: bool = False, bits: tuple[int, int] = (1, 5)) -> Any:
    """The model with random weights, and random bits of its quantizers."""
    generator = np.random.default_rng(seed)
    for variable in model.weights:
        name, shape = variable.name, variable.shape
        if name in ("b", "f"):
            variable.assign(np.round(generator.uniform(*bits, shape)))
        elif name == "i":
            variable.assign(np.round(generator.uniform(0, 2, shape)))
        elif name == "k" and signs:
            variable.assign(generator.integers(0, 2, shape))
        elif name in ("bias", "bn_beta", "moving_mean"):
            variable.assign(generator.normal(0, 0.5, shape))
        elif name in ("moving_variance", "bn_gamma"):
            variable.assign(generator.uniform(0.5, 2, shape))
        elif name == "kernel":
            variable.assign(generator.normal(0, 0.7, shape))
    return model


def convolutional() -> Any:
    x = keras.Input((6, 6, 2), name="image")
    y = QBatchNormalization(name="n")(QConv2D(3, 3, activation="relu", name="c")(x))
    y = QMaxPooling2D(2, name="p")(y)
    z = QAdd(name="a")([y, QConv2D(3, 1, name="c2")(y)])
    return keras.Model(x, QDense(4, name="d")(L.Flatten()(QAveragePooling2D(2, name="v")(z))), name="conv")


def frames(shape: tuple[int, ...], seed: int = 0) -> Any:
    """Numbers with 14 fraction bits within the ranges of all inputs' quantizers."""
    x = np.random.default_rng(seed).normal(0, 0.4, (64, *shape))
    return (np.round(x * 2**14) / 2**14).clip(0.01, 0.99).astype(np.float32)


def assert_predicts(model: Any, x: Any, **options: Any) -> Any:
    """That golden of the model's design is what HGQ2 predicts; the design."""
    design = hlsgen.from_qkeras(model, **options)
    with quiet():
        wanted = np.asarray(model.predict(x, verbose=0), np.float64)
    found = design.golden(x)
    assert np.array_equal(found, wanted)
    assert wanted.std() > 0
    return design


@pytest.mark.parametrize("mode", ["WRAP", "SAT"])
def test_bits_by_channel_are_its_prediction(mode: str) -> None:
    with quiet(), by_channel(overflow_mode=mode):
        model = drawn(convolutional(), 1, signs=mode == "SAT")
        x = frames((6, 6, 2))
        if mode == "WRAP":
            trace_minmax(model, x[:32])
    design = assert_predicts(model, x)
    assert any(layer.kind == "affine" for layer in design.graph.layers)


def test_bits_by_tensor_are_casts_alone() -> None:
    with quiet(), QuantizerConfigScope(place="datalane", heterogeneous_axis=(), homogeneous_axis=None):
        x = keras.Input((9, 2), name="signal")
        y = QConv1D(3, 2, padding="same", activation="relu", name="c")(x)
        model = drawn(keras.Model(x, QDense(3, name="d")(L.Flatten()(y))), 2)
        trace_minmax(model, frames((9, 2)))
    design = assert_predicts(model, frames((9, 2)))
    assert {layer.kind for layer in design.graph.layers} <= {"conv2d", "dense", "cast", "rearrange"}
    assert isinstance(design.graph.inputs[0].tensor.type, FixedType)


def test_a_perceptron_with_bits_for_every_element_and_functions() -> None:
    """What HGQ2 does by default: each element of a vector has bits of its own, some none at all."""
    with quiet():
        oq = QuantizerConfig("kif", "table", f0=5, i0=1, overflow_mode="SAT")
        model = keras.Sequential(
            [
                keras.Input((7,), name="jet"),
                QBatchNormDense(9, activation="relu", name="d1"),
                QDense(6, name="d2"),
                QUnaryFunctionLUT("relu", oq_conf=oq, name="f"),
                QDense(5, name="d3"),
            ]
        )
        drawn(model, 3, bits=(-1, 5))
        trace_minmax(model, frames((7,)))
    assert_predicts(model, frames((7,)))


def test_a_function_by_a_table_and_an_average_of_nine() -> None:
    """What no type holds exactly is rounded once, to the quantizer that follows."""
    oq = QuantizerConfig("kif", "table", f0=6, i0=1, overflow_mode="SAT")
    with quiet(), by_channel():
        layers = [QConv2D(3, 3, name="c"), QUnaryFunctionLUT("tanh", oq_conf=oq, name="t")]
        layers += [QAveragePooling2D(3, name="v"), L.Flatten(), QDense(3, name="d")]
        model = drawn(keras.Sequential([keras.Input((6, 6, 2), name="image"), *layers]), 6)
        trace_minmax(model, frames((6, 6, 2)))
    assert_predicts(model, frames((6, 6, 2)))


QUANTISERS: dict[tuple[str, str], Any] = {}
WIDTH = 6
BITS = st.tuples(st.integers(0, 1), st.integers(-3, 4), st.integers(-3, 5))
"""Of an element: a sign, integer and fraction bits."""


def quantiser(rounding: str, overflow: str) -> Any:
    """A model of a quantizer alone, with bits for each element."""
    key = rounding, overflow
    if key not in QUANTISERS:
        config = QuantizerConfig("kif", "datalane", round_mode=rounding, overflow_mode=overflow)
        with quiet():
            QUANTISERS[key] = keras.Sequential([keras.Input((WIDTH,), name="x"), Quantizer(config, name="q")])
    return QUANTISERS[key]


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["RND", "TRN", "RND_CONV"]),
    st.sampled_from(["WRAP", "SAT"]),
    st.lists(BITS, min_size=WIDTH, max_size=WIDTH),
    st.lists(st.integers(-(1 << 11), (1 << 11) - 1), min_size=WIDTH, max_size=4 * WIDTH),
)
def test_a_quantiser_of_any_bits_is_itself(
    rounding: str, overflow: str, bits: list[tuple[int, int, int]], numbers: list[int]
) -> None:
    """Every end and half, with signs and without, and elements of no bits, beside one another."""
    model = quantiser(rounding, overflow)
    variables = {one.name: one for one in model.weights}
    for at, name in enumerate("kif"):
        variables[name].assign(np.array([[one[at] for one in bits]]))
    x = np.array(numbers[: len(numbers) // WIDTH * WIDTH]).reshape(-1, WIDTH) / 64
    design = hlsgen.from_qkeras(model, precision={"input": "fixed<14,8>"})
    with quiet():
        wanted = keras.ops.convert_to_numpy(model(x.astype(np.float32)))
    assert np.array_equal(design.golden(x), wanted)


def test_a_file_is_read_without_running_code(tmp_path: Path) -> None:
    with quiet(), by_channel(overflow_mode="SAT"):
        model = drawn(convolutional(), 4, signs=True)
        model.save(tmp_path / "net.keras")
    x = frames((6, 6, 2))
    design = hlsgen.from_qkeras(tmp_path / "net.keras")
    assert np.array_equal(design.golden(x), hlsgen.from_qkeras(model).golden(x))
    (tmp_path / "net.yaml").write_text("name: net\nboard: u200\nmodel: {qkeras: net.keras}\n")
    assert np.array_equal(hlsgen.load(tmp_path / "net.yaml").golden(x), design.golden(x))
    assert "Keras" in str(design.trace(x[:2]))


HOSTILE = {
    "hgq.layers.attn.mha|QMultiHeadAttention": "layer c is a QMultiHeadAttention of HGQ",
    "hgq.os|system": "layer c is a system of HGQ",
    "os|QConv2D": "is to come from the package os, which is not imported",
}


@pytest.mark.parametrize("said", HOSTILE)
def test_other_classes_of_a_file_are_refused(said: str, tmp_path: Path) -> None:
    with quiet():
        model = keras.Sequential([keras.Input((4, 4, 1)), QConv2D(1, 1, name="c")])
        model.save(tmp_path / "net.keras")
    module, kind = said.split("|")
    names = tmp_path / "net.keras", tmp_path / "h.keras"
    with zipfile.ZipFile(names[0]) as before, zipfile.ZipFile(names[1], "w") as after:
        for name in before.namelist():
            data = before.read(name)
            if name == "config.json":
                described = json.loads(data)
                described["config"]["layers"][1] |= {"module": module, "class_name": kind}
                data = json.dumps(described).encode()
            after.writestr(name, data)
    with pytest.raises(DesignError, match=HOSTILE[said]):
        hlsgen.from_qkeras(tmp_path / "h.keras")


def refused(*layers: Any) -> str:
    with quiet():
        model = keras.Sequential([keras.Input((4, 4, 1), name="image"), *layers])
    with pytest.raises(DesignError) as error:
        hlsgen.from_qkeras(model)
    return str(error.value)


def test_what_has_no_hardware_is_refused_by_name() -> None:
    pixels = QConv2D(1, 1, name="c")
    with quiet():
        pixels.build((None, 4, 4, 1))
    variable = next(one for one in pixels.iq.weights if one.name == "f")
    variable.assign(np.arange(16).reshape(1, 4, 4, 1) % 3)
    text = refused(pixels)
    assert "layer c: c_iq has other bits for each pixel" in text and "heterogeneous_axis=(-1,)" in text
    assert "layer s is a QSoftmax of HGQ" in refused(L.Flatten(), QSoftmax(name="s"))
    scaled = QuantizerConfig("kif", "datalane", scaler=0.3, heterogeneous_axis=(), homogeneous_axis=None)
    assert "c_iq has a scaler or an affine map" in refused(QConv2D(1, 1, iq_conf=scaled, name="c"))
    plain = refused(QConv2D(1, 1, name="c"), L.Conv2D(1, 1, name="plain"))
    assert "layer plain (Conv2D): kernel has no quantizer" in plain


def test_the_type_of_an_input_says_all_of_its_quantizer() -> None:
    config = QuantizerConfig(
        "kif", "datalane", i0=2, f0=3, overflow_mode="SAT", heterogeneous_axis=(), homogeneous_axis=None
    )
    with quiet():
        model = keras.Sequential([keras.Input((4,), name="x"), QDense(2, iq_conf=config, name="d")])
    design = hlsgen.from_qkeras(model)
    assert design.graph.inputs[0].tensor.type == FixedType(6, 3, True, Rounding.RND, Overflow.SAT)
