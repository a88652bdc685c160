"""Batch normalisation over many decades before QKeras' activations: no channel loses its bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hlsgen.base.fixed import FixedType
from hlsgen.frontends.qkeras.to_graph import graph_of_keras
from hlsgen.model.precision import Precision
from tests.support.frontends.keras_models import (
    WARNINGS,
    computed,
    functional,
    inputs_for,
    packages,
    predicted,
    quantizers,
    randomised,
)

PACKAGES = packages()
pytestmark = WARNINGS
K, Q = PACKAGES.keras, PACKAGES.qkeras
L = K.layers
CHANNELS = 48


def differing(*layers: Any, seed: int = 0, least: float = -12.0) -> float:
    """The share of outputs that are not the model's own, its normalisation's scales from 10**least to 10."""
    model = randomised(functional((6,), *layers), seed)
    rng = np.random.default_rng(seed)
    scales = 10.0 ** rng.uniform(least, 1, CHANNELS) * rng.choice([-1, 1], CHANNELS)
    for layer in model.layers:
        if isinstance(layer, L.BatchNormalization):
            layer.gamma.assign(scales)
            layer.beta.assign(scales * rng.normal(0, 2, CHANNELS) * rng.choice([0, 1], CHANNELS))
            layer.moving_mean.assign(rng.integers(-3, 4, CHANNELS))
    graph = graph_of_keras(model, name="net")
    arrays = inputs_for(graph, 64)
    (wanted,), (found,) = predicted(model, arrays), computed(graph, arrays)
    return float((np.abs(wanted - found) > 1e-6).mean())


def dense(**given: Any) -> Any:
    return Q.QDense(CHANNELS, **quantizers("kernel") | given)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("activation", ["binary", "binary 01", "ternary"])
def test_a_normalisation_before_signs(activation: str, seed: int) -> None:
    quantizer = {
        "binary": lambda: Q.binary(alpha=1.0),
        "binary 01": lambda: Q.binary(use_01=True, alpha=1.0),
        "ternary": lambda: Q.ternary(alpha=1.0),
    }[activation]()
    assert differing(dense(), L.BatchNormalization(), Q.QActivation(quantizer), seed=seed) == 0


@pytest.mark.parametrize("kernel", ["quantized_bits(4, 0, 1, alpha='auto')", "binary(alpha='auto')"])
def test_weights_with_real_scales_before_signs(kernel: str) -> None:
    layer = dense(kernel_quantizer=kernel, activation=Q.binary(alpha=1.0))
    assert differing(layer) < 1e-3


def test_a_normalisation_before_a_quantizer() -> None:
    layers = dense(), L.BatchNormalization(), Q.QActivation(Q.quantized_bits(8, 4, alpha=1.0))
    assert differing(*layers, least=-4.0) < 1e-3


def test_small_biases_before_signs() -> None:
    layer = dense(kernel_quantizer="ternary(alpha=1.0)", bias_quantizer=None, activation=Q.binary(alpha=1.0))
    model = randomised(functional((6,), layer), 1)
    bias = 10.0 ** np.random.default_rng(1).uniform(-20, 1, CHANNELS)
    model.layers[-1].bias.assign(bias * np.random.default_rng(2).choice([-1, 1], CHANNELS))
    graph = graph_of_keras(model, name="net")
    arrays = [np.zeros_like(array) for array in inputs_for(graph, 1)]
    np.testing.assert_array_equal(computed(graph, arrays)[0], predicted(model, arrays)[0])


def test_the_precision_says_the_type_of_outputs() -> None:
    model = randomised(functional((6,), dense()), 0)
    graph = graph_of_keras(model, name="net", precision=Precision(output=FixedType(9, 4)))
    assert str(graph.outputs[0].tensor.type) == "fixed<9,4,rnd,sat>"
    arrays = inputs_for(graph, 16)
    wanted = np.clip(predicted(model, arrays)[0], -8, 8 - 2.0**-5)
    assert np.abs(computed(graph, arrays)[0] - wanted).max() <= 2.0**-6
