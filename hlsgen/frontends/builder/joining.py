"""The graph builder's layers that put tensors side by side: concatenation, borders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hlsgen.base.fixed import NumberType
from hlsgen.frontends.builder.reshaping import Reshaping
from hlsgen.frontends.builder.sums import FLOAT, Pair, shown
from hlsgen.frontends.builder.views import Arrangement, Value
from hlsgen.layers.concat import Concat
from hlsgen.layers.pad import Pad

MOST_PARTS = 16
"""Slices that any order of an axis may be made of: each is a stage of its own."""


class Joining(Reshaping):
    """Operations that make a larger value."""

    def concat(self, values: Sequence[Value], axis: int, result_type: NumberType = FLOAT) -> Value:
        """Values one after the other along an axis."""
        if len(values) == 1:
            return values[0]
        axis = self.axis(values[0], axis)
        bases = [self.default(values[0].rank), *(value.arrangement for value in values)]
        candidates = [placed for base in bases if base is not None for placed in _outermost(base, axis)]
        chw = self.shared(values, candidates)
        sources = [self.materialise(value, chw) for value in values]
        parts = tuple(source.tensor for source in sources)
        along = next(number for number, group in enumerate(chw) if group[:1] == (axis,))
        layer = self.layer(Concat, *sources, parts=parts, axis=along, result_type=result_type)
        shape = list(values[0].shape)
        shape[axis] = sum(value.shape[axis] for value in values)
        return Value.of(layer.name, layer.output, shape, chw)

    def take(self, x: Value, axis: int, indices: Sequence[int]) -> Value:
        """The elements of an axis at any indices, counted from the front: a view, or slices side by side.

        Raises DesignError: those would be more than MOST_PARTS.
        """
        axis = self.axis(x, axis)
        if x.taken(axis, indices) is None and len(x.axes[axis]) > 1:
            x = self.materialise(x, self.in_order(x.rank))
        found = x.taken(axis, indices)
        if found is not None:
            return found
        parts = runs(indices)
        if len(parts) > MOST_PARTS:
            message = f"its {len(indices)} indices are {len(parts)} slices, more than {MOST_PARTS}"
            raise self.refusal(message, "fewer slices (a permutation that a reshape and a transpose make)")
        views = [x.taken(axis, run) for run in parts]
        return self.concat([view for view in views if view is not None], axis)

    def pad(
        self,
        x: Value,
        amounts: Sequence[Pair],
        value: float = 0.0,
        mode: Literal["constant", "reflect", "edge", "wrap"] = "constant",
    ) -> Value:
        """The value with a border of (before, after) elements along each axis; a negative amount cuts off.

        mode: as of numpy.pad. All but "constant" join slices of `x` to it.
        """
        for axis, (before, after) in enumerate(amounts):
            if min(before, after) < 0:
                size = x.shape[axis] + min(before, 0) + min(after, 0)
                x = self.slice(x, axis, max(0, -before), size)
        borders = [(max(before, 0), max(after, 0)) for before, after in amounts]
        if mode == "constant":
            return self._constant_border(x, borders, value)
        for axis, (before, after) in enumerate(borders):
            if before or after:
                x = self._border(x, axis, before, after, mode)
        return x

    def _constant_border(self, x: Value, borders: Sequence[Pair], value: float) -> Value:
        if not any(map(any, borders)):
            return x
        chw = self.shared((x,), (self.default(x.rank), x.arrangement))
        alone = [axis for group in chw if len(group) == 1 for axis in group]
        now = [axis for axis, border in enumerate(borders) if any(border) and axis in alone]
        later = [axis for axis, border in enumerate(borders) if any(border) and axis not in alone]
        if not now:
            now, later = later[:1], later[1:]
            chw = self.around(x, (now[0],))
        channel, row, column = (
            borders[group[0]] if len(group) == 1 and group[0] in now else (0, 0) for group in chw
        )
        source = self.materialise(x, chw)
        padding = (row[0], column[0], row[1], column[1])
        layer = self.layer(Pad, source, source=source.tensor, padding=padding, channels=channel, value=value)
        result = shown(source, layer, chw)
        rest = [border if axis in later else (0, 0) for axis, border in enumerate(borders)]
        return self._constant_border(result, rest, value)

    def _border(self, x: Value, axis: int, before: int, after: int, mode: str) -> Value:
        """A border along one axis of what is in `x` already."""
        size = x.shape[axis]
        most = {"reflect": size - 1, "wrap": size}.get(mode, max(before, after))
        if max(before, after) > most:
            message = (
                f"a {mode} border of {max(before, after)} elements is wider than an axis of {size} gives"
            )
            raise self.refusal(message, f"at most {most}")
        parts = [x]
        if before:
            parts.insert(0, self._strip(x, axis, before, mode, at_end=False))
        if after:
            parts.append(self._strip(x, axis, after, mode, at_end=True))
        return self.concat(parts, axis)

    def _strip(self, x: Value, axis: int, width: int, mode: str, at_end: bool) -> Value:
        size = x.shape[axis]
        if mode == "edge":
            return self.slice(x, axis, size - 1 if at_end else 0, 1).repeated(axis, width)
        if mode == "wrap":
            return self.slice(x, axis, 0 if at_end else size - width, width)
        return self.slice(x, axis, size - 1 - width if at_end else 1, width).flipped(axis)


def runs(indices: Sequence[int]) -> list[Sequence[int]]:
    """The indices cut into parts at equal steps."""
    found: list[list[int]] = []
    for index in indices:
        run = found[-1] if found else []
        if not found or (len(run) > 1 and index - run[-1] != run[1] - run[0]):
            found.append([index])
        else:
            run.append(index)
    return list(found)


def _outermost(chw: Arrangement, axis: int) -> list[Arrangement]:
    """`chw` with the axis at the front of its group, then of each other group."""
    groups = [tuple(other for other in group if other != axis) for group in chw]
    own = next(number for number, group in enumerate(chw) if axis in group)
    placed: list[Arrangement] = []
    for number in (own, *({0, 1, 2} - {own})):
        channel, row, column = (
            (axis, *group) if place == number else group for place, group in enumerate(groups)
        )
        placed.append((channel, row, column))
    return placed
