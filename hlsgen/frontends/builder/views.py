"""What a framework's tensor is in the graph: a view on a tensor of ours, described by sizes and strides.

Reshapes, permutations, flips, repetitions and slices change the view and cost no layer. Frameworks' axes are
counted without the batch; `axes` of a view are its logical ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hlsgen.layers.base import Shape, Tensor
from hlsgen.model.origins import positions

Atom = tuple[int, int]
"""(size, stride): so many elements, each `stride` behind the one before in the tensor's [C, H, W] order."""
Axis = tuple[Atom, ...]
"""The atoms of a logical axis, outermost first; () for a size of 1."""
Arrangement = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""The logical axes that make up channel, row and column, each outermost first; each axis occurs once."""


@dataclass(frozen=True, kw_only=True)
class Box:
    """A part of a tensor, per channel, row and column: from `begin` on `size` elements, every `step`-th."""

    begin: Shape
    size: Shape
    step: Shape


@dataclass(frozen=True, kw_only=True)
class Value:
    """A framework's tensor without its batch: elements of the tensor `source` of the graph.

    Element (i0, i1, ...) is source.flat[offset + sum of digit * stride], flat in [C, H, W] order; an index's
    digits are those of the mixed radix of its axis's atoms.
    """

    source: str
    tensor: Tensor
    axes: tuple[Axis, ...]
    offset: int = 0

    @classmethod
    def of(cls, source: str, tensor: Tensor, shape: Sequence[int], chw: Arrangement) -> Value:
        """All of a tensor, as a framework's of `shape` whose axes are arranged as `chw`."""
        axes: list[Axis] = [()] * len(shape)
        stride = 1
        for axis in reversed([axis for group in chw for axis in group]):
            axes[axis] = _joined([(shape[axis], stride)])
            stride *= shape[axis]
        assert stride == math.prod(tensor.shape) == math.prod(shape), "a view shows every element"
        return cls(source=source, tensor=tensor, axes=tuple(axes))

    @classmethod
    def whole(cls, source: str, tensor: Tensor) -> Value:
        """A tensor as it is, [C, H, W]."""
        return cls.of(source, tensor, tensor.shape, ((0,), (1,), (2,)))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(math.prod(size for size, _ in axis) for axis in self.axes)

    @property
    def rank(self) -> int:
        return len(self.axes)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def flat(self) -> Axis:
        """The atoms of all its elements in row-major order."""
        return _joined(atom for axis in self.axes for atom in axis)

    @property
    def shows_most(self) -> bool:
        """Whether it shows more than half of its tensor's elements: work on the others is no great loss."""
        return 2 * self.seen > math.prod(self.tensor.shape)

    @property
    def seen(self) -> int:
        """How many of its tensor's elements it shows."""
        return math.prod(size for axis in self.axes for size, stride in axis if stride)

    @property
    def is_reordering(self) -> bool:
        """Whether it shows every element of its tensor exactly once."""
        single = all(stride for axis in self.axes for _, stride in axis)
        return single and self.size == math.prod(self.tensor.shape)

    def indices(self) -> NDArray[np.int64]:
        """The position of each element in the tensor's flat order: [*shape]."""
        return positions(self.axes, self.offset)

    def on(self, source: str, tensor: Tensor) -> Value:
        """The same view on another tensor of the same shape."""
        assert tensor.shape == self.tensor.shape
        return replace(self, source=source, tensor=tensor)

    # views of views

    def permuted(self, order: Sequence[int]) -> Value:
        """Axis i of the result is axis order[i]."""
        assert sorted(order) == list(range(self.rank))
        return replace(self, axes=tuple(self.axes[axis] for axis in order))

    def reshaped(self, shape: Sequence[int]) -> Value | None:
        """The same elements in row-major order with another shape; None: no atoms say that."""
        atoms = list(self.flat)
        axes: list[Axis] = []
        for wanted in reversed(shape):
            axis: list[Atom] = []
            while wanted > 1:
                size, stride = atoms.pop()
                inner = math.gcd(size, wanted)
                if inner == 1 or inner < min(size, wanted):
                    return None
                if inner < size:
                    atoms.append((size // inner, stride * inner))
                axis.append((inner, stride))
                wanted //= inner
            axes.append(_joined(reversed(axis)))
        assert not atoms, "a reshape keeps the number of elements"
        return replace(self, axes=tuple(reversed(axes)))

    def flipped(self, axis: int) -> Value:
        """The axis backwards."""
        end = sum((size - 1) * stride for size, stride in self.axes[axis])
        backwards = tuple((size, -stride) for size, stride in self.axes[axis])
        return replace(self._with(axis, backwards), offset=self.offset + end)

    def sliced(self, axis: int, begin: int, size: int, step: int = 1) -> Value | None:
        """`size` elements of the axis from `begin`, every `step`-th; None: no atoms say that."""
        found = _sliced(self.axes[axis], begin, size, step)
        return found and replace(self._with(axis, found[0]), offset=self.offset + found[1])

    def taken(self, axis: int, indices: Sequence[int]) -> Value | None:
        """The elements of the axis at `indices`, in their order; None: no atoms say that."""
        if len(self.axes[axis]) > 1:
            return None
        digits = _digits(indices)
        stride = self.axes[axis][0][1] if self.axes[axis] else 0
        if digits is None:
            return None
        atoms = ((size, step * stride) for size, step in digits)
        return replace(self._with(axis, atoms), offset=self.offset + indices[0] * stride)

    def repeated(self, axis: int, times: int) -> Value:
        """Each element of the axis `times` times: 1 1 2 2."""
        return self._with(axis, (*self.axes[axis], (times, 0)))

    def tiled(self, axis: int, times: int) -> Value:
        """The axis `times` times: 1 2 1 2."""
        return self._with(axis, ((times, 0), *self.axes[axis]))

    def _with(self, axis: int, atoms: Iterable[Atom]) -> Value:
        return replace(self, axes=(*self.axes[:axis], _joined(atoms), *self.axes[axis + 1 :]))

    # how it lies in its tensor

    def gathered(self, chw: Arrangement) -> tuple[Axis, Axis, Axis]:
        """The atoms of channel, row and column of a tensor that is arranged as `chw`."""
        channel, row, column = (_joined(atom for axis in group for atom in self.axes[axis]) for group in chw)
        return channel, row, column

    def shape_as(self, chw: Arrangement) -> Shape:
        """(channels, height, width) of a tensor that is arranged as `chw`."""
        shape = self.shape
        channels, height, width = (math.prod(shape[axis] for axis in group) for group in chw)
        return channels, height, width

    def is_arranged(self, chw: Arrangement) -> bool:
        """Whether its tensor as it is has the logical axes as channel, row and column as `chw` says."""
        channels, height, width = self.shape_as(chw)
        if self.tensor.shape != (channels, height, width):
            return False
        plain = ([(channels, height * width)], [(height, width)], [(width, 1)])
        return self.gathered(chw) == tuple(map(_joined, plain))

    @property
    def arrangement(self) -> Arrangement | None:
        """How the logical axes lie in its tensor, if they are nothing but its channel, row and column."""
        order = [axis for axis in range(self.rank) if self.axes[axis]]
        order.sort(key=lambda axis: -self.axes[axis][0][1])
        groups: list[tuple[int, ...]] = []
        for extent in self.tensor.shape:
            group: list[int] = []
            while order and extent > 1 and extent % self.shape[order[0]] == 0:
                extent //= self.shape[order[0]]
                group.append(order.pop(0))
            groups.append(tuple(group))
        groups[0] += tuple(axis for axis in range(self.rank) if not self.axes[axis])
        chw: Arrangement = groups[0], groups[1], groups[2]
        return chw if not order and self.is_arranged(chw) else None

    def box(self) -> tuple[Box, Value] | None:
        """The smallest part of its tensor that holds what it shows, and the view on that part alone.

        None: it shows something other than all of such a part (perhaps several times), or runs backwards.
        """
        _, height, width = self.tensor.shape
        units = (height * width, width, 1)
        axes = [_split(axis, units) for axis in self.axes]
        begin = (self.offset // units[0], self.offset // width % height, self.offset % width)
        if self.offset < 0 or any(atoms is None for atoms in axes):
            return None
        kept = [atoms for atoms in axes if atoms is not None]
        steps, sizes = [], []
        for dimension, unit in enumerate(units):
            mine = sorted(
                ((n, s // unit) for atoms in kept for n, s, d in atoms if d == dimension and s),
                key=lambda atom: -atom[1],
            )
            joined = _joined(mine) or ((1, 1),)
            size, step = joined[0]
            if len(joined) > 1 or begin[dimension] + (size - 1) * step >= self.tensor.shape[dimension]:
                return None
            steps.append(step)
            sizes.append(size)
        fresh = (sizes[1] * sizes[2], sizes[2], 1)
        over = tuple(
            _joined((n, s // (units[d] * steps[d]) * fresh[d] if s else 0) for n, s, d in atoms)
            for atoms in kept
        )
        size_, step_ = (sizes[0], sizes[1], sizes[2]), (steps[0], steps[1], steps[2])
        inside = replace(self, tensor=replace(self.tensor, shape=size_), axes=over, offset=0)
        return Box(begin=begin, size=size_, step=step_), inside


def _joined(atoms: Iterable[Atom]) -> Axis:
    """The fewest atoms that say the same: without sizes of 1, neighbours joined where strides allow it."""
    result: list[Atom] = []
    for size, stride in atoms:
        if size == 1:
            continue
        if result and result[-1][1] == size * stride:
            result[-1] = (result[-1][0] * size, stride)
        else:
            result.append((size, stride))
    return tuple(result)


def _digits(indices: Sequence[int]) -> Axis | None:
    """Atoms whose digits give `indices` less the first of them; None: there are none."""
    count = len(indices)
    if count == 1:
        return ()
    step = indices[1] - indices[0]
    run = next((n for n in range(2, count) if indices[n] - indices[n - 1] != step), count)
    for size in range(run, 1, -1):
        if count % size:
            continue
        first = [index - indices[0] for index in indices[:size]]
        outer = indices[::size]
        blocks = [start + index for start in outer for index in first]
        if blocks == list(indices) and (found := _digits(outer)) is not None:
            return (*found, (size, step))
    return None


def _sliced(atoms: Axis, begin: int, size: int, step: int) -> tuple[Axis, int] | None:
    """Atoms and offset of a part of an axis; None: no atoms say that."""
    if size == 1:
        step = 1
    if not atoms:
        return (), 0
    (_, stride), rest = atoms[0], atoms[1:]
    inner = math.prod(n for n, _ in rest)
    first, last = begin, begin + (size - 1) * step
    if first // inner == last // inner:  # within one digit of the outermost atom
        found = _sliced(rest, first % inner, size, step)
        return found and (found[0], found[1] + first // inner * stride)
    if step % inner == 0:  # the inner digits stay
        found = _sliced(rest, first % inner, 1, 1)
        assert found is not None
        return ((size, step // inner * stride),), found[1] + first // inner * stride
    each = size * step // (last // inner - first // inner + 1)
    if inner % step == 0 and first % inner < step and each == inner:  # the same of each outer digit
        found = _sliced(rest, first % inner, inner // step, step)
        return found and (((size * step // inner, stride), *found[0]), found[1] + first // inner * stride)
    return None


def _split(axis: Axis, units: Shape) -> list[tuple[int, int, int]] | None:
    """An axis's atoms as (size, stride, dimension), none across channels, rows and columns; None: some is."""
    pieces: list[tuple[int, int, int]] = []
    for size, stride in axis:
        if stride < 0:
            return None
        inner: list[tuple[int, int, int]] = []
        for dimension in (2, 1):  # what goes beyond the end of a column or row goes on in the next
            unit, outer = units[dimension], units[dimension - 1]
            if not stride or stride >= outer or size == 1:
                continue
            if stride % unit:
                return None
            if (size - 1) * stride < outer:
                inner.insert(0, (size, stride, dimension))
                size = 1
            elif outer % stride or size % (outer // stride):
                return None
            else:
                inner.insert(0, (outer // stride, stride, dimension))
                size, stride = size * stride // outer, outer
        if size > 1:
            if stride % units[0]:
                return None
            inner.insert(0, (size, stride, 0))
        pieces += inner
    return pieces
