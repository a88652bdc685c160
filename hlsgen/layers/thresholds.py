"""Thresholds of each channel: a value by how many of its channel's thresholds are not above it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hlsgen.base.coded import Doubles, narrowest
from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes, FixedType, FloatType
from hlsgen.layers.base import frames_of
from hlsgen.layers.elementwise_stage import ElementwiseStage
from hlsgen.layers.stage import Buffer, Fold, Stage, Work, pixel_folds
from hlsgen.layers.unary import Unary

LITERAL_BITS = 62
"""Codes of so many bits, and sums of two of them, are numbers of C++ and NumPy."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Thresholds(Unary, kind="thresholds"):
    """in [C, H, W] -> out [C, H, W]: first + step * i, where i of the channel's thresholds are not above x.

    thresholds: [1, N] for all channels or [C, N], in each row ascending, some perhaps alike; infinite ones
    are always or never reached. Fixed point: `result_type` has each of the N + 1 values, and a threshold is
    the first code of the source that is not below it. What QONNX's MultiThreshold computes.
    """

    thresholds: Doubles
    first: float = 0.0
    step: float = 1.0

    @property
    def count(self) -> int:
        """N, thresholds of a channel."""
        return int(self.thresholds.shape[1])

    @property
    def values(self) -> tuple[float, ...]:
        """What it gives, by the number of thresholds that are reached."""
        return tuple(self.first + self.step * number for number in range(self.count + 1))

    def check(self) -> list[Problem]:
        problems = super().check()
        channels = self.source.shape[0]
        if np.ndim(self.thresholds) != 2 or len(self.thresholds) not in (1, channels) or not self.count:
            message = f"it has thresholds of shape {np.shape(self.thresholds)} for {channels} channels"
            return [*problems, self.problem(message, f"one row of thresholds, or {channels}")]
        if np.isnan(self.thresholds).any() or not np.isfinite(self.values).all():
            problems.append(self.problem("a threshold is no number, or a value not finite", "real numbers"))
        elif (self.thresholds[:, :-1] > self.thresholds[:, 1:]).any():
            problems.append(self.problem("its thresholds do not ascend", "each as large as the one before"))
        elif not problems and isinstance(self.result_type, FixedType):
            problems += self._type_problems()
        return problems

    def _type_problems(self) -> list[Problem]:
        if self.source_type.width > LITERAL_BITS:
            message = f"it compares codes of {self.source_type.width} bits"
            return [self.problem(message, f"a source of at most {LITERAL_BITS} bits")]
        if self._holds_values():
            return []
        message = f"{self.result_type} does not have all its values, {self.first:g} to {self.values[-1]:g}"
        return [self.problem(message, f"a type with steps of {self.step:g} in that range")]

    def _holds_values(self) -> bool:
        type_ = self.fixed_result
        codes = np.ldexp(self.values, type_.fraction)
        inside = type_.min_code <= codes.min() and codes.max() <= type_.max_code
        return bool(inside and np.abs(codes).max() < 1 << LITERAL_BITS and (codes == np.rint(codes)).all())

    @property
    def natural_type(self) -> FixedType:
        """The narrowest that holds every value. Raises ValueError above 128 bits."""
        return narrowest(list(self.values))

    @cached_property
    def first_codes(self) -> Codes:
        """[1 or C, N] the first code of the source that reaches a threshold.

        The least code where all do, one more than the largest where none does.
        """
        source = self.source_type
        # ldexp of a double is exact here, and so is ceil; beyond 2**LITERAL_BITS no code lies
        codes = np.ceil(np.ldexp(self.thresholds, source.fraction))
        bound = 2.0**LITERAL_BITS
        whole = np.clip(codes, -bound, bound).astype(np.int64)
        return np.clip(whole, source.min_code, source.max_code + 1)

    @property
    def code_type(self) -> FixedType:
        """The type of `first_codes`: a bit more than the source's where some threshold is never reached."""
        source = self.source_type
        width = source.width + int((self.first_codes > source.max_code).any())
        return FixedType(width, width, source.signed)

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        fixed = not isinstance(self.result_type, FloatType)
        rows = self.first_codes if fixed else self.thresholds
        reached = np.zeros(frames.shape, np.int64)
        for number in range(self.count):
            reached += frames >= rows[:, number, None, None]
        if fixed:
            return np.asarray(self.fixed_result.encode(self.values)[reached])
        return np.asarray(np.array(self.values)[reached].astype(frames.dtype))

    def folds(self) -> Iterator[Fold]:
        return pixel_folds(self.source.shape)

    def stage(self, fold: Fold) -> Stage:
        return ThresholdsStage(layer=self, fold=fold)


@dataclass(frozen=True, kw_only=True, eq=False)
class ThresholdsStage(ElementwiseStage):
    """Each lane halves its channel's thresholds with a comparison, until it knows how many are reached.

    The thresholds of a word's channels stand in a row of a memory, one row where all channels come at once
    or share them.
    """

    layer: Thresholds

    template = "thresholds"

    @property
    def per_channel(self) -> bool:
        return len(self.layer.thresholds) > 1

    @property
    def halvings(self) -> int:
        """Comparisons, as many as the number of reached thresholds has bits."""
        return self.layer.count.bit_length()

    def tables(self) -> Mapping[str, tuple[Codes, FixedType]]:
        shape = (self.channel_folds, -1) if self.per_channel else (1, -1)
        return {"FIRST_CODES": (self.layer.first_codes.reshape(shape), self.layer.code_type)}

    def buffers(self) -> tuple[Buffer, ...]:
        if not self.per_channel or self.channel_folds == 1:
            return ()
        bits = self.fold.simd * self.layer.count * self.layer.code_type.width
        return (Buffer(name="first_codes", depth=self.channel_folds, bits=bits),)

    def work(self) -> tuple[Work, ...]:
        bits = (self.layer.code_type.width,)
        halved = self.layer.count - self.halvings
        return (
            Work(operator="compare", count=self.lanes * self.halvings, bits=bits),
            Work(operator="select", count=self.lanes * halved, bits=bits),
        )

    def constants(self) -> dict[str, Any]:
        layer = self.layer
        first, *others = layer.fixed_result.encode(layer.values)
        integer = "ap_int" if layer.source_type.signed else "ap_uint"
        return {
            **super().constants(),
            "input_t": f"{integer}<{layer.source_type.width}>",
            "code_t": f"{integer}<{layer.code_type.width}>",
            "signed": layer.source_type.signed,
            "STEPS": layer.count,
            "HALVINGS": self.halvings,
            "FIRST": int(first),
            "STEP": int(others[0]) - int(first),
            "per_channel": self.per_channel,
        }
