"""A call of each layer and activation of Keras and QKeras that hlsgen reads: for recorded_operations.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hlsgen.frontends.qkeras.dense_batchnorm import dense_batchnorm
from hlsgen.frontends.qkeras.load import quiet, tensorflow_packages
from tests.support.frontends.keras_models import bits, quantizers, randomised

IMAGE, SIGNAL, VECTOR = (8, 6, 4), (9, 4), (12,)
KERNEL = quantizers("kernel")
DEPTHWISE = quantizers("depthwise")
SEPARABLE = quantizers("depthwise", "pointwise")
AUTO = {"kernel_quantizer": bits(alpha="auto"), "bias_quantizer": bits()}
FUNCTIONS = (
    "linear", "relu", "relu6", "leaky_relu", "softmax", "sigmoid", "hard_sigmoid", "tanh", "softsign", "elu",
    "selu", "gelu", "swish", "silu", "softplus", "exponential", "mish",
)  # fmt: skip
QKERAS_FUNCTIONS = (
    "hard_sigmoid", "smooth_sigmoid", "hard_tanh", "smooth_tanh", "binary_sigmoid", "binary_tanh",
)  # fmt: skip
QUANTIZERS = (
    "quantized_bits(4,1,alpha=1)", "quantized_bits(4,1,alpha=0.5)", "quantized_bits(1,0,alpha=1)",
    "quantized_relu(4,1)", "quantized_relu(4,1,negative_slope=0.25)", "quantized_relu(4,1,use_sigmoid=1)",
    "quantized_tanh(4)", "quantized_tanh(4,use_real_tanh=1)", "quantized_sigmoid(4)",
    "quantized_sigmoid(4,symmetric=1)", "quantized_sigmoid(4,use_real_sigmoid=1)", "quantized_hswish(6,2)",
    "binary(alpha=1)", "ternary(alpha=1)", "ternary(alpha=0.5)", "quantized_po2(4)", "quantized_relu_po2(3)",
)  # fmt: skip


def examples() -> Iterator[Any]:
    """Models whose outputs are cases of the same input, called case0_output, case1_output ..."""
    packages = tensorflow_packages()
    keras, q, layers = packages.keras, packages.qkeras, packages.keras.layers
    with quiet(), pytest.MonkeyPatch.context() as patch:
        # QKeras 0.9 calls a function that later TensorFlows have elsewhere
        from tensorflow.python.ops import array_ops

        patch.setattr(array_ops, "stack", packages.tensorflow.stack, raising=False)
        for group in (_plain(layers), _quantised(q)):
            for shape, cases in group.items():
                yield _together(keras, shape, cases)
        yield _together(keras, VECTOR, [dense_batchnorm(packages)(units=3, **KERNEL)])
        yield _together(keras, VECTOR, [layers.Activation(name) for name in FUNCTIONS])
        pieces = [layers.Activation(getattr(packages.quantizers, name)) for name in QKERAS_FUNCTIONS]
        yield _together(keras, VECTOR, [*(q.QActivation(text) for text in QUANTIZERS), *pieces])
        left, right = keras.Input(IMAGE), keras.Input(IMAGE)
        joins = _named(
            [
                layers.Add(),
                layers.Subtract(),
                layers.Multiply(),
                layers.Maximum(),
                layers.Minimum(),
                layers.Average(),
                layers.Concatenate(),
            ]
        )
        yield keras.Model([left, right], [join([left, right]) for join in joins])


def _together(keras: Any, shape: tuple[int, ...], cases: list[Any]) -> Any:
    source = keras.Input(shape, name="image")
    return randomised(keras.Model(source, [layer(source) for layer in _named(cases)]))


def _named(cases: list[Any]) -> list[Any]:
    for number, layer in enumerate(cases):
        layer._name = f"case{number}"
    return cases


def _plain(layers: Any) -> dict[tuple[int, ...], list[Any]]:
    """Layers of Keras' own, by the shape of their input."""
    images = [
        layers.Conv2D(3, 3),
        layers.DepthwiseConv2D(3),
        layers.SeparableConv2D(3, 3),
        layers.Conv2DTranspose(3, 3, 2),
        layers.Dense(3),
        layers.BatchNormalization(),
        layers.PReLU(shared_axes=(1, 2)),
        layers.ReLU(),
        layers.ReLU(negative_slope=0.1),
        layers.LeakyReLU(0.1),
        layers.ELU(),
        layers.ThresholdedReLU(0.5),
        layers.Identity(),
        layers.Softmax(),
        layers.MaxPooling2D(2),
        layers.AveragePooling2D(2),
        layers.GlobalMaxPooling2D(),
        layers.GlobalAveragePooling2D(),
        layers.Flatten(),
        layers.Reshape((6, 8, 4)),
        layers.Permute((3, 1, 2)),
        layers.ZeroPadding2D(1),
        layers.Cropping2D(1),
        layers.UpSampling2D(2),
        layers.UpSampling2D(2, interpolation="bilinear"),
        layers.Resizing(12, 12, interpolation="bilinear"),
        layers.Resizing(12, 12, interpolation="nearest"),
        layers.Rescaling(0.5, 1.0),
        layers.Normalization(mean=[0.1, 0.2, 0.3, 0.4], variance=[1.0, 2.0, 3.0, 4.0]),
        layers.SpatialDropout2D(0.5),
    ]
    signals = [
        layers.Conv1D(3, 3),
        layers.DepthwiseConv1D(3),
        layers.SeparableConv1D(3, 3),
        layers.Conv1DTranspose(3, 3, 2),
        layers.MaxPooling1D(2),
        layers.AveragePooling1D(2),
        layers.GlobalMaxPooling1D(),
        layers.GlobalAveragePooling1D(),
        layers.ZeroPadding1D(1),
        layers.Cropping1D(1),
        layers.UpSampling1D(2),
        layers.SpatialDropout1D(0.5),
    ]
    vectors = [
        layers.Dense(3),
        layers.RepeatVector(3),
        layers.Dropout(0.5),
        layers.AlphaDropout(0.5),
        layers.GaussianDropout(0.5),
        layers.GaussianNoise(0.5),
        layers.ActivityRegularization(),
    ]
    return {IMAGE: images, SIGNAL: signals, VECTOR: vectors}


def _quantised(q: Any) -> dict[tuple[int, ...], list[Any]]:
    """Layers of QKeras, by the shape of their input."""
    average, then = bits(8, 0), bits(6, 2)
    images = [
        q.QConv2D(3, 3, **KERNEL),
        q.QConv2D(3, 3, **AUTO),
        q.QConv2DTranspose(3, 3, strides=2, **KERNEL),
        q.QConv2DBatchnorm(3, 3, **KERNEL),
        q.QDepthwiseConv2D(3, **DEPTHWISE),
        q.QDepthwiseConv2DBatchnorm(3, **DEPTHWISE),
        q.QSeparableConv2D(3, 3, **SEPARABLE),
        q.QDense(3, **KERNEL),
        q.QBatchNormalization(),
        q.QAveragePooling2D(2, average_quantizer=average, activation=then),
        q.QAveragePooling2D(2, activation=then),
        q.QGlobalAveragePooling2D(average_quantizer=average, activation=then),
        q.QGlobalAveragePooling2D(activation=then),
    ]
    signals = [q.QConv1D(3, 3, **KERNEL), q.QSeparableConv1D(3, 3, **SEPARABLE)]
    return {IMAGE: images, SIGNAL: signals, VECTOR: [q.QDense(3, **KERNEL), q.QDense(3, **AUTO)]}
