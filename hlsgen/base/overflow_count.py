"""How many values left the range of a type as they were converted to it, and by how much."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.base.fixed import Codes, FixedType, watching_casts


@dataclass(frozen=True, kw_only=True)
class OverflowCount:
    """How much was clipped: of `values` values that became codes of `type`, `outside` left its range.

    furthest: the most by which one was, in steps of the type. lost and power: sums of squares of what the
    conversion changed (rounding left out) and of the rounded values, in steps too.
    """

    type: FixedType
    values: int = 0
    outside: int = 0
    furthest: int = 0
    lost: float = 0.0
    power: float = 0.0

    @classmethod
    def of_codes(cls, type_: FixedType, rounded: Codes, codes: Codes) -> OverflowCount:
        """rounded: the values in steps, whatever the range; codes: what became of them."""
        beyond = np.maximum(rounded - type_.max_code, type_.lowest_code - rounded)
        values = rounded.astype(np.float64)
        return cls(
            type=type_,
            values=codes.size,
            outside=int(np.count_nonzero(beyond > 0)),
            furthest=max(0, int(beyond.max(initial=0))),
            lost=float(np.square(values - codes.astype(np.float64)).sum()),
            power=float(np.square(values).sum()),
        )

    @classmethod
    def of_values(cls, type_: FixedType, values: ArrayLike) -> OverflowCount:
        """The overflow of numbers that become codes of `type_`. Raises ValueError on NaN."""
        rounded = type_.unlimited(values)
        return cls.of_codes(type_, rounded, np.clip(rounded, type_.lowest_code, type_.max_code))

    def __add__(self, other: OverflowCount) -> OverflowCount:
        assert self.type == other.type
        return OverflowCount(
            type=self.type,
            values=self.values + other.values,
            outside=self.outside + other.outside,
            furthest=max(self.furthest, other.furthest),
            lost=self.lost + other.lost,
            power=self.power + other.power,
        )


@contextmanager
def counting_overflow() -> Iterator[dict[FixedType, OverflowCount]]:
    """The overflow of the casts in the block, by type; types that hold all they are given are not in it."""
    found: dict[FixedType, OverflowCount] = {}

    def count(type_: FixedType, rounded: Codes, codes: Codes) -> None:
        one = OverflowCount.of_codes(type_, rounded, codes)
        found[type_] = found[type_] + one if type_ in found else one

    with watching_casts(count):
        yield found
