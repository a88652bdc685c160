"""The graph builder's convolutions, plain and transposed, and dense layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hlsgen.frontends.builder.elementwise import Elementwise
from hlsgen.frontends.builder.sums import FLOATS, Array, Pair, SumTypes, shown, sum_fields
from hlsgen.frontends.builder.views import Arrangement, Value
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.dense import Dense

Sides = tuple[int, int, int, int]


class Convolutions(Elementwise):
    """Operations with weights, arrays in PyTorch's layouts."""

    def conv2d(
        self,
        x: Value,
        weights: Array,
        bias: Array | None = None,
        *,
        stride: Pair = (1, 1),
        padding: Sides = (0, 0, 0, 0),
        dilation: Pair = (1, 1),
        groups: int = 1,
        types: SumTypes = FLOATS,
    ) -> Value:
        """Convolution of an image, or of a signal as of an image of one row.

        weights: [M, C / groups, KH, KW]; padding: (top, left, bottom, right).
        """
        chw = self.default(x.rank)
        source = self.materialise(x, chw)
        layer = self.layer(
            Conv2d,
            source,
            **sum_fields(source, weights, bias, types),
            kernel=weights.shape[2:],
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
        )
        return shown(source, layer, chw)

    def dense(
        self, x: Value, weights: Array, bias: Array | None = None, axis: int = -1, types: SumTypes = FLOATS
    ) -> Value:
        """weights [M, F] times the axis of F elements, of any value.

        A vector that is an image flattened, in any order, is taken in the order in which the image's stream
        comes (row, column, channel), and the columns of the weights are permuted accordingly.
        """
        axis = self.axis(x, axis)
        if x.rank == 1:
            source, weights = self._vector(x, weights)
            chw: Arrangement = (0,), (), ()
            fields = sum_fields(source, weights[:, :, None, None], bias, types)
            return shown(source, self.layer(Dense, source, **fields), chw)
        chw = self.around(x, (axis,))
        source = self.materialise(x, chw)
        fields = sum_fields(source, weights[:, :, None, None], bias, types)
        return shown(source, self.layer(Conv2d, source, kernel=(1, 1), **fields), chw)

    def _vector(self, x: Value, weights: Array) -> tuple[Value, Array]:
        """`x` as a tensor (F, 1, 1) in the order of its stream, and the weights' columns in that order."""
        if not x.is_reordering:
            x = self.compact(x)
        if not x.is_reordering:
            return self.materialise(x), weights
        stream = Value.whole(x.source, x.tensor).permuted((1, 2, 0)).reshaped((x.size,))
        assert stream is not None, "the axes of a tensor join"
        element = np.empty(x.size, np.int64)
        element[x.indices()] = np.arange(x.size)
        return self.materialise(stream), _with_columns(weights, element[stream.indices()])

    def conv_transpose2d(
        self,
        x: Value,
        weights: Array,
        bias: Array | None = None,
        *,
        stride: Pair = (1, 1),
        padding: Sides = (0, 0, 0, 0),
        output_padding: Pair = (0, 0),
        dilation: Pair = (1, 1),
        groups: int = 1,
        types: SumTypes = FLOATS,
    ) -> Value:
        """Transposed convolution of an image, or of a signal as of an image of one row.

        weights: [C, M / groups, KH, KW]. padding: (top, left, bottom, right), cut off the result;
        output_padding: rows and columns that the result has more at the bottom and the right.

        A convolution gives the output pixels of each phase (y % stride, x % stride) as channels of their own:
        no zero between input pixels is multiplied. A tap that a phase does not have is a zero weight.
        Raises DesignError: nothing is left of the result.
        """
        image = x if x.rank == 3 else self.unsqueeze(x, 0 if self.channels_last else 1)
        first = 0 if self.channels_last else 1
        plans = []
        for side in (0, 1):
            size, kernel = image.shape[first + side], weights.shape[2 + side]
            cut = padding[side], padding[2 + side]
            plan = _phases(size, kernel, stride[side], cut, output_padding[side], dilation[side])
            if plan.size < 1:
                message = f"{size} {('rows', 'columns')[side]} become {plan.size} once the padding is cut off"
                raise self.refusal(message, "less padding, or a larger input")
            plans.append(plan)
            image = self.slice(image, first + side, plan.skip, size - plan.skip - plan.leave)
        rows, columns = plans
        per_phase = _phase_weights(weights, groups, rows.taps, columns.taps)
        y = self.conv2d(
            image,
            per_phase,
            None if bias is None else np.repeat(bias, stride[0] * stride[1]),
            padding=(rows.before, columns.before, rows.after, columns.after),
            dilation=(rows.dilation, columns.dilation),
            groups=groups,
            types=types,
        )
        y = self.depth_to_space(y, stride)
        for side, plan in enumerate(plans):
            y = self.slice(y, first + side, plan.begin, plan.size)
        return y if x.rank == 3 else self.squeeze(y, (0 if self.channels_last else 1,))


def _with_columns(weights: Array, order: NDArray[np.int64]) -> Array:
    """Weights [M, F] with their columns in another order, each row in one piece, as all that follows goes."""
    if np.array_equal(order, np.arange(weights.shape[1])):
        return weights
    pixels = int(order[1])  # an order that is another one has two or more
    columns = np.arange(weights.shape[1])
    if not pixels or columns.size % pixels:
        return np.take(weights, order, axis=1)
    planes = columns.reshape(-1, pixels)
    if not np.array_equal(order, planes.T.reshape(-1)):
        return np.take(weights, order, axis=1)
    # plane by plane becomes pixel by pixel: a tenth of the time of looking up every column
    return weights.reshape(-1, *planes.shape).swapaxes(1, 2).reshape(weights.shape)


@dataclass(frozen=True, kw_only=True)
class _Phases:
    """One side of a transposed convolution as a convolution.

    taps: [phases, kernel] which of the weights each tap is, one beyond the last for none. before, after:
    padding; skip, leave: input pixels at the two ends that no output needs. Of the phases' pixels in turn
    those from `begin` on are the result, `size` of them.
    """

    taps: NDArray[np.int64]
    dilation: int
    before: int
    after: int
    skip: int
    leave: int
    begin: int
    size: int


def _phases(size: int, kernel: int, stride: int, cut: Pair, extra: int, dilation: int) -> _Phases:
    """How a side of `size` pixels becomes (size - 1) * stride + (kernel - 1) * dilation + 1 + extra - cut.

    Before the cut, output pixel q * stride + phase is the sum over t of input pixel q - t times weight k,
    where k * dilation = phase + t * stride.
    """
    result = (size - 1) * stride + (kernel - 1) * dilation + 1 - sum(cut) + extra
    if stride == 1:
        reach, spread = (kernel - 1) * dilation, dilation
        taps = np.arange(kernel)[None, ::-1]
    else:
        reach, spread = (kernel - 1) * dilation // stride, 1
        taps = np.full((stride, reach + 1), kernel)
        for weight in range(kernel):
            t, phase = divmod(weight * dilation, stride)
            taps[phase, reach - t] = weight
    first, last = cut[0] // stride, (cut[0] + result - 1) // stride
    before, after = reach - first, last - (size - 1)
    return _Phases(
        taps=taps,
        dilation=spread,
        before=max(before, 0),
        after=max(after, 0),
        skip=max(-before, 0),
        leave=max(-after, 0),
        begin=cut[0] - first * stride,
        size=result,
    )


def _phase_weights(weights: Array, groups: int, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Array:
    """Weights [C, M / groups, KH, KW] as a convolution's [M * phases, C / groups, row taps, column taps]."""
    channels, members = weights.shape[:2]
    kernel = weights.shape[2:]
    by_group = weights.reshape(groups, channels // groups, members, *kernel).swapaxes(1, 2)
    forward = by_group.reshape(groups * members, channels // groups, *kernel)
    with_none = np.pad(forward, ((0, 0), (0, 0), (0, 1), (0, 1)))
    taken = with_none[:, :, rows[:, :, None, None], columns[None, None]]
    # [M, C / groups, row phase, row tap, column phase, column tap]
    outputs = len(forward) * len(rows) * len(columns)
    return taken.transpose(0, 2, 4, 1, 3, 5).reshape(
        outputs, channels // groups, rows.shape[1], columns.shape[1]
    )
