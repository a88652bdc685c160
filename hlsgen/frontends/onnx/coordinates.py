"""The places of a resized axis' elements, in ONNX Runtime's float32: it decides what is nearest.

Exact numbers beside it, from which weights come in turns; they are taken where float32 means the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hlsgen.frontends.builder.resampling import simple_step
from hlsgen.frontends.onnx.values import Array

Singles: TypeAlias = NDArray[np.float32]
ROUGHNESS = 5e-7
"""What float32 may have moved a position by, for each element of the axis."""
TIE = 1e-6
"""How close to a half a position counts as one, in ONNX Runtime 1.32; earlier ones take float32's word."""
PARTS = 4096
"""Denominator of the ends of a region that is cut out."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis of `size` elements that becomes one of `wanted`, by `scale`; roi: the part that is cut out."""

    size: int
    wanted: int
    scale: np.float32
    roi: tuple[float, float] = (0.0, 1.0)

    def positions(self, where: str) -> Singles:
        """[wanted] in elements of the axis, computed as ONNX Runtime does."""
        return _POSITIONS[where](self, np.arange(self.wanted, dtype=np.float32)).astype(np.float32)

    def line(self, where: str) -> tuple[Fraction, Fraction] | None:
        """(first, step) of the positions, exactly; None: no simple numbers are close to float32's."""
        step = simple_step(self.size, self.wanted, float(self.scale))
        found = None if step is None and where not in SIZED else _line(self, where, step or Fraction(1))
        if found is None:
            return None
        exact = float(found[0]) + np.arange(self.wanted) * float(found[1])
        close = np.abs(exact - self.positions(where)) <= ROUGHNESS * (self.size + 2)
        return found if close.all() else None


SIZED = ("align_corners", "tf_crop_and_resize")
"""Modes that go by sizes, not by the scale."""


def _line(axis: Axis, where: str, step: Fraction) -> tuple[Fraction, Fraction]:
    if where in SIZED:
        begin, end = (Fraction(side).limit_denominator(PARTS) for side in axis.roi)
        if where == "align_corners":
            begin, end = Fraction(0), Fraction(1)
        elif axis.wanted == 1:
            return (begin + end) / 2 * (axis.size - 1), Fraction(0)
        return begin * (axis.size - 1), (end - begin) * Fraction(axis.size - 1, max(axis.wanted - 1, 1))
    if where == "pytorch_half_pixel" and axis.wanted == 1:
        return Fraction(0), Fraction(0)
    first = {
        "asymmetric": Fraction(0),
        "tf_half_pixel_for_nn": step / 2,
        "half_pixel_symmetric": (step - 1) / 2 + (axis.size - axis.wanted * step) / 2,
    }
    return first.get(where, (step - 1) / 2), step


def _corners(axis: Axis, out: Singles) -> Array:
    if axis.wanted == 1:
        return np.zeros(1)
    return out * np.float32(axis.size - 1) / np.float32(axis.wanted - 1)


def _crop(axis: Axis, out: Singles) -> Array:
    begin, end = np.float32(axis.roi[0]), np.float32(axis.roi[1])
    last = np.float32(axis.size - 1)
    if axis.wanted == 1:
        return np.array([0.5 * float(begin + end) * float(last)])
    return begin * last + (out * (end - begin) * last) / np.float32(axis.wanted - 1)


def _half(axis: Axis, out: Singles) -> Array:
    return (out + np.float32(0.5)) / axis.scale - np.float32(0.5)


def _symmetric(axis: Axis, out: Singles) -> Array:
    adjustment = np.float32(axis.wanted) / (axis.scale * np.float32(axis.size))
    offset: np.float32 = np.float32(axis.size) / np.float32(2) * (np.float32(1) - adjustment)
    places: Array = float(offset) + (out.astype(np.float64) + 0.5) / float(axis.scale) - 0.5
    return places


_POSITIONS: dict[str, Callable[[Axis, Singles], Array]] = {
    "asymmetric": lambda axis, out: out / axis.scale,
    "half_pixel": _half,
    "pytorch_half_pixel": lambda axis, out: _half(axis, out) if axis.wanted > 1 else np.zeros(1),
    "half_pixel_symmetric": _symmetric,
    "align_corners": _corners,
    "tf_half_pixel_for_nn": lambda axis, out: (out + np.float32(0.5)) / axis.scale,
    "tf_crop_and_resize": _crop,
}
MODES = tuple(_POSITIONS)
"""What the attribute coordinate_transformation_mode may be."""


def _rounded(found: Any, half: float) -> Array:
    """The nearest integers; `half`: what is added to those below a half, 0 or 1."""
    below = np.floor(found)
    halves: Array = np.where(np.abs(found - below - 0.5) <= TIE, below + half, np.floor(found + 0.5))
    return halves


NEAREST: dict[str, Callable[[Any], Array]] = {
    "round_prefer_floor": lambda found: _rounded(found, 0),
    "round_prefer_ceil": lambda found: _rounded(found, 1),
    "floor": np.floor,
    "ceil": np.ceil,
}
"""The attribute nearest_mode, of positions in float64; below the first element nothing else matters."""


def nearest(axis: Axis, where: str, rounding: str) -> NDArray[np.int64]:
    """[wanted] which element each is; rounding "": as operator set 10 and older ones do."""
    found = axis.positions(where).astype(np.float64)
    if not rounding:
        rounding = "ceil" if axis.scale < 1 else "floor"
    return np.clip(NEAREST[rounding](found), 0, axis.size - 1).astype(np.int64)
