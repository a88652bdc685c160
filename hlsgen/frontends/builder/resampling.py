"""The graph builder's resampled axes: signals and images of other sizes, nearest or linear."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from hlsgen.frontends.builder.convolutions import Convolutions
from hlsgen.frontends.builder.joining import MOST_PARTS, Joining, runs
from hlsgen.frontends.builder.sums import Array
from hlsgen.frontends.builder.views import Value

MOST_TAPS = 64
"""Elements of an axis between which one step interpolates: all are multiplied at once."""
SAME_FACTOR = 1e-7
"""Relative difference of factors that are the same but for the rounding of float32."""
LARGEST_FRACTION = 128
"""Denominator of a factor that is not that of whole sizes."""
MOST_JOINT_TAPS = 16
"""Taps of a kernel over rows and columns; what needs more goes over the rows first."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Turns:
    """How an axis of `size` elements becomes one of `wanted`: in turns of as many as there are phases.

    Turn n reads the elements from begin + n * stride on; weights[phase, tap] is how much of each is in the
    phase's result. Before the first element and behind the last there are more of these.
    """

    size: int
    wanted: int
    begin: int
    stride: int
    weights: Array

    @property
    def phases(self) -> int:
        return len(self.weights)

    @property
    def taps(self) -> int:
        return int(self.weights.shape[1])

    @property
    def border(self) -> tuple[int, int]:
        """Elements before and behind the axis that are read; negative: that are not."""
        last = (-(-self.wanted // self.phases) - 1) * self.stride + self.begin + self.taps - 1
        return -self.begin, last - (self.size - 1)

    @property
    def is_same(self) -> bool:
        return self.size == self.wanted and self.begin == 0 and self.stride == self.phases == self.taps == 1


@dataclass(frozen=True, kw_only=True)
class Resampled:
    """Linear between elements: of `wanted`, element i lies at first + i * step of the `size` there are.

    With step = q / p each p elements lie as the p before them, q elements further on: a turn.
    """

    size: int
    wanted: int
    step: Fraction
    first: Fraction

    @classmethod
    def half_pixel(cls, size: int, wanted: int, step: Fraction | None = None) -> Self:
        """Centres of pixels: PyTorch's align_corners=False, ONNX's half_pixel, Keras' bilinear."""
        step = Fraction(size, wanted) if step is None else step
        return cls(size=size, wanted=wanted, step=step, first=(step - 1) / 2)

    @classmethod
    def aligned_corners(cls, size: int, wanted: int) -> Self:
        """The first elements' and the last elements' centres on each other."""
        step = Fraction(size - 1, wanted - 1) if wanted > 1 else Fraction(0)
        return cls(size=size, wanted=wanted, step=step, first=Fraction(0))

    @property
    def positions(self) -> list[Fraction]:
        """The positions of the elements of the first turn."""
        return [self.first + phase * self.step for phase in range(min(self.step.denominator, self.wanted))]

    @property
    def taps(self) -> int:
        return math.ceil(self.positions[-1]) - math.floor(self.positions[0]) + 1

    @property
    def steps(self) -> int:
        """Every weight is a whole multiple of 1 / steps."""
        return math.lcm(*(position.denominator for position in self.positions))

    @property
    def turns(self) -> Turns:
        begin = math.floor(self.positions[0])
        weights = np.zeros((len(self.positions), self.taps))
        for phase, position in enumerate(self.positions):
            tap = math.floor(position) - begin
            weights[phase, tap] = 1 - (position - math.floor(position))
            if position.denominator > 1:
                weights[phase, tap + 1] = position - math.floor(position)
        stride = max(1, self.step.numerator)
        return Turns(size=self.size, wanted=self.wanted, begin=begin, stride=stride, weights=weights)


def is_whole(size: int, wanted: int, factor: float) -> bool:
    """Whether an axis of `size` elements times a factor is one of `wanted`, not cut off to it."""
    return abs(wanted - factor * size) < SAME_FACTOR * wanted


def simple_step(size: int, wanted: int, factor: float) -> Fraction | None:
    """Elements of an axis for one of the result, resized by a factor; None: that is no simple fraction."""
    if is_whole(size, wanted, factor):
        return Fraction(size, wanted)
    step = 1 / Fraction(factor).limit_denominator(LARGEST_FRACTION)
    return None if abs(float(1 / step) - factor) > SAME_FACTOR * factor else step


class Resampling(Convolutions, Joining):
    """Operations whose result lies between the elements that there are, or is some of them again."""

    def interpolated(self, x: Value, factors: Sequence[int]) -> Value:
        """A signal or an image of whole factors as many columns or rows and columns, half-pixel centres."""
        sizes = self._sides(x)
        axes = [Resampled.half_pixel(size, size * by) for size, by in zip(sizes, factors, strict=True)]
        for part in self.steps_of(axes):
            x = self.resampled(x, part)
        return x

    def steps_of(self, axes: Sequence[Resampled]) -> list[list[Resampled]]:
        """The axes that `resampled` shall take in one go: one or two of them together, or one after the
        other.
        """
        if math.prod(axis.taps for axis in axes if axis.size > 1) <= MOST_JOINT_TAPS:
            return [list(axes)]
        first, last = axes[0], axes[-1]
        if len(axes) == 1:
            return [[first]]
        return [[first, _left(last.size)], [_left(first.wanted), last]]

    def resampled(self, x: Value, axes: Sequence[Resampled]) -> Value:
        """A signal of other columns, or an image of other rows and columns, linear between elements.

        A depthwise convolution, with the step's numerator as stride, gives the elements of each phase as
        channels. Raises DesignError: a step reads more than MOST_TAPS elements.
        """
        if x.rank == 2:
            image = self.unsqueeze(x, 0 if self.channels_last else 1)
            return self.squeeze(self.resampled(image, [_left(1), *axes]), (0 if self.channels_last else 1,))
        first = 0 if self.channels_last else 1
        between = []
        for number, axis in enumerate(axes, start=first):
            alone = axis.size == 1  # there is nothing between: each element is it
            x = self.repeat(x, number, axis.wanted) if alone else x
            between.append(_left(axis.wanted) if alone else axis)
        return self._by_turns(x, [axis.turns for axis in between], first)

    def _by_turns(self, x: Value, axes: Sequence[Turns], first: int) -> Value:
        """Rows and columns of an image, axes `first` and the next."""
        if all(axis.is_same for axis in axes):
            return x
        self._refuse_many_taps(axes)
        borders = [axis.border for axis in axes]
        amounts = [*borders, (0, 0)] if self.channels_last else [(0, 0), *borders]
        padded = self.pad(x, amounts, mode="edge")
        rows, columns = (axis.weights for axis in axes)
        kernel = rows[:, None, :, None] * columns[None, :, None, :]
        channels = self.channels_first(x).shape[0]
        weights = np.tile(kernel.reshape(-1, 1, *kernel.shape[2:]), (channels, 1, 1, 1))
        y = self.conv2d(padded, weights, stride=(axes[0].stride, axes[1].stride), groups=channels)
        y = self.depth_to_space(y, (axes[0].phases, axes[1].phases))
        for number, axis in enumerate(axes, start=first):
            y = self.slice(y, number, 0, axis.wanted)
        return y

    def _refuse_many_taps(self, axes: Sequence[Turns]) -> None:
        for axis in axes:
            if axis.taps > MOST_TAPS:
                message = (
                    f"it makes {axis.wanted} elements of {axis.size}: they lie alike only every "
                    f"{axis.phases}, over {axis.taps} of the old ones, of at most {MOST_TAPS}"
                )
                raise self.refusal(message, "sizes whose ratio is a simpler fraction, such as 3/2")

    def _sides(self, x: Value) -> tuple[int, ...]:
        """The spatial sizes of an image or a signal."""
        return x.shape[:-1] if self.channels_last else x.shape[1:]

    def nearest(self, x: Value, axis: int, chosen: Sequence[int]) -> Value:
        """The elements `chosen`, ascending, of an axis: repeated, left out, or both by turns.

        What comes in turns is a view or slices of as many elements as a turn has; without turns, or with many
        slices in one, a convolution with weights of 0 and 1. Raises DesignError: that has too many taps.
        """
        axis = self.axis(x, axis)
        size, wanted = x.shape[axis], len(chosen)
        if wanted % size == 0 and list(chosen) == [i // (wanted // size) for i in range(wanted)]:
            return self.repeat(x, axis, wanted // size)
        if (
            wanted == 1
            or len({after - before for before, after in zip(chosen, chosen[1:], strict=False)}) == 1
        ):
            found = x.taken(axis, chosen)
            if found is not None:
                return found
        turns = _turns(size, chosen)
        within = [int(tap) for tap in turns.weights.argmax(axis=1)]
        if turns.taps <= turns.stride and len(runs(within)) <= MOST_PARTS:
            return self._taken_by_turns(x, axis, turns, within)
        if x.rank == 3 and axis != (2 if self.channels_last else 0):
            first = 0 if self.channels_last else 1
            return self._by_turns(
                x,
                [turns if number == axis else _left(x.shape[number]).turns for number in (first, first + 1)],
                first,
            )
        return self.take(x, axis, chosen)

    def _taken_by_turns(self, x: Value, axis: int, turns: Turns, within: Sequence[int]) -> Value:
        """Elements `within` the stride of each turn."""
        groups = -(-turns.wanted // turns.phases)
        amounts = [(0, 0)] * x.rank
        amounts[axis] = (-turns.begin, turns.begin + groups * turns.stride - turns.size)
        whole = self.pad(x, amounts, mode="edge")
        split = (*x.shape[:axis], groups, turns.stride, *x.shape[axis + 1 :])
        taken = self.take(self.reshape(whole, split), axis + 1, within)
        joined = self.reshape(taken, (*x.shape[:axis], groups * turns.phases, *x.shape[axis + 1 :]))
        return self.slice(joined, axis, 0, turns.wanted)


def _left(size: int) -> Resampled:
    """An axis that stays as it is."""
    return Resampled(size=size, wanted=size, step=Fraction(1), first=Fraction(0))


def _turns(size: int, chosen: Sequence[int]) -> Turns:
    """Turns of the fewest elements after which an ascending choice comes again further on; at worst all."""
    array = np.asarray(chosen)
    phases, stride = array.size, int(array[-1] - array[0]) + 1
    for turn in range(1, array.size):
        step = int(array[turn] - array[0])
        if step and np.array_equal(np.minimum(array[:-turn] + step, size - 1), array[turn:]):
            phases, stride = turn, step
            break
    within = array[:phases] - array[0]
    weights = np.eye(int(within.max()) + 1)[within]
    return Turns(size=size, wanted=array.size, begin=int(array[0]), stride=stride, weights=weights)
