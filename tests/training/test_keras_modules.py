"""QKeras models against golden: every rounding and end of a type, every kind of layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hlsgen
from hlsgen.base.errors import DesignError, MismatchError
from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.frontends.qkeras.load import quiet
from tests.support.frontends.keras_models import WARNINGS, packages, randomised

keras, tf = packages().keras, packages().tensorflow
pytestmark = WARNINGS

from hlsgen.training.backend import weights_of  # noqa: E402
from hlsgen.training.judge import compared  # noqa: E402
from hlsgen.training.keras import quantisers, stages  # noqa: E402
from hlsgen.training.keras.network import Network  # noqa: E402

TYPES = st.builds(
    FixedType,
    st.integers(2, 16),
    st.integers(-4, 8),
    st.booleans(),
    st.sampled_from(Rounding),
    st.sampled_from([Overflow.SAT, Overflow.SAT_SYM]),
)


@settings(max_examples=60, deadline=None)
@given(TYPES, st.lists(st.integers(-(1 << 12), 1 << 12), min_size=1, max_size=40))
def test_activations_are_rounded_and_limited_as_the_type_does(type_: FixedType, numbers: list[int]) -> None:
    """Quarters of the type's steps: exact, just below and above, and halves."""
    x = np.array(numbers) * type_.resolution / 4
    found = quantisers.activation_quantiser(type_, "x")(tf.constant(x, tf.float64))
    assert np.array_equal(found.numpy(), type_.decode(type_.encode(x)))


@pytest.mark.parametrize(
    ("type_", "arguments"),
    [
        (FixedType(6, 2, True, Rounding.RND_CONV, Overflow.SAT), {"bits": 6, "integer": 1}),
        (
            FixedType(6, 2, True, Rounding.RND_CONV, Overflow.SAT_SYM),
            {"bits": 6, "integer": 1, "symmetric": 1},
        ),
        (
            FixedType(5, 3, False, Rounding.RND_CONV, Overflow.SAT),
            {"bits": 5, "integer": 3, "keep_negative": 0},
        ),
        (FixedType(4, 1, True, Rounding.RND_CONV, Overflow.SAT), {"bits": 4, "integer": 0}),
    ],
)
def test_where_qkeras_rounds_alike_it_is_its_own_quantizer(type_: FixedType, arguments: Any) -> None:
    """alpha=1, keep_negative and symmetric as QKeras means them: its own results, in float32 where exact."""
    x = np.arange(-300, 300).astype(np.float32) * np.float32(type_.resolution / 4)
    own = packages().quantizers.quantized_bits(alpha=1.0, **arguments)
    own.use_ste = False
    ours = quantisers.activation_quantiser(type_, "x")
    assert np.array_equal(ours(tf.constant(x)).numpy(), own(tf.constant(x)).numpy())
    for name in ("bits", "integer", "keep_negative", "alpha", "symmetric"):
        assert getattr(ours, name) == getattr(own, name), name


def gradients(quantiser: Any, numbers: list[float]) -> list[float]:
    x = tf.constant(numbers, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = tf.reduce_sum(quantiser(x))
    return list(tape.gradient(found, x).numpy())


def test_gradients_pass_within_the_range_and_end_at_it() -> None:
    type_ = FixedType(4, 2, False, Rounding.RND, Overflow.SAT)
    assert gradients(quantisers.activation_quantiser(type_, "x"), [-1.0, 0.3, 1.2, 9.0]) == [0, 1, 1, 0]


def test_gradients_of_weights_pass_the_ends() -> None:
    numbers = [-9.0, -0.1, 0.0, 0.3, 9.0]
    for quantiser in (quantisers.weight_quantiser(FixedType(4, 2)), quantisers.Signs(0.5)):
        assert gradients(quantiser, numbers) == [1] * 5
    assert list(quantisers.Signs(0.5)(tf.constant(numbers)).numpy()) == [-0.5, -0.5, 0.5, 0.5, 0.5]


def test_types_that_wrap_are_refused() -> None:
    with pytest.raises(DesignError, match=r"conv1 is fixed<4,2>, which wraps .*\nfix: .*fixed<4,2,rnd,sat>"):
        quantisers.activation_quantiser(FixedType(4, 2), "conv1")


def many_kinds() -> Any:
    """Products of all shapes, additions, averages with their border, concatenation, slopes, padding."""
    layers = keras.layers
    with quiet():
        source = keras.Input((9, 8, 2), name="image")
        x = layers.Conv2D(4, 3, strides=(1, 2), padding="same", activation="relu", name="a")(source)
        y = layers.DepthwiseConv2D(3, padding="same", depth_multiplier=2, name="b")(x)
        y = layers.LeakyReLU(0.2)(layers.Conv2D(4, 1, groups=2, name="c")(y))
        y = layers.Conv2D(4, 3, dilation_rate=2, padding="same", name="d")(y)
        z = layers.AveragePooling2D(3, 2, padding="same")(layers.Add()([x, y]))
        left, right = layers.Cropping2D(((1, 0), (0, 0)))(z), layers.Cropping2D(((0, 1), (0, 0)))(z)
        z = layers.Concatenate()([layers.Multiply()([left, right]), layers.Subtract()([left, right])])
        z = layers.ZeroPadding2D(1)(layers.ReLU(6.0)(z))
        z = layers.BatchNormalization(name="n")(layers.MaxPooling2D((3, 2), (2, 1), padding="same")(z))
        flat = layers.Flatten()(layers.Permute((3, 1, 2))(z))
        fc = layers.Dense(5, name="fc")(flat)
        means = layers.Dense(5, name="fd")(layers.GlobalAveragePooling2D()(z))
        return randomised(keras.Model(source, layers.Add()([fc, means])), spread=0.4)


def design_of(model: Any, bits: int, shape: tuple[int, ...], frames: int = 24) -> Any:
    x = np.random.default_rng(1).normal(0, 1, (frames, *shape))
    return hlsgen.from_qkeras(model, calibration=x, precision=bits, board="u200"), x


@pytest.mark.parametrize("bits", [3, 10])
def test_a_network_of_many_kinds_gives_golden(bits: int) -> None:
    design, x = design_of(many_kinds(), bits, (9, 8, 2))
    kinds = {layer.kind for layer in design.graph.layers}
    assert kinds >= {
        "conv2d",
        "dense",
        "add",
        "sub",
        "mul",
        "pool2d",
        "global_pool",
        "concat",
        "leaky",
        "pad",
    }
    network = Network(design.graph, weights_of(design.given.reference))
    port = design.graph.inputs[0]
    values = {port.name: port.to_tensor(x)}
    assert np.array_equal(network.evaluated(values)[0], design.golden(x))
    assert compared(network, design.graph, [values]) == 24 * 5


def simple(*layers: Any) -> Any:
    with quiet():
        return randomised(keras.Sequential([keras.Input((6, 6, 1), name="image"), *layers]))


def test_other_rounding_or_another_weight_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutants of the model: halves to even, a weight one step further, a ReLU left out."""
    model = simple(keras.layers.Conv2D(3, 3, activation="relu", name="c"), keras.layers.AveragePooling2D(2))
    design, x = design_of(model, 5, (6, 6, 1))
    port = design.graph.inputs[0]
    values = {port.name: port.to_tensor(x)}

    def made() -> Network:
        return Network(design.graph, weights_of(design.given.reference))

    assert compared(made(), design.graph, [values]) == 24 * 12
    further = made()
    (products,) = further.products.values()
    step = np.zeros(products.kernel.shape, np.float32)
    step.flat[0] = design.graph.layers[0].weight_type.resolution
    products.kernel.assign_add(step)
    with pytest.raises(MismatchError, match="differs from the trained module in"):
        compared(further, design.graph, [values])
    unlimited = made()
    monkeypatch.setattr(stages, "limited", lambda x, low, high: x)
    monkeypatch.setattr("hlsgen.training.keras.network.result_of", lambda type_, name: None)
    with pytest.raises(MismatchError, match="differs from the trained module in"):
        compared(unlimited, design.graph, [values])
    monkeypatch.undo()
    monkeypatch.setitem(quantisers.ROUNDED, Rounding.RND, quantisers.ROUNDED[Rounding.RND_CONV])
    with pytest.raises(MismatchError, match="differs from the trained module in"):
        compared(made(), design.graph, [values])


def test_weights_of_one_bit_stay_minus_one_and_one() -> None:
    model = simple(
        keras.layers.Conv2D(3, 3, activation="relu", name="c"),
        keras.layers.Flatten(),
        keras.layers.Dense(4, name="d"),
    )
    x = np.random.default_rng(1).normal(0, 1, (24, 6, 6, 1))
    types = {"default": 6, "weights": 1}
    design = hlsgen.from_qkeras(model, calibration=x, precision=types, board="u200")
    network = Network(design.graph, weights_of(design.given.reference))
    port = design.graph.inputs[0]
    assert compared(network, design.graph, [{port.name: port.to_tensor(x)}]) == 24 * 4
    layers = {layer.name: layer for layer in design.graph.layers}
    for name, (weights, _) in network.weights().items():
        layer: Any = layers[name]
        assert np.array_equal(weights, layer.weight_type.decode(layer.weights))
        assert set(np.unique(np.abs(weights))) == {layer.weight_type.resolution}


def test_depthwise_strides_that_tensorflow_has_not() -> None:
    """Unequal strides of a depthwise convolution, which TensorFlow refuses on a processor, are computed."""
    from dataclasses import replace

    model = simple(keras.layers.DepthwiseConv2D(3, strides=2, depth_multiplier=3, name="c"))
    design, x = design_of(model, 6, (6, 6, 1))
    layer: Any = design.graph.layers[0]
    unequal = replace(layer, stride=(2, 1))
    graph = replace(
        design.graph,
        layers=(unequal,),
        outputs=tuple(
            replace(port, tensor=replace(port.tensor, shape=unequal.output_shape), shape=(2, 4, 3))
            for port in design.graph.outputs
        ),
    )
    network = Network(graph, weights_of(design.given.reference))
    port = graph.inputs[0]
    assert compared(network, graph, [{port.name: port.to_tensor(x)}]) == 24 * 24
