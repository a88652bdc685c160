"""Float ONNX models: arithmetic, limits and functions, and functions that are written out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

from onnx.reference import ReferenceEvaluator  # noqa: E402

from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.frontends.onnx_models import (  # noqa: E402
    IMAGE,
    assert_same,
    kinds,
    message,
    model,
    node,
    normal,
    one,
    outputs_of,
)

FUNCTIONS: list[tuple[str, int, dict[str, Any]]] = [
    ("Abs", 17, {}),
    ("Celu", 17, {"alpha": 0.7}),
    ("Clip", 6, {}),
    ("Clip", 10, {"min": -0.5, "max": 0.75}),
    ("Elu", 17, {"alpha": 1.5}),
    ("Erf", 17, {}),
    ("Exp", 17, {}),
    ("Gelu", 20, {}),
    ("Gelu", 20, {"approximate": "tanh"}),
    ("HardSigmoid", 17, {}),
    ("HardSigmoid", 17, {"alpha": 0.5, "beta": 0.25}),
    ("HardSwish", 17, {}),
    ("LeakyRelu", 17, {}),
    ("LeakyRelu", 17, {"alpha": 0.25}),
    ("Mish", 18, {}),
    ("Neg", 17, {}),
    ("Relu", 17, {}),
    ("Selu", 17, {}),
    ("Selu", 17, {"alpha": 1.5, "gamma": 2.0}),
    ("Shrink", 17, {"lambd": 0.75}),
    ("Shrink", 17, {"lambd": 0.75, "bias": 0.75}),
    ("Sigmoid", 17, {}),
    ("Sign", 17, {}),
    ("Softplus", 17, {}),
    ("Softsign", 17, {}),
    ("Tanh", 17, {}),
    ("ThresholdedRelu", 17, {"alpha": 0.5}),
]


@pytest.mark.parametrize(("op", "opset", "attributes"), FUNCTIONS, ids=lambda value: str(value))
def test_functions(op: str, opset: int, attributes: dict[str, Any]) -> None:
    if (op, opset) == ("Clip", 6):  # without limits it is no layer
        nodes = [node("Clip", "x", "c"), node("Relu", "c", "y")]
        assert kinds(assert_same(model(nodes, {"x": IMAGE}, opset=9), normal(1, 2, 4, 6, 8))) == ["clamp"]
        return
    graph = one(op, opset=opset, **attributes)
    assert 1 <= len(graph.layers) <= 2


@pytest.mark.parametrize(
    "limits", [(-0.5, 0.75), (None, 0.5), (-1.0, None), (0.0, 3.4028235e38), (1.0, -1.0)]
)
def test_clip(limits: tuple[float | None, float | None]) -> None:
    one("Clip", *(None if limit is None else np.float32(limit) for limit in limits), opset=18)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize("shape", [(), (1,), (4, 1, 1), (8,), (1, 4, 1, 1), (6, 8), (4, 6, 8)])
def test_arithmetic_with_constants(op: str, shape: tuple[int, ...]) -> None:
    constant = np.asarray(np.abs(normal(1, *shape)) + np.float32(0.5), np.float32)
    one(op, constant)
    if op != "Div":
        made = model([node(op, "c x", "y")], {"x": IMAGE}, {"c": constant})
        assert_same(made, normal(2, 2, 4, 6, 8))


def test_a_constant_that_makes_the_tensor_larger() -> None:
    one("Add", normal(1, 5, 1), shape=("N", 1, 8))


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Sum"])
@pytest.mark.parametrize("right", [(4, 6, 8), (4, 1, 1), (1, 6, 8), (1, 1, 1), (4, 6, 1)])
def test_arithmetic_of_two_tensors(op: str, right: tuple[int, ...]) -> None:
    made = model([node(op, "a b", "y")], {"a": IMAGE, "b": ["N", *right]})
    assert_same(made, normal(1, 2, 4, 6, 8), normal(2, 2, *right))


def test_sums_of_many() -> None:
    made = model([node("Sum", "a b c a", "y")], {"a": IMAGE, "b": IMAGE}, {"c": normal(3, 4, 1, 1)})
    assert_same(made, normal(1, 2, 4, 6, 8), normal(2, 2, 4, 6, 8))


@pytest.mark.parametrize("op", ["Max", "Min"])
def test_limits_by_max_and_min(op: str) -> None:
    one(op, np.float32(0.25), np.array([0.5], np.float32))


@pytest.mark.parametrize("op", ["Max", "Min"])
def test_the_larger_and_the_smaller_of_several(op: str) -> None:
    made = model(
        [node(op, "x z w c", "y")],
        {"x": IMAGE, "z": ("N", 4, 1, 1), "w": IMAGE},
        {"c": np.float32(0.25)},
    )
    assert_same(made, normal(1, 2, 4, 6, 8), normal(2, 2, 4, 1, 1), normal(3, 2, 4, 6, 8))


@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0])
def test_powers(exponent: float) -> None:
    nodes = [node("Pow", "x e", "p"), node("Tanh", "p", "y")]
    assert_same(model(nodes, {"x": IMAGE}, {"e": np.float32(exponent)}), normal(1, 2, 4, 6, 8))


@pytest.mark.parametrize("shape", [(1,), (4, 1, 1), (1, 4, 1, 1)])
def test_prelu(shape: tuple[int, ...]) -> None:
    one("PRelu", normal(1, *shape))


HALF, ROOT, THIRD = np.float32(0.5), np.float32(math.sqrt(2)), np.float32(3.0)
C, CUBE = np.float32(math.sqrt(2 / math.pi)), np.float32(0.044715)
PATTERNS: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "x * sigmoid(x)": ([node("Sigmoid", "x", "s"), node("Mul", "x s", "y")], {}, "silu"),
    "sigmoid(1.5 x) * x": (
        [node("Mul", "x k", "u"), node("Sigmoid", "u", "s"), node("Mul", "s x", "y")],
        {"k": np.float32(1.5)},
        "silu",
    ),
    "0.5 * (x * (1 + erf(x / sqrt 2)))": (
        [
            node("Div", "x r", "u"),
            node("Erf", "u", "e"),
            node("Add", "e one", "f"),
            node("Mul", "x f", "g"),
            node("Mul", "g h", "y"),
        ],
        {"r": ROOT, "one": np.float32(1), "h": HALF},
        "gelu",
    ),
    "(x * 0.5) * (1 + erf(x * 0.707))": (
        [
            node("Mul", "x h", "a"),
            node("Mul", "x r", "u"),
            node("Erf", "u", "e"),
            node("Add", "one e", "f"),
            node("Mul", "a f", "y"),
        ],
        {"r": np.float32(math.sqrt(0.5)), "one": np.float32(1), "h": HALF},
        "gelu",
    ),
    "tanh approximation of GELU": (
        [
            node("Pow", "x three", "p"),
            node("Mul", "p cube", "q"),
            node("Add", "x q", "s"),
            node("Mul", "s c", "u"),
            node("Tanh", "u", "t"),
            node("Add", "t one", "f"),
            node("Mul", "x h", "a"),
            node("Mul", "a f", "y"),
        ],
        {"three": THIRD, "cube": CUBE, "c": C, "one": np.float32(1), "h": HALF},
        "gelu_tanh",
    ),
    "x * tanh(softplus(x))": (
        [node("Softplus", "x", "s"), node("Tanh", "s", "t"), node("Mul", "x t", "y")],
        {},
        "mish",
    ),
    "x * relu6(x + 3) / 6": (
        [
            node("Add", "x three", "a"),
            node("Clip", "a zero six", "c"),
            node("Div", "c six", "d"),
            node("Mul", "x d", "y"),
        ],
        {"three": THIRD, "zero": np.float32(0), "six": np.float32(6)},
        "hard_swish",
    ),
    "x * hardsigmoid(x)": ([node("HardSigmoid", "x", "s"), node("Mul", "x s", "y")], {}, "hard_swish"),
}


@pytest.mark.parametrize("text", PATTERNS)
def test_functions_written_out(text: str) -> None:
    nodes, constants, function = PATTERNS[text]
    graph = assert_same(model(nodes, {"x": IMAGE}, constants), 3 * normal(1, 2, 4, 6, 8))
    assert [getattr(layer, "function", "") for layer in graph.layers] == [function]


def test_a_gate_of_another_tensor_stays_a_product() -> None:
    made = model([node("Sigmoid", "a", "s"), node("Mul", "b s", "y")], {"a": IMAGE, "b": IMAGE})
    graph = assert_same(made, normal(1, 2, 4, 6, 8), normal(2, 2, 4, 6, 8))
    assert kinds(graph) == ["table", "mul"]


def test_a_gate_with_an_offset_is_none() -> None:
    nodes = [node("Sigmoid", "x", "s"), node("Add", "s c", "t"), node("Mul", "x t", "y")]
    graph = assert_same(model(nodes, {"x": IMAGE}, {"c": np.float32(0.25)}), normal(1, 2, 4, 6, 8))
    assert kinds(graph) == ["table", "affine", "mul"]


def test_limits_of_one_input_are_none() -> None:
    nodes = [node("Max", "x", "m"), node("Relu", "m", "y")]
    assert kinds(assert_same(model(nodes, {"x": IMAGE}), normal(1, 2, 4, 6, 8))) == ["clamp"]


def test_a_mean_of_several_with_a_constant_first() -> None:
    made = model([node("Mean", "c a b", "y")], {"a": IMAGE, "b": ("N", 4, 1, 1)}, {"c": normal(3, 4, 6, 8)})
    assert_same(made, normal(1, 2, 4, 6, 8), normal(2, 2, 4, 1, 1))


@pytest.mark.parametrize("alpha", [1.0, 1.702, -0.5])
def test_swish_is_that_of_onnx_reference_evaluator(alpha: float) -> None:
    """Of operator set 24, which ONNX Runtime does not know."""
    made = model([node("Swish", "x", "y", alpha=alpha)], {"x": IMAGE}, opset=24, domains={})
    frames = 2 * normal(1, 2, 4, 6, 8)
    (wanted,) = ReferenceEvaluator(made).run(None, {"x": frames})
    (found,) = outputs_of(graph_of_onnx(made, name="net"), frames)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_a_tensor_less_itself_is_zero_whatever_follows() -> None:
    nodes = [
        node("Sub", "x x", "d"),
        node("Mul", "d two", "m"),
        node("Add", "m two", "a"),
        node("Add", "a x", "y"),
    ]
    assert_same(model(nodes, {"x": IMAGE}, {"two": np.float32(2)}), normal(1, 2, 4, 6, 8))


def test_casts_to_the_type_of_something_else() -> None:
    nodes = [
        node("CastLike", "x half", "a"),
        node("CastLike", "k x", "b"),
        node("Add", "a b", "c"),
        node("ArgMax", "c", "i", axis=1, keepdims=1),
        node("CastLike", "i x", "f"),
        node("Add", "c f", "y"),
    ]
    constants = {"half": np.zeros(1, np.float32), "k": np.arange(8)}
    assert_same(model(nodes, {"x": IMAGE}, constants, opset=19), normal(1, 2, 4, 6, 8))
    whole = model([node("CastLike", "x k", "y")], {"x": IMAGE}, constants, opset=19, output_type=7)
    said = message(whole)
    assert "it turns real values into another type, and rounds them" in said


@pytest.mark.parametrize("axis", [1, 2, -1])
@pytest.mark.parametrize("order", ["x c", "c x", "c c x x", "x c x c", "c x c"])
def test_constants_joined_to_tensors(order: str, axis: int) -> None:
    shape = [2, 4, 6, 8]
    shape[axis] = 3
    made = model([node("Concat", order, "y", axis=axis)], {"x": (2, 4, 6, 8)}, {"c": np.zeros(shape) + 0.5})
    frame = np.broadcast_to(normal(3, *shape[1:]), shape)
    assert_same(made, normal(1, 2, 4, 6, 8))
    numbers = model([node("Concat", order, "y", axis=axis)], {"x": (2, 4, 6, 8)}, {"c": frame})
    assert_same(numbers, normal(1, 2, 4, 6, 8))
