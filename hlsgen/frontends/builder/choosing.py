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
Part = Value | Numbers
"""What is compared or chosen: a value, or a constant without the batch."""
MIRRORED: dict[Relation, Relation] = {
    "gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq", "ne": "ne"
}  # fmt: skip
"""The relation with its sides exchanged, by relation."""


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

    def compared(self, left: Part, relation: Relation, right: Part) -> Value:
        """1 where `left` stands in the relation to `right`, else 0; shapes broadcast, and one is a value.

        Raises DesignError: the shapes do not broadcast.
        """
        shape = self._joint_shape(left, right)
        if not isinstance(left, Value):
            left, right, relation = right, left, MIRRORED[relation]
        assert isinstance(left, Value)
        number = 0.0
        if isinstance(right, Value):
            left = self.sub(left, right)
        elif right.size == 1:
            number = float(right.reshape(()))
        else:
            left = self.affine(self.expand(left, shape), 1.0, -right)
        return self.expand(self._compared_with(left, relation, number), shape)

    def _compared_with(self, x: Value, relation: Relation, number: float) -> Value:
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

    def both(self, left: Part, right: Part) -> Value:
        """1 where two masks are 1, else 0; shapes broadcast, and one at least is a value."""
        mask, value = (right, left) if isinstance(left, Value) else (left, right)
        return self.choose(mask, value, np.zeros(()))

    def either(self, left: Part, right: Part) -> Value:
        """1 where one of two masks is 1, else 0; shapes broadcast, and one at least is a value."""
        mask, value = (right, left) if isinstance(left, Value) else (left, right)
        return self.choose(mask, np.ones(()), value)

    def choose(self, mask: Part, chosen: Part, other: Part) -> Value:
        """`chosen` where the mask is 1, else `other`; shapes broadcast, and one at least is a value.

        Raises DesignError: the shapes do not broadcast.
        """
        shape = self._joint_shape(mask, chosen, other)
        return self.expand(self._chosen(mask, chosen, other), shape)

    def _joint_shape(self, *parts: Part) -> tuple[int, ...]:
        try:
            return np.broadcast_shapes(*(part.shape for part in parts))
        except ValueError:
            shapes = ", ".join(str(list(part.shape)) for part in parts)
            message = f"shapes {shapes} of a frame do not broadcast"
            raise self.refusal(message, "shapes whose axes are equal or 1") from None

    def _chosen(self, mask: Part, chosen: Part, other: Part) -> Value:
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
        return self.steps(origin.x, (origin.limit,), values if origin.below else values[::-1])

    def _limited(self, origin: Comparison, chosen: Part, other: Part) -> Value | None:
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

    def _kept(self, part: Part, gate: Part) -> Part:
        """A part where its gate is 1, else 0."""
        if isinstance(part, Value) and isinstance(gate, Value):
            return self.mul(part, gate)
        if not isinstance(part, Value) and not isinstance(gate, Value):
            return np.where(gate != 0, part, 0.0)
        value, numbers = (part, gate) if isinstance(part, Value) else (gate, part)
        assert isinstance(value, Value) and not isinstance(numbers, Value)
        value = self.expand(value, np.broadcast_shapes(value.shape, numbers.shape))
        return value if (numbers == 1).all() else self.affine(value, numbers)

    def _total(self, left: Part, right: Part) -> Value:
        """left + right, one of them a value."""
        if isinstance(left, Value) and isinstance(right, Value):
            return self.add(left, right)
        value, numbers = (left, right) if isinstance(left, Value) else (right, left)
        assert isinstance(value, Value) and not isinstance(numbers, Value)
        value = self.expand(value, np.broadcast_shapes(value.shape, numbers.shape))
        return self.affine(value, 1.0, numbers) if numbers.any() else value
