"""The network of digits.py in Keras 3, trained: writes digits.keras beside itself.

python designs/digits/keras_net.py

Needs keras on any of its backends, and scikit-learn, which has the frames. Takes some ten seconds. The same
split as train.py's, and nothing is chosen by the test frames.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
from digits import CLASSES, FILTERS
from train import BATCH, EPOCHS, RATE, SEED, split

FOLDER = Path(__file__).resolve().parent


def make_net() -> Any:
    """Frames [N, 1, 8, 8], as those of digits.py -> scores [N, 10], untrained."""
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((1, 8, 8), name="image"),
            layers.Permute((2, 3, 1), name="channels_last"),
            layers.Conv2D(FILTERS[0], 3, padding="same", use_bias=False, name="conv1"),
            layers.BatchNormalization(name="bn1"),
            layers.ReLU(name="relu1"),
            layers.MaxPooling2D(2, name="pool1"),
            layers.Conv2D(FILTERS[1], 3, padding="same", use_bias=False, name="conv2"),
            layers.BatchNormalization(name="bn2"),
            layers.ReLU(name="relu2"),
            layers.MaxPooling2D(2, name="pool2"),
            layers.Flatten(name="flatten"),
            layers.Dense(CLASSES, name="fc"),
        ],
        name="digits",
    )


def main() -> None:
    train_x, test_x, train_y, test_y = (np.asarray(one) for one in split())
    keras.utils.set_random_seed(SEED)
    net, trained = make_net(), make_net()
    steps = EPOCHS * -(-len(train_x) // BATCH)
    net.compile(
        keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(RATE, steps)),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    net.fit(train_x, train_y, batch_size=BATCH, epochs=EPOCHS, verbose=0)
    _, share = net.evaluate(test_x, test_y, verbose=0)
    sys.stdout.write(f"{share:.2%} of {len(test_x)} test frames\n")
    trained.set_weights(net.get_weights())  # without what only training needs
    trained.save(FOLDER / "digits.keras")


if __name__ == "__main__":
    main()
