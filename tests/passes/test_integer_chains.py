"""Chains of quantisers and exact operations, drawn at random: the codes are those that qonnx computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("qonnx", reason="needs qonnx: pip install 'hlsgen[onnx]'")

from tests.support.frontends.onnx_models import normal  # noqa: E402
from tests.support.frontends.onnx_networks import FRAMES, Net, differences, executed  # noqa: E402

OPERATIONS = (
    "quant",
    "quant",
    "quant",
    "relu",
    "max",
    "conv",
    "add",
    "mul",
    "clip",
    "twice",
    "leaky",
    "abs",
    "where",
)
MODES = ("ROUND", "ROUND", "FLOOR", "CEIL", "DOWN", "HALF_UP", "HALF_DOWN")
SHIFTING = MODES[:4]
"""Rounding modes that go with a zero point."""


def step(rng: np.random.Generator) -> float:
    return float(2.0 ** rng.integers(-6, -1))


def quantised(net: Net, y: str, rng: np.random.Generator) -> str:
    """Any quantiser whose scale is a power of two."""
    bits, mode = int(rng.integers(2, 9)), str(rng.choice(MODES))
    zero = float(rng.integers(-3, 4)) if mode in SHIFTING and rng.random() < 0.3 else 0.0
    narrow, signed = int(bits > 2 and rng.integers(0, 2)), int(rng.integers(0, 2))
    return net.quant(y, step(rng), bits, zero=zero, signed=signed, narrow=narrow, rounding_mode=mode)


def operated(net: Net, op: str, y: str, rng: np.random.Generator) -> str:
    """The tensor after an operation that is exact in float32, [4, 6, 6] as it was."""
    match op:
        case "relu":
            return net.add("Relu", y)
        case "max":
            return net.add("MaxPool", y, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        case "conv":
            weights = net.quant(net.constant(rng.normal(0, 0.5, (4, 4, 3, 3))), 2.0**-4, 6)
            names = f"{quantised(net, y, rng)} {weights} {net.constant(rng.integers(-32, 33, 4) / 64)}"
            return net.add("Conv", names, pads=[1, 1, 1, 1])
        case "add":
            return net.add("Add", f"{y} {net.constant(rng.integers(-16, 17, (4, 1, 1)) / 16)}")
        case "mul":
            return net.add("Mul", f"{y} {net.constant(2.0 ** rng.integers(-2, 2))}")
        case "clip":
            return net.add("Clip", f"{y} {net.constant(-0.5)} {net.constant(1.25)}")
        case "twice":
            return net.add("Add", f"{y} {quantised(net, y, rng)}")
        case "abs":
            return net.add("Abs", y)
        case "where":
            larger = net.add("Greater", f"{y} {net.constant(0.25)}")
            return net.add("Where", f"{larger} {y} {net.constant(-0.5)}")
        case "leaky":
            return net.add("LeakyRelu", y, alpha=0.25)
    return quantised(net, y, rng)


def assert_equal(net: Net, y: str, last: float, seed: int = 0) -> None:
    """That the codes of `y`, quantised in steps of `last`, are qonnx's own."""
    made: Any = net.qonnx(net.quant(y, last, 8), (4, 6, 6))
    array = 2 * normal(seed, FRAMES, 4, 6, 6)
    _, steps = differences(made, array, last, executed(made, array))
    assert not steps.any()


@pytest.mark.parametrize("seed", range(100))
def test_random_chains(seed: int) -> None:
    rng = np.random.default_rng(seed)
    net = Net((4, 6, 6))
    y = quantised(net, "x", rng)
    for op in rng.choice(OPERATIONS, rng.integers(2, 7)):
        y = operated(net, str(op), y, rng)
    assert_equal(net, y, step(rng), seed)


def test_limits_between_the_codes_of_the_source() -> None:
    """0.75 of a source in steps of 0.5: a limit of the result, to which no code of the source belongs."""
    net = Net((4, 6, 6))
    assert_equal(net, net.quant(net.quant("x", 0.5, 6), 0.125, 3, signed=0, narrow=1), 0.125)
    net = Net((4, 6, 6))
    y = net.add("Clip", f"{net.quant('x', 0.5, 6)} {net.constant(-0.25)} {net.constant(0.75)}")
    assert_equal(net, net.add("MaxPool", y, kernel_shape=[1, 1]), 0.125)


def test_a_quantiser_with_limits_before_another_one() -> None:
    net = Net((4, 6, 6))
    y = net.quant(net.quant("x", 0.125, 8), 0.25, 4, signed=0, narrow=1)
    assert_equal(net, y, 0.5)


def test_rounding_up_of_a_shift_between_steps() -> None:
    net = Net((4, 6, 6))
    shift = net.constant(np.array([-5, 7, 9, 10]).reshape(4, 1, 1) / 16)
    y = net.add("Add", f"{net.quant('x', 0.25, 8)} {shift}")
    assert_equal(net, net.quant(y, 0.25, 6, rounding_mode="CEIL"), 0.25)


@pytest.mark.parametrize("op", ["abs", "where"])
def test_functions_that_select_keep_every_digit_of_wide_sums(op: str) -> None:
    rng = np.random.default_rng(0)
    net = Net((4, 6, 6))
    scales = 2.0 ** np.array([-12.0, -9.0, -5.0, -2.0]).reshape(4, 1, 1, 1)
    weights = net.quant(net.constant(rng.normal(0, 0.5, (4, 4, 3, 3))), scales, 5)
    y = net.add("Conv", f"{net.quant('x', 2.0**-6, 8)} {weights}", pads=[1, 1, 1, 1])
    y = operated(net, op, y, rng)
    assert_equal(net, net.add("Mul", f"{y} {net.constant(8.0)}"), 2.0**-6)
