"""What is done to a sum in floating point until it is a result, as finish_float.h.j2 does it.

bias, then a factor (of an average) or a slope below zero, then limits; then another tensor is added, and
limits again. The numbers of the stages are the bits of floats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hlsgen.base.fixed import NumberType
from hlsgen.layers.base import limited
from hlsgen.program.epilogue import NotFused, Stage

Ends = tuple[float, float]
EVERYTHING: Ends = (-np.inf, np.inf)


def float_bits(value: float) -> int:
    """The 32 bits of the nearest float, as a word of a descriptor holds them."""
    return int(np.float32(value).view(np.int32))


@dataclass(frozen=True, kw_only=True)
class FloatEpilogue:
    """The steps from a sum to what there is now. Every method gives the epilogue with one step more, and
    raises NotFused where the hardware cannot take it in; of types nothing is asked.

    factor: of a sum of 0 or more, slope: of one below. first, second: limits before and behind the addition;
    second is None where nothing is added.
    """

    factor: float = 1.0
    slope: float = 1.0
    first: Ends = EVERYTHING
    second: Ends | None = None

    @property
    def is_plain(self) -> bool:
        """Whether nothing has been done yet."""
        return self == FloatEpilogue()

    def averaged(self, count: int) -> FloatEpilogue:
        """Times the nearest float of 1 / count."""
        assert self.is_plain
        return FloatEpilogue(factor=float(np.float32(1 / count)), slope=float(np.float32(1 / count)))

    def sloped(self, slope: float) -> FloatEpilogue:
        """Times a slope where it is below zero."""
        if not self.is_plain:
            raise NotFused("a slope follows an addition, limits or another slope")
        return replace(self, slope=slope)

    def limited(self, low: float | None, high: float | None) -> FloatEpilogue:
        """With limits."""
        if self.second is None:
            return replace(self, first=_limited_again(self.first, low, high))
        return replace(self, second=_limited_again(self.second, low, high))

    def multiplied(self, _: NumberType, other: NumberType) -> FloatEpilogue:
        """Multiplied by a tensor."""
        raise NotFused("two tensors are multiplied")

    def joined(self, _: NumberType, *, negative: bool = False) -> FloatEpilogue:
        """With a tensor added."""
        if negative:
            raise NotFused("a tensor is subtracted")
        if self.second is not None:
            raise NotFused("it adds a second tensor")
        return replace(self, second=EVERYTHING)

    def cast(self, _: NumberType) -> FloatEpilogue:
        """As it is: all numbers are floats."""
        return self

    rounded = cast

    def finished(self, _: NumberType) -> tuple[Stage, ...]:
        """The stages as numbers of the hardware."""
        stages = [_stage(self.factor, self.slope, self.first, joining=0)]
        if self.second is not None:
            stages.append(_stage(1.0, 1.0, self.second, joining=float_bits(1.0)))
        return tuple(stages)


def _stage(factor: float, slope: float, ends: Ends, *, joining: int) -> Stage:
    return Stage(
        factor=float_bits(factor),
        slope=float_bits(slope),
        joining=joining,
        bits=0,
        offset=0,
        tie=0,
        rounding=0,
        low=float_bits(ends[0]),
        high=float_bits(ends[1]),
    )


def _limited_again(ends: Ends, low: float | None, high: float | None) -> Ends:
    """Limits by others behind them as one: the ends themselves are limited."""
    first, last = limited(np.array(ends), low, high)
    return float(first), float(last)
