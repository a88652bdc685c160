"""Models of Keras and QKeras: graphs compute what they predict, those of quantised models to the last bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.frontends.qkeras.load import quiet
from hlsgen.frontends.qkeras.to_graph import graph_of_keras
from hlsgen.layers.conv2d import Conv2d
from tests.support.frontends.keras_models import (
    INPUT,
    WARNINGS,
    bits,
    check,
    computed,
    functional,
    inputs_for,
    packages,
    quantizers,
    randomised,
)
from tests.support.frontends.ports import kinds

PACKAGES = packages()
pytestmark = WARNINGS
K, Q = PACKAGES.keras, PACKAGES.qkeras
L = K.layers

IMAGE, SIGNAL, VECTOR = (7, 6, 4), (9, 4), (12,)


KERNEL = quantizers("kernel")
DEPTHWISE = quantizers("depthwise")
SEPARABLE = quantizers("depthwise", "pointwise")

# quantised layers, exact


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize(
    "size, stride, dilation",
    [(3, 1, 1), (3, 2, 1), ((2, 4), (2, 3), 1), (1, 2, 1), (3, 1, 2), (2, 1, (1, 3))],
)
def test_conv2d(padding: str, size: Any, stride: Any, dilation: Any) -> None:
    layer = Q.QConv2D(5, size, strides=stride, dilation_rate=dilation, padding=padding, **KERNEL)
    graph = check(functional(IMAGE, layer))
    assert kinds(graph) == ["conv2d"]


def test_conv2d_in_groups_and_without_bias() -> None:
    check(functional(IMAGE, Q.QConv2D(6, 3, groups=2, **KERNEL)))
    check(functional(IMAGE, Q.QConv2D(6, 3, use_bias=False, kernel_quantizer=bits())))


def test_a_bias_of_zeros_needs_no_quantizer() -> None:
    model = functional(IMAGE, Q.QConv2D(6, 3, kernel_quantizer=bits()))
    model.layers[1].bias.assign(np.zeros(6))
    check(model)


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("multiplier", [1, 3])
def test_depthwise_conv2d(padding: str, multiplier: int) -> None:
    layer = Q.QDepthwiseConv2D(3, strides=2, depth_multiplier=multiplier, padding=padding, **DEPTHWISE)
    check(functional(IMAGE, layer))


@pytest.mark.parametrize("padding", ["valid", "same"])
def test_separable_conv2d(padding: str) -> None:
    check(
        functional(
            IMAGE, Q.QSeparableConv2D(5, 3, strides=2, depth_multiplier=2, padding=padding, **SEPARABLE)
        )
    )


@pytest.mark.parametrize("padding", ["valid", "same", "causal"])
@pytest.mark.parametrize("stride, dilation", [(1, 1), (2, 1), (1, 2)])
def test_conv1d(padding: str, stride: int, dilation: int) -> None:
    check(
        functional(SIGNAL, Q.QConv1D(5, 3, strides=stride, dilation_rate=dilation, padding=padding, **KERNEL))
    )


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("size, stride", [(3, 2), (2, 2), (4, 3), (2, 3), (3, 1)])
def test_conv2d_transpose(padding: str, size: int, stride: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # QKeras 0.9 calls a function that later TensorFlows have elsewhere
    from tensorflow.python.ops import array_ops

    monkeypatch.setattr(array_ops, "stack", PACKAGES.tensorflow.stack, raising=False)
    check(functional(IMAGE, Q.QConv2DTranspose(3, size, strides=stride, padding=padding, **KERNEL)))


def test_other_layers_of_signals() -> None:
    check(functional(SIGNAL, Q.QSeparableConv1D(5, 3, strides=2, padding="same", **SEPARABLE)))
    for layer in (
        L.DepthwiseConv1D(3, 2, "same", 2),
        L.SeparableConv1D(4, 3, padding="causal"),
        L.Conv1D(4, 2, 2),
    ):
        check(functional(SIGNAL, layer), error=1e-5)


def test_dense_of_every_rank() -> None:
    for shape in (VECTOR, SIGNAL, IMAGE):
        check(functional(shape, Q.QDense(5, **KERNEL)))
    graph = check(functional(IMAGE, L.Flatten(), Q.QDense(5, **KERNEL)))
    assert kinds(graph)[-1] == "dense"


@pytest.mark.parametrize("alpha", ["auto_po2", np.array([[1, 2, 0.5, 4, 0.25]]), 0.5])
def test_scales_that_are_powers_of_two_are_exact(alpha: Any) -> None:
    layer = Q.QDense(5, kernel_quantizer=bits(alpha=alpha), bias_quantizer=bits(6, 1))
    graph = check(functional(VECTOR, layer))
    assert kinds(graph) == ["dense"]


@pytest.mark.parametrize("alpha", ["auto", 0.3])
def test_other_scales_multiply_the_sums(alpha: Any) -> None:
    kernel = {"kernel_quantizer": bits(alpha=alpha), "bias_quantizer": bits(6, 1)}
    assert kinds(check(functional(IMAGE, Q.QConv2D(5, 3, **kernel)), error=1e-6)) == ["conv2d", "affine"]
    assert kinds(check(functional(VECTOR, Q.QDense(5, **kernel)), error=1e-6)) == ["dense", "affine"]
    depthwise = {"depthwise_quantizer": bits(alpha=alpha), "bias_quantizer": bits(6, 1)}
    check(functional(IMAGE, Q.QDepthwiseConv2D(3, depth_multiplier=2, **depthwise)), error=1e-6)
    check(
        functional(IMAGE, Q.QSeparableConv2D(3, 2, pointwise_quantizer=bits(alpha=alpha), **depthwise)),
        error=1e-6,
    )


@pytest.mark.parametrize(
    "quantizer",
    ["ternary(alpha='auto_po2')", "binary(alpha=1.0)", "quantized_po2(4, 1)", "quantized_bits(1,0,1)"],
)
def test_weights_of_other_quantizers(quantizer: str) -> None:
    with quiet():
        layer = Q.QDense(5, kernel_quantizer=quantizer, bias_quantizer="quantized_bits(6,1,1)")
    check(functional(VECTOR, layer), error=1e-6 if "binary" in quantizer or "1,0" in quantizer else 0)


@pytest.mark.parametrize("mode", ["ema_stats_folding", "batch_stats_folding"])
def test_folded_batch_normalisation(mode: str) -> None:
    kernel, depthwise = quantizers("kernel", width=6, integer=2), quantizers("depthwise", width=6, integer=2)
    check(functional(IMAGE, Q.QConv2DBatchnorm(5, 3, folding_mode=mode, **kernel)))
    check(functional(IMAGE, Q.QDepthwiseConv2DBatchnorm(3, folding_mode=mode, **depthwise)))
    check(
        functional(IMAGE, Q.QConv2DBatchnorm(5, 3, folding_mode=mode, kernel_quantizer=bits(6, 2))),
        error=1e-6,
    )


def test_batch_normalisation() -> None:
    for layer in (
        L.BatchNormalization(),
        L.BatchNormalization(scale=False),
        L.BatchNormalization(center=False),
    ):
        model = functional(IMAGE, Q.QConv2D(5, 3, **KERNEL), layer)
        assert kinds(check(model, error=1e-5)) == ["conv2d", "affine"]
    check(functional(VECTOR, Q.QActivation(bits(6, 2)), Q.QBatchNormalization()), error=1e-5)
    check(
        functional(IMAGE, Q.QActivation(bits(6, 2)), Q.QBatchNormalization(gamma_quantizer=bits(8, 2))),
        error=1e-5,
    )


def test_batch_normalisation_with_short_numbers_is_exact() -> None:
    """TensorFlow's is not on every processor: some estimate the root."""
    model = functional(VECTOR, Q.QActivation(bits(6, 2)), L.BatchNormalization(epsilon=0.0))
    for variable, value in zip(model.layers[2].weights, (0.5, 1.25, -2.0, 4.0), strict=True):
        variable.assign(np.full(12, value))
    graph = check(model, error=1e-6)
    (x,) = inputs_for(graph)
    quantised = FixedType(6, 3, True, Rounding.RND_CONV, Overflow.SAT)
    wanted = (quantised.decode(quantised.encode(x)) - -2.0) / math.sqrt(4.0) * 0.5 + 1.25
    np.testing.assert_array_equal(computed(graph, [x])[0], wanted)


@pytest.mark.parametrize(
    "kind, order",
    [(Q.QConv2DBatchnorm, (3, 2, 0, 1)), (Q.QDepthwiseConv2DBatchnorm, (2, 3, 0, 1))],
)
def test_folding_does_not_hang_on_estimates_of_roots(kind: Any, order: Any, monkeypatch: Any) -> None:
    """Weights on ties of their quantizer: TensorFlow's root, an ulp off as on some processors, moves them."""
    from tensorflow.python.ops import math_ops

    exact = math_ops.rsqrt
    monkeypatch.setattr(math_ops, "rsqrt", lambda x: exact(x) * (1 - 2.0**-24))
    given = bits(6, 2)
    arguments = (4, 3) if order[0] == 3 else (3,)
    name = "kernel_quantizer" if order[0] == 3 else "depthwise_quantizer"
    with quiet():
        layer = kind(*arguments, epsilon=0.0, bias_quantizer=bits(12, 4), **{name: given})
    model = functional(IMAGE, layer)
    rng = np.random.default_rng(5)
    kernel = layer.kernel if order[0] == 3 else layer.depthwise_kernel
    halves = rng.integers(-20, 20, kernel.shape) / 16.0  # of steps of 1/8
    roots = 2.0 ** rng.integers(-2, 3, 4)
    kernel.assign(halves * (roots if order[0] == 3 else roots[:, None]))
    layer.batchnorm.moving_variance.assign(roots**2)
    layer.batchnorm.gamma.assign(np.ones(4))
    (found,) = graph_of_keras(model, name="net", input_type=INPUT).layers
    assert isinstance(found, Conv2d) and isinstance(found.weight_type, FixedType)
    wanted = (np.rint(halves * 8) / 8).transpose(*order).reshape(found.weights.shape)
    np.testing.assert_array_equal(found.weight_type.decode(found.weights), wanted)


# activations


@pytest.mark.parametrize(
    "activation", ["quantized_relu(4,2)", "quantized_bits(5,2,1,alpha=1)", "relu", "linear", "hard_tanh"]
)
def test_activations_inside_layers(activation: str) -> None:
    with quiet():
        layer = Q.QConv2D(4, 3, activation=activation, **KERNEL)
    graph = check(functional(IMAGE, layer))
    if activation == "quantized_relu(4,2)":
        assert graph.output.type == FixedType(4, 2, False, Rounding.RND_CONV, Overflow.SAT)
        assert [layer.name for layer in graph.layers] == [
            "q_conv2d" + graph.layers[0].name[8:],
            graph.layers[1].name,
        ]


def test_relus() -> None:
    check(functional(IMAGE, Q.QActivation(bits(7, 3)), L.ReLU()))
    check(functional(IMAGE, Q.QActivation(bits(7, 3)), L.ReLU(max_value=6)))
    check(functional(IMAGE, Q.QActivation(bits(7, 3)), L.ReLU(negative_slope=0.25, max_value=2.5)))
    check(functional(IMAGE, Q.QActivation(bits(7, 3)), L.LeakyReLU(0.5)))
    check(functional(IMAGE, Q.QActivation(bits(7, 3)), L.LeakyReLU(0.3)), error=1e-6)
    check(functional(IMAGE, Q.QActivation(bits(7, 3)), L.Activation("relu")))


@pytest.mark.parametrize("name", ["sigmoid", "tanh", "softmax", "hard_sigmoid", "softsign"])
def test_functions_between_bounds_have_a_type(name: str) -> None:
    check(functional(VECTOR, Q.QActivation(bits(7, 3)), L.Activation(name)), error=2.0**-12)


@pytest.mark.parametrize(
    "name", ["sigmoid", "tanh", "elu", "selu", "gelu", "swish", "softplus", "exponential", "mish"]
)
def test_functions_are_rounded_once_by_the_quantizer_after_them(name: str) -> None:
    result = bits(8, 2)
    model = functional(VECTOR, Q.QActivation(bits(6, 2)), L.Activation(name), Q.QActivation(result))
    graph = check(model, input_type=None)
    assert kinds(graph) == ["table"]


# pooling


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("size, stride", [(2, None), (3, 2), ((2, 3), (1, 2)), (4, 4)])
def test_pools(padding: str, size: Any, stride: Any) -> None:
    layers = (L.MaxPooling2D(size, stride, padding), L.AveragePooling2D(size, stride, padding))
    for layer in layers:
        check(functional(IMAGE, Q.QActivation(bits(6, 2)), layer, Q.QActivation(bits(5, 2))))
    check(functional(IMAGE, Q.QActivation(bits(6, 2)), layers[1]), error=2.0**-11)


def test_pools_of_signals() -> None:
    for layer in (
        L.MaxPooling1D(3, 2, "same"),
        L.AveragePooling1D(2),
        L.GlobalMaxPooling1D(),
        L.AveragePooling1D(4, 3),
    ):
        check(functional(SIGNAL, Q.QActivation(bits(6, 2)), layer))


def test_global_pools() -> None:
    for shape in (IMAGE, (4, 8, 3)):
        for layer in (
            L.GlobalMaxPooling2D(),
            L.GlobalAveragePooling2D(),
            L.GlobalAveragePooling2D(keepdims=True),
        ):
            check(functional(shape, Q.QActivation(bits(6, 2)), layer, Q.QActivation(bits(6, 1))))
    check(functional((8, 3), Q.QActivation(bits(6, 2)), L.GlobalAveragePooling1D()))


def test_quantised_pools() -> None:
    quantizer = bits(8, 0)
    for layer in (
        Q.QAveragePooling2D(2, average_quantizer=quantizer, activation=bits(6, 2)),
        Q.QAveragePooling2D(3, 2, average_quantizer=quantizer, activation=bits(6, 2)),
        Q.QGlobalAveragePooling2D(average_quantizer=quantizer, activation=bits(6, 2)),
        Q.QAveragePooling2D(2, padding="same", activation=bits(6, 2)),
        Q.QGlobalAveragePooling2D(activation=bits(6, 2)),
    ):
        check(functional((4, 8, 3), Q.QActivation(bits(6, 2)), layer))


# shapes and several tensors


def test_shapes() -> None:
    for layers in (
        (L.Reshape((4, 6, 7)),),
        (L.Reshape((28, -1)),),
        (L.Permute((3, 1, 2)),),
        (L.Permute((2, 1, 3)), L.Flatten()),
        (L.ZeroPadding2D(((1, 2), (0, 3))),),
        (L.Cropping2D(((1, 2), (0, 3))),),
        (L.UpSampling2D((2, 3)),),
        (L.Dropout(0.5), L.SpatialDropout2D(0.5), L.GaussianNoise(1.0)),
        (L.Flatten(), L.RepeatVector(3)),
    ):
        check(functional(IMAGE, Q.QActivation(bits(6, 2)), *layers, L.ReLU()))
    for layer in (L.ZeroPadding1D((1, 2)), L.Cropping1D((2, 1)), L.UpSampling1D(3)):
        check(functional(SIGNAL, Q.QActivation(bits(6, 2)), layer, L.ReLU()))


@pytest.mark.parametrize(
    "kind", [L.Add, L.Multiply, L.Subtract, L.Maximum, L.Minimum, L.Average, L.Concatenate]
)
def test_several_tensors(kind: Any) -> None:
    with quiet():
        a, b = K.Input(IMAGE), K.Input(IMAGE)
        c = Q.QConv2D(4, 3, padding="same", **KERNEL)(a)
        x = kind()([c, Q.QActivation("quantized_relu(4,1)")(b)])
        model = randomised(K.Model([a, b], x))
    check(model)


def test_concatenation_along_every_axis_and_broadcast() -> None:
    with quiet():
        a, b = K.Input(IMAGE), K.Input(IMAGE)
        parts = [Q.QActivation(bits(6, 2))(a), Q.QActivation("quantized_relu(5,3)")(b)]
        joined = [L.Concatenate(axis)(parts) for axis in (1, 2, 3, -1)]
        gate = Q.QActivation("quantized_sigmoid(4)")(L.GlobalMaxPooling2D(keepdims=True)(parts[0]))
        model = K.Model([a, b], [*joined, L.Multiply()([parts[1], gate]), L.Add()([*parts, parts[0]])])
    check(model)


def test_a_residual_network_with_a_model_inside_and_a_shared_layer() -> None:
    with quiet():
        y = inner_in = K.Input((6, 6, 4))
        y = Q.QActivation("quantized_relu(4,1)")(Q.QConv2D(4, 3, padding="same", **KERNEL)(y))
        inner = K.Model(inner_in, y, name="block")
        x = source = K.Input((6, 6, 4))
        x = Q.QActivation(bits(6, 2), name="start")(x)
        first = inner(x)
        x = Q.QActivation(bits(6, 2))(L.Add()([inner(first), x]))
        x = Q.QDense(3, **KERNEL)(L.Flatten()(x))
        model = randomised(K.Model(source, [x, first]))
    graph = check(model, input_type=None)
    names = [layer.name for layer in graph.layers]
    assert sum(name.startswith("block_q_conv2d") for name in names) == 2


def test_rescaling() -> None:
    check(functional(VECTOR, L.Rescaling(0.25, 1.5), Q.QActivation(bits(6, 2))))


# types of inputs, names


def test_the_type_of_an_input() -> None:
    plain = functional(VECTOR, Q.QDense(3, **KERNEL))
    assert graph_of_keras(plain, name="net").input.type == FixedType(16, 6, rounding=Rounding.RND)
    assert graph_of_keras(plain, name="net", input_type=FixedType(5, 2)).input.type == FixedType(5, 2)
    quantised = functional(VECTOR, Q.QActivation(bits(6, 2)), Q.QDense(3, **KERNEL))
    graph = check(quantised, input_type=None)
    assert graph.input.type == FixedType(6, 3, True, Rounding.RND_CONV, Overflow.SAT)
    assert kinds(graph) == ["dense"]
    assert kinds(check(quantised)) == ["cast", "dense"]


def test_names_and_layout() -> None:
    graph = check(
        functional(
            IMAGE, Q.QConv2D(5, 3, name="int", **KERNEL), Q.QActivation("quantized_relu(4,1)", name="act-1")
        )
    )
    assert [layer.name for layer in graph.layers] == ["int1", "act_1"]
    assert graph.inputs[0].name == "image" and graph.inputs[0].shape == IMAGE
    assert graph.inputs[0].axes == (1, 2, 0) and graph.outputs[0].axes == (1, 2, 0)


# random networks


@st.composite
def networks(draw: st.DrawFn) -> Any:
    """A small quantised network and a seed of its weights."""
    width, integer = draw(st.integers(2, 6)), draw(st.integers(0, 2))
    weights = {"width": width, "integer": integer, "alpha": draw(st.sampled_from([1, 1, "auto_po2"]))}
    relu = f"quantized_relu({draw(st.integers(2, 6))},{draw(st.integers(0, 3))})"
    layers: list[Any] = [Q.QActivation(bits(draw(st.integers(3, 8)), draw(st.integers(0, 3))))]
    for _ in range(draw(st.integers(1, 3))):
        size, stride = draw(st.integers(1, 3)), draw(st.integers(1, 2))
        padding = draw(st.sampled_from(["same", "valid"]))
        if draw(st.booleans()):
            layers.append(
                Q.QConv2D(draw(st.integers(1, 4)), size, stride, padding, **quantizers("kernel", **weights))
            )
        else:
            layers.append(Q.QDepthwiseConv2D(size, stride, padding, **quantizers("depthwise", **weights)))
        layers.append(Q.QActivation(relu))
        if draw(st.booleans()):
            layers.append(draw(st.sampled_from([L.MaxPooling2D, L.AveragePooling2D]))(2, 1, "same"))
            layers.append(Q.QActivation(bits(6, 2)))
    layers += [L.Flatten(), Q.QDense(2, **quantizers("kernel", **weights))]
    return layers, draw(st.integers(0, 99))


@given(networks())
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_networks(drawn: Any) -> None:
    layers, seed = drawn
    check(functional((16, 17, 2), *layers, seed=seed), seed=seed)
