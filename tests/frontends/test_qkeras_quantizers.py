"""Every quantizer of QKeras against the quantizer itself: as an activation over all codes, and on weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.frontends.qkeras.load import quiet
from hlsgen.frontends.qkeras.quantizers import (
    UnsupportedQuantizerError,
    plain_type,
    quantised_weights,
)
from hlsgen.model.ir import Graph
from tests.support.frontends.keras_models import packages
from tests.support.frontends.ports import kinds, outputs_of
from tests.support.frontends.quantizer_graphs import graph_of, values_of

Q = packages().quantizers

SOURCE = FixedType(11, 4)
"""All its codes: halves, quarters and beyond the ends of every quantizer below."""
FINE = FixedType(14, 3)


def check(
    quantizer: Any,
    source: FixedType = SOURCE,
    error: float = 0.0,
    sigmoid: str = "hard",
    real: bool = False,
) -> Graph:
    """That the layers give what the quantizer gives, for every code.

    real: it has a real function, whose float32 result depends on the processor where it is next to a tie.
    """
    graph = graph_of(quantizer, source, sigmoid)
    x = values_of(source)
    (port,) = graph.outputs
    assert isinstance(port.tensor.type, FixedType)
    got = port.tensor.type.decode(outputs_of(graph, source.encode(x))["y"])
    with quiet():
        wanted = np.asarray(quantizer(x.astype(np.float32)), np.float64)
    off = np.abs(got - wanted) > error
    if real:
        near = [np.asarray(quantizer((x * by).astype(np.float32)), np.float64) for by in (0.9999, 1.0001)]
        off &= (got != near[0]) & (got != near[1])
        assert (near[0] != near[1]).mean() < 0.01
    wrong = np.flatnonzero(off)
    assert not wrong.size, f"{quantizer}: at {x[wrong[:5], 0]} {got[wrong[:5], 0]} for {wanted[wrong[:5], 0]}"
    return graph


@pytest.mark.parametrize("symmetric", [0, 1])
@pytest.mark.parametrize("keep_negative", [True, False])
@pytest.mark.parametrize("bits, integer", [(8, 0), (4, 2), (3, 3), (2, 5), (2, 0), (10, 3)])
def test_quantized_bits(bits: int, integer: int, keep_negative: bool, symmetric: int) -> None:
    quantizer = Q.quantized_bits(bits, integer, symmetric, keep_negative, alpha=1)
    graph = check(quantizer)
    overflow = Overflow.SAT_SYM if symmetric and keep_negative else Overflow.SAT
    expected = FixedType(bits, integer + keep_negative, keep_negative, Rounding.RND_CONV, overflow)
    assert graph.output.type == expected == plain_type(quantizer)
    assert kinds(graph) == ["cast"]


@pytest.mark.parametrize("quantizer", [(1, 0, 0, True), (1, 0, 0, False), (1, 2, 0, False), (1, 3, 1, True)])
def test_quantized_bits_of_one_bit(quantizer: tuple[Any, ...]) -> None:
    check(Q.quantized_bits(*quantizer))


@pytest.mark.parametrize("alpha", [None, 1, 1.0, 2.0, 0.25, 0.75, 3])
def test_quantized_bits_with_a_scale(alpha: float | None) -> None:
    check(Q.quantized_bits(5, 1, alpha=alpha))


def test_a_scale_that_is_no_power_of_two_has_24_bits() -> None:
    check(Q.quantized_bits(5, 1, alpha=0.3), error=2.0**-23)


@pytest.mark.parametrize("bits, integer", [(8, 0), (4, 2), (3, 3), (1, 0), (1, 2), (10, 3)])
def test_quantized_relu(bits: int, integer: int) -> None:
    graph = check(Q.quantized_relu(bits, integer))
    assert graph.output.type == FixedType(bits, integer, False, Rounding.RND_CONV, Overflow.SAT)


@pytest.mark.parametrize("slope", [0.5, 0.25, 0.125, 1.0])
@pytest.mark.parametrize("bits, integer", [(8, 0), (6, 2), (5, 4)])
def test_quantized_relu_with_a_slope(bits: int, integer: int, slope: float) -> None:
    check(Q.quantized_relu(bits, integer, negative_slope=slope))


@pytest.mark.parametrize("clip", [True, False])
@pytest.mark.parametrize("bound", [6.0, 1.5, 0.25, 100.0])
def test_quantized_relu_with_a_bound(bound: float, clip: bool) -> None:
    check(Q.quantized_relu(6, 3, relu_upper_bound=bound, is_quantized_clip=clip))


def test_quantized_relu_with_slope_and_bound() -> None:
    check(Q.quantized_relu(7, 3, negative_slope=0.25, relu_upper_bound=3.0, is_quantized_clip=False))


SIGMOIDS = ["hard", "smooth", "real"]


@pytest.fixture(params=SIGMOIDS)
def sigmoid(request: pytest.FixtureRequest) -> Any:
    """QKeras set to each of its sigmoids in turn."""
    Q.set_internal_sigmoid(request.param)
    yield request.param
    Q.set_internal_sigmoid("hard")


@pytest.mark.parametrize("bits, integer", [(6, 0), (4, 2), (8, 1), (1, 0)])
def test_quantized_relu_of_a_sigmoid(sigmoid: str, bits: int, integer: int) -> None:
    check(Q.quantized_relu(bits, integer, use_sigmoid=1), sigmoid=sigmoid)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_quantized_tanh(sigmoid: str, bits: int, symmetric: bool) -> None:
    real = sigmoid == "real"
    check(Q.quantized_tanh(bits, symmetric=symmetric), sigmoid=sigmoid, real=real)
    check(Q.quantized_tanh(bits, symmetric=symmetric, use_real_tanh=True), sigmoid=sigmoid, real=True)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("bits", [1, 4, 8])
def test_quantized_sigmoid(sigmoid: str, bits: int, symmetric: bool) -> None:
    real = sigmoid == "real"
    check(Q.quantized_sigmoid(bits, symmetric=symmetric), sigmoid=sigmoid, real=real)
    check(Q.quantized_sigmoid(bits, symmetric=symmetric, use_real_sigmoid=True), sigmoid=sigmoid, real=True)


def test_real_functions_of_wide_sources_are_within_a_step() -> None:
    check(Q.quantized_tanh(8, use_real_tanh=True), FINE, error=2.0**-7)
    check(Q.quantized_sigmoid(8, use_real_sigmoid=True), FINE, error=2.0**-8)


@pytest.mark.parametrize("alpha", [None, 1.0, 0.5, 2.0])
def test_binary_and_ternary(alpha: float | None) -> None:
    check(Q.binary(alpha=alpha))
    check(Q.binary(use_01=True, alpha=alpha))
    check(Q.ternary(alpha=alpha))
    check(Q.ternary(alpha=alpha, threshold=1.25))
    check(Q.ternary(alpha=alpha, threshold=0.0))
    check(Q.stochastic_binary(alpha=alpha))
    check(Q.stochastic_ternary(alpha=alpha))


def test_signs_of_sources_of_every_resolution() -> None:
    for source in (FixedType(6, 6), FixedType(6, 9), FixedType(9, -2), FixedType(6, 3, False)):
        check(Q.binary(alpha=1.0), source)
        check(Q.ternary(alpha=1.0), source)


def test_quantized_hswish() -> None:
    check(Q.quantized_hswish(8, 3, alpha=1.0), error=2.0**-4)
    check(Q.quantized_hswish(6, 2, alpha=1.0, relu_shift=2, relu_upper_bound=4))


@pytest.mark.parametrize(
    "name", ["hard_sigmoid", "smooth_sigmoid", "hard_tanh", "smooth_tanh", "binary_sigmoid", "binary_tanh"]
)
def test_functions_of_qkeras(name: str) -> None:
    check(getattr(Q, name))


@pytest.mark.parametrize(
    "text", ["quantized_bits(8,0,1)", "quantized_relu(4, 2)", "quantized_tanh(4)", "binary()"]
)
def test_quantizers_as_text(text: str) -> None:
    with quiet():
        check(Q.get_quantizer(text))


def refusal(quantizer: Any, source: FixedType = SOURCE) -> str:
    with pytest.raises(DesignError) as caught:
        graph_of(quantizer, source)
    return str(caught.value)


def noisy() -> Any:
    quantizer = Q.quantized_bits(4, 0)
    quantizer.qnoise_factor = 0.5
    return quantizer


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: Q.quantized_bits(8, 0, use_stochastic_rounding=True), "use_stochastic_rounding"),
        (lambda: Q.quantized_bits(8, 0, alpha="auto"), 'alpha="auto" for activations'),
        (lambda: Q.quantized_bits(80, 0), "width 80 is outside 1..64"),
        (noisy, "qnoise_factor of 0.5"),
        (lambda: Q.quantized_relu(8, 0, negative_slope=2.0**-9), "is limited to"),
        (lambda: Q.quantized_relu(4, 2, relu_upper_bound=0.3, is_quantized_clip=False), "is bounded by 0.3"),
        (lambda: Q.quantized_relu(4, 2, use_sigmoid=1, negative_slope=0.5), "not both"),
        (lambda: Q.bernoulli(), "draws its results by lot"),
        (lambda: Q.quantized_ulaw(4), "quantized_ulaw has no fixed-point counterpart"),
        (lambda: Q.quantized_tanh(1, symmetric=True), "is always 0"),
        (lambda: Q.quantized_hswish(1), "quantized_hswish of 1 bits"),
        (lambda: np.cos, "the activation cos is not known"),
    ],
)
def test_refused_activations(make: Any, said: str) -> None:
    text = refusal(make())
    assert said in text
    assert text.startswith("error: act: ") and "fix: " in text


# weights

RNG = np.random.default_rng(5)
KERNEL = RNG.normal(0, 0.6, (3, 3, 4, 5)).astype(np.float32)


def check_weights(quantizer: Any, values: Any = KERNEL, exact: bool = True) -> None:
    """That codes times scales are what the quantizer gives, and exactly what it means."""
    found = quantised_weights(quantizer, values)
    with quiet():
        wanted = np.asarray(quantizer(np.asarray(values)), np.float64)
    np.testing.assert_allclose(found.values, wanted, rtol=0, atol=1e-6)
    assert (found.scale is None) == exact
    assert found.codes.min() >= found.type.min_code and found.codes.max() <= found.type.max_code


@pytest.mark.parametrize("symmetric", [0, 1])
@pytest.mark.parametrize("bits, integer", [(8, 0), (4, 0), (3, 1), (1, 0), (2, 0)])
def test_weights_of_quantized_bits(bits: int, integer: int, symmetric: int) -> None:
    check_weights(Q.quantized_bits(bits, integer, symmetric, alpha=1))
    check_weights(Q.quantized_bits(bits, integer, symmetric, keep_negative=bits == 1, alpha=1))


def test_the_type_of_weights_is_what_the_quantizer_says() -> None:
    assert quantised_weights(Q.quantized_bits(8, 0, alpha=1), KERNEL).type == FixedType(8, 1)
    assert quantised_weights(Q.quantized_bits(6, 2, keep_negative=False), KERNEL).type == FixedType(
        6, 2, False
    )
    assert quantised_weights(Q.ternary(alpha=1.0), KERNEL).type == FixedType(2, 2)


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_weights_with_automatic_scales(bits: int) -> None:
    check_weights(Q.quantized_bits(bits, 0, alpha="auto"), exact=False)
    check_weights(Q.quantized_bits(bits, 2, alpha="auto"), exact=False)
    check_weights(Q.quantized_bits(bits, 0, alpha="auto_po2"))
    check_weights(
        Q.quantized_bits(bits, 1, alpha="auto_po2"), KERNEL * np.array([1, 9, 0.01, 2, 0], np.float32)
    )


def test_weights_with_given_scales() -> None:
    check_weights(Q.quantized_bits(4, 0, alpha=0.5))
    check_weights(Q.quantized_bits(4, 0, alpha=np.array([1, 2, 0.5, 0.25, 8], np.float32)))
    check_weights(Q.quantized_bits(4, 0, alpha=np.array([1, 2, 0.3, 0.25, 8], np.float32)), exact=False)


def test_a_channel_of_zeros_with_an_automatic_scale() -> None:
    values = KERNEL * np.array([1, 0, 1, 1, 1], np.float32)
    check_weights(Q.quantized_bits(4, 0, alpha="auto"), values, exact=False)


@pytest.mark.parametrize(
    "alpha, exact", [(None, True), (1.0, True), (0.5, True), ("auto", False), ("auto_po2", True)]
)
def test_weights_of_binary_and_ternary(alpha: Any, exact: bool) -> None:
    check_weights(Q.binary(alpha=alpha), exact=exact)
    check_weights(Q.ternary(alpha=alpha), exact=exact)
    check_weights(Q.stochastic_binary(alpha=alpha), exact=exact)


@pytest.mark.parametrize("bits, most", [(4, None), (5, 2), (3, 1), (4, 0.5)])
@pytest.mark.parametrize("square", [False, True])
def test_weights_that_are_powers_of_two(bits: int, most: float | None, square: bool) -> None:
    check_weights(Q.quantized_po2(bits, most, quadratic_approximation=square))
    check_weights(Q.quantized_po2(bits, most, log2_rounding="floor"))
    check_weights(Q.quantized_relu_po2(bits, most, negative_slope=0.25, quadratic_approximation=square))


def test_weights_of_other_quantizers() -> None:
    check_weights(Q.quantized_relu(4, 1))
    check_weights(Q.quantized_relu(4, 1, negative_slope=0.25))
    check_weights(Q.quantized_tanh(5))
    check_weights(Q.quantized_sigmoid(5))


def test_noise_of_the_straight_through_estimator_is_left_out() -> None:
    values = np.array([3e5 + 0.37, -7e4 - 0.11], np.float32)
    quantizer = Q.quantized_bits(8, 0, alpha=1)
    assert np.any(np.asarray(quantizer(values)) != [127 / 128, -1])
    np.testing.assert_array_equal(quantised_weights(quantizer, values).values, [127 / 128, -1])
    assert quantizer.use_ste


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: Q.quantized_bits(1, 0, alpha="auto"), "NaN or infinity"),
        (lambda: Q.bernoulli(), "does not quantise weights"),
        (lambda: Q.quantized_ulaw(4), "does not quantise weights"),
        (lambda: Q.ternary(alpha="auto", use_stochastic_rounding=True), "use_stochastic_rounding"),
        (lambda: Q.quantized_bits(4, -1), "QKeras cannot compute quantized_bits of the weights"),
        (lambda: Q.quantized_po2(9), "in one type need"),
    ],
)
def test_refused_weights(make: Any, said: str) -> None:
    values = np.array([[1e-6, 1.0], [3e30, 0.0]], np.float32) if said.startswith("in one") else KERNEL
    with pytest.raises(UnsupportedQuantizerError, match=said) as caught:
        quantised_weights(make(), values)
    assert caught.value.fix
