"""A constant border."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes, FixedType, FloatType
from hlsgen.base.quantise import nearest
from hlsgen.layers.base import Shape, frames_of
from hlsgen.layers.periodic_stage import PeriodicStage, whole
from hlsgen.layers.stage import Fold, Stage, StreamFormat, Times, divisors
from hlsgen.layers.unary import Selection

MOST_PX = 64


@dataclass(frozen=True, kw_only=True, eq=False)
class Pad(Selection, kind="pad"):
    """in [C, H, W] -> out [before + C + after, top + H + bottom, left + W + right], `value` all around.

    padding: (top, left, bottom, right) in pixels; channels: (before, after). Fixed point: `value` is the
    nearest code of the source's type.
    """

    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    channels: tuple[int, int] = (0, 0)
    value: float = 0.0

    @property
    def output_shape(self) -> Shape:
        channels, height, width = self.source.shape
        top, left, bottom, right = self.padding
        return channels + sum(self.channels), height + top + bottom, width + left + right

    @property
    def value_code(self) -> int | float:
        """`value` as a code of the source. Raises DesignError: it leaves the range of the type."""
        what = f"{self.name}: the value of the padding"
        code: int | float = nearest(self.value, self.source.type, what, self.place).item()
        return code

    @property
    def value_bits(self) -> int:
        """The bits of `value_code`."""
        code, type_ = self.value_code, self.source.type
        if isinstance(type_, FloatType):
            return int(np.array(code, type_.dtype).view(f"u{type_.dtype.itemsize}"))
        return int(code) % (1 << type_.width)

    def check(self) -> list[Problem]:
        problems = []
        if min(*self.padding, *self.channels) < 0:
            message = f"the padding {self.padding} or {self.channels} of the channels is negative"
            problems.append(self.problem(message, "0 or more; a crop cuts off"))
        if not np.isfinite(self.value):
            message = f"the value of the padding is {self.value}"
            return [*problems, self.problem(message, "a finite number")]
        if isinstance(self.source.type, FixedType):
            try:
                _ = self.value_code
            except DesignError as error:
                problems += error.problems
        return problems

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        value = self.value_code if isinstance(self.source.type, FixedType) else self.value
        padded = np.full((len(frames), *self.output_shape), value, frames.dtype)
        (before, _), (top, left, _, _) = self.channels, self.padding
        channels, height, width = self.source.shape
        padded[:, before : before + channels, top : top + height, left : left + width] = frames
        return padded

    def folds(self) -> Iterator[Fold]:
        """Foldings by PX pixels and PE channels of an output word. SIMD: channels of an input word.

        Channels: as many as divide those of the source and of both borders, or all. Pixels, with all
        channels: as many as divide the source's width and the left border, or a whole row.
        """
        channels, _, width = self.source.shape
        out_channels, _, out_width = self.output_shape
        for simd in divisors(math.gcd(channels, *self.channels)):
            if simd < out_channels:
                yield Fold(px=1, pe=simd, simd=simd)
        yield Fold(px=1, pe=out_channels, simd=channels)
        together = {px for px in divisors(math.gcd(width, self.padding[1])) if px > 1}
        for px in sorted(together | {out_width} - {1}):
            if px <= MOST_PX:
                yield Fold(px=px, pe=out_channels, simd=channels)

    def stage(self, fold: Fold) -> Stage:
        return PadStage(layer=self, fold=fold)


@dataclass(frozen=True, kw_only=True, eq=False)
class PadStage(PeriodicStage):
    """Writes a word every cycle, PX pixels x PE channels, and reads one where the source has a part in it.

    Interval: the words of an output frame, in cycles.
    """

    layer: Pad
    fold: Fold

    template = "pad"

    @property
    def whole_row(self) -> bool:
        return self.fold.px == self.layer.output_shape[2]

    @property
    def inputs(self) -> tuple[StreamFormat, ...]:
        px = self.layer.source.shape[2] if self.whole_row else self.fold.px
        return (StreamFormat(tensor=self.layer.source, px=px, channels=self.fold.simd),)

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, px=self.fold.px, channels=self.fold.pe)

    @property
    def frame_iterations(self) -> int:
        return self.output.frame_words

    @property
    def firsts(self) -> tuple[int, int, int]:
        """The first fold, row and group of output words that the source has a part in."""
        all_channels = self.fold.pe == self.layer.output_shape[0]
        return (
            0 if all_channels else self.layer.channels[0] // self.fold.pe,
            self.layer.padding[0],
            0 if self.whole_row else self.layer.padding[1] // self.fold.px,
        )

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many folds, rows and groups there are from the firsts on."""
        source = self.inputs[0]
        return source.folds, source.shape[1], source.groups

    @property
    def lanes(self) -> tuple[int, int]:
        """The channel and the pixel of a word, with part of the source in it, where that part begins."""
        all_channels = self.fold.pe == self.layer.output_shape[0]
        return (
            self.layer.channels[0] if all_channels else 0,
            self.layer.padding[1] if self.whole_row else 0,
        )

    def frame_times(self) -> tuple[tuple[Times, ...], Times]:
        words = whole(self.frame_iterations)
        rest, fold = np.divmod(words, self.output.folds)
        row, group = np.divmod(rest, self.output.groups)
        inside = np.ones(len(words), bool)
        for at, first, count in zip((fold, row, group), self.firsts, self.counts, strict=True):
            inside &= (at >= first) & (at < first + count)
        return (words[inside],), words

    def constants(self) -> dict[str, Any]:
        source, out = self.inputs[0], self.output
        names = ("FOLD", "ROW", "GROUP")
        return {
            "VALUE": f"{self.layer.value_bits:#x}ull",
            "value": repr(float(source.type.decode(np.asarray(self.layer.value_code)))),
            "BITS": source.type.width,
            "PX": out.px,
            "CHANNELS": out.channels,
            "PX_IN": source.px,
            "CHANNELS_IN": source.channels,
            "FOLDS": out.folds,
            "GROUPS": out.groups,
            "insides": list(zip(names, self.firsts, self.counts, strict=True)),
            "FIRST_CHANNEL": self.lanes[0],
            "FIRST_PIXEL": self.lanes[1],
            "FRAME_ITERATIONS": self.frame_iterations,
        }
