"""The graph builder's comparisons with constants, and choices by their results: torch.where, ONNX's Where.

A mask is a value of zeros and ones that a `steps` layer compares; what it was made of is remembered, so that
a choice that is a limit, a threshold or a step becomes that. Any other choice is mask * a + (1 - mask) * b,
which is exact in fixed point: one of the two products is zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hlsgen.frontends.builder.elementwise import Elementwise
from hlsgen.frontends.builder.views import Value

Relation = Literal["gt", "ge", "lt", "le", "eq", "ne"]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A mask's origin: 1 where x >= limit, or if `below` where x < limit. strict: written as x > `number`."""

    x: Value
    number: float
    strict: bool
    below: bool

    @property
    def limit(self) -> float:
        """The first number on the upper side."""
        return math.nextafter(self.number, math.inf) if self.strict else self.number

    @property
    def inverse(self) -> Comparison:
        return replace(self, below=not self.below)


class Choosing(Elementwise):
    """Masks, and what they choose."""

    def __init__(self, name: str, channels_last: bool, taken: Sequence[str] = ()) -> None:
        super().__init__(name, channels_last, taken)
        self._comparisons: dict[Value, Comparison] = {}

    def compared(self, x: Value, relation: Relation, number: float) -> Value:
        """1 where `x` stands in the relation to a number, else 0."""
        if relation in ("eq", "ne"):
            inside = float(relation == "eq")
            ends = (number, math.nextafter(number, math.inf))
            return self.steps(x, ends, (1 - inside, inside, 1 - inside))
        origin = Comparison(
            x=x, number=number, strict=relation in ("gt", "le"), below=relation in ("lt", "le")
        )
        return self._mask(origin)

    def _mask(self, origin: Comparison) -> Value:
        above = float(not origin.below)
        mask = self.steps(origin.x, (origin.limit,), (1 - above, above))
        self._comparisons[mask] = origin
        return mask

    def inverse(self, mask: Value) -> Value:
        """1 where a mask is 0, and 0 where it is 1."""
        origin = self._comparisons.get(mask)
        return self.affine(mask, -1.0, 1.0) if origin is None else self._mask(origin.inverse)

    def choose(self, mask: Value | Numbers, chosen: Value | Numbers, other: Value | Numbers) -> Value:
        """`chosen` where the mask is 1, else `other`; shapes broadcast. A constant is an array.

        At least one of the three is a value.
        """
        if not isinstance(mask, Value):
            ones = (mask != 0).astype(np.float64)
            return self._total(self._kept(chosen, ones), self._kept(other, 1 - ones))
        if not isinstance(chosen, Value) and not isinstance(other, Value):
            return self._one_of(mask, chosen, other)
        origin = self._comparisons.get(mask)
        found = None if origin is None else self._limited(origin, chosen, other)
        if found is not None:
            return found
        zero = np.zeros(())
        kept = self._kept(chosen, mask) if isinstance(chosen, Value) or chosen.any() else zero
        rest = self._kept(other, self.inverse(mask)) if isinstance(other, Value) or other.any() else zero
        return self._total(kept, rest)

    def _one_of(self, mask: Value, chosen: Numbers, other: Numbers) -> Value:
        """One of two constants."""
        origin = self._comparisons.get(mask)
        if origin is None or chosen.size > 1 or other.size > 1:
            shape = np.broadcast_shapes(mask.shape, chosen.shape, other.shape)
            return self.affine(self.expand(mask, shape), chosen - other, other)
        values = (float(chosen.reshape(())), float(other.reshape(())))
        whole = self.steps(origin.x, (origin.limit,), values if origin.below else values[::-1])
        return self.expand(whole, np.broadcast_shapes(whole.shape, chosen.shape, other.shape))

    def _limited(self, origin: Comparison, chosen: Value | Numbers, other: Value | Numbers) -> Value | None:
        """A choice between what was compared and a number, as a limit or a threshold; None: it is neither."""
        above, below = (other, chosen) if origin.below else (chosen, other)
        if isinstance(below, Value) and below == origin.x and not isinstance(above, Value):
            # max(x, number) has no other name, min(x, number) neither
            if above.size == 1 and float(above.reshape(())) == origin.number:
                return self.clamp(origin.x, None, origin.number)
            return None
        if not isinstance(above, Value) or above != origin.x or isinstance(below, Value) or below.size != 1:
            return None
        value = float(below.reshape(()))
        if value == origin.number:
            return self.clamp(origin.x, origin.number, None)
        beyond = origin.number if origin.strict else math.nextafter(origin.number, -math.inf)
        return self.table(origin.x, "threshold", (beyond, value))

    def _kept(self, part: Value | Numbers, gate: Value | Numbers) -> Value | Numbers:
        """A part where its gate is 1, else 0."""
        if isinstance(part, Value) and isinstance(gate, Value):
            return self.mul(part, gate)
        if not isinstance(part, Value) and not isinstance(gate, Value):
            return np.where(gate != 0, part, 0.0)
        value, numbers = (part, gate) if isinstance(part, Value) else (gate, part)
        assert isinstance(value, Value) and not isinstance(numbers, Value)
        value = self.expand(value, np.broadcast_shapes(value.shape, numbers.shape))
        return value if (numbers == 1).all() else self.affine(value, numbers)

    def _total(self, left: Value | Numbers, right: Value | Numbers) -> Value:
        """left + right, one of them a value."""
        if isinstance(left, Value) and isinstance(right, Value):
            return self.add(left, right)
        value, numbers = (left, right) if isinstance(left, Value) else (right, left)
        assert isinstance(value, Value) and not isinstance(numbers, Value)
        value = self.expand(value, np.broadcast_shapes(value.shape, numbers.shape))
        return self.affine(value, 1.0, numbers) if numbers.any() else value
