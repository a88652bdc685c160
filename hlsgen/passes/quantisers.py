"""Quantisation as a float model states it: a grid of real steps, and the node that puts activations on it.

`FakeQuant` stands in a frontend's float graph for a Quant node, or QuantizeLinear and DequantizeLinear.
It exists only between a frontend and `integer_graph`, which makes types, casts and multipliers of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np

from hlsgen.base.coded import Doubles
from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes, NumberType, Rounding
from hlsgen.layers.base import Shape, frames_of
from hlsgen.layers.stage import Fold, Stage
from hlsgen.layers.unary import OneSource


class Direction(StrEnum):
    """A rounding mode: where a value between two steps goes, in QONNX's words."""

    ROUND = "ROUND"  # nearest, halves to even; QuantizeLinear too
    FLOOR = "FLOOR"
    CEIL = "CEIL"
    DOWN = "DOWN"  # towards zero
    UP = "UP"  # away from zero
    HALF_UP = "HALF_UP"  # nearest, halves away from zero
    HALF_DOWN = "HALF_DOWN"  # nearest, halves towards zero

    @property
    def rounding(self) -> Rounding | None:
        """The mode of a type that does the same; None: there is none."""
        return _MODES.get(self)

    @property
    def shifts_with_zero(self) -> bool:
        """Whether adding an integer before rounding or after it is the same (halves apart)."""
        return self in (Direction.ROUND, Direction.FLOOR, Direction.CEIL)


_MODES = {
    Direction.ROUND: Rounding.RND_CONV,
    Direction.FLOOR: Rounding.TRN,
    Direction.DOWN: Rounding.TRN_ZERO,
    Direction.HALF_UP: Rounding.RND_INF,
    Direction.HALF_DOWN: Rounding.RND_ZERO,
}


def rounded(values: Codes, direction: Direction) -> Codes:
    """Integers, as QONNX's resolve_rounding_mode rounds, in the precision of `values`."""
    sizes = np.abs(values)
    result: Codes
    match direction:
        case Direction.ROUND:
            result = np.rint(values)
        case Direction.FLOOR:
            result = np.floor(values)
        case Direction.CEIL:
            result = np.ceil(values)
        case Direction.DOWN:
            result = np.trunc(values)
        case Direction.UP:
            result = np.copysign(np.ceil(sizes), values)
        case Direction.HALF_UP:
            result = np.copysign(np.floor(sizes + 0.5), values)
        case Direction.HALF_DOWN:
            result = np.copysign(np.ceil(sizes - 0.5), values)
    return result


@dataclass(frozen=True, kw_only=True, eq=False)
class Grid:
    """The values that a quantiser gives: scale * code, codes from `low` to `high`, zero point subtracted.

    scale: [1], or one for each channel. `bipolar`: the codes are -1 and 1, never 0. zero: a zero point that
    is added before rounding and so decides where ties go; 0 for one that is added after it.
    """

    scale: Doubles
    low: int
    high: int
    direction: Direction = Direction.ROUND
    bipolar: bool = False
    zero: int = 0

    def codes(self, values: Codes, scale: Doubles | None = None) -> Doubles:
        """The codes of values, as integers in float64; `scale` broadcasts to them (default: its own).

        Quotients and sums are float32, as in the frameworks: their rounding decides what is a tie.
        """
        steps = np.asarray(values, np.float32) / np.asarray(
            self.scale if scale is None else scale, np.float32
        )
        if self.bipolar:
            return np.where(steps >= 0, 1.0, -1.0)
        integers = rounded(steps + np.float32(self.zero), self.direction).astype(np.float64)
        return np.clip(integers - self.zero, self.low, self.high)

    def equals(self, other: Grid) -> bool:
        """Whether both are the same quantiser."""
        plain = (self.low, self.high, self.direction, self.bipolar, self.zero)
        return plain == (
            other.low,
            other.high,
            other.direction,
            other.bipolar,
            other.zero,
        ) and np.array_equal(self.scale, other.scale)


@dataclass(frozen=True, kw_only=True, eq=False)
class FakeQuant(OneSource):
    """in [C, H, W] -> out [C, H, W], both float: each value as the nearest value of `grid`.

    It has no hardware and no place among the kinds; a scale of several elements goes by channel.
    """

    kind = "quantiser"

    grid: Grid

    @property
    def output_shape(self) -> Shape:
        return self.source.shape

    @property
    def output_type(self) -> NumberType:
        return self.source.type

    def check(self) -> list[Problem]:
        return []

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        scale = self.grid.scale.reshape(-1, 1, 1)
        return np.asarray(self.grid.codes(frames, scale) * scale)

    def retyped(self, sources: tuple[NumberType, ...], result: NumberType | None) -> Self:
        raise AssertionError(f"{self.name} has no fixed-point form of its own")

    def folds(self) -> Iterator[Fold]:
        raise AssertionError(f"{self.name} has no hardware")

    def stage(self, fold: Fold) -> Stage:
        raise AssertionError(f"{self.name} has no hardware")
