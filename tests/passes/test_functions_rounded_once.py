"""A function between quantisers of any scale: the codes are those of exact arithmetic, rounded once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

pytest.importorskip("qonnx", reason="needs qonnx: pip install 'hlsgen[onnx]'")

from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.frontends.onnx_models import kinds, outputs_of  # noqa: E402
from tests.support.frontends.onnx_networks import Net, executed  # noqa: E402

PRECISE: dict[str, Any] = {
    "Sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "Tanh": mpmath.tanh,
    "Softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "Abs": abs,
}
CODES = np.arange(-128, 128)


def number(value: float) -> Any:
    exact = Fraction(float(np.float32(value)))
    return mpmath.mpf(exact.numerator) / exact.denominator


def rounded(value: Any, mode: str) -> int:
    return int(mpmath.floor(value) if mode == "FLOOR" else mpmath.nint(value))


@pytest.mark.parametrize("mode", ["ROUND", "FLOOR"])
@pytest.mark.parametrize("narrow", [0, 1])
@pytest.mark.parametrize("scale, shift", [(0.0317, 0.0), (2.0**-5, 0.0), (0.0631, 0.377)])
@pytest.mark.parametrize("step, bits", [(1 / 255, 8), (2.0**-8, 8), (0.0713, 4)])
@pytest.mark.parametrize("function", PRECISE)
def test_a_function_between_quantisers_is_rounded_once(
    function: str, step: float, bits: int, scale: float, shift: float, narrow: int, mode: str
) -> None:
    net = Net((1, 1, CODES.size))
    x = net.quant("x", scale, 8)
    if shift:
        x = net.add("Add", f"{x} {net.constant(shift)}")
    y = net.quant(net.add(function, x), step, bits, signed=0, narrow=narrow, rounding_mode=mode)
    made = net.qonnx(y, (1, 1, CODES.size))
    array = np.broadcast_to(CODES * np.float32(scale), (8, 1, 1, CODES.size)).astype(np.float32)
    graph = graph_of_onnx(made, name="net")
    assert kinds(graph)[:1] == ["table"] and len(kinds(graph)) <= 2
    found = outputs_of(graph, array)[0][0].reshape(-1) / float(np.float32(step))
    with mpmath.workprec(200):
        arguments = [int(code) * number(scale) + number(shift) for code in CODES]
        exact = [rounded(PRECISE[function](value) / number(step), mode) for value in arguments]
    wanted = np.clip(exact, 0, (1 << bits) - 1 - narrow)
    np.testing.assert_array_equal(np.rint(found), wanted)
    theirs = executed(made, array)[0].reshape(-1) / float(np.float32(step))
    assert (np.rint(theirs) != wanted).mean() < 0.02  # float32 breaks ties its own way


def test_a_second_quantiser_rounds_again() -> None:
    net = Net((1, 1, CODES.size))
    y = net.add("Sigmoid", net.quant("x", 0.0317, 8))
    y = net.quant(net.quant(y, 2.0**-5, 8), 2.0**-3, 4)
    made = net.qonnx(y, (1, 1, CODES.size))
    array = np.broadcast_to(CODES * np.float32(0.0317), (8, 1, 1, CODES.size)).astype(np.float32)
    found = outputs_of(graph_of_onnx(made, name="net"), array)[0]
    np.testing.assert_array_equal(found, executed(made, array))
