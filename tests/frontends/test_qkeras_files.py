"""Plain Keras models as float graphs, models from files, and the RAIDER network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hlsgen.base.fixed import FloatType
from hlsgen.frontends.qkeras.load import quiet
from hlsgen.frontends.qkeras.to_graph import graph_of_keras
from tests.support.frontends.keras_models import (
    WARNINGS,
    bits,
    check,
    computed,
    functional,
    inputs_for,
    packages,
    predicted,
    quantizers,
    randomised,
)
from tests.support.frontends.ports import kinds

PACKAGES = packages()
pytestmark = WARNINGS
K, Q = PACKAGES.keras, PACKAGES.qkeras
L = K.layers
RAIDER = Path(__file__).resolve().parents[2] / "designs" / "raider"
IMAGE, VECTOR = (7, 6, 4), (12,)
KERNEL = quantizers("kernel")

# float models

FLOAT = 1e-5


@pytest.mark.parametrize(
    "layers",
    [
        lambda: (
            L.Conv2D(5, 3, padding="same", strides=2, activation="relu"),
            L.BatchNormalization(),
            L.MaxPooling2D(),
        ),
        lambda: (
            L.DepthwiseConv2D(3, depth_multiplier=2),
            L.LeakyReLU(),
            L.GlobalAveragePooling2D(),
            L.Dense(4, "softmax"),
        ),
        lambda: (L.SeparableConv2D(5, 3), L.PReLU(shared_axes=[1, 2]), L.AveragePooling2D(3, 2, "same")),
        lambda: (L.Conv2DTranspose(3, 3, 2, "same"), L.PReLU(), L.ELU(0.7), L.UpSampling2D(), L.Softmax()),
        lambda: (
            L.Conv2D(4, 3, groups=2, dilation_rate=2),
            L.ReLU(6, 0.1),
            L.Flatten(),
            L.Dense(7, "gelu"),
            L.Dense(2),
        ),
        lambda: (
            L.Rescaling(1 / 255, -0.5),
            L.Normalization(mean=0.125, variance=0.5),
            L.Normalization(mean=0.25, variance=4.0, invert=True),
            L.Permute((2, 3, 1)),
            L.Reshape((24, 7)),
            L.Conv1D(3, 3, padding="causal"),
        ),
        lambda: (L.Reshape((42, 4)), L.SeparableConv1D(3, 2), L.Conv1DTranspose(3, 4, 2), L.MaxPooling1D(2)),
        lambda: (L.UpSampling2D((3, 2), interpolation="bilinear"), L.ReLU()),
        lambda: (L.Softmax(axis=1), L.Activation("swish"), L.Concatenate(2)),
        lambda: (
            Q.QConv2D(3, 2),
            Q.QActivation("hard_tanh"),
            Q.QAveragePooling2D(),
            Q.QGlobalAveragePooling2D(),
        ),
        lambda: (L.Activation("hard_sigmoid"), Q.QActivation("smooth_sigmoid"), L.Activation("softplus")),
        lambda: (L.Activation(PACKAGES.tensorflow.nn.relu), Q.QActivation("hard_sigmoid")),
    ],
)
def test_float_models(layers: Any) -> None:
    with quiet():
        x = source = K.Input(IMAGE)
        for layer in layers():
            x = layer([x, x] if isinstance(layer, L.Concatenate) else x)
        model = randomised(K.Model(source, x), spread=0.3)
    graph = check(model, error=FLOAT)
    assert graph.input.type == FloatType() and graph.output.type == FloatType()


def test_a_sequential_float_model() -> None:
    with quiet():
        model = K.Sequential(
            [K.Input((8, 8, 1)), L.Conv2D(3, 3), L.Flatten(), L.Dropout(0.1), L.Dense(2)], name="net"
        )
    check(randomised(model), error=FLOAT)


# files


@pytest.mark.parametrize("form", ["h5", "folder", "keras"])
def test_files(form: str, tmp_path: Path) -> None:
    activation = "quantized_relu(4,1)"
    with quiet():
        model = functional(
            IMAGE,
            Q.QActivation("quantized_bits(6,2,1,alpha=1)"),
            Q.QConv2D(
                4, 3, activation=activation, kernel_quantizer=bits(alpha="auto_po2"), bias_quantizer=bits()
            ),
            Q.QBatchNormalization(),
            Q.QActivation(Q.quantized_relu(4, 1)),
            Q.QDense(3, **KERNEL),
        )
        path = tmp_path / ("model" if form == "folder" else f"model.{form}")
        model.save(path, **({"save_format": "tf"} if form == "folder" else {}))
    graph = graph_of_keras(path, name="net")
    direct = graph_of_keras(model, name="net")
    arrays = inputs_for(direct)
    assert [(a.kind, a.output_type) for a in graph.layers] == [(a.kind, a.output_type) for a in direct.layers]
    np.testing.assert_array_equal(computed(graph, arrays)[0], computed(direct, arrays)[0])


def test_a_folder_as_tensorflow_wrote_it_before_2_5(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The description lies in saved_model.pb then, and what the optimiser left beside the weights."""
    from tensorflow.core.protobuf import saved_model_pb2
    from tf_keras.protobuf import saved_metadata_pb2

    model, path = functional(VECTOR, L.Dense(3, activation="relu")), tmp_path / "net"
    with quiet():
        model.compile(K.optimizers.Adam(), "mse")
        model.fit(np.ones((4, *VECTOR)), np.ones((4, 3)), verbose=0)
        model.save(path, save_format="tf")
    newer = graph_of_keras(path, name="net")
    metadata, saved = saved_metadata_pb2.SavedMetadata(), saved_model_pb2.SavedModel()
    metadata.ParseFromString((path / "keras_metadata.pb").read_bytes())
    saved.ParseFromString((path / "saved_model.pb").read_bytes())
    for node in metadata.nodes:
        saved.meta_graphs[0].object_graph_def.nodes[node.node_id].user_object.metadata = node.metadata
    (path / "saved_model.pb").write_bytes(saved.SerializeToString())
    (path / "keras_metadata.pb").unlink()
    capfd.readouterr()
    graph, arrays = graph_of_keras(path, name="net"), inputs_for(newer)
    assert kinds(graph) == ["dense", "clamp"]
    np.testing.assert_array_equal(computed(graph, arrays)[0], computed(newer, arrays)[0])
    np.testing.assert_allclose(computed(graph, arrays)[0], predicted(model, arrays)[0], rtol=1e-5)
    assert "optimizer" not in capfd.readouterr().err


@pytest.mark.parametrize("form", ["h5", "keras"])
def test_what_training_left_in_a_file_is_not_read(form: str, tmp_path: Path) -> None:
    model = functional(
        VECTOR, L.Dense(3, kernel_regularizer="l2", kernel_constraint="max_norm", activation="relu")
    )
    with quiet():
        model.compile(K.optimizers.Adam(), K.losses.Huber(), metrics=[K.metrics.AUC()])
        model.save(tmp_path / f"model.{form}")
    assert kinds(graph_of_keras(tmp_path / f"model.{form}", name="net")) == ["dense", "clamp"]


@pytest.mark.skipif(not (RAIDER / "raider.h5").exists(), reason="designs/raider has no raider.h5")
def test_raider() -> None:
    with quiet():
        model = Q.utils.load_qmodel(str(RAIDER / "raider.h5"), compile=False)
    graph = graph_of_keras(str(RAIDER / "raider.h5"), name="raider")
    with np.load(RAIDER / "test_events.npz") as events:
        images = np.unpackbits(events["images"], axis=1)[:300].reshape(-1, 16, 16, 1).astype(np.float64)
    np.testing.assert_array_equal(computed(graph, [images])[0], predicted(model, [images])[0])


def test_importing_hlsgen_does_not_import_tensorflow() -> None:
    code = "import hlsgen.cli, hlsgen.frontends.qkeras.to_graph, sys; print('tensorflow' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
