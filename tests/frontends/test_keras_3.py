"""Models of Keras 3 beside legacy Keras in one process: as objects, from files, on another backend."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hlsgen.base.errors import DesignError
from hlsgen.frontends.qkeras.to_graph import graph_of_keras
from hlsgen.model.ir import Graph
from tests.support.frontends.keras_models import (
    WARNINGS,
    computed,
    inputs_for,
    packages,
    predicted,
    quiet,
    randomised,
)

PACKAGES = packages()
keras = pytest.importorskip("keras", minversion="3", reason="Keras 3 is not installed")
pytestmark = WARNINGS
K2, L2, TF = PACKAGES.keras, PACKAGES.keras.layers, PACKAGES.tensorflow
L = keras.layers
IMAGE, SIGNAL = (7, 6, 4), (9, 4)
FLOAT = 1e-5
STEPS = np.array([0.0, 0.5, -0.5, 1.0], np.float32)


def together(generation: Any, shape: tuple[int, ...], *cases: Any) -> Any:
    """One model with an output for each case: a layer, or a function of a tensor."""
    x = generation.Input(shape, name="image")
    with quiet():
        return randomised(generation.Model(x, [case(x) for case in cases], name="tested"), spread=0.3)


def assert_predicts(graph: Graph, model: Any, error: float = FLOAT) -> None:
    arrays = inputs_for(graph)
    for got, wanted in zip(computed(graph, arrays), predicted(model, arrays), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=error, atol=error)


FUNCTIONS = (
    "linear", "relu", "relu6", "leaky_relu", "softmax", "sigmoid", "hard_sigmoid", "tanh", "softsign",
    "elu", "selu", "gelu", "silu", "swish", "softplus", "exponential", "mish", "hard_silu", "hard_tanh",
    "celu", "log_sigmoid", "log_softmax", "tanh_shrink", "soft_shrink", "hard_shrink",
)  # fmt: skip


@pytest.mark.parametrize("generation", [K2, keras], ids=["legacy", "keras3"])
def test_layers_for_each_step(generation: Any) -> None:
    layers, wrapped = generation.layers, generation.layers.TimeDistributed
    cases = [
        wrapped(layers.Dense(3, activation="relu")),
        wrapped(layers.LeakyReLU()),
        wrapped(layers.BatchNormalization()),
        wrapped(layers.Softmax()),
    ]
    model = together(generation, (5, 4), *cases)
    assert_predicts(graph_of_keras(model, name="net"), model)
    inner = generation.Sequential([generation.Input((6, 2)), layers.Conv1D(3, 3), layers.ReLU()])
    cases = [
        wrapped(layers.Conv1D(3, 3, padding="same")),
        wrapped(layers.Flatten()),
        wrapped(layers.GlobalAveragePooling1D()),
        wrapped(inner),
    ]
    model = together(generation, (5, 6, 2), *cases)
    assert_predicts(graph_of_keras(model, name="net"), model)


def test_more_steps_than_are_read() -> None:
    model = together(keras, (17, 6, 2), L.TimeDistributed(L.Conv1D(3, 3, name="conv"), name="steps"))
    with pytest.raises(DesignError, match=r"layer steps: it has 17 steps, each with a Conv1D of its own"):
        graph_of_keras(model, name="net")


def on_images() -> Any:
    inner = keras.Sequential([keras.Input(IMAGE), L.Conv2D(2, 3), L.ReLU()], name="inner")
    return together(
        keras,
        IMAGE,
        L.Conv2D(5, 3, padding="same", strides=2, activation="relu"),
        L.Conv2D(4, 3, groups=2, dilation_rate=2),
        L.DepthwiseConv2D(3, depth_multiplier=2, activation=L.LeakyReLU(0.3)),
        L.SeparableConv2D(5, 3),
        L.Conv2DTranspose(3, 3, 2, "same"),
        L.BatchNormalization(),
        L.PReLU(shared_axes=[1, 2]),
        L.LeakyReLU(),
        L.ELU(0.7),
        L.ReLU(6, 0.1),
        L.Softmax(axis=1),
        L.MaxPooling2D(2),
        L.AveragePooling2D(3, 2, "same"),
        L.GlobalAveragePooling2D(),
        L.UpSampling2D((3, 2), interpolation="bilinear"),
        L.Resizing(5, 9),
        L.Resizing(9, 4, "nearest", crop_to_aspect_ratio=True),
        L.Resizing(4, 11, "bicubic"),
        L.ZeroPadding2D(1),
        L.Cropping2D(1),
        L.Rescaling(1 / 255, -0.5),
        L.Normalization(mean=0.125, variance=0.5),
        L.Permute((2, 3, 1)),
        L.Dense(3, activation="softmax"),
        L.Identity(),
        L.SpatialDropout2D(0.5),
        lambda x: L.Add()([x, L.Multiply()([x, x])]),
        lambda x: L.Dense(2)(L.Flatten()(x)),
        inner,
    )


def on_signals() -> Any:
    return together(
        keras,
        SIGNAL,
        L.Conv1D(3, 3, padding="causal"),
        L.Conv1DTranspose(3, 4, 2),
        L.MaxPooling1D(2),
        *(L.Activation(name) for name in FUNCTIONS),
    )


def functions() -> Any:
    ops = keras.ops
    return together(
        keras,
        SIGNAL,
        lambda x: x + x * 2.0 - x / 4.0,
        lambda x: 1.0 - x,
        lambda x: -x,
        lambda x: x * np.arange(4, dtype=np.float32),
        lambda x: ops.maximum(x, 0.25) + ops.minimum(x, ops.square(x)),
        lambda x: ops.relu(x) + ops.relu6(3 * x) + ops.leaky_relu(x, 0.3) + ops.elu(x),
        lambda x: ops.sigmoid(x) + ops.tanh(x) + ops.silu(x) + ops.softplus(x),
        lambda x: ops.softmax(x, axis=1) + ops.log_softmax(x, axis=-1),
        lambda x: ops.clip(x, -0.5, 0.5),
        lambda x: ops.concatenate([x, x], axis=-1),
        lambda x: ops.transpose(ops.reshape(x, (-1, 3, 3, 4)), (0, 2, 1, 3)),
        lambda x: ops.mean(x, axis=1) + ops.max(x, axis=1),
        lambda x: x[:, 1:8:2, 1:],
        lambda x: x[..., 2],
        lambda x: ops.where(x > 0, x, 0.0) + ops.where(x < 0.3, 0.3, x),
        lambda x: ops.where(x >= 0.5 * x[:, :1], x, ops.cast(x <= 0.5, "float32")),
        lambda x: ops.where(ops.logical_and(x > -0.5, ops.logical_or(x < 0.5, x > 1)), 2 * x, 1),
        lambda x: ops.where(ops.logical_not(ops.greater(STEPS, x)), ops.not_equal(x, 0) * x, STEPS),
        lambda x: ops.where(np.array([True, False, True, False]), x, -1.0),
    )


@pytest.mark.parametrize("make", [on_images, on_signals, functions])
def test_models_of_keras_3_as_objects_and_from_files(make: Any, tmp_path: Path) -> None:
    model = make()
    graph = graph_of_keras(model, name="net")
    assert_predicts(graph, model)
    for path in (tmp_path / "net.keras", tmp_path / "net.h5"):
        with quiet():
            model.save(path)
        assert_predicts(graph_of_keras(path, name="net"), model)


def test_functions_on_tensors_of_legacy_keras(tmp_path: Path) -> None:
    model = together(
        K2,
        SIGNAL,
        lambda x: x + x * 2.0 - x / 4.0,
        lambda x: 1.0 - x,
        lambda x: -x,
        lambda x: TF.maximum(x, 0.25) + TF.minimum(x, TF.square(x)),
        lambda x: TF.nn.relu(x) + TF.nn.relu6(3 * x) + TF.nn.leaky_relu(x, 0.3) + TF.nn.elu(x),
        lambda x: TF.sigmoid(x) + TF.tanh(x) + TF.nn.swish(x) + TF.nn.softplus(x) + TF.nn.gelu(x),
        lambda x: TF.nn.softmax(x, axis=1),
        lambda x: TF.nn.log_softmax(x, axis=1),
        lambda x: TF.clip_by_value(x, -0.5, 0.5),
        lambda x: TF.concat([x, x], -1),
        lambda x: TF.transpose(TF.reshape(x, (-1, 3, 3, 4)), (0, 2, 1, 3)),
        lambda x: TF.reduce_mean(x, 1) + TF.reduce_max(x, 1),
        lambda x: x[:, 1:8:2, 1:],
        lambda x: x[:, :, 2],
        lambda x: TF.where(x > 0, x, 0.0) + TF.where(x < 0.3, 0.3, x),
        lambda x: TF.where(x >= 0.5 * x[:, :1], x, TF.cast(x <= 0.5, TF.float32)),
        lambda x: TF.where(TF.logical_and(x > -0.5, TF.logical_or(x < 0.5, x > 1)), 2 * x, 1),
        lambda x: TF.where(TF.logical_not(TF.greater(STEPS, x)), x, STEPS),
        lambda x: TF.where(TF.not_equal(x, 0.25), TF.where([True, False, True, False], x, -1.0), 0.0),
        L2.ThresholdedReLU(0.25),
        L2.Conv1D(3, 3, activation="leaky_relu"),
        L2.Conv1D(3, 3, activation="relu6"),
        L2.Conv1D(3, 3, activation=L2.LeakyReLU(0.125)),
    )
    assert_predicts(graph_of_keras(model, name="net"), model)
    for path in (tmp_path / "net.keras", tmp_path / "net.h5"):
        with quiet():
            model.save(path)
        assert_predicts(graph_of_keras(path, name="net"), model)


def residual_model(generation: Any) -> Any:
    """A subclassed model, whose graph is only in its code."""

    class Residual(generation.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(name="residual")
            self.first = generation.layers.Conv2D(4, 3, padding="same", activation="relu")
            self.last = generation.layers.Dense(3)

        def call(self, inputs: Any, training: Any = None) -> Any:
            x = self.first(inputs) + inputs
            return self.last(generation.layers.Flatten()(x))

    return Residual()


@pytest.mark.parametrize("generation", [keras, K2])
def test_subclassed_models(generation: Any) -> None:
    model = residual_model(generation)
    with pytest.raises(DesignError, match="has no graph of layers.*\n.*call it once"):
        graph_of_keras(model, name="net")
    with quiet():
        model(np.zeros((1, *IMAGE), np.float32))
    randomised(model, spread=0.3)
    assert_predicts(graph_of_keras(model, name="net"), model)


@pytest.mark.parametrize("generation", [keras, K2])
@pytest.mark.parametrize("ending", [".weights.h5", ".h5"])
def test_json_beside_weights(generation: Any, ending: str, tmp_path: Path) -> None:
    if generation is keras and ending == ".h5":
        pytest.skip("Keras 3 writes no such file")
    layers = generation.layers
    model = together(generation, IMAGE, layers.Conv2D(3, 3), layers.BatchNormalization())
    (tmp_path / "net.json").write_text(model.to_json())
    weights = tmp_path / f"net{ending}"
    with quiet():
        model.save_weights(weights)
    assert_predicts(graph_of_keras(tmp_path / "net.json", name="net", weights=weights), model)
    with pytest.raises(DesignError, match="describes a model without weights"):
        graph_of_keras(tmp_path / "net.json", name="net")
    other = together(generation, IMAGE, layers.Conv2D(3, 3))
    with quiet():
        other.save_weights(weights)
    with pytest.raises(DesignError, match="Keras cannot load the model|holds no numbers"):
        graph_of_keras(tmp_path / "net.json", name="net", weights=weights)


class QSoftmax(L.Dense):  # type: ignore[misc]
    """Stands for a layer of HGQ, a package of its own on Keras 3."""


QSoftmax.__module__ = "hgq.layers.core"


@pytest.mark.parametrize(
    "make, said",
    [
        (
            lambda: [QSoftmax(3, name="own")],
            "layer own is a QSoftmax of HGQ, which hlsgen does not read",
        ),
        (
            lambda: [L.LSTM(3, name="a", return_sequences=True), L.MultiHeadAttention(1, 2, name="b")],
            "layer a is a LSTM, which is recurrent: hlsgen has no such layer yet",
        ),
        (
            lambda: [L.LSTM(3, name="a", return_sequences=True), L.LayerNormalization(name="b")],
            "layer b is a LayerNormalization, which normalises each frame by statistics of that frame",
        ),
        (lambda: [keras.ops.cumsum], "layer cumsum calls the function Cumsum"),
        (lambda: [L.ReLU(dtype="mixed_bfloat16", name="short")], "layer short (ReLU) computes in bfloat16"),
        (lambda: [L.MaxPooling1D(2, data_format="channels_first", name="cf")], "data_format=channels_first"),
    ],
)
def test_refusals(make: Any, said: str) -> None:
    x = source = keras.Input(SIGNAL)
    for layer in make():
        x = layer(x, x) if isinstance(layer, L.MultiHeadAttention) else layer(x)
    with pytest.raises(DesignError) as caught:
        graph_of_keras(keras.Model(source, x), name="net")
    assert said in str(caught.value)
    assert len(caught.value.problems) == len(make())


def test_models_that_keras_quantised_or_that_train() -> None:
    model = keras.Sequential([keras.Input((4,)), L.Dense(3, name="d")])
    with quiet():
        model.layers[0].quantize("int8")
    with pytest.raises(DesignError, match=r"layer d \(Dense\) is quantised by Keras itself"):
        graph_of_keras(model, name="net")
    x = keras.Input((4,))
    with pytest.raises(DesignError, match="is called with training=True"):
        graph_of_keras(keras.Model(x, L.Dropout(0.5)(x, training=True)), name="net")


def test_keras_3_on_pytorch(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    code = """
import sys
import keras, numpy
from hlsgen.frontends.qkeras.to_graph import graph_of_keras
from tests.support.frontends.ports import outputs_of
L = keras.layers
x = keras.Input((6, 5, 3))
y = L.BatchNormalization()(L.Conv2D(4, 3, activation="leaky_relu")(x))
y = L.Dense(3, activation="softmax")(L.Flatten()(L.DepthwiseConv2D(2)(y + 1.0)))
model = keras.Model(x, y)
model.save(sys.argv[1])
frames = numpy.random.default_rng(0).normal(size=(3, 6, 5, 3)).astype("float32")
wanted = keras.ops.convert_to_numpy(model(frames))
for given in (model, sys.argv[1]):
    (got,) = outputs_of(graph_of_keras(given, name="net"), frames).values()
    print(numpy.abs(got - wanted).max() < 1e-5, "tf_keras" in sys.modules, keras.backend.backend())
"""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / "net.keras")],
        capture_output=True,
        text=True,
        env={"KERAS_BACKEND": "torch", "PYTHONPATH": ":".join(filter(None, sys.path)), "PATH": ""},
    )
    assert run.stdout.splitlines() == ["True False torch"] * 2, run.stderr


QKERAS_ON_KERAS_3 = """
import sys, keras, numpy, qkeras
from hlsgen.base.errors import DesignError
from hlsgen.frontends.qkeras.to_graph import graph_of_keras
quantizer = "quantized_bits(8,0,1,alpha=1)"
dense = qkeras.QDense(3, kernel_quantizer=quantizer, bias_quantizer=quantizer, name="one")
model = keras.Sequential([keras.Input((4,)), dense, qkeras.QActivation("quantized_relu(6,2)", name="two")])
activation = keras.Sequential([keras.Input((4,)), qkeras.QActivation("quantized_relu(6,2)", name="two")])
sources = [model]
for ending in ("keras", "h5"):
    for number, each in enumerate((model, activation)):
        each.save(f"net{number}.{ending}")
        sources.append(f"net{number}.{ending}")
for source in sources:
    try:
        graph_of_keras(source, name="net")
    except DesignError as error:
        assert "of QKeras on Keras 3, which QKeras 0.9 cannot compute" in str(error), str(error)
        assert "model.set_weights(" in str(error)
    else:
        raise AssertionError(source)
numpy.savez("weights.npz", *model.get_weights())
"""
ON_LEGACY_KERAS = """
import tensorflow.keras as keras, numpy, qkeras
from hlsgen.frontends.qkeras.to_graph import graph_of_keras
quantizer = "quantized_bits(8,0,1,alpha=1)"
dense = qkeras.QDense(3, kernel_quantizer=quantizer, bias_quantizer=quantizer, name="one")
model = keras.Sequential([keras.Input((4,)), dense, qkeras.QActivation("quantized_relu(6,2)", name="two")])
model.set_weights([*numpy.load("weights.npz").values()])
assert [layer.kind for layer in graph_of_keras(model, name="net").layers][0] == "dense"
"""


def test_qkeras_on_keras_3_is_refused_with_a_remedy_that_works(tmp_path: Path) -> None:
    plain = {key: value for key, value in os.environ.items() if key != "TF_USE_LEGACY_KERAS"}
    for code, more in ((QKERAS_ON_KERAS_3, {}), (ON_LEGACY_KERAS, {"TF_USE_LEGACY_KERAS": "1"})):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=plain | more, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-2000:]
