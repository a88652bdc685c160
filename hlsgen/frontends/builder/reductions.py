"""The graph builder's layers that make one element of several: pooling, means, softmax, argmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hlsgen.base.fixed import NumberType
from hlsgen.frontends.builder.choosing import Choosing
from hlsgen.frontends.builder.sums import FLOAT, Pair, shown
from hlsgen.frontends.builder.views import Value
from hlsgen.layers.adaptive_pool import AdaptivePool
from hlsgen.layers.argmax import ArgMax
from hlsgen.layers.global_pool import GlobalPool
from hlsgen.layers.log_softmax import LogSoftmax
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.softmax import ExponentialSum, Softmax

Sides = tuple[int, int, int, int]


class Reductions(Choosing):
    """Operations over windows, or along whole axes."""

    def pool2d(
        self,
        x: Value,
        function: Literal["max", "average"],
        kernel: Pair,
        *,
        stride: Pair = (1, 1),
        padding: Sides = (0, 0, 0, 0),
        overhang: Pair = (0, 0),
        dilation: Pair = (1, 1),
        count_include_pad: bool = False,
        divisor: int | None = None,
        result_type: NumberType = FLOAT,
    ) -> Value:
        """Pooling of an image, or of a signal as of an image of one row; the fields are the layer's."""
        chw = self.default(x.rank)
        source = self.materialise(x, chw)
        layer = self.layer(
            Pool2d,
            source,
            source=source.tensor,
            function=function,
            kernel=kernel,
            stride=stride,
            padding=padding,
            overhang=overhang,
            dilation=dilation,
            count_include_pad=count_include_pad,
            divisor=divisor,
            result_type=result_type,
        )
        return shown(source, layer, chw)

    def adaptive_pool(
        self,
        x: Value,
        function: Literal["max", "average"],
        size: Sequence[int],
        result_type: NumberType = FLOAT,
    ) -> Value:
        """PyTorch's adaptive pooling of an image to `size` rows and columns, or of a signal to columns.

        Windows of equal size are a pool2d, all pixels a global pool, elements that are only repeated a view.
        """
        sides = x.shape[1:]
        if all(wanted == 1 for wanted in size):
            return self.reduce(x, function, range(1, x.rank), keep=True, result_type=result_type)
        if all(wanted % side == 0 for side, wanted in zip(sides, size, strict=True)):
            for axis, (side, wanted) in enumerate(zip(sides, size, strict=True), start=1):
                x = self.repeat(x, axis, wanted // side)
            return x
        rows, columns = (1, *size)[-2:]
        if all(side % wanted == 0 for side, wanted in zip(sides, size, strict=True)):
            down, across = (1, *(side // wanted for side, wanted in zip(sides, size, strict=True)))[-2:]
            return self.pool2d(x, function, (down, across), stride=(down, across), result_type=result_type)
        chw = self.default(x.rank)
        source = self.materialise(x, chw)
        layer = self.layer(
            AdaptivePool,
            source,
            source=source.tensor,
            function=function,
            size=(rows, columns),
            result_type=result_type,
        )
        return shown(source, layer, chw)

    def reduce(
        self,
        x: Value,
        function: Literal["max", "average", "sum"],
        axes: Sequence[int],
        keep: bool = False,
        result_type: NumberType = FLOAT,
    ) -> Value:
        """Largest value, mean or sum over `axes`; they stay as axes of one element if `keep`."""
        chosen = sorted({self.axis(x, axis) for axis in axes})
        many = [axis for axis in chosen if x.shape[axis] > 1]
        kept = tuple(axis for axis in range(x.rank) if axis not in many)
        shape = [1 if axis in chosen else size for axis, size in enumerate(x.shape)]
        if many and x.rank <= 3 and len(many) == 1 and many[0] not in self.default(x.rank)[0]:
            chw = self.default(x.rank)
            over_rows = many[0] in chw[1]
            kernel = (x.shape[many[0]], 1) if over_rows else (1, x.shape[many[0]])
            rest = chw[2] if over_rows else chw[1]
            if all(x.shape[axis] == 1 for axis in rest):
                x = self._global(x, function, kept, many, result_type)
            else:
                pooling: Literal["max", "average"] = "max" if function == "max" else "average"
                divisor = 1 if function == "sum" else None
                x = self.pool2d(x, pooling, kernel, divisor=divisor, result_type=result_type)
        elif many:
            x = self._global(x, function, kept, many, result_type)
        return self.reshape(
            x, shape if keep else [shape[axis] for axis in range(len(shape)) if axis not in chosen]
        )

    def smallest(self, x: Value, axes: Sequence[int], keep: bool = False) -> Value:
        """The smallest value over `axes`: -max(-x)."""
        return self.affine(self.reduce(self.affine(x, -1.0), "max", axes, keep), -1.0)

    def _global(
        self, x: Value, function: str, kept: tuple[int, ...], many: list[int], result_type: NumberType
    ) -> Value:
        chw = self.around(x, kept)
        source = self.materialise(x, chw)
        layer = self.layer(
            GlobalPool, source, source=source.tensor, function=function, result_type=result_type
        )
        shape = [1 if axis in many else size for axis, size in enumerate(x.shape)]
        return Value.of(layer.name, layer.output, shape, (tuple(range(x.rank)), (), ()))

    def softmax(self, x: Value, axis: int, result_type: NumberType = FLOAT) -> Value:
        """Softmax along an axis."""
        return self._exponential_sum(Softmax, x, axis, result_type)

    def log_softmax(self, x: Value, axis: int, result_type: NumberType = FLOAT) -> Value:
        """The logarithm of the softmax along an axis."""
        return self._exponential_sum(LogSoftmax, x, axis, result_type)

    def _exponential_sum(
        self, kind: type[ExponentialSum], x: Value, axis: int, result_type: NumberType
    ) -> Value:
        chw = self.around(x, (self.axis(x, axis),))
        source = self.materialise(x, chw)
        layer = self.layer(kind, source, source=source.tensor, result_type=result_type)
        return source.on(layer.name, layer.output)

    def argmin(self, x: Value, axis: int, keep: bool = False) -> Value:
        """Index of the first smallest element along an axis."""
        return self.argmax(self.affine(x, -1.0), axis, keep)

    def argmax(self, x: Value, axis: int, keep: bool = False, result_type: NumberType = FLOAT) -> Value:
        """Index of the first largest element along an axis; it stays as an axis of one element if `keep`."""
        axis = self.axis(x, axis)
        chw = self.around(x, (axis,))
        source = self.materialise(x, chw)
        layer = self.layer(ArgMax, source, source=source.tensor, result_type=result_type)
        result = shown(source, layer, chw)
        return result if keep else self.squeeze(result, (axis,))
