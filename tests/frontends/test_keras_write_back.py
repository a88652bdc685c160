"""Trained weights in the variables of the user's own Keras model: read again, they are the same network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hlsgen.base.errors import DesignError
from hlsgen.frontends.qkeras.load import quiet
from hlsgen.frontends.qkeras.to_graph import graph_of_keras
from hlsgen.frontends.qkeras.write_back import carriers, load_state, state_of, with_weights
from hlsgen.layers.conv2d import Conv2d
from hlsgen.passes import FLOAT_PASSES, run_passes
from tests.support.frontends.keras_models import WARNINGS, packages, randomised

tf_keras = packages().keras
keras_3 = pytest.importorskip("keras", minversion="3", reason="keras 3 is not installed")
pytestmark = WARNINGS
BOTH = pytest.mark.parametrize("keras", [tf_keras, keras_3], ids=["tf_keras", "keras 3"])


def read(model: Any) -> Any:
    return run_passes(graph_of_keras(model, name="net"), FLOAT_PASSES)


def many(keras: Any) -> Any:
    """What the frontend turns and takes in: every kind of kernel, batch norms, a model inside."""
    layers = keras.layers
    inside_input = keras.Input((4, 4, 3), name="inside_image")
    y = layers.SeparableConv2D(4, 2, name="separable")(inside_input)
    inside = keras.Model(inside_input, layers.BatchNormalization(center=False, name="norm")(y), name="inside")
    x = source = keras.Input((4, 4, 2), name="image")
    x = layers.ReLU()(layers.BatchNormalization(name="alone")(x))
    x = layers.ReLU()(layers.Conv2DTranspose(3, 3, padding="same", name="up")(x))
    x = layers.ReLU()(inside(x))
    x = layers.DepthwiseConv2D(2, depth_multiplier=2, use_bias=False, name="depthwise")(x)
    x = layers.ReLU()(layers.BatchNormalization(name="behind")(x))
    x = layers.Flatten()(layers.Permute((3, 1, 2))(x))
    x = layers.Reshape((16, 2))(x)
    x = layers.Flatten()(layers.Conv1D(3, 3, name="signal")(x))
    return randomised(keras.Model(source, layers.Dense(5, name="fc")(x)), spread=0.5)


@BOTH
def test_other_weights_come_back_from_the_model(keras: Any) -> None:
    with quiet():
        model = many(keras)
        reference = read(model)
        before = state_of(model)
        known = carriers(model, reference)
        layers = [layer for layer in reference.layers if isinstance(layer, Conv2d)]
        assert [one.layer for one in known] == [layer.name for layer in layers] and len(layers) == 7
        assert all(np.array_equal(array, before[name]) for name, array in state_of(model).items())
        generator = np.random.default_rng(0)
        wanted = {
            layer.name: (
                np.round(generator.normal(0, 9, layer.weights.shape)) / 8,
                np.round(generator.normal(0, 99, layer.bias.shape)) / 64,
            )
            for layer in layers
        }
        state = with_weights(model, known, wanted)
        assert {name: one.dtype for name, one in state.items()} == {n: o.dtype for n, o in before.items()}
        load_state(model, state)
        for layer in read(model).layers:
            if isinstance(layer, Conv2d):
                weights, bias = wanted[layer.name]
                # a batch norm's scale is 1 but for float32
                assert np.allclose(layer.weights, weights, rtol=1e-6, atol=0)
                assert np.allclose(layer.bias, bias, rtol=1e-6, atol=0)


def shared(keras: Any) -> Any:
    layer = keras.layers.Conv2D(2, 1, name="conv")
    x = source = keras.Input((3, 3, 2))
    return keras.Model(source, layer(keras.layers.ReLU()(layer(x))))


def scaled(keras: Any) -> Any:
    x = source = keras.Input((3, 3, 2))
    return keras.Model(source, keras.layers.Rescaling(0.3)(keras.layers.Conv2D(2, 1, name="conv")(x)))


def unscaled(keras: Any) -> Any:
    x = source = keras.Input((3, 3, 2))
    return keras.Model(source, keras.layers.ReLU()(keras.layers.BatchNormalization(scale=False)(x)))


@BOTH
@pytest.mark.parametrize(
    ("made", "said"),
    [
        (shared, "its weights are those of another layer too"),
        (scaled, "its weights are not those of one variable"),
        (unscaled, "its weights are not those of one variable"),
    ],
)
def test_what_cannot_be_written_back_is_refused(keras: Any, made: Any, said: str) -> None:
    with quiet():
        model = randomised(made(keras))
        before = state_of(model)
        with pytest.raises(DesignError, match=said):
            carriers(model, read(model))
        assert all(np.array_equal(array, before[name]) for name, array in state_of(model).items())
