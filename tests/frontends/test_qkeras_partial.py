"""QKeras models with layers that have no quantizers, and layers that QKeras itself has only in part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.base.errors import DesignError, HlsgenWarning
from hlsgen.base.fixed import FixedType
from hlsgen.frontends.qkeras.dense_batchnorm import dense_batchnorm
from hlsgen.frontends.qkeras.to_graph import graph_of_keras
from hlsgen.model.precision import Precision, saturating
from tests.support.command_line import run, text
from tests.support.frontends.keras_models import (
    INPUT,
    WARNINGS,
    bits,
    check,
    computed,
    functional,
    inputs_for,
    packages,
    predicted,
    quantizers,
    quiet,
    randomised,
)
from tests.support.frontends.ports import kinds

PACKAGES = packages()
pytestmark = WARNINGS
K, Q, TF = PACKAGES.keras, PACKAGES.qkeras, PACKAGES.tensorflow
L = K.layers
IMAGE, VECTOR = (7, 6, 4), (12,)
KERNEL = quantizers("kernel")


def text_of_mistake(*words: str) -> str:
    """What a command says of a wrong design, in one line."""
    result = run(*words)
    assert result.exit_code == 1, result.output
    return " ".join(result.output.split())


def partly_quantised() -> Any:
    """A QConv2D between a Conv2D and a Dense of Keras'."""
    return functional(
        IMAGE,
        L.Conv2D(3, 3, name="plain", activation="relu"),
        Q.QConv2D(4, 3, **KERNEL),
        Q.QActivation("quantized_relu(6,3)"),
        L.Flatten(),
        L.Dense(3, name="last"),
    )


def test_layers_without_quantizers_get_the_default_type() -> None:
    model = partly_quantised()
    type_ = FixedType(20, 8)
    graph = graph_of_keras(model, name="net", input_type=INPUT, precision=Precision(default=type_))
    assert [layer.kind for layer in graph.layers][-1] == "dense" or kinds(graph)[-1] == "cast"
    assert graph.output.type == saturating(type_)
    (frames,) = inputs_for(graph)
    (got,), (wanted,) = computed(graph, [frames]), predicted(model, [frames])
    # weights of 20 bits below 4: errors of 2**-18 each, a few hundred of them; and steps of quantized_relu
    plain = Precision(default=FixedType(12, 8))
    coarse = graph_of_keras(model, name="net", input_type=INPUT, precision=plain)
    (rough,) = computed(coarse, [frames])
    assert np.abs(got - wanted).max() < 0.02 < np.abs(rough - wanted).max()


def test_weights_have_a_type_of_their_own_if_it_is_said() -> None:
    precision = Precision(default=FixedType(20, 8), weights=FixedType(4, 2))
    graph = graph_of_keras(partly_quantised(), name="net", input_type=INPUT, precision=precision)
    plain, own = (layer.weight_type for layer in graph.layers if layer.kind == "conv2d")  # type: ignore[attr-defined]
    assert plain == FixedType(4, 2) and own == FixedType(4, 1)


def test_a_plain_model_takes_widths_and_one_with_quantizers_none(tmp_path: Path) -> None:
    """Those are chosen from frames, and a model with quantizers is none in floating point to run them in."""
    model = functional(VECTOR, L.Dense(5, activation="relu"), L.Dense(3, name="last"))
    frames = np.random.default_rng(0).normal(0, 1, (16, *VECTOR))
    design = hlsgen.from_qkeras(model, calibration=frames, precision=7, board="zcu102")
    widths = [(one.weight_type.width, one.output_type.width) for one in design.graph.layers]  # type: ignore[attr-defined, union-attr]
    assert widths == [(7, 7), (7, 7)]
    with pytest.raises(DesignError, match="has no quantizer") as failure:
        hlsgen.from_qkeras(partly_quantised(), precision=8, board="zcu102")
    assert all("fixed<16,6>" in one.fix for one in failure.value.problems)
    with pytest.raises(DesignError, match="take a type, not a width"):
        hlsgen.from_qkeras(partly_quantised(), precision={"default": "fixed<16,6>", "weights": 8})
    whole = functional(IMAGE, Q.QConv2D(4, 3, **KERNEL), Q.QActivation("quantized_relu(6,3)"))
    whole.save(tmp_path / "whole.h5")
    (tmp_path / "whole.yaml").write_text("name: whole\nboard: zcu102\nmodel: {qkeras: whole.h5}\n")
    wrong: list[Any] = [8, {"input": 8}]
    for precision in wrong:
        with pytest.raises(DesignError, match="brings its own number types"):
            hlsgen.from_qkeras(whole, precision=precision, board="zcu102")
    with pytest.raises(DesignError, match="brings its own number types") as of_file:
        hlsgen.load(tmp_path / "whole.yaml", precision=8)
    assert of_file.value.problems[0].place is None
    (tmp_path / "whole.yaml").write_text(
        "name: whole\nboard: zcu102\nmodel: {qkeras: whole.h5}\nprecision: {input: 8}\n"
    )
    with pytest.raises(DesignError, match="type is int8, but the network's own quantizers make"):
        hlsgen.load(tmp_path / "whole.yaml")


def test_from_qkeras_takes_the_default_from_precision() -> None:
    precision = {"default": "fixed<16,6>", "input": "fixed<8,3>"}
    design = hlsgen.from_qkeras(partly_quantised(), precision=precision, board="zcu102")
    # what is clipped in the user's type is worth a warning, what a quantizer clips is meant
    types = {layer.name: str(layer.output_type) for layer in design.graph.layers}
    default = str(saturating(FixedType(16, 6)))
    assert default in types.values() and {one for one in types if one not in design.given.own_types} == {
        name for name, type_ in types.items() if type_ == default
    }
    assert str(design.graph.input.type).startswith("fixed<8,3")
    with pytest.raises(DesignError, match="layer last .Dense.: kernel has no quantizer"):
        hlsgen.from_qkeras(partly_quantised(), board="zcu102")
    whole = functional(VECTOR, Q.QDense(3, **KERNEL))
    with pytest.raises(DesignError, match="every layer of the network has its quantizers"):
        hlsgen.from_qkeras(whole, precision="fixed<16,6>", board="zcu102")
    with pytest.raises(DesignError, match="can only say default, weights, input, output, accumul"):
        hlsgen.from_qkeras(partly_quantised(), precision={**precision, "balance": True}, board="zcu102")
    with pytest.warns(HlsgenWarning, match="last has a type of your own"):
        own = hlsgen.from_qkeras(
            partly_quantised(), precision={**precision, "last": "fixed<8,4>"}, board="zcu102"
        )
    assert own.given.overridden == {"last"}


def test_import_takes_the_default_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with quiet():
        partly_quantised().save(tmp_path / "net.h5")
        functional(VECTOR, L.Dense(3)).save(tmp_path / "plain.h5")
    assert "precision: {default:" in text_of_mistake("import", "net.h5")
    assert "hlsgen import --default-type" in text_of_mistake("import", "net.h5")
    text("import", "net.h5", "--default-type", "fixed<16,6>", "--input-type", "fixed<8,3>")
    types = [str(layer.output_type) for layer in hlsgen.load(tmp_path / "net.yaml").graph.layers]
    assert str(saturating(FixedType(16, 6))) in types
    said = text_of_mistake("import", "plain.h5", "--default-type", "fixed<16,6>")
    assert "plain.h5 is in floating point" in said and "leave --default-type out" in said
    assert "leave --default-type out" in text_of_mistake("import", "net.onnx", "--default-type", "fixed<8,3>")


def test_functions_that_no_quantizer_follows_get_the_default_type() -> None:
    model = functional(VECTOR, Q.QDense(3, **KERNEL), L.Activation("gelu"))
    graph = graph_of_keras(model, name="net", input_type=INPUT, precision=Precision(default=FixedType(20, 8)))
    arrays = inputs_for(graph)
    error = np.abs(computed(graph, arrays)[0] - predicted(model, arrays)[0]).max()
    assert error <= 1.5 * 2.0**-12  # a rounding of the default type


def test_a_float_bias_keeps_24_bits() -> None:
    layers = (
        Q.QDense(3, kernel_quantizer=bits(), activation="quantized_relu(6,2)"),
        Q.QDense(3, kernel_quantizer=bits()),
    )
    check(functional(VECTOR, *layers), error=1e-6)


@pytest.mark.parametrize("fixed", [True, False])
def test_activations_by_name_and_thresholds(fixed: bool) -> None:
    first = (Q.QActivation("quantized_bits(6,3,1,alpha=1)"),) if fixed else ()
    check(
        functional(VECTOR, *first, L.Activation("relu6"), L.ThresholdedReLU(0.75)), error=0 if fixed else 1e-6
    )
    check(functional(VECTOR, *first, L.Activation("leaky_relu")), error=1e-6)


def test_choices_of_quantised_values_are_exact() -> None:
    def choices(x: Any) -> Any:
        y = Q.QActivation("quantized_bits(6,3,1,alpha=1)")(x)
        return [
            TF.where(y > 0.25, y, 0.25),
            TF.where(y > 0.5, y, -1.0),
            TF.where(y <= 0.3, 100.125, y),  # which the type of y does not hold
            TF.where(y < y[:, :1], 2 * y, -y),
            TF.cast(TF.logical_and(y >= -1, y != 1.5), TF.float32) + y,
        ]

    with quiet():
        x = K.Input(VECTOR, name="image")
        model = K.Model(x, choices(x))
    check(model)


@pytest.mark.parametrize("factor", [2, 3, (4, 1)])
def test_resized_images_between_their_pixels(factor: Any) -> None:
    """Weights that are sums of powers of two are exact; others have 24 significant bits, TensorFlow fewer."""
    layer = L.UpSampling2D(factor, interpolation="bilinear")
    quantised = Q.QActivation("quantized_bits(6,3,1,alpha=1)")
    if factor == 3:
        check(functional(IMAGE, quantised, layer), error=1e-5)
    else:
        check(functional(IMAGE, quantised, layer, Q.QActivation("quantized_relu(5,2)")))


@pytest.mark.parametrize("way", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("sizes", [(9, 5), (3, 11), (14, 6)])
def test_images_of_other_sizes(way: str, sizes: tuple[int, int]) -> None:
    layer = L.Resizing(*sizes, interpolation=way)
    quantised = Q.QActivation("quantized_bits(6,3,1,alpha=1)")
    check(functional(IMAGE, quantised, layer), error=1e-5)
    check(functional(IMAGE, L.ReLU(), L.Resizing(*sizes, way, crop_to_aspect_ratio=True)), error=1e-5)
    check(functional(IMAGE, L.ReLU(), L.UpSampling2D((2, 3), interpolation=way)), error=1e-5)


def test_transposed_convolutions_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """QKeras 0.9 can only make one where TensorFlow still has array_ops.stack; hlsgen reads it without."""
    from tensorflow.python.ops import array_ops

    with monkeypatch.context() as patch:
        patch.setattr(array_ops, "stack", TF.stack, raising=False)
        model = functional(IMAGE, Q.QConv2DTranspose(3, 3, strides=2, **KERNEL))
        with quiet():
            model.save(tmp_path / "net.h5")
        graph = graph_of_keras(model, name="net", input_type=INPUT)
        arrays = inputs_for(graph)
        wanted = predicted(model, arrays)
    read = graph_of_keras(tmp_path / "net.h5", name="net", input_type=INPUT)
    assert not hasattr(array_ops, "stack")
    np.testing.assert_array_equal(computed(read, arrays)[0], wanted[0])


def test_dense_layers_with_a_folded_batch_normalisation(tmp_path: Path) -> None:
    """As MLPerf Tiny's AD08 has them. QKeras 0.9 lacks the class: the expected values are computed here."""
    kind = dense_batchnorm(PACKAGES)
    kind.__name__ = "QDenseBatchnorm"
    model = functional(
        VECTOR,
        Q.QActivation(bits(8, 3)),
        kind(units=5, axis=[1], **KERNEL),
        Q.QActivation("quantized_relu(6,3)"),
    )
    layer = model.layers[2]
    layer.batchnorm.moving_variance.assign([0.249, 0.999, 3.999, 15.999, 0.0615])  # and 0.001: powers of four
    with quiet():
        model.save(tmp_path / "net.h5")
    graph = graph_of_keras(tmp_path / "net.h5", name="net")
    assert kinds(graph)[-2:] == ["dense", "cast"]
    kernel, bias, gamma, beta, _, mean, variance = (np.asarray(one, np.float64) for one in layer.weights)
    factor = gamma / np.sqrt(variance + 0.001)

    def rounded(values: Any) -> Any:  # quantized_bits(4, 0)
        return np.clip(np.rint(values * 8), -8, 7) / 8

    x = inputs_for(graph)[0]
    sums = x @ rounded(kernel * factor) + rounded(factor * (bias - mean) + beta)
    wanted = np.clip(np.rint(sums * 8), 0, 63) / 8  # quantized_relu(6, 3)
    np.testing.assert_array_equal(computed(graph, [x])[0], wanted)


def test_the_graph_of_a_saved_model_is_not_loaded(tmp_path: Path) -> None:
    """Its operations could write files when they are loaded. Without it the model is read all the same."""
    with quiet():
        inner = K.Sequential([K.Input(VECTOR), L.Dense(4, "relu"), L.BatchNormalization()], name="inner")
        model = functional(VECTOR, inner, L.Dense(3))
        model.save(tmp_path / "net", save_format="tf")
    (tmp_path / "net" / "saved_model.pb").write_bytes(b"no graph")
    graph = graph_of_keras(tmp_path / "net", name="net")
    arrays = inputs_for(graph)
    np.testing.assert_allclose(computed(graph, arrays)[0], predicted(model, arrays)[0], rtol=1e-5, atol=1e-5)


def test_normalisations_that_were_adapted_come_from_files(tmp_path: Path) -> None:
    norm = L.Normalization()
    norm.adapt(np.random.default_rng(0).normal(2, 3, (50, *VECTOR)))
    model = functional(VECTOR, norm, L.Dense(2))
    norm.mean, norm.variance = norm.mean, norm.variance
    norm.adapt(np.random.default_rng(0).normal(2, 3, (50, *VECTOR)))
    for ending in ("h5", "keras"):
        with quiet():
            model.save(tmp_path / f"net.{ending}")
        graph = graph_of_keras(tmp_path / f"net.{ending}", name="net")
        arrays = inputs_for(graph)
        np.testing.assert_allclose(
            computed(graph, arrays)[0], predicted(model, arrays)[0], rtol=1e-4, atol=1e-4
        )


def test_custom_regularisers_do_not_hinder(tmp_path: Path) -> None:
    class Mine(K.regularizers.Regularizer):  # type: ignore[misc]
        def __call__(self, x: Any) -> Any:
            return TF.reduce_sum(x)

        def get_config(self) -> dict[str, Any]:
            return {}

    model = randomised(functional(VECTOR, L.Dense(3, kernel_regularizer=Mine())))
    with quiet():
        model.save(tmp_path / "net.h5")
    graph = graph_of_keras(tmp_path / "net.h5", name="net")
    arrays = inputs_for(graph)
    np.testing.assert_allclose(computed(graph, arrays)[0], predicted(model, arrays)[0], rtol=1e-5, atol=1e-5)
