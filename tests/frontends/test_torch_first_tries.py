"""What people get wrong at first with a PyTorch model, and are told: shapes, frames, recurrent layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.base.errors import Problem

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn


def small() -> Any:
    return nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 8 * 6, 2))


def problem(model: Any, *shapes: tuple[int, ...], **more: Any) -> Problem:
    with pytest.raises(hlsgen.DesignError) as caught:
        hlsgen.from_torch(model, list(shapes), board="zcu102", **more)
    (found,) = caught.value.problems
    return found


def test_a_shape_with_the_batch() -> None:
    found = problem(small(), (1, 3, 8, 6))
    assert found.message.startswith("the model fails on inputs of 1 x 3 x 8 x 6 (without the batch):")
    assert found.fix == "sizes without the batch: (3, 8, 6), with which it runs"


def test_a_shape_with_channels_last() -> None:
    assert problem(small(), (8, 6, 3)).fix == "channels first: (3, 8, 6), with which it runs"


def test_a_shape_that_is_neither() -> None:
    assert problem(small(), (5, 8, 6)).fix == "the shapes that the model is made for, or mend the model"


@pytest.mark.parametrize(
    ("shape", "fix"),
    [
        ((5, 8, 6, 3), "move its axes: x.transpose(0, 3, 1, 2)"),
        ((5, 3, 8, 7), "frames of 3, 8, 6, as the model takes them"),
        ((0, 3, 8, 6), "some frames"),
    ],
)
def test_calibration_of_another_shape(shape: tuple[int, ...], fix: str) -> None:
    found = problem(small(), (3, 8, 6), calibration=np.zeros(shape))
    assert f"has shape {shape}, not [frames, 3, 8, 6]" in found.message
    assert found.fix == fix


def test_the_transposed_frames_are_taken() -> None:
    frames = np.random.default_rng(0).uniform(size=(5, 8, 6, 3)).transpose(0, 3, 1, 2)
    assert hlsgen.from_torch(small(), (3, 8, 6), board="zcu102", calibration=frames)


def test_frames_with_channels_last_are_told_from_others() -> None:
    design = hlsgen.from_torch(small(), (3, 8, 6), board="zcu102")
    for shape, fix in (
        ((2, 8, 6, 3), "[frames, 3, 8, 6], batch first: move its axes, x.transpose(0, 3, 1, 2)"),
        ((2, 8, 3, 6), "[frames, 3, 8, 6], batch first"),
    ):
        with pytest.raises(hlsgen.DesignError) as caught:
            design.golden(np.zeros(shape))
        assert caught.value.problems[0].fix == fix


def test_calibration_with_a_nan_says_where() -> None:
    frames = np.zeros((5, 3, 8, 6))
    frames[3, 1, 2, 2] = np.nan
    found = problem(small(), (3, 8, 6), calibration=frames)
    assert found.message.endswith("holds NaN or infinity, first in frame 3")


def test_a_recurrent_layer_is_named() -> None:
    class Net(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.states = nn.LSTM(8, 16)
            self.head = nn.Linear(16, 2)

        def forward(self, x: Any) -> Any:
            return self.head(self.states(x)[0])

    found = problem(Net(), (10, 8))
    assert found.message == "states (LSTM): recurrent, and hlsgen has no such layer yet"
