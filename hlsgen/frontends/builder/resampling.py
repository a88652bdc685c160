"""The graph builder's resampled axes: signals and images of other sizes, nearest or linear."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
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
MOST_WEIGHTS = 1 << 20
"""Weights of an axis whose every element has its own."""
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
class Filter:
    """How much of the elements around its position an element of the result has.

    cubic: the coefficient of a cubic convolution (Keys), None for linear. stretch: how many times as far it
    reaches, as antialiasing makes it where there are fewer elements than before; weights then sum up to 1.
    """

    cubic: Fraction | None = None
    stretch: Fraction = Fraction(1)

    def taps(self, position: Fraction) -> tuple[int, list[Fraction]]:
        """The first element that is read, and the weights from there on; elements may lie outside."""
        reach = self.stretch * (1 if self.cubic is None else 2)
        first, last = math.floor(position - reach) + 1, math.ceil(position + reach) - 1
        weights = [self._weight(abs(tap - position) / self.stretch) for tap in range(first, last + 1)]
        total = sum(weights)
        return first, [weight / total for weight in weights] if self.stretch > 1 and total else weights

    def _weight(self, distance: Fraction) -> Fraction:
        if self.cubic is None:
            return max(1 - distance, Fraction(0))
        if distance < 1:
            return ((self.cubic + 2) * distance - (self.cubic + 3)) * distance**2 + 1
        return (((distance - 5) * distance + 8) * distance - 4) * self.cubic


LINEAR = Filter()


@dataclass(frozen=True, kw_only=True)
class Resampled:
    """Between elements: of `wanted`, element i lies at first + i * step of the `size` there are.

    With step = q / p each p elements lie as the p before them, q elements further on: a turn.
    """

    size: int
    wanted: int
    step: Fraction
    first: Fraction
    filter: Filter = LINEAR

    @classmethod
    def half_pixel(
        cls, size: int, wanted: int, step: Fraction | None = None, filter: Filter = LINEAR
    ) -> Self:
        """Centres of pixels: PyTorch's align_corners=False, ONNX's half_pixel, Keras' bilinear."""
        step = Fraction(size, wanted) if step is None else step
        return cls(size=size, wanted=wanted, step=step, first=(step - 1) / 2, filter=filter)

    @classmethod
    def aligned_corners(cls, size: int, wanted: int, filter: Filter = LINEAR) -> Self:
        """The first elements' and the last elements' centres on each other."""
        step = Fraction(size - 1, wanted - 1) if wanted > 1 else Fraction(0)
        return cls(size=size, wanted=wanted, step=step, first=Fraction(0), filter=filter)

    @property
    def positions(self) -> list[Fraction]:
        """The positions of the elements of the first turn."""
        return [self.first + phase * self.step for phase in range(min(self.step.denominator, self.wanted))]

    @property
    def taps(self) -> int:
        return self.turns.taps

    @property
    def steps(self) -> int:
        """Every weight is a whole multiple of 1 / steps, if it is linear."""
        return math.lcm(*(position.denominator for position in self.positions))

    @property
    def weights(self) -> Array:
        """Weights [wanted, size] of all elements."""
        positions = [self.first + number * self.step for number in range(self.wanted)]
        return weights_at(positions, self.size, self.filter)

    @cached_property
    def turns(self) -> Turns:
        rows = [self.filter.taps(position) for position in self.positions]
        begin = min(first for first, _ in rows)
        weights = np.zeros((len(rows), max(first + len(taps) for first, taps in rows) - begin))
        for phase, (first, taps) in enumerate(rows):
            weights[phase, first - begin : first - begin + len(taps)] = [float(tap) for tap in taps]
        stride = max(1, self.step.numerator)
        return Turns(size=self.size, wanted=self.wanted, begin=begin, stride=stride, weights=weights)


def weights_at(positions: Sequence[Fraction], size: int, filter: Filter, inside: bool = False) -> Array:
    """Weights [wanted, size] of the elements of an axis for results at any positions.

    What lies outside the axis is its first or last element again; `inside`: it is not read, and the other
    weights grow such that they sum up to 1.
    """
    made = np.zeros((len(positions), size))
    for row, position in zip(made, positions, strict=True):
        first, taps = filter.taps(position)
        for place, tap in enumerate(taps, start=first):
            if not inside or 0 <= place < size:
                row[min(max(place, 0), size - 1)] += float(tap)
    return made / made.sum(axis=1, keepdims=True) if inside else made


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
        first = 0 if self.channels_last else 1
        sizes = list(enumerate(self._sides(x), start=first))
        return self.resized(
            x,
            {
                axis: Resampled.half_pixel(size, size * by)
                for (axis, size), by in zip(sizes, factors, strict=True)
            },
        )

    def resized(self, x: Value, axes: Mapping[int, Resampled | Array]) -> Value:
        """Axes, by number, between their elements, or by weights [wanted, size] of each of their elements.

        Raises DesignError: weights that do not come in turns of at most MOST_TAPS are more than MOST_WEIGHTS.
        """
        first = 0 if self.channels_last else 1
        sides = dict(enumerate(self._sides(x), start=first)) if x.rank in (2, 3) else {}
        turned = {
            number: axis
            for number, axis in axes.items()
            if isinstance(axis, Resampled) and number in sides and (axis.size == 1 or axis.taps <= MOST_TAPS)
        }
        if turned:
            for part in self.steps_of([turned.get(number, _left(size)) for number, size in sides.items()]):
                x = self.resampled(x, part)
        for number in axes.keys() - turned.keys():
            axis = axes[number]
            x = self.weighed(x, number, axis.weights if isinstance(axis, Resampled) else axis)
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
        """A signal of other columns, or an image of other rows and columns, between their elements.

        A depthwise convolution, with the step's numerator as stride, gives the elements of each phase as
        channels.
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

    def weighed(self, x: Value, axis: int, weights: Array) -> Value:
        """An axis of other elements, each a sum of all of them by `weights` [wanted, size].

        For what does not come in turns: each element of the result has weights of its own. Raises
        DesignError: those are more than MOST_WEIGHTS.
        """
        if weights.size > MOST_WEIGHTS:
            message = (
                f"it makes {len(weights):,} elements of {weights.shape[1]:,}, each with weights of its own: "
                f"{weights.size:,}, of at most {MOST_WEIGHTS:,}"
            )
            raise self.refusal(
                message, "a factor that is a simple fraction, such as 3/2, or a smaller tensor"
            )
        return self.dense(x, weights, axis=axis)

    def _sides(self, x: Value) -> tuple[int, ...]:
        """The spatial sizes of an image or a signal."""
        return x.shape[:-1] if self.channels_last else x.shape[1:]

    def nearest(self, x: Value, axis: int, chosen: Sequence[int]) -> Value:
        """The elements `chosen`, ascending, of an axis: repeated, left out, or both by turns.

        What comes in turns is a view or slices of as many elements as a turn has; without turns, or with many
        slices in one, a convolution with weights of 0 and 1. Raises DesignError as `weighed` does.
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
        if turns.taps <= MOST_TAPS and x.rank == 3 and axis != (2 if self.channels_last else 0):
            first = 0 if self.channels_last else 1
            return self._by_turns(
                x,
                [turns if number == axis else _left(x.shape[number]).turns for number in (first, first + 1)],
                first,
            )
        if x.taken(axis, chosen) is not None or len(runs(chosen)) <= MOST_PARTS:
            return self.take(x, axis, chosen)
        return self.weighed(x, axis, np.eye(size)[list(chosen)])

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
