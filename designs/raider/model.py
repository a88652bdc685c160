"""The RAIDER network: counts the Cherenkov rings of a 16 x 16 black-and-white image with 2,796 parameters.

Written for Keras 2 (the package tf_keras), which QKeras needs; import this module before TensorFlow.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

os.environ["TF_USE_LEGACY_KERAS"] = (
    "1"  # QKeras reaches Keras through TensorFlow, which reads this when imported
)

import tf_keras as keras
from qkeras import QActivation, QConv2D, QDense, quantized_bits, quantized_relu
from qkeras.utils import load_qmodel

FILTERS = 8
HIDDEN = 16
CLASSES = 4

# QKeras does not count the sign among a quantizer's integer bits, ap_fixed does. alpha=1: no scale besides.
WEIGHT = (8, 0)  # quantized_bits: ap_fixed<8,1>, -1 to 127/128 in steps of 1/128
# After a ReLU nothing is negative: of ap_fixed<16,6> that leaves 15 bits, 5 of them integer, for 0 to just
# below 32 in steps of 1/1024. The scores keep their sign: -32 to just below 32 in the same steps.
RELU = (15, 5)
SCORE = (16, 5)


def _weights() -> dict[str, Any]:
    """The quantizers of a layer's weights and biases, as its keyword arguments."""
    return {
        "kernel_quantizer": quantized_bits(*WEIGHT, alpha=1),
        "bias_quantizer": quantized_bits(*WEIGHT, alpha=1),
    }


def _relu(name: str) -> keras.layers.Layer:
    return QActivation(quantized_relu(*RELU), name=name)


def make_net() -> keras.Model:
    """The network with weights and biases of ap_fixed<8,1> and activations within ap_fixed<16,6>.

    Images [n, 16, 16, 1] of 0 and 1 give scores [n, 4]; the largest names the class. There is no softmax: it
    would not change which is largest.
    """
    return keras.Sequential(
        [
            keras.Input((16, 16, 1), name="image"),
            QConv2D(FILTERS, 3, padding="same", name="conv1", **_weights()),
            _relu("relu1"),
            keras.layers.MaxPooling2D(2, name="pool1"),
            QConv2D(FILTERS, 3, padding="same", name="conv2", **_weights()),
            _relu("relu2"),
            keras.layers.MaxPooling2D(2, name="pool2"),
            keras.layers.Flatten(name="flatten"),
            QDense(HIDDEN, name="dense1", **_weights()),
            _relu("relu3"),
            QDense(CLASSES, name="dense2", **_weights()),
            QActivation(quantized_bits(*SCORE, alpha=1), name="scores"),
        ],
        name="raider",
    )


def make_float_net() -> keras.Model:
    """The float twin of make_net(): the same layers and names, in float32 and without limits."""
    return keras.Sequential(
        [
            keras.Input((16, 16, 1), name="image"),
            keras.layers.Conv2D(FILTERS, 3, padding="same", name="conv1"),
            keras.layers.ReLU(name="relu1"),
            keras.layers.MaxPooling2D(2, name="pool1"),
            keras.layers.Conv2D(FILTERS, 3, padding="same", name="conv2"),
            keras.layers.ReLU(name="relu2"),
            keras.layers.MaxPooling2D(2, name="pool2"),
            keras.layers.Flatten(name="flatten"),
            keras.layers.Dense(HIDDEN, name="dense1"),
            keras.layers.ReLU(name="relu3"),
            keras.layers.Dense(CLASSES, name="dense2"),
            keras.layers.Activation("linear", name="scores"),
        ],
        name="raider_float",
    )


def load_net(path: Path) -> keras.Model:
    """The network of a file that train.py wrote; its QKeras layers and quantizers are made known to Keras."""
    return load_qmodel(str(path), compile=False)
