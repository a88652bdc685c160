"""The layer of figure 3.8, and what a measurement of it is.

16 channels of 64 x 64, 16 output channels, 3 x 3, no padding, with bias. A multiply-accumulate counts as two
operations; the bias is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
CHANNELS, HEIGHT, WIDTH = 16, 64, 64
FILTERS, KERNEL = 16, 3
OUT_HEIGHT, OUT_WIDTH = HEIGHT - KERNEL + 1, WIDTH - KERNEL + 1
MACS = FILTERS * OUT_HEIGHT * OUT_WIDTH * CHANNELS * KERNEL * KERNEL
"""Multiply-accumulates of one frame."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One number measured here: `value` in `unit`, from `seconds` of computing `frames` frames.

    `detail` says how it was measured and holds what else was measured on the way.
    """

    what: str
    value: float
    unit: str
    seconds: float
    frames: int
    detail: dict[str, float | int | str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Missing:
    """A number that could not be measured here, and why."""

    what: str
    reason: str


def layer_data(frames: int) -> tuple[Floats, Floats, Floats]:
    """(weights [M, C, K, K], bias [M], x [frames, C, H, W]) in float32: He-scaled weights, uniform input."""
    generator = np.random.default_rng(0)
    fan_in = CHANNELS * KERNEL * KERNEL
    weights = generator.normal(0.0, np.sqrt(2 / fan_in), (FILTERS, CHANNELS, KERNEL, KERNEL))
    bias = generator.uniform(-0.5, 0.5, FILTERS)
    x = generator.uniform(-1.0, 1.0, (frames, CHANNELS, HEIGHT, WIDTH))
    return weights.astype(np.float32), bias.astype(np.float32), x.astype(np.float32)


def convolution(weights: Floats, bias: Floats, x: Floats) -> NDArray[np.float64]:
    """The reference: float64, by einsum over windows. [N, C, H, W] -> [N, M, H - K + 1, W - K + 1]."""
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), weights.shape[2:], axis=(2, 3))
    sums = np.einsum("nchwij,mcij->nmhw", windows, weights.astype(np.float64), optimize=True)
    total: NDArray[np.float64] = sums + bias.astype(np.float64)[:, None, None]
    return total


def largest_difference(result: Floats, reference: Floats) -> float:
    """max |result - reference|; infinite if anything in `result` is NaN."""
    return float(np.nan_to_num(np.abs(result.astype(np.float64) - reference), nan=np.inf).max())
