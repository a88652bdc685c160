"""A small network of Keras, frames that it answers, and a recipe to train it with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hlsgen.frontends.qkeras.load import quiet

FILE = """name: small
board: zcu102
model: {qkeras: net.NAME}
input: {type: "fixed<8,3,rnd,sat>", samples: calibration.npy}
precision: 8
accuracy: {frames: x.npy, labels: y.npy}
"""
SEED = 11
"""Of weights with which every class is often the answer."""

RECIPE = """import numpy as np

epochs = 16
batch = 32
learning_rate = 0.004


def frames():
    return np.load("train_x.npy"), np.load("train_y.npy")
"""


def small_net(keras: Any) -> Any:
    """Frames [N, 6, 6, 1] -> 4 scores, each class as often as the others, about.

    keras: tf_keras or Keras 3.
    """
    layers = keras.layers
    net = keras.Sequential(
        [
            keras.Input((6, 6, 1), name="image"),
            layers.Conv2D(6, 3, use_bias=False, name="conv1"),
            layers.BatchNormalization(name="bn1"),
            layers.ReLU(name="relu1"),
            layers.MaxPooling2D(2, name="pool"),
            layers.Conv2D(4, 2, activation="relu", name="conv2"),
            layers.Flatten(name="flatten"),
            layers.Dense(4, name="fc"),
        ],
        name="small",
    )
    generator = np.random.default_rng(SEED)
    # the generations of Keras have their variables in orders of their own
    by_name = {
        (layer.name, variable.name.rpartition("/")[2].partition(":")[0]): variable
        for layer in net.layers
        for variable in layer.weights
    }
    for (_, end), variable in sorted(by_name.items(), key=lambda one: one[0]):
        if end in ("gamma", "moving_variance"):
            values = generator.uniform(0.5, 2, variable.shape)
        else:
            values = generator.normal(0, 0.4, variable.shape)
        variable.assign(values.astype(np.float32))
    fc = net.get_layer("fc")
    scores = answers(net, generator.normal(0, 1, (256, 6, 6, 1)))
    kernel, bias = fc.get_weights()
    spread = scores.std(0)
    fc.set_weights([kernel / spread, (bias - scores.mean(0)) / spread])
    return net


def answers(net: Any, x: Any) -> Any:
    """What Keras predicts."""
    with quiet():
        return np.asarray(net.predict(x, verbose=0))


def small_folder(place: Path, keras: Any, ending: str) -> Path:
    """The folder with net.keras or net.h5, small.yaml, recipe.py and arrays: labels are the net's answers."""
    net = small_net(keras)
    with quiet():
        net.save(place / f"net.{ending}")
    (place / "small.yaml").write_text(FILE.replace("NAME", ending))
    (place / "recipe.py").write_text(RECIPE.replace('"train', f'"{place}/train'))
    generator = np.random.default_rng(0)
    for name, count in (("calibration", 32), ("x", 160), ("train_x", 256)):
        x = generator.normal(0, 1, (count, 6, 6, 1)).astype(np.float32)
        np.save(place / f"{name}.npy", x)
        labels = answers(net, x).argmax(1)
        np.save(place / f"{name.replace('x', 'y').replace('calibration', 'unused')}.npy", labels)
    return place
