"""Random QKeras networks, from their quantizers to C-simulation, which is QKeras' own prediction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import hlsgen
from hlsgen.base.fixed import FixedType
from tests.support.frontends.keras_models import WARNINGS, packages, predicted, quiet, randomised

pytestmark = WARNINGS
PACKAGES = packages()
K, Q = PACKAGES.keras, PACKAGES.qkeras
L = K.layers


def weights(bits: int) -> dict[str, Any]:
    quantizer = Q.quantized_bits(bits, 0, alpha=1)
    return {"kernel_quantizer": quantizer, "bias_quantizer": Q.quantized_bits(bits, 0, alpha=1)}


def activations() -> st.SearchStrategy[Any]:
    """Quantizers whose results have few bits, so that sums of them are exact in float32."""
    return st.one_of(
        st.integers(4, 8).map(lambda bits: Q.quantized_relu(bits, 3)),
        st.integers(2, 4).map(Q.quantized_po2),
        st.builds(Q.quantized_relu_po2, bits=st.integers(2, 3), negative_slope=st.sampled_from([0, 0.25])),
    )


@st.composite
def networks(draw: st.DrawFn) -> Any:
    """A quantised convolution, a pool, a depthwise or plain convolution, a dense layer: parameters drawn."""
    height, width, channels = draw(st.integers(5, 9)), draw(st.integers(5, 9)), draw(st.integers(1, 3))
    middle = draw(st.sampled_from([2, 4, 5]))
    padding = draw(st.sampled_from(["same", "valid"]))
    pool = draw(
        st.sampled_from(
            [
                L.MaxPooling2D(2),
                L.MaxPooling2D(3, 2, padding="same"),
                L.AveragePooling2D(2),
                L.ZeroPadding2D(((1, 0), (2, 1))),
                L.UpSampling2D(2),
            ]
        ).map(lambda layer: type(layer).from_config(layer.get_config()))
    )
    x = inputs = K.Input((height, width, channels))
    x = Q.QActivation(Q.quantized_bits(8, 2, alpha=1))(x)
    x = Q.QConv2D(
        middle,
        (draw(st.integers(1, 3)), draw(st.integers(1, 3))),
        strides=draw(st.integers(1, 2)),
        padding=padding,
        **weights(draw(st.integers(3, 8))),
    )(x)
    x = Q.QActivation(draw(activations()))(x)
    x = pool(x) if min(x.shape[1:3]) >= 3 else x
    x = Q.QActivation(Q.quantized_bits(8, 3, alpha=1))(x)
    if draw(st.booleans()):
        x = Q.QDepthwiseConv2D(
            2, padding="same", depthwise_quantizer=Q.quantized_bits(4, 0, alpha=1), use_bias=False
        )(x)
    else:
        x = Q.QConv2D(3, 3, padding="same", dilation_rate=2, **weights(5))(x)
    x = Q.QActivation(Q.quantized_relu(8, 4))(x)
    x = Q.QDense(4, **weights(6))(L.Flatten()(x))
    return K.Model(inputs, Q.QActivation(Q.quantized_bits(12, 6, alpha=1))(x))


@settings(
    max_examples=3,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(data=st.data(), seed=st.integers(0, 1 << 20))
def test_csimulation_is_qkeras_own_prediction(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, seed: int
) -> None:
    with quiet():
        model = randomised(data.draw(networks()), seed)
    design = hlsgen.from_qkeras(model, board="zcu102", name="drawn")
    project = design.build(tmp_path_factory.mktemp("keras") / "b", frames=2)
    assert_predicts(model, design, project, seed)


def assert_predicts(model: Any, design: hlsgen.Design, project: hlsgen.Project, seed: int) -> None:
    """C-simulation of random inputs gives what the model predicts for them."""
    type_ = design.graph.inputs[0].tensor.type
    assert isinstance(type_, FixedType)
    codes = np.random.default_rng(seed).integers(
        type_.min_code, type_.max_code + 1, (4, *model.input_shape[1:])
    )
    x = type_.decode(codes)
    np.testing.assert_array_equal(project.csim(x), predicted(model, [x])[0])


@pytest.mark.parametrize("style", ["dataflow", "tasks"])
def test_powers_of_two_as_weights_and_activations(tmp_path: Path, style: str) -> None:
    powers = {
        "kernel_quantizer": "quantized_po2(4,1)",
        "bias_quantizer": "quantized_po2(4,1)",
    }
    with quiet():
        x = inputs = K.Input((6, 5, 2))
        x = Q.QActivation("quantized_po2(4)")(x)
        x = Q.QConv2D(4, 3, activation="quantized_po2(4)", **powers)(x)
        x = Q.QConv2D(3, 2, kernel_quantizer="quantized_relu_po2(3,1)", use_bias=False)(x)
        x = Q.QActivation("quantized_relu_po2(3, 4)")(x)
        x = Q.QDense(4, activation="quantized_po2(5,quadratic_approximation=1)", **powers)(L.Flatten()(x))
        model = randomised(K.Model(inputs, x), 3)
    design = hlsgen.from_qkeras(model, board="zcu102", name="powers", style=style)
    kinds = [layer.kind for layer in design.graph.layers]
    assert kinds == ["steps", "conv2d", "steps", "conv2d", "steps", "dense", "steps"]
    assert_predicts(model, design, design.build(tmp_path / "b", frames=2), 5)
