"""The graph builder's layers that take each element by itself, or element and element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.base.fixed import NumberType
from hlsgen.frontends.builder.reshaping import Reshaping
from hlsgen.frontends.builder.sums import FLOAT, FLOATS, Array, SumTypes, numbers, sum_fields
from hlsgen.frontends.builder.views import Arrangement, Value
from hlsgen.layers.affine import Affine
from hlsgen.layers.base import Layer, Shape
from hlsgen.layers.binary import Add, Binary, Mul, Sub
from hlsgen.layers.cast import Cast
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.steps import Steps
from hlsgen.layers.table import Table
from hlsgen.layers.thresholds import Thresholds


class Elementwise(Reshaping):
    """Operations of one or two values, and parameters that broadcast to them."""

    def affine(
        self, x: Value, scale: ArrayLike = 1.0, shift: ArrayLike | None = None, types: SumTypes = FLOATS
    ) -> Value:
        """scale * x + shift; both broadcast to the shape of `x`. None: no shift."""
        parameters = [np.asarray(scale)] + ([] if shift is None else [np.asarray(shift)])
        x, before, channels = self._per_channel(x, parameters)
        source = before[-1] if before else x
        weights = channels[0].reshape(-1, 1, 1, 1)
        bias = None if shift is None else channels[1]
        fields = sum_fields(source, weights, bias, types)
        layer = self.layer(Affine, source, groups=source.tensor.shape[0], **fields)
        return self._after(x, before, layer)

    def _per_channel(self, x: Value, parameters: Sequence[Array]) -> tuple[Value, list[Value], list[Array]]:
        """A value of which no channel has two parameters, what it was before, and the parameters per channel.

        Of the selections that made the tensor of `x` (`before_selection`) as many are undone as possible. If
        the parameters change within channels of the tensor of `x` too, it is rearranged.
        """
        x = self.compact(x)
        before = self.before_selection(x)
        if all(parameter.size == 1 for parameter in parameters):
            channels = (before[-1] if before else x).tensor.shape[0]
            return x, before, [np.full(channels, parameter.reshape(-1)[0]) for parameter in parameters]
        full = [np.broadcast_to(parameter, x.shape).reshape(-1) for parameter in parameters]
        positions = [x.indices().reshape(-1)]
        for view in before:
            positions.append(view.indices().reshape(-1)[positions[-1]])
        for count in range(len(before), -1, -1):
            shape = before[count - 1].tensor.shape if count else x.tensor.shape
            found = _by_channel(shape, positions[count], full)
            if found is not None:
                return x, before[:count], found
        lifted = [np.reshape(each, (1,) * (x.rank - each.ndim) + each.shape) for each in parameters]
        varying = tuple(axis for axis in range(x.rank) if any(each.shape[axis] > 1 for each in lifted))
        x = self.materialise(x, self.around(x, varying))
        found = _by_channel(x.tensor.shape, x.indices().reshape(-1), full)
        assert found is not None, "in this arrangement they do not change within a channel"
        return x, [], found

    # element by element

    def _each(self, kind: type[Layer], x: Value, **fields: Any) -> Value:
        """A layer that takes each element by itself: before the view, and what selected its tensor."""
        x = self.compact(x)
        before = self.before_selection(x)
        source = before[-1] if before else x
        return self._after(x, before, self.layer(kind, source, source=source.tensor, **fields))

    def _after(self, x: Value, before: Sequence[Value], layer: Layer) -> Value:
        """`x` with its tensor replaced: `layer` has read what was `before` it."""
        whole = self.select_again(before, layer)
        return x.on(whole.source, whole.tensor)

    def clamp(
        self, x: Value, low: float | None, high: float | None, result_type: NumberType = FLOAT
    ) -> Value:
        """Values below `low` become `low`, above `high` become `high`; None: no limit."""
        return self._each(Clamp, x, low=low, high=high, result_type=result_type)

    def table(
        self, x: Value, function: str, parameters: tuple[float, ...] = (), result_type: NumberType = FLOAT
    ) -> Value:
        """A function that a Table layer knows."""
        return self._each(Table, x, function=function, parameters=parameters, result_type=result_type)

    def steps(
        self, x: Value, thresholds: Sequence[float], values: Sequence[float], result_type: NumberType = FLOAT
    ) -> Value:
        """values[i], where i of the ascending `thresholds` are not above the value."""
        given = {"thresholds": tuple(thresholds), "values": tuple(values)}
        return self._each(Steps, x, **given, result_type=result_type)

    def thresholds(self, x: Value, rows: Array, axis: int, first: float, step: float) -> Value:
        """first + step * i, where i of the ascending thresholds in the row of an element are not above it.

        rows: [1, N], or [S, N] along `axis` of size S.
        """
        given: dict[str, Any] = {"first": first, "step": step, "result_type": FLOAT}
        if len(rows) == 1:
            return self._each(Thresholds, x, thresholds=rows, **given)
        numbers = np.arange(len(rows)).reshape([-1 if each == axis else 1 for each in range(x.rank)])
        x, before, (channels,) = self._per_channel(x, [numbers])
        source = before[-1] if before else x
        layer = self.layer(Thresholds, source, source=source.tensor, thresholds=rows[channels], **given)
        return self._after(x, before, layer)

    def cast(self, x: Value, result_type: NumberType) -> Value:
        """The value as another number type."""
        return self._each(Cast, x, result_type=result_type)

    def leaky(
        self, x: Value, slopes: ArrayLike, slope_type: NumberType = FLOAT, result_type: NumberType = FLOAT
    ) -> Value:
        """x where it is not negative, else slopes * x; the slopes broadcast to the shape of `x`."""
        given = numbers(np.asarray(slopes), slope_type)
        if given.size == 1:
            return self._each(
                Leaky, x, slopes=given.reshape(-1), slope_type=slope_type, result_type=result_type
            )
        x, before, (codes,) = self._per_channel(x, [given])
        source = before[-1] if before else x
        layer = self.layer(
            Leaky, source, source=source.tensor, slopes=codes, slope_type=slope_type, result_type=result_type
        )
        return self._after(x, before, layer)

    def add(self, left: Value, right: Value, result_type: NumberType = FLOAT) -> Value:
        """left + right; shapes broadcast as in NumPy."""
        return self._binary(Add, left, right, result_type)

    def sub(self, left: Value, right: Value, result_type: NumberType = FLOAT) -> Value:
        """left - right; shapes broadcast as in NumPy."""
        return self._binary(Sub, left, right, result_type)

    def mul(self, left: Value, right: Value, result_type: NumberType = FLOAT) -> Value:
        """left * right; shapes broadcast as in NumPy."""
        return self._binary(Mul, left, right, result_type)

    def maximum(self, left: Value, right: Value) -> Value:
        """The larger of two, element by element; shapes broadcast: max(l - r, 0) + r."""
        return self.add(self.clamp(self.sub(left, right), 0.0, None), right)

    def minimum(self, left: Value, right: Value) -> Value:
        """The smaller of two, element by element; shapes broadcast: l - max(l - r, 0)."""
        return self.sub(left, self.clamp(self.sub(left, right), 0.0, None))

    def _binary(self, kind: type[Binary], left: Value, right: Value, result_type: NumberType) -> Value:
        rank = max(left.rank, right.rank)
        left, right = (self.reshape(x, (1,) * (rank - x.rank) + x.shape) for x in (left, right))
        shape = tuple(max(sizes) for sizes in zip(left.shape, right.shape, strict=True))
        if left.shape != shape and kind is not Sub:
            left, right = right, left
        left = self.expand(left, shape)
        chw = self._of_one_pixel(left, right)
        if chw is None:
            right = self.expand(right, shape)
            if (left.axes, left.offset, left.tensor.shape) != (right.axes, right.offset, right.tensor.shape):
                chw = self.shared((left, right), [self.default(rank), left.arrangement, right.arrangement])
                left, right = self.materialise(left, chw), self.materialise(right, chw)
            elif not left.shows_most:
                left, right = self.compact(left), self.compact(right)
        else:
            left = self.materialise(left, chw)
            right = self.materialise(self._over_channels(right, left, chw), chw)
        layer = self.layer(kind, left, right, left=left.tensor, right=right.tensor, result_type=result_type)
        return left.on(layer.name, layer.output)

    def _of_one_pixel(self, left: Value, right: Value) -> Arrangement | None:
        """An arrangement of `left` in which `right`, to be broadcast to it, has one pixel; None: none."""
        if right.shape == left.shape:
            return None
        for chw in (left.arrangement, self.default(left.rank)):
            if chw is not None and all(right.shape[axis] == 1 for axis in (*chw[1], *chw[2])):
                return chw
        return None

    def _over_channels(self, right: Value, left: Value, chw: Arrangement) -> Value:
        """`right` with as many channels as `left`."""
        channels = (size if axis in chw[0] else 1 for axis, size in enumerate(left.shape))
        return self.expand(right, tuple(channels))


def _by_channel(shape: Shape, positions: Array, values: Sequence[Array]) -> list[Array] | None:
    """values[i], of the element at positions[i] of a tensor of `shape`, as [channels].

    None: within some channel they change. A channel in which no element is has zeros.
    """
    channel = positions // (shape[1] * shape[2])
    result = []
    for each in values:
        by_channel = np.zeros(shape[0], each.dtype)
        by_channel[channel] = each
        if not np.array_equal(by_channel[channel], each):
            return None
        result.append(by_channel)
    return result
