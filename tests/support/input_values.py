"""Values that a quantizer of inputs has to round: off its grid, ties, their neighbours; a photograph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hlsgen.model.samples import photograph

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


def awkward(step: float, low: int, high: int, *, seed: int = 0, far: float = 1e3) -> Singles:
    """Values around codes from `low` to `high` of `step`: ties of both signs, a float32 beside them, on the
    grid, anywhere, and beyond both ends, up to `far`.
    """
    rng = np.random.default_rng(seed)
    codes = np.unique(np.clip(np.rint(np.linspace(low - 3, high + 3, 64)), low - 3, high + 3))
    ties = ((codes + 0.5) * step).astype(np.float32)
    spread = (max(-low, high) + 2) * step
    parts = [
        ties,
        np.nextafter(ties, np.float32(np.inf)),
        np.nextafter(ties, np.float32(-np.inf)),
        codes * step,
        rng.uniform(-1.5 * spread, 1.5 * spread, 200),
        rng.uniform(-2 * step, 2 * step, 50),
        np.array([0.0, -0.0, 1e-30, -1e-30, far, -far]),
    ]
    return np.concatenate(parts).astype(np.float32)


def grey_levels(count: int, *, seed: int = 0) -> Singles:
    """Grey levels 0 to 255 of the photograph, as a camera gives them."""
    picture = photograph((1, 64, 64), 1).reshape(-1)
    levels = np.rint((picture - picture.min()) / (picture.max() - picture.min()) * 255)
    return np.random.default_rng(seed).choice(levels, count, replace=False).astype(np.float32)


def framed(values: Singles, size: int) -> Singles:
    """[frames, size] of all the values, the last frame filled with zeros."""
    frames = -(-values.size // size)
    return np.concatenate([values, np.zeros(frames * size - values.size, np.float32)]).reshape(frames, size)
