"""Softmax over the channels of each pixel, and what its logarithm shares with it: the sum of exponentials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes, FixedType, FloatType, Overflow, Rounding
from hlsgen.layers.base import frames_of
from hlsgen.layers.channels_stage import ChannelsStage
from hlsgen.layers.correct_rounding import nearby_values
from hlsgen.layers.delay_lines import MOST_REGISTER_WORDS, delay_line
from hlsgen.layers.stage import Buffer, Fold, Schedule, Stage, StreamFormat, Work, pixel_folds
from hlsgen.layers.unary import Unary

EXP_RANGE = 16
"""exp(-d) counts as 0 from here on: it is below 2**-23."""
EXP_STEP_BITS = 5
"""A segment of the table of exp(-d) is 2**-5 long: the chord is 2**-13 of the value above it at most."""
EXP_FRACTION = 14
"""Fraction bits of exponentials, beyond those that C of them may lose."""
INDEX_BITS = 8
REST_BITS = 10
"""The table of 1 / s for s in [1, 2) has 2**INDEX_BITS segments of 2**REST_BITS numbers."""
RECIPROCAL_FRACTION = INDEX_BITS + REST_BITS
"""Fraction bits of reciprocals, and of s."""
MOST_CODE_BITS = 60
"""Codes that hardware computes with."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ExponentialSum(Unary):
    """What a pixel's channels share: the exponentials e of their distances d from the largest, and their sum.

    Fixed point, for the codes x of a pixel's C channels, all in unsigned integers, shifts rounding down:

        d = max(x) - x
        i = d >> exp_shift;  r = d & (1 << exp_shift) - 1
        e = i < exp_segments ? exp_bases[i] - (exp_drops[i] * r >> exp_shift) : 0       of exp_type
        S = the sum of all e, 1.0 or more                                               of sum_type
        n = position of the highest bit of S, minus exp_fraction                        0 to sum_growth
        s = S << sum_growth - n        has its highest bit at t = exp_fraction + sum_growth
        j = INDEX_BITS bits of s below t;  k = the next REST_BITS bits

    The table of e is of chords of a convex function that meet at the segments' ends: it is monotone.
    """

    @property
    def exp_fraction(self) -> int:
        """Fraction bits of the exponentials."""
        return max(RECIPROCAL_FRACTION, EXP_FRACTION + self.sum_growth)

    @property
    def sum_growth(self) -> int:
        """Bits that the sum has more than an exponential: log2 of the channels, rounded up."""
        return (self.source.shape[0] - 1).bit_length()

    @property
    def distance_type(self) -> FixedType:
        """The type of d."""
        return FixedType(self.source_type.width, self.source_type.integer, signed=False)

    @property
    def exp_type(self) -> FixedType:
        return FixedType(self.exp_fraction + 1, 1, signed=False)

    @property
    def sum_type(self) -> FixedType:
        growth = self.sum_growth
        return FixedType(self.exp_fraction + 1 + growth, 1 + growth, signed=False)

    @property
    def exp_shift(self) -> int:
        """Bits of d within a segment of the table of exponentials."""
        return max(0, self.source_type.fraction - EXP_STEP_BITS)

    @property
    def exp_segments(self) -> int:
        """Segments up to EXP_RANGE, or to the largest d if that is less; at least 1."""
        steps = self.source_type.fraction - self.exp_shift
        in_range = EXP_RANGE << steps if steps >= 0 else max(1, EXP_RANGE >> -steps)
        return min(in_range, (self.distance_type.max_code >> self.exp_shift) + 1)

    @cached_property
    def exp_bases(self) -> Codes:
        """[exp_segments]: exp(-d) at each segment's begin, codes of exp_type."""
        return self._exponentials[:-1]

    @cached_property
    def exp_drops(self) -> Codes:
        """[exp_segments]: what exp(-d) loses along each segment, codes of exp_type."""
        return np.asarray(-np.diff(self._exponentials))

    @cached_property
    def _exponentials(self) -> Codes:
        # -d at the segments' ends as codes of a type of their own, down to -exp_segments
        width = self.exp_segments.bit_length() + 1
        steps = FixedType(width, width + self.exp_shift - self.source_type.fraction)
        ends = -np.arange(self.exp_segments + 1)
        exact = nearby_values("exp", (), steps, ends, self.exp_fraction)
        return np.asarray(np.ldexp(exact, self.exp_fraction), np.int64)

    def _distances(self, frames: Codes) -> Codes:
        """d of each code [frames, C, H, W]; Python's integers where 64 bits hold no products."""
        if max(self.source_type.width + self.exp_fraction, self.exp_shift) > MOST_CODE_BITS:
            frames = frames.astype(object)
        return np.asarray(frames.max(axis=1, keepdims=True) - frames)

    def _powers(self, distances: Codes) -> Codes:
        """e of each d."""
        index = np.minimum(distances >> self.exp_shift, self.exp_segments - 1).astype(np.int64)
        rest = distances & ((1 << self.exp_shift) - 1)
        kind = distances.dtype
        lost = self.exp_drops.astype(kind)[index] * rest >> self.exp_shift
        inside = distances < self.exp_segments << self.exp_shift
        return np.asarray(np.where(inside, self.exp_bases.astype(kind)[index] - lost, 0), np.int64)

    def _parts(self, powers: Codes) -> tuple[Codes, Codes, Codes]:
        """n, j and k [frames, 1, H, W] of the sums of e [frames, C, H, W]."""
        sums = powers.sum(axis=1, keepdims=True)
        # frexp is exact: sums have far fewer than 53 bits
        high_bit = np.frexp(sums.astype(np.float64))[1].astype(np.int64) - 1
        growth = np.asarray(high_bit - self.exp_fraction)
        mantissa = sums << (self.sum_growth - growth)
        top = self.exp_fraction + self.sum_growth
        index = (mantissa >> (top - INDEX_BITS)) & ((1 << INDEX_BITS) - 1)
        rest = (mantissa >> (top - RECIPROCAL_FRACTION)) & ((1 << REST_BITS) - 1)
        return growth, index, rest

    def folds(self) -> Iterator[Fold]:
        return pixel_folds(self.source.shape)


@dataclass(frozen=True, kw_only=True, eq=False)
class Softmax(ExponentialSum, kind="softmax"):
    """in [C, H, W] -> out [C, H, W]: exp(x) over the sum of exp(x) of the pixel's channels.

    Fixed point, with d, e, n, j and k of `ExponentialSum`:

        R = reciprocal_bases[j] - (reciprocal_drops[j] * k >> REST_BITS)                of reciprocal_type
        q = e * R >> n                                                                  of quotient_type
        y = q, at most `limit`, cast to result_type; 1 if that is 0 and d = 0
        d > 0: y, at most the pixel's y of d = 0, minus 1

    So equal inputs give equal results, a larger input never a smaller one, and none but the largest inputs
    give the largest result: the first largest channel stays the first largest, whatever the resolution.
    The table of R too is of chords of a convex function: it is monotone.
    """

    def result_within(self, bits: int, *sources: FixedType) -> FixedType:
        return FixedType(bits, 1, False, Rounding.RND_CONV, Overflow.SAT)

    @property
    def reciprocal_type(self) -> FixedType:
        return FixedType(RECIPROCAL_FRACTION + 1, 1, signed=False)

    @property
    def quotient_type(self) -> FixedType:
        return FixedType(self.exp_fraction + RECIPROCAL_FRACTION + 1, 1, signed=False)

    @cached_property
    def reciprocal_bases(self) -> Codes:
        """[2**INDEX_BITS]: 1 / s at each segment's begin, codes of reciprocal_type."""
        return self._reciprocals[:-1]

    @cached_property
    def reciprocal_drops(self) -> Codes:
        """[2**INDEX_BITS]: what 1 / s loses along each segment, codes of reciprocal_type."""
        return np.asarray(-np.diff(self._reciprocals))

    @cached_property
    def _reciprocals(self) -> Codes:
        segments = 1 << INDEX_BITS
        exact = segments / (segments + np.arange(segments + 1))
        return np.asarray(np.rint(np.ldexp(exact, RECIPROCAL_FRACTION)), np.int64)

    @property
    def limit(self) -> int:
        """The largest q that does not leave the range of the result."""
        finer = self.quotient_type.fraction - self.fixed_result.fraction
        largest = self.fixed_result.max_code
        return min(largest << finer if finer >= 0 else largest >> -finer, 1 << self.quotient_type.fraction)

    def check(self) -> list[Problem]:
        problems = super().check()
        result = self.result_type
        if isinstance(result, FixedType) and (result.fraction < 0 or result.max_code < 1):
            message = f"{result} has no value from 0 to 1 but 0, so it holds no probabilities"
            problems.append(self.problem(message, "a result type such as ufixed<16,0>"))
        return problems

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        if isinstance(self.result_type, FloatType):
            values = frames.astype(np.float64)
            powers = np.exp(values - values.max(axis=1, keepdims=True))
            return np.asarray(powers / powers.sum(axis=1, keepdims=True)).astype(frames.dtype)
        distances = self._distances(frames)
        quotients = np.minimum(self._quotients(self._powers(distances)), self.limit)
        results = self.result_type.cast(quotients, self.quotient_type)
        largest = np.maximum(np.where(distances == 0, results, 0).max(axis=1, keepdims=True), 1)
        return np.asarray(np.where(distances == 0, largest, np.minimum(results, largest - 1)))

    def _quotients(self, powers: Codes) -> Codes:
        """q of each e [frames, C, H, W]."""
        growth, index, rest = self._parts(powers)
        reciprocals = self.reciprocal_bases[index] - (self.reciprocal_drops[index] * rest >> REST_BITS)
        return np.asarray(powers * reciprocals >> growth)

    def stage(self, fold: Fold) -> Stage:
        return SoftmaxStage(layer=self, fold=fold)


@dataclass(frozen=True, kw_only=True, eq=False)
class ExponentialSumStage(ChannelsStage):
    """Three passes over the channels of PX pixels, each FOLDS iterations after the one before.

    While some pixels arrive and their largest channel is found, exponentials are computed and summed of the
    pixels before, and those before them are normalised: so no cycle is lost. Every lane looks up exponentials
    in a table of its own, every pixel what its sum stands for.
    Raises DesignError: codes so wide that no C++ type holds a product.
    """

    layer: ExponentialSum

    latency = 24

    def __post_init__(self) -> None:
        type_ = self.layer.source_type
        if type_.width > MOST_CODE_BITS or self.layer.exp_shift > MOST_CODE_BITS:
            message = f"a {self.layer.kind} of {type_} needs numbers of more bits than are built"
            raise DesignError(self.layer.problem(message, "a narrower source; 32 bits always do"))

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, px=self.fold.px, channels=self.fold.simd)

    def schedule(self, frames: int) -> Schedule:
        reads = np.arange(frames * self.interval, dtype=np.int64)
        lag = 2 * self.channel_folds
        return Schedule(iterations=len(reads) + lag, reads=(reads,), writes=(reads + lag,))

    def exponential_tables(self) -> dict[str, tuple[Codes, FixedType]]:
        layer = self.layer
        drops = {"EXP_DROPS": (layer.exp_drops, layer.exp_type)} if layer.exp_shift else {}
        return {"EXP_BASES": (layer.exp_bases, layer.exp_type), **drops}

    def table_buffers(self) -> tuple[Buffer, ...]:
        """The tables' buffers: those of exponentials for each lane, the others for each pixel."""
        return tuple(
            Buffer(
                name=name.lower(),
                depth=len(codes),
                bits=type_.width,
                copies=self.lanes if name.startswith("EXP_") else self.fold.px,
            )
            for name, (codes, type_) in self.tables().items()
        )

    def sum_work(self) -> tuple[Work, ...]:
        """The arithmetic of exponentials and their sum, and of comparisons."""
        layer = self.layer
        chords = [(layer.exp_type.width, layer.exp_shift)] if layer.exp_shift else []
        return (
            *(Work(operator="mul", count=self.lanes, bits=widths) for widths in chords),
            Work(operator="add", count=self.lanes, bits=(layer.sum_type.width,)),
            Work(operator="compare", count=3 * self.lanes, bits=(layer.source_type.width,)),
        )

    def constants(self) -> dict[str, Any]:
        layer = self.layer
        return {
            **super().constants(),
            "EXP_FRACTION": layer.exp_fraction,
            "EXP_SHIFT": layer.exp_shift,
            "EXP_SEGMENTS": layer.exp_segments,
            "SUM_GROWTH": layer.sum_growth,
            "INDEX_BITS": INDEX_BITS,
            "REST_BITS": REST_BITS,
            "distance_t": layer.distance_type.cpp,
            "registers": self.channel_folds <= MOST_REGISTER_WORDS,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftmaxStage(ExponentialSumStage):
    """The exponentials are kept, to be multiplied by the reciprocal of their sum."""

    layer: Softmax

    template = "softmax"

    def tables(self) -> Mapping[str, tuple[Codes, FixedType]]:
        layer = self.layer
        return {
            **self.exponential_tables(),
            "RECIPROCAL_BASES": (layer.reciprocal_bases, layer.reciprocal_type),
            "RECIPROCAL_DROPS": (layer.reciprocal_drops, layer.reciprocal_type),
        }

    def buffers(self) -> tuple[Buffer, ...]:
        exponential = self.layer.exp_type.width + 1
        return (
            delay_line("values", self.channel_folds, self.lanes * self.layer.source_type.width),
            delay_line("powers", self.channel_folds, self.lanes * exponential),
            *self.table_buffers(),
        )

    def work(self) -> tuple[Work, ...]:
        widths = (self.layer.exp_type.width, self.layer.reciprocal_type.width)
        return (
            *self.sum_work(),
            Work(operator="mul", count=self.lanes, bits=widths),
            Work(operator="mul", count=2 * self.fold.px, bits=widths),
        )

    def constants(self) -> dict[str, Any]:
        return {
            **super().constants(),
            "kept": "power",
            "of_pixel": "factor",
            "of_sum": ("reciprocal_bases", "reciprocal_drops"),
            "quotient_t": self.layer.quotient_type.cpp,
            "LIMIT": self.layer.limit,
        }
