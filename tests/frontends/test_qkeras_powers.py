"""Activations of QKeras that are powers of two, against the quantizers themselves over all codes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.errors import DesignError
from hlsgen.fixed import FixedType
from hlsgen.frontends.qkeras_load import quiet
from hlsgen.ir import Graph
from tests.frontends.keras_models import packages
from tests.frontends.ports import kinds, outputs_of
from tests.frontends.quantizer_graphs import graph_of, values_of

Q = packages().quantizers

SOURCE = FixedType(11, 4)


def check(quantizer: Any, source: FixedType = SOURCE) -> Graph:
    """That one layer gives what the quantizer gives for every code, in the narrowest type that can."""
    graph = graph_of(quantizer, source)
    x = values_of(source)
    got_type = graph.output.type
    assert kinds(graph) == ["steps"] and isinstance(got_type, FixedType)
    got = got_type.decode(outputs_of(graph, source.encode(x))["y"])
    # without it QKeras adds x and takes it away again, which rounds if the result is far below it
    quantizer.use_ste = False
    with quiet():
        # as much as vector instructions take at once, which do not have the logarithm of single numbers
        padded = np.resize(x.astype(np.float32), (-(-x.size // 64) * 64, 1))
        wanted = np.asarray(quantizer(padded), np.float64)[: x.size]
    np.testing.assert_array_equal(got, wanted)
    return graph


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


def test_what_float32_logarithms_get_wrong_is_kept() -> None:
    """QKeras rounds log(2**15) / log(2) = 14.999999 down, and halves of logarithms either way."""
    for quantizer, x, wanted in (
        (Q.quantized_po2(6, log2_rounding="floor"), 2.0**15, 2.0**14),
        (Q.quantized_po2(6, quadratic_approximation=True), 2.0**13, 2.0**14),
    ):
        source = FixedType(18, 18)
        graph = check(quantizer, source)
        code = outputs_of(graph, source.encode([[x]]))["y"]
        assert graph.output.type.decode(code) == wanted  # type: ignore[union-attr]


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
