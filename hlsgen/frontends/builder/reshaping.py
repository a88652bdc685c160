"""The graph builder's views: what changes the order of elements and computes nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hlsgen.frontends.builder.core import Core
from hlsgen.frontends.builder.views import Value


class Reshaping(Core):
    """Operations whose result is a view; a layer is made only where no view says it. Axes may be negative."""

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """The elements in row-major order with another shape; one size may be -1.

        Raises DesignError: the number of elements changes.
        """
        wanted = list(shape)
        if wanted.count(-1) == 1:
            known = math.prod(size for size in wanted if size != -1)
            wanted[wanted.index(-1)] = x.size // known if known else 0
        if math.prod(wanted) != x.size or min(wanted, default=1) < 1:
            sizes = [" x ".join(str(size) for size in each) for each in (x.shape, shape)]
            raise self.refusal(
                f"{sizes[0]} elements cannot become {sizes[1]}", "a shape with as many elements"
            )
        found = x.reshaped(wanted)
        if found is None:
            found = self.materialise(x, self.in_order(x.rank)).reshaped(wanted)
        assert found is not None, "a tensor in row-major order takes every shape"
        return found

    def flatten(self, x: Value, first: int = 0, last: int = -1) -> Value:
        """The axes from `first` to `last`, both included, as one."""
        first, last = self.axis(x, first), self.axis(x, last)
        shape = x.shape
        return self.reshape(x, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))

    def squeeze(self, x: Value, axes: Sequence[int] | None = None) -> Value:
        """Without those of the axes (None: all) that have one element."""
        chosen = range(x.rank) if axes is None else [self.axis(x, axis) for axis in axes]
        return self.reshape(x, [size for axis, size in enumerate(x.shape) if axis not in chosen or size != 1])

    def unsqueeze(self, x: Value, axis: int) -> Value:
        """The value with a new axis of one element; `axis` is its number in the result."""
        place = axis if axis >= 0 else axis + x.rank + 1
        return self.reshape(x, (*x.shape[:place], 1, *x.shape[place:]))

    def permute(self, x: Value, order: Sequence[int]) -> Value:
        """Axis i of the result is axis order[i] of `x`."""
        return x.permuted([self.axis(x, axis) for axis in order])

    def transpose(self, x: Value, first: int, second: int) -> Value:
        """The value with two axes exchanged."""
        order = list(range(x.rank))
        first, second = self.axis(x, first), self.axis(x, second)
        order[first], order[second] = second, first
        return x.permuted(order)

    def flip(self, x: Value, axes: Sequence[int]) -> Value:
        """These axes backwards."""
        for axis in axes:
            x = x.flipped(self.axis(x, axis))
        return x

    def repeat(self, x: Value, axis: int, times: int) -> Value:
        """Each element of the axis `times` times, 1 1 2 2: nearest upsampling by a whole factor."""
        return x.repeated(self.axis(x, axis), times)

    def tile(self, x: Value, axis: int, times: int) -> Value:
        """The whole axis `times` times, 1 2 1 2."""
        return x.tiled(self.axis(x, axis), times)

    def expand(self, x: Value, shape: Sequence[int]) -> Value:
        """Broadcast to `shape`: axes are added in front, and axes of one element repeated.

        Raises DesignError: the shape of `x` does not broadcast to it.
        """
        lifted = self.reshape(x, (1,) * (len(shape) - x.rank) + x.shape)
        for axis, (size, wanted) in enumerate(zip(lifted.shape, shape, strict=True)):
            if size == 1 != wanted:
                lifted = lifted.repeated(axis, wanted)
            elif size != wanted:
                sizes = [" x ".join(str(n) for n in each) for each in (x.shape, shape)]
                message = f"a tensor of {sizes[0]} does not broadcast to {sizes[1]}"
                raise self.refusal(message, "shapes whose axes are equal or 1")
        return lifted

    def slice(self, x: Value, axis: int, begin: int, size: int, step: int = 1) -> Value:
        """`size` elements of the axis from `begin` on, every `step`-th (step >= 1)."""
        axis = self.axis(x, axis)
        found = x.sliced(axis, begin, size, step)
        if found is None:
            found = self.materialise(x, self.in_order(x.rank)).sliced(axis, begin, size, step)
        assert found is not None, "an axis of one atom takes every slice"
        return found

    def split(self, x: Value, axis: int, sizes: Sequence[int]) -> list[Value]:
        """Parts of these sizes, which make up the axis."""
        begins = [sum(sizes[:number]) for number in range(len(sizes))]
        return [self.slice(x, axis, begin, size) for begin, size in zip(begins, sizes, strict=True)]

    def channels_first(self, x: Value) -> Value:
        """A value of rank 3 as [C, H, W], whatever the builder's layout."""
        return x.permuted((2, 0, 1)) if self.channels_last else x

    def as_built(self, x: Value) -> Value:
        """A value [C, H, W] in the builder's layout."""
        return x.permuted((1, 2, 0)) if self.channels_last else x

    def depth_to_space(self, x: Value, block: tuple[int, int], column_first: bool = True) -> Value:
        """An image of [C * bh * bw, H, W] as [C, H * bh, W * bw]; the layout is the builder's.

        column_first: channel c * bh * bw + y * bw + x gives channel c (PyTorch's pixel shuffle, ONNX's CRD),
        else channel (y * bw + x) * C + c does (TensorFlow's, ONNX's DCR).
        """
        image = self.channels_first(x)
        depth, height, width = image.shape
        down, across = block
        channels = depth // (down * across)
        if column_first:
            image = self.reshape(image, (channels, down, across, height, width))
        else:
            image = self.reshape(image, (down, across, channels, height, width)).permuted((2, 0, 1, 3, 4))
        image = image.permuted((0, 3, 1, 4, 2))
        return self.as_built(self.reshape(image, (channels, height * down, width * across)))

    def space_to_depth(self, x: Value, block: tuple[int, int], column_first: bool = True) -> Value:
        """The inverse of `depth_to_space`."""
        image = self.channels_first(x)
        channels, height, width = image.shape
        down, across = block
        image = self.reshape(image, (channels, height // down, down, width // across, across))
        order = (0, 2, 4, 1, 3) if column_first else (2, 4, 0, 1, 3)
        shape = (channels * down * across, height // down, width // across)
        return self.as_built(self.reshape(image.permuted(order), shape))

    @staticmethod
    def axis(x: Value, axis: int) -> int:
        """The number of an axis, counted from the front."""
        assert -x.rank <= axis < x.rank, f"axis {axis} of {x.rank}"
        return axis % x.rank
