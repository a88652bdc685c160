"""Tensors one after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Self

import numpy as np

from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes, FixedType, FloatType, NumberType
from hlsgen.layers.base import Layer, Shape, Tensor, frames_of
from hlsgen.layers.periodic_stage import PeriodicStage, whole
from hlsgen.layers.stage import Fold, Stage, StreamFormat, Times, divisors, pixel_folds
from hlsgen.layers.unary import mixed_problems

AXES = ("channels", "rows", "columns")
MOST_PX = 64


@dataclass(frozen=True, kw_only=True, eq=False)
class Concat(Layer, kind="concat"):
    """`parts` one after the other along `axis`, each cast to `result_type`; 0 channels, 1 rows, 2 columns."""

    parts: tuple[Tensor, ...]
    axis: int = 0
    result_type: NumberType

    @property
    def sources(self) -> tuple[Tensor, ...]:
        return self.parts

    @property
    def output_shape(self) -> Shape:
        channels, rows, columns = (
            sum(part.shape[axis] for part in self.parts) if axis == self.axis else self.parts[0].shape[axis]
            for axis in range(3)
        )
        return channels, rows, columns

    @property
    def output_type(self) -> NumberType:
        return self.result_type

    def check(self) -> list[Problem]:
        types = {f"part {number + 1}": part.type for number, part in enumerate(self.parts)}
        problems = mixed_problems(self, **types, output=self.result_type)
        for axis in {0, 1, 2} - {self.axis}:
            sizes = [part.shape[axis] for part in self.parts]
            if len(set(sizes)) > 1:
                given = ", ".join(str(size) for size in sizes)
                message = f"its parts, joined along the {AXES[self.axis]}, have {given} {AXES[axis]}"
                problems.append(self.problem(message, f"the same number of {AXES[axis]} in all parts"))
        return problems

    def golden(self, *codes: Codes) -> Codes:
        parts = [
            self._converted(frames_of(array, part.shape), part.type)
            for array, part in zip(codes, self.parts, strict=True)
        ]
        return np.concatenate(parts, axis=1 + self.axis)

    def _converted(self, frames: Codes, type_: NumberType) -> Codes:
        if isinstance(self.result_type, FloatType):
            return frames
        assert isinstance(type_, FixedType)
        return self.result_type.cast(frames, type_)

    def retyped(self, sources: tuple[NumberType, ...], result: NumberType | None) -> Self:
        parts = tuple(replace(part, type=type_) for part, type_ in zip(self.parts, sources, strict=True))
        natural = reduce(union_type, sources) if result is None else result
        return replace(self, parts=parts, result_type=natural)

    @property
    def computes_float32(self) -> bool:
        return True

    def folds(self) -> Iterator[Fold]:
        """Foldings in which a word holds elements of one part, then those in which it holds some of each.

        PX and PE are pixels and channels of an output word. Joined along the channels: as many of one part
        as divide every part's, or those of all parts and then any number of pixels. Along the columns: as
        many of one part as divide every part's, or whole rows.
        """
        channels, _, width = self.output_shape
        if self.axis == 1:
            yield from pixel_folds(self.output_shape)
            return
        sizes = [part.shape[self.axis] for part in self.parts]
        if self.axis == 0:
            for simd in divisors(math.gcd(*sizes)):
                if simd < channels:
                    yield Fold(px=1, pe=simd, simd=simd)
            for px in divisors(width):
                if px <= MOST_PX:
                    yield Fold(px=px, pe=channels, simd=channels)
            return
        yield from pixel_folds((channels, 1, math.gcd(*sizes)))
        if width <= MOST_PX and len(sizes) > 1:
            yield Fold(px=width, pe=channels, simd=channels)

    def stage(self, fold: Fold) -> Stage:
        return ConcatStage(layer=self, fold=fold)


def union_type(a: NumberType, b: NumberType) -> NumberType:
    """The narrowest type that holds the values of both. Raises ValueError above 128 bits."""
    if a == b or isinstance(a, FloatType) or isinstance(b, FloatType):
        return a if isinstance(a, FloatType) else b
    signed = a.signed or b.signed
    # An unsigned type beside a signed one needs a bit for the sign.
    integer = max(type_.integer + (signed and not type_.signed) for type_ in (a, b))
    return FixedType(integer + max(a.fraction, b.fraction), integer, signed)


@dataclass(frozen=True, kw_only=True, eq=False)
class ConcatStage(PeriodicStage):
    """Parts joined along the channels. In turns: a word of one part a cycle, so many of each part, again and
    again; the interval is the words of all parts. Together: a word of each part makes one word; the interval
    is the words of the output.
    """

    layer: Concat
    fold: Fold

    template = "concat"

    @property
    def together(self) -> bool:
        """Whether a word of the output holds elements of every part."""
        if len(self.layer.parts) == 1 or self.layer.axis == 1:
            return False
        size = self.fold.pe if self.layer.axis == 0 else self.fold.px
        return size == self.layer.output_shape[self.layer.axis]

    @property
    def inputs(self) -> tuple[StreamFormat, ...]:
        return tuple(
            StreamFormat(
                tensor=part,
                px=part.shape[2] if self.together and self.layer.axis == 2 else self.fold.px,
                channels=part.shape[0] if self.together and self.layer.axis == 0 else self.fold.pe,
            )
            for part in self.layer.parts
        )

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, px=self.fold.px, channels=self.fold.pe)

    @property
    def turns(self) -> tuple[int, ...]:
        """Words of each part before the next part's turn; in turns only."""
        per_axis = ("folds", "frame_words", "row_words")
        return tuple(getattr(words, per_axis[self.layer.axis]) for words in self.inputs)

    @property
    def frame_iterations(self) -> int:
        return self.output.frame_words

    def frame_times(self) -> tuple[tuple[Times, ...], Times]:
        words = whole(self.frame_iterations)
        if self.together:
            return (words,) * len(self.layer.parts), words
        part = np.repeat(np.arange(len(self.turns)), self.turns)[words % sum(self.turns)]
        return tuple(words[part == number] for number in range(len(self.turns))), words

    def constants(self) -> dict[str, Any]:
        parts = [
            {
                "stream": f"in{number}" if number else "in",
                "t": words.type.cpp,
                "lanes": words.lanes,
                "shape": " x ".join(str(size) for size in words.shape),
                "first": first,
            }
            for number, (words, first) in enumerate(zip(self.inputs, self._first_lanes(), strict=True))
        ]
        turns = [] if self.together else self.turns
        return {
            "parts": parts,
            "axis": AXES[self.layer.axis],
            "together": self.together,
            "same_type": all(part.type == self.layer.result_type for part in self.layer.parts),
            "turns": turns,
            "turns_after_next": [turns[(part + 2) % len(turns)] for part in range(len(turns))],
            "PX": self.fold.px,
            "CHANNELS": self.fold.pe,
            "channels": [words.channels for words in self.inputs],
            "FRAME_ITERATIONS": self.frame_iterations,
        }

    def _first_lanes(self) -> list[int]:
        """Where each part's first element stands in a word of the output; together only."""
        if not self.together:
            return [0] * len(self.layer.parts)
        sizes = [words.channels if self.layer.axis == 0 else words.lanes for words in self.inputs]
        return [sum(sizes[:number]) for number in range(len(sizes))]
