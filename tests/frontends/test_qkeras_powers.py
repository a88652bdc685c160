"""Activations of QKeras that are powers of two, against the quantizers themselves over all codes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.frontends.qkeras.load import quiet
from hlsgen.frontends.qkeras.quantizers import quantised_weights
from hlsgen.model.ir import Graph
from tests.support.frontends.keras_models import Doubles, packages
from tests.support.frontends.ports import kinds, outputs_of
from tests.support.frontends.quantizer_graphs import graph_of, values_of

Q = packages().quantizers

SOURCE = FixedType(11, 4)


def check(quantizer: Any, source: FixedType = SOURCE) -> Graph:
    """That one layer gives what the quantizer gives for every code, in the narrowest type that can.

    Where the logarithm is a tie, TensorFlow's last bit decides, which the processor and the length of the
    array choose: there either result is good, see the test of ties.
    """
    graph = graph_of(quantizer, source)
    x = values_of(source)
    got_type = graph.output.type
    assert kinds(graph) == ["steps"] and isinstance(got_type, FixedType)
    got = got_type.decode(outputs_of(graph, source.encode(x))["y"])
    # without it QKeras adds x and takes it away again, which rounds if the result is far below it
    quantizer.use_ste = False
    with quiet():
        wanted = np.asarray(quantizer(x.astype(np.float32)), np.float64)
    sure = ~ties(quantizer, x)
    assert sure.mean() > 0.5 or x.size < 64
    np.testing.assert_array_equal(got[sure], wanted[sure])
    assert np.isin(np.abs(got / wanted)[~sure], [0.25, 0.5, 1, 2, 4]).all()
    return graph


def ties(quantizer: Any, x: Doubles) -> NDArray[np.bool_]:
    """Where log2(x), or of its root, is within float32's errors of a number that is rounded either way."""
    sizes = np.where(x < 0, -x * getattr(quantizer, "negative_slope", 1), x)
    exponents = np.log2(np.maximum(sizes, 1e-300)) / (2 if quantizer.quadratic_approximation else 1)
    beyond = exponents + (0 if quantizer.log2_rounding == "floor" else 0.5)
    return np.abs(beyond - np.rint(beyond)) < 1e-5


@pytest.mark.parametrize("log2_rounding", ["rnd", "floor"])
@pytest.mark.parametrize("square", [False, True])
@pytest.mark.parametrize("bits, most", [(2, None), (3, 1), (4, None), (5, 3), (6, 0.5), (6, 1.5)])
def test_quantizers_to_powers_of_two(bits: int, most: float | None, square: bool, log2_rounding: str) -> None:
    options = {"quadratic_approximation": square, "log2_rounding": log2_rounding}
    check(Q.quantized_po2(bits, most, **options))
    for slope in (0, 0.125, 2):
        check(Q.quantized_relu_po2(bits - 1, most, slope, **options))


SOURCES = st.builds(FixedType, st.integers(1, 18), st.integers(-4, 18), st.booleans())


@settings(max_examples=40, deadline=None)
@given(source=SOURCES, bits=st.integers(2, 6), square=st.booleans(), floor=st.booleans(), relu=st.booleans())
def test_every_code_of_any_source(
    source: FixedType, bits: int, square: bool, floor: bool, relu: bool
) -> None:
    options = {"quadratic_approximation": square, "log2_rounding": "floor" if floor else "rnd"}
    if square:
        bits -= bits == 6  # two to the 62 and to the -64
    if relu:
        check(Q.quantized_relu_po2(bits - 1, None, 0.5, **options), source)
    else:
        check(Q.quantized_po2(bits, **options), source)


def test_types_hold_the_powers_and_no_more() -> None:
    """From 2**-4 to 2**3, with a sign; a source that does not reach so far has fewer."""
    assert check(Q.quantized_po2(4)).output.type == FixedType(9, 5)
    assert check(Q.quantized_relu_po2(3)).output.type == FixedType(8, 4, False)
    assert check(Q.quantized_relu_po2(3, negative_slope=0.5)).output.type == FixedType(9, 5)
    assert check(Q.quantized_po2(4, max_value=2)).output.type == FixedType(7, 3)
    assert check(Q.quantized_po2(4), FixedType(6, 1)).output.type == FixedType(6, 2)
    assert check(Q.quantized_po2(6)).output.type == FixedType(21, 5)


def test_zero_is_the_least_power() -> None:
    for quantizer, least in (
        (Q.quantized_po2(4), 2.0**-4),
        (Q.quantized_relu_po2(4), 2.0**-8),
        (Q.quantized_po2(4, quadratic_approximation=True), 2.0**-4),  # though others go to 2**-8
    ):
        graph = check(quantizer)
        code = outputs_of(graph, np.zeros((1, 1), np.int64))["y"]
        assert graph.output.type.decode(code) == least  # type: ignore[union-attr]


@pytest.mark.parametrize("exponent", range(-16, 17))
def test_the_exact_logarithm_decides_ties(exponent: int) -> None:
    """TensorFlow's float32 logarithms make 14.999999 of log2(2**15), and halves go either way."""
    x = np.array([[2.0**exponent]])
    for options, wanted in (
        ({"log2_rounding": "floor"}, exponent),
        ({"quadratic_approximation": True}, 2 * round(exponent / 2)),  # halves to even, as TensorFlow rounds
        ({"quadratic_approximation": True, "log2_rounding": "floor"}, 2 * (exponent // 2)),
    ):
        quantizer = Q.quantized_po2(7, **options)
        assert quantised_weights(quantizer, x).values == 2.0**wanted
        source = FixedType(2, exponent + 2)
        graph = graph_of(quantizer, source)
        code = outputs_of(graph, source.encode(x))["y"]
        assert graph.output.type.decode(code) == 2.0**wanted  # type: ignore[union-attr]


@pytest.mark.parametrize("make", [Q.quantized_po2, Q.quantized_relu_po2])
def test_too_many_exponents_are_refused_with_a_limit_that_helps(make: Any) -> None:
    source = FixedType(16, 60)
    options = {"bits": 7 - (make is Q.quantized_relu_po2), "quadratic_approximation": False}
    options |= {"negative_slope": 1.0} if make is Q.quantized_relu_po2 else {}
    with pytest.raises(DesignError, match=r"from 2\*\*-32 to 2\*\*31, more than a type of 64 bits") as caught:
        graph_of(make(**options), source)
    (limit,) = re.findall(r"fewer bits, or a max_value up to ([\d.e+]+)", str(caught.value))
    check(make(**options, max_value=float(limit)), source)


def test_exponents_below_what_a_type_holds_are_refused() -> None:
    """The default of 8 bits: zero becomes 2**-64."""
    with pytest.raises(DesignError) as caught:
        graph_of(Q.quantized_po2(), SOURCE)
    assert str(caught.value) == (
        "error: act: quantized_po2 of 8 bits gives powers from 2**-64 to 2**3, more than a type of 64 bits "
        "holds\nfix: fewer bits"
    )


def test_a_limit_above_one_helps_where_one_below_makes_exponents_too_low() -> None:
    with pytest.raises(DesignError, match="or a max_value above 1"):
        graph_of(Q.quantized_po2(7, max_value=1), SOURCE)
    check(Q.quantized_po2(7, max_value=2), SOURCE)


@pytest.mark.parametrize(
    ("quantizer", "said"),
    [
        (Q.quantized_po2(4, 1, use_stochastic_rounding=True), "use_stochastic_rounding"),
        (Q.quantized_relu_po2(4, qnoise_factor=0.5), "qnoise_factor of 0.5"),
    ],
)
def test_refused(quantizer: Any, said: str) -> None:
    with pytest.raises(DesignError, match=said):
        graph_of(quantizer, SOURCE)


def test_infinite_results_are_refused() -> None:
    with pytest.raises(DesignError, match="has infinite results for fixed<16,140>"):
        graph_of(Q.quantized_po2(10), FixedType(16, 140))


def test_what_qkeras_cannot_compute_is_refused() -> None:
    quantizer = Q.quantized_po2(4)
    quantizer.log2_rounding = "up"
    with pytest.raises(DesignError, match="QKeras cannot compute quantized_po2 of an activation"):
        graph_of(quantizer, SOURCE)
