"""A box cut out of a tensor: slices and the parts of a split."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes
from hlsgen.layers.base import Shape, frames_of
from hlsgen.layers.periodic_stage import PeriodicStage, whole
from hlsgen.layers.stage import Fold, Stage, StreamFormat, Times, divisors
from hlsgen.layers.unary import Selection

MOST_PX = 64


@dataclass(frozen=True, kw_only=True, eq=False)
class Crop(Selection, kind="crop"):
    """in [C, H, W] -> out `size`: out[i] = in[begin + i * step] along each of (channel, row, column)."""

    begin: Shape
    size: Shape
    step: Shape = (1, 1, 1)

    @property
    def output_shape(self) -> Shape:
        return self.size

    def check(self) -> list[Problem]:
        problems = []
        names = ("channel", "row", "column")
        for what, first, count, step, most in zip(
            names, self.begin, self.size, self.step, self.source.shape, strict=True
        ):
            last = first + (count - 1) * step
            if step < 1 or count < 1:
                message = f"a crop of {count} {what}s with step {step} is empty or goes backwards"
                problems.append(self.problem(message, "a size and a step of at least 1"))
            elif first < 0 or last >= most:
                message = f"{what}s {first} to {last} are cut out of a source with {what}s 0 to {most - 1}"
                problems.append(self.problem(message, f"{what}s within the source"))
        return problems

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        cuts = (
            slice(first, first + (count - 1) * step + 1, step)
            for first, count, step in zip(self.begin, self.size, self.step, strict=True)
        )
        return frames[(slice(None), *cuts)]

    def folds(self) -> Iterator[Fold]:
        """Foldings by PX pixels and SIMD channels of an input word. PE: channels of an output word."""
        channels, _, width = self.source.shape
        for simd in divisors(channels):
            cut = cut_of(channels, _kept(self, 0), simd)
            if cut and self.size[0] % cut.lanes == 0:
                yield Fold(px=1, pe=cut.lanes, simd=simd)
        for px in divisors(width)[1:]:
            if px <= MOST_PX and cut_of(width, _kept(self, 2), px):
                yield Fold(px=px, pe=self.size[0], simd=channels)

    def stage(self, fold: Fold) -> Stage:
        return CropStage(layer=self, fold=fold)


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Along one axis: what is kept of words that hold some neighbouring elements each.

    Of the words `first`, `first + step`, ... (`count` of them) the elements `lane`, `lane + lane_step`, ...
    (`lanes` of them); words of the result hold `lanes` elements each.
    """

    first: int
    step: int
    count: int
    lane: int
    lane_step: int
    lanes: int


def cut_of(size: int, kept: tuple[int, int, int], held: int) -> Cut | None:
    """How `kept` = (begin, count, step) of `size` elements is cut out of words of `held`; None: not simply.

    Simple is what needs no elements of two words in one: single elements, all of them in one word, or words
    that each begin with a kept element's place in the step.
    """
    begin, count, step = kept
    if held == size:
        return Cut(first=0, step=1, count=1, lane=begin, lane_step=step, lanes=count)
    if held == 1:
        return Cut(first=begin, step=step, count=count, lane=0, lane_step=1, lanes=1)
    if held % step or begin % held >= step:
        return None
    lanes = held // step
    return Cut(
        first=begin // held, step=1, count=-(-count // lanes), lane=begin % held, lane_step=step, lanes=lanes
    )


def _kept(layer: Crop, axis: int) -> tuple[int, int, int]:
    return layer.begin[axis], layer.size[axis], layer.step[axis]


@dataclass(frozen=True, kw_only=True, eq=False)
class CropStage(PeriodicStage):
    """Reads every word, PX pixels x SIMD channels a cycle, and writes what the box has of it.

    Interval: the words of an input frame, in cycles.
    """

    layer: Crop
    fold: Fold

    template = "crop"

    @property
    def channels(self) -> Cut:
        return self._cut(0, self.fold.simd)

    @property
    def rows(self) -> Cut:
        begin, count, step = _kept(self.layer, 1)
        return Cut(first=begin, step=step, count=count, lane=0, lane_step=1, lanes=1)

    @property
    def columns(self) -> Cut:
        return self._cut(2, self.fold.px)

    def _cut(self, axis: int, held: int) -> Cut:
        cut = cut_of(self.layer.source.shape[axis], _kept(self.layer, axis), held)
        assert cut is not None, f"{self.name} cannot be folded by {self.fold}"
        return cut

    @property
    def inputs(self) -> tuple[StreamFormat, ...]:
        return (StreamFormat(tensor=self.layer.source, px=self.fold.px, channels=self.fold.simd),)

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, px=self.columns.lanes, channels=self.channels.lanes)

    @property
    def frame_iterations(self) -> int:
        return self.inputs[0].frame_words

    def frame_times(self) -> tuple[tuple[Times, ...], Times]:
        words, source = whole(self.frame_iterations), self.inputs[0]
        rest, fold = np.divmod(words, source.folds)
        row, group = np.divmod(rest, source.groups)
        inside = _inside(fold, self.channels) & _inside(row, self.rows) & _inside(group, self.columns)
        return (words,), words[inside]

    def constants(self) -> dict[str, Any]:
        words = self.inputs[0]
        return {
            "PX": words.px,
            "SIMD": words.channels,
            "FOLDS": words.folds,
            "GROUPS": words.groups,
            "PX_OUT": self.output.px,
            "CHANNELS_OUT": self.output.channels,
            "FRAME_ITERATIONS": self.frame_iterations,
            "begin": self.layer.begin,
            "step": self.layer.step,
            "cuts": [("FOLD", self.channels), ("ROW", self.rows), ("GROUP", self.columns)],
            "FIRST_CHANNEL": self.channels.lane,
            "CHANNEL_STEP": self.channels.lane_step,
            "FIRST_PIXEL": self.columns.lane,
            "PIXEL_STEP": self.columns.lane_step,
        }


def _inside(at: Times, cut: Cut) -> NDArray[np.bool_]:
    """Which of the words `at` are kept."""
    past = at - cut.first
    kept: NDArray[np.bool_] = (past >= 0) & (past % cut.step == 0) & (past < cut.count * cut.step)
    return kept
