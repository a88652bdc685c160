"""Comparisons and choices of ONNX models: against onnxruntime, also where numbers are equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.frontends.onnx_models import IMAGE, assert_same, kinds, message, model, node

FRAMES = (np.random.default_rng(0).integers(-8, 9, (3, *IMAGE[1:])) / 4).astype(np.float32)
CONSTANTS: dict[str, Any] = {
    "zero": np.float32(0),
    "half": np.float32(0.5),
    "some": np.array([0, 0.5, -0.5, 1], np.float32).reshape(4, 1, 1),
    "odd": np.arange(4).reshape(4, 1, 1) % 2 == 1,
    "infinite": np.float32(-np.inf),
}


def made(*nodes: Any) -> Any:
    used = {name for one in nodes for name in one.input}
    return model(list(nodes), {"x": IMAGE}, {name: a for name, a in CONSTANTS.items() if name in used})


RELATIONS = ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal")


@pytest.mark.parametrize("op", RELATIONS)
@pytest.mark.parametrize("sides", ["x half", "half x", "x some", "some x"])
@pytest.mark.parametrize("parts", ["x zero", "x some", "some half"])
def test_comparisons(op: str, sides: str, parts: str) -> None:
    assert_same(made(node(op, sides, "m"), node("Where", f"m {parts}", "y")), FRAMES)


@pytest.mark.parametrize(
    ("nodes", "layers"),
    [
        ([node("Greater", "x zero", "m"), node("Where", "m x zero", "y")], ["clamp"]),
        ([node("Less", "x half", "m"), node("Where", "m half x", "y")], ["clamp"]),
        ([node("Less", "half x", "m"), node("Where", "m x zero", "y")], ["table"]),
        ([node("Greater", "x zero", "m"), node("Where", "m half zero", "y")], ["steps"]),
        ([node("LessOrEqual", "x zero", "m"), node("Cast", "m", "y", to=1)], ["steps"]),
        ([node("Where", "odd x zero", "y")], ["affine"]),
        ([node("Greater", "x zero", "m"), node("Not", "m", "n"), node("Where", "n zero x", "y")], ["clamp"]),
    ],
)
def test_limits_thresholds_and_steps_are_found(nodes: list[Any], layers: list[str]) -> None:
    assert kinds(assert_same(made(*nodes), FRAMES)) == layers


def test_logic_and_two_tensors() -> None:
    assert_same(
        made(
            node("Mul", "x x", "square"),
            node("Greater", "x square", "m"),
            node("GreaterOrEqual", "x some", "n"),
            node("And", "m n", "both"),
            node("Or", "odd both", "either"),
            node("Not", "either", "neither"),
            node("Or", "neither m", "last"),
            node("Where", "last x square", "y"),
        ),
        FRAMES,
    )


def test_infinite_constants_are_refused() -> None:
    said = message(made(node("Greater", "x zero", "m"), node("Where", "m infinite x", "y")))
    assert "infinite" in said and "finite constants" in said
