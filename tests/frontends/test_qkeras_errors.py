"""Everything that the QKeras frontend refuses: each message names the layer and what would be accepted."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from hlsgen.base.errors import DesignError, ToolError
from hlsgen.frontends.qkeras.load import quiet
from hlsgen.frontends.qkeras.to_graph import graph_of_keras
from tests.support.frontends.keras_models import WARNINGS, packages, randomised

PACKAGES = packages()
pytestmark = WARNINGS
K, Q = PACKAGES.keras, PACKAGES.qkeras
L = K.layers
TEXT = "quantized_bits(6,2,1,alpha=1)"


def refusal(model: Any) -> str:
    with pytest.raises(DesignError) as caught:
        graph_of_keras(model, name="net")
    assert all(problem.fix for problem in caught.value.problems)
    return str(caught.value)


def model_of(*layers: Any, shape: tuple[Any, ...] = (6, 6, 2)) -> Any:
    with quiet():
        x = source = K.Input(shape, name="image")
        for layer in layers:
            x = layer(x)
        return randomised(K.Model(source, x, name="tested"))


def quantised(kind: Any, *arguments: Any, **rest: Any) -> Any:
    with quiet():
        return kind(*arguments, kernel_quantizer=TEXT, bias_quantizer=TEXT, **rest)


# float layers in a quantised model


def test_every_float_layer_of_a_quantised_model_is_named() -> None:
    text = refusal(
        model_of(
            quantised(Q.QConv2D, 3, 2, name="first"),
            L.Conv2D(3, 2, name="plain"),
            Q.QDepthwiseConv2D(2, name="half", bias_quantizer=TEXT),
            Q.QConv2D(3, 2, kernel_quantizer=TEXT, name="biased"),
            L.PReLU(name="sloped"),
            L.Dense(3, name="last"),
        )
    )
    assert "first" not in text
    assert "layer plain (Conv2D): kernel has no quantizer, in a quantised model" in text
    assert "fix: QConv2D with kernel_quantizer=" in text and 'precision={"default"' in text
    assert "layer half (QDepthwiseConv2D): depthwise has no quantizer" in text
    assert "biased" not in text  # a float bias is added once, with 24 significant bits
    assert "layer sloped (PReLU): alpha" in text
    assert "layer last (Dense)" in text


def test_functions_without_a_type() -> None:
    text = refusal(model_of(quantised(Q.QConv2D, 3, 2), L.Activation("gelu", name="bent")))
    assert "layer bent: the activation gelu has no exact fixed-point result" in text
    assert "a QActivation" in text


def test_results_that_grow_beyond_every_type() -> None:
    layers = [quantised(Q.QDense, 3, name=f"d{number}") for number in range(16)]
    text = refusal(model_of(*layers))
    assert "its exact results need" in text and "at most 64 bits: a quantizer (QActivation)" in text


def test_products_that_grow_beyond_every_type() -> None:
    with quiet():
        x = source = K.Input((4,))
        x = quantised(Q.QDense, 4)(x)
        for number in range(3):
            x = L.Multiply(name=f"m{number}")([x, x])
        model = randomised(K.Model(source, x))
    assert "its exact results need" in refusal(model)


# layers


def text_of(*layers: Any, shape: tuple[Any, ...] = (6, 6, 2)) -> str:
    return refusal(model_of(*layers, shape=shape))


def python_function(x: Any) -> Any:
    return x


class Dense(L.Dense):
    """A layer of the user's with the name of one of Keras'."""


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: L.Lambda(lambda x: x, name="code"), "layer code is of class"),
        (lambda: L.LSTM(3, name="memory"), "layer memory is a LSTM, which is recurrent"),
        (lambda: Dense(3, name="own"), "layer own is of class"),
        (
            lambda: L.MaxPooling2D(data_format="channels_first", name="cf"),
            "layer cf (MaxPooling2D) has data_format=channels_first",
        ),
        (lambda: L.ReLU(dtype="float16", name="short"), "layer short (ReLU) computes in float16"),
        (lambda: L.ReLU(threshold=1.0, name="late"), "layer late: it has a threshold of 1"),
        (
            lambda: L.UpSampling2D(interpolation="lanczos3", name="soft"),
            "layer soft: its interpolation is lanczos3",
        ),
        (
            lambda: L.Activation(python_function, name="mine"),
            "layer mine: the activation python_function is not known",
        ),
        (lambda: L.BatchNormalization(axis=1, name="rows"), "layer rows: it normalises axis [1]"),
        (lambda: L.Softmax(axis=[1, 2], name="both"), "layer both: it is a softmax over several axes"),
        (lambda: L.Softmax(axis=0, name="batch"), "layer batch: it works along axis 0"),
        (lambda: Q.QActivation("binary_tanh", name="round"), "layer round: binary_sigmoid rounds"),
        (
            lambda: Q.QActivation("quantized_po2(8)", name="power"),
            "layer power: quantized_po2 of 8 bits gives powers from 2**-64 to 2**",
        ),
        (lambda: Q.QActivation("bernoulli", name="lot"), "layer lot: bernoulli draws its results by lot"),
        (
            lambda: Q.QActivation(Q.quantized_ulaw(4), name="law"),
            "layer law: quantized_ulaw has no fixed-point",
        ),
        (
            lambda: Q.QActivation("quantized_bits(4,0,1,alpha='auto')", name="auto"),
            'layer auto: quantized_bits has alpha="auto"',
        ),
    ],
)
def test_layers(make: Callable[[], Any], said: str) -> None:
    with quiet():
        layer = make()
    shape = (6, 2) if isinstance(layer, L.LSTM) else (6, 6, 2)
    text = text_of(layer, shape=shape)
    assert said in text and "fix: " in text


def test_layers_of_quantised_models() -> None:
    with quiet():
        start = Q.QActivation(TEXT)
        limited = text_of(start, L.ReLU(max_value=0.3, name="low"))
        border = text_of(start, Q.QAveragePooling2D(3, 2, "same", average_quantizer=TEXT, name="edge"))
        nan = text_of(
            quantised(Q.QDense, 3),
            Q.QDense(3, kernel_quantizer="quantized_bits(1,0,1,alpha='auto')", name="one", use_bias=False),
        )
    assert "layer low: its limit 0.3 is no multiple of its input's resolution 0.125" in limited
    assert "layer edge: at the border" in border
    assert "layer one: quantized_bits makes NaN or infinity" in nan


def test_a_scale_that_differs_within_a_filter() -> None:
    scale = np.linspace(0.3, 0.9, 2).reshape(1, 1, 2, 1).astype(np.float32)
    layer = Q.QConv2D(
        3, 2, kernel_quantizer=Q.quantized_bits(4, 0, alpha=scale), use_bias=False, name="mixed"
    )
    assert "layer mixed: the scale of the weights is no power of two and differs within a filter" in text_of(
        layer
    )


def test_merging_different_ranks() -> None:
    with quiet():
        a, b = K.Input((3, 4)), K.Input((4,))
        model = K.Model([a, b], L.Add(name="sum")([a, b]))
    assert "layer sum: it joins tensors of 2 and 1 axes" in refusal(model)


def test_functions_of_tensorflow() -> None:
    with quiet():
        a = K.Input((3, 4))
        model = K.Model(a, PACKAGES.tensorflow.cumsum(PACKAGES.tensorflow.sort(a)))
    said = refusal(model)
    assert "layer tf.math.cumsum calls the function math.cumsum, which no layer" in said
    assert "layer tf.sort calls the function sort" in said and "__operators__.add" in said


def test_layers_that_cannot_be_built_name_what_can() -> None:
    with quiet():
        a = K.Input((3, 4))
        model = K.Model(a, L.LSTM(2)(L.LayerNormalization()(a)))
    said = refusal(model)
    assert "layer layer_normalization is a LayerNormalization, which normalises each frame by" in said
    assert "BatchNormalization, whose statistics" in said and "Conv1D" in said


def test_open_sizes_and_too_many_axes() -> None:
    assert "input image has open sizes: ? x ? x 2 without the batch" in text_of(
        L.Conv2D(3, 2), shape=(None, None, 2)
    )
    assert "input image" in text_of(L.ReLU(), shape=(2, 2, 2, 2))


def test_a_model_without_layers() -> None:
    with quiet():
        source = K.Input((4,))
        model = K.Model(source, source)
    assert "computes nothing" in refusal(model)


# what is no model


class Subclassed(K.Model):
    def call(self, inputs: Any) -> Any:
        return inputs


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: K.Sequential([L.Dense(3)], name="open"), "the model open has no graph of layers"),
        (lambda: Subclassed(name="code"), "the model code has no graph of layers"),
        (lambda: 3, "not builtins.int"),
        (lambda: L.Dense(3), "not tf_keras"),
        (lambda: "missing.h5", "there is no model file missing.h5"),
    ],
)
def test_what_is_no_model(make: Callable[[], Any], said: str) -> None:
    assert said in refusal(make())


# files


def saved(model: Any, path: Path) -> Path:
    with quiet():
        model.save(path)
    return path


def altered(path: Path, change: Callable[[Any], None]) -> Path:
    """The .h5 file with another description of the model."""
    with h5py.File(path, "r+") as file:
        described = json.loads(file.attrs["model_config"])
        change(described)
        file.attrs["model_config"] = json.dumps(described)
    return path


@pytest.fixture
def h5(tmp_path: Path) -> Path:
    return saved(model_of(L.Conv2D(3, 2, name="conv"), L.Flatten()), tmp_path / "model.h5")


def test_code_in_a_file_is_not_run(tmp_path: Path) -> None:
    marker, name = tmp_path / "ran", str(tmp_path / "ran")
    model = model_of(L.Lambda(lambda x: (open(name, "w").close(), x)[1], name="code"))
    for path in (tmp_path / "model.h5", tmp_path / "model.keras"):
        saved(model, path)
        marker.unlink(missing_ok=True)
        text = refusal(path)
        assert "layer code is a Lambda: the file holds Python code for it, which is not run" in text
        assert not marker.exists()
    with quiet():
        model.save(tmp_path / "folder", save_format="tf")
    marker.unlink(missing_ok=True)
    assert "layer code is a Lambda" in refusal(tmp_path / "folder")
    assert not marker.exists()


def test_functions_of_tensorflow_in_a_file(tmp_path: Path) -> None:
    with quiet():
        a = K.Input((3, 4))
        path = saved(K.Model(a, PACKAGES.tensorflow.cumsum(a)), tmp_path / "model.h5")
    assert "calls the function math.cumsum (TFOpLambda)" in refusal(path)


def test_unknown_classes_in_a_file(h5: Path) -> None:
    def change(described: Any) -> None:
        described["config"]["layers"][1]["class_name"] = "Custom>Spline"

    assert "layer conv is of class Custom>Spline, which hlsgen does not know" in refusal(altered(h5, change))


@pytest.mark.parametrize("module", ["os", "subprocess", "keras_evil", "qkeras2.layers"])
def test_classes_from_strange_packages_in_a_file(h5: Path, module: str) -> None:
    def change(described: Any) -> None:
        described["config"]["layers"][1]["module"] = module

    assert f"is to come from the package {module}, which is not imported" in refusal(altered(h5, change))


def test_unknown_activations_in_a_file(h5: Path) -> None:
    for activation, said in (
        ({"class_name": "Nonsense", "config": {}}, "is of class Nonsense"),
        ("nonsense", "the activation nonsense is not known"),
        ("get_quantizer('x')", "the activation get_quantizer('x') is not known"),
        ({"class_name": "function", "config": "system", "module": "os"}, "the activation system"),
        ({"class_name": "__lambda__", "config": {"code": "eA=="}}, "is of class __lambda__"),
    ):

        def change(described: Any, activation: object = activation) -> None:
            described["config"]["layers"][1]["config"]["activation"] = activation

        assert said in refusal(altered(h5, change))


def test_files_that_are_no_models(tmp_path: Path, h5: Path) -> None:
    junk = tmp_path / "junk.h5"
    junk.write_bytes(b"not a file of HDF5")
    assert f"{junk} is no Keras model that hlsgen can read" in refusal(junk)
    archive = tmp_path / "junk.keras"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("other.txt", "")
    assert f"{archive} is no Keras model" in refusal(archive)
    (tmp_path / "empty").mkdir()
    assert "no keras_metadata.pb or saved_model.pb describes its layers" in refusal(tmp_path / "empty")
    (tmp_path / "empty" / "saved_model.pb").write_bytes(b"")
    assert "no keras_metadata.pb or saved_model.pb describes its layers" in refusal(tmp_path / "empty")
    (tmp_path / "empty" / "saved_model.pb").write_bytes(b"\xff\xff")
    assert "is no Keras model" in refusal(tmp_path / "empty")
    (tmp_path / "empty" / "keras_metadata.pb").write_bytes(b"\xff\xff")
    assert "is no Keras model" in refusal(tmp_path / "empty")
    weights = tmp_path / "model.weights.h5"
    with h5py.File(weights, "w"):
        pass
    assert "holds weights, but no model" in refusal(weights)
    with h5py.File(h5, "r+") as file:
        file.attrs["model_config"] = "{"
    assert "is no Keras model" in refusal(h5)


# packages


@pytest.mark.parametrize("package", ["tensorflow", "tf_keras", "qkeras"])
def test_missing_packages(package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = saved(model_of(Q.QActivation(TEXT)), tmp_path / "model.h5")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ToolError) as caught:
        graph_of_keras(path, name="net")
    assert f"{package} cannot be imported" in str(caught.value)
    assert "fix: pip install 'hlsgen[qkeras]'" in str(caught.value)


@pytest.mark.parametrize(
    "before, works",
    [
        ("import keras", True),
        ("import tensorflow", True),
        ("import tensorflow; tensorflow.keras.layers", False),
    ],
)
def test_keras_3_before_qkeras(before: str, works: bool, tmp_path: Path) -> None:
    """QKeras needs tf.keras to be legacy Keras: only where it was used as Keras 3 before it cannot work."""
    pytest.importorskip("keras", reason="Keras 3 is not installed")
    saved(model_of(L.Flatten(), L.Dense(2)), tmp_path / "plain.h5")
    saved(model_of(L.Flatten(), quantised(Q.QDense, 2)), tmp_path / "quantised.h5")
    code = f"""
import os
os.chdir({str(tmp_path)!r})
os.environ.pop("TF_USE_LEGACY_KERAS", None)
{before}
from hlsgen.base.errors import ToolError
from hlsgen.frontends.qkeras.to_graph import graph_of_keras
print([layer.kind for layer in graph_of_keras("plain.h5", name="net").layers])
try:
    print([layer.kind for layer in graph_of_keras("quantised.h5", name="net").layers])
except ToolError as error:
    print(error)
"""
    text = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert text.startswith("['dense']\n")
    assert (text == "['dense']\n" * 2) == works
    assert works or "TensorFlow was imported with Keras 3" in text and "TF_USE_LEGACY_KERAS=1" in text
