"""Comparisons and choices against PyTorch, also where numbers are equal, in float and in fixed point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import hlsgen  # noqa: E402
from tests.support.frontends.ports import kinds, outputs_of  # noqa: E402
from tests.support.frontends.torch_models import IMAGE, Together, graph_of_module, settle  # noqa: E402

where = torch.where
CHECKERED = (torch.arange(144).reshape(4, 6, 6) % 3 == 0).double()
CHANNELS = torch.tensor([0.0, 0.5, -0.5, 1.0]).reshape(4, 1, 1)
Function = Callable[[Any, torch.Tensor], torch.Tensor]
LIMITS: list[tuple[Function, list[str]]] = [
    (lambda m, x: where(x > 0, x, 0), ["clamp"]),
    (lambda m, x: where(x >= 0.5, x, 0.5), ["clamp"]),
    (lambda m, x: where(x < 0.5, 0.5, x), ["clamp"]),
    (lambda m, x: where(x <= 0.25, x, 0.25), ["clamp"]),
    (lambda m, x: where(x > 0.25, 0.25, x), ["clamp"]),
    (lambda m, x: where(x > 0.5, x, -1.0), ["table"]),
    (lambda m, x: where(x >= 0.5, x, -1.0), ["table"]),
    (lambda m, x: where(x <= 0.5, 0, x), ["table"]),
    (lambda m, x: x.masked_fill(x < 0.5, 2), ["table"]),
    (lambda m, x: where(x > 0.5, 2.0, -3.0), ["steps"]),
    (lambda m, x: where(x <= 0.5, 2.0, -3.0), ["steps"]),
    (lambda m, x: (x >= 0.5).float(), ["steps"]),
    (lambda m, x: (x < 0.5).to(x.dtype), ["steps"]),
    (lambda m, x: where(CHECKERED == 1, x, 0), ["affine"]),
]
"""A function and the layers that it becomes."""
GENERAL: list[Function] = [
    lambda m, x: where(x > 0, x, x / 2),
    lambda m, x: x * where(x > 0, 2, -3),
    lambda m, x: where(x >= 0.25, x * x, -1.0),
    lambda m, x: where(x < 0.25, CHANNELS, x),
    lambda m, x: where(x <= 0.25, 1, CHANNELS),
    lambda m, x: where(x.abs() <= 0.5, 1, x),
    lambda m, x: where(CHECKERED == 1, x, -x),
    lambda m, x: where(CHECKERED == 1, x, CHANNELS),
    lambda m, x: where(x > CHANNELS, x, x + 1),
    lambda m, x: where(x[:, :1] >= x[:, 1:2], x, CHANNELS),
    lambda m, x: where(x == 0.5, 2, x) + where(x != 0.25, x, 3),
    lambda m, x: where((x > -1) & (x <= 0.5) | (x == 0.75), 2 * x, 1),
    lambda m, x: where(~(x > 0.5), x, 3 * x),
    lambda m, x: where(torch.logical_and(x > 0, CHECKERED == 1), 2 * x, 1),
    lambda m, x: where(torch.logical_or(x.transpose(2, 3) > 0, CHECKERED == 1), x, 1),
    lambda m, x: x.masked_fill(CHECKERED == 1, 2) * (x < 1),
]
# quarters, so that many are equal to what they are compared with, and every result is exact in fixed<16,8>
FRAMES = np.random.default_rng(0).integers(-8, 9, (4, *IMAGE)) / 4


def test_every_choice_is_pytorchs() -> None:
    model = settle(Together([function for function, _ in LIMITS] + GENERAL))
    got = outputs_of(graph_of_module(model, [IMAGE], name="net"), FRAMES)
    with torch.no_grad():
        wanted = model(torch.from_numpy(FRAMES))
    for index, (array, tensor) in enumerate(zip(got.values(), wanted, strict=True)):
        np.testing.assert_array_equal(array, tensor.numpy(), err_msg=str(index))


def test_limits_thresholds_and_steps_are_found() -> None:
    for index, (function, layers) in enumerate(LIMITS):
        assert kinds(graph_of_module(settle(Together([function])), [IMAGE], name="net")) == layers, index


def test_fixed_point_is_exact() -> None:
    model = settle(Together([function for function, _ in LIMITS] + GENERAL))
    with torch.no_grad():
        wanted = model(torch.from_numpy(FRAMES))
    design = hlsgen.from_torch(model, input_shape=IMAGE, precision="fixed<16,8>")
    got = design.golden(FRAMES.astype(np.float32))
    for index, (array, tensor) in enumerate(zip(got, wanted, strict=True)):
        np.testing.assert_array_equal(array, tensor.numpy(), err_msg=str(index))


def test_a_mask_holds_one_in_a_type_below_one() -> None:
    model = settle(Together([lambda m, x: where(x > 0, x, x / 2)]))
    frames = np.clip(FRAMES / 4, -0.5, 0.5)
    design = hlsgen.from_torch(model, input_shape=IMAGE, precision="fixed<8,0,rnd,sat>")
    got = np.asarray(design.golden(frames.astype(np.float32)))
    inside = np.abs(frames) < 0.5
    np.testing.assert_array_equal(
        got.reshape(frames.shape)[inside], np.where(frames > 0, frames, frames / 2)[inside]
    )
