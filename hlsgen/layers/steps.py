"""Step functions: a value for each of some ranges of the source, such as the nearest power of two."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hlsgen.base.coded import narrowest
from hlsgen.base.errors import Problem
from hlsgen.base.fixed import Codes, FixedType, FloatType
from hlsgen.layers.base import frames_of
from hlsgen.layers.elementwise_stage import ElementwiseStage
from hlsgen.layers.stage import Fold, Stage, Work, pixel_folds
from hlsgen.layers.unary import Unary


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps(Unary, kind="steps"):
    """in [C, H, W] -> out [C, H, W]: values[i], where i of the `thresholds` are not above x.

    thresholds: ascending, one fewer than values. Fixed point: a threshold is the first code of the source
    that is not below it; a value is encoded by `result_type`.
    """

    thresholds: tuple[float, ...]
    values: tuple[float, ...]

    def check(self) -> list[Problem]:
        problems = super().check()
        if len(self.values) != len(self.thresholds) + 1:
            message = f"it has {len(self.values)} values and {len(self.thresholds)} thresholds"
            problems.append(self.problem(message, "one value more than thresholds"))
        if not np.isfinite([*self.thresholds, *self.values]).all():
            problems.append(self.problem("a threshold or a value is not finite", "finite numbers"))
        elif any(low >= high for low, high in zip(self.thresholds, self.thresholds[1:], strict=False)):
            problems.append(self.problem("its thresholds do not ascend", "each above the one before"))
        return problems

    @cached_property
    def reached(self) -> tuple[tuple[int, float], ...]:
        """(first code, value) of each range that has a code of the source; ranges of one value are joined."""
        return reached(self.source_type, self.thresholds, self.values)

    @property
    def natural_type(self) -> FixedType:
        """The narrowest that holds every value that is reached. Raises ValueError above 128 bits."""
        return narrowest([value for _, value in self.reached])

    @property
    def first_codes(self) -> Codes:
        """The first code of each range that is reached but the lowest one."""
        wide = self.source_type.max_code >= 1 << 63
        return np.array([code for code, _ in self.reached[1:]], object if wide else np.int64)

    @property
    def results(self) -> Codes:
        """The result of each range that is reached."""
        return self.fixed_result.encode([value for _, value in self.reached])

    def golden(self, *codes: Codes) -> Codes:
        frames = frames_of(codes[0], self.source.shape)
        if isinstance(self.result_type, FloatType):
            values = np.array(self.values)[np.searchsorted(self.thresholds, frames, side="right")]
            return np.asarray(values.astype(frames.dtype))
        return np.asarray(self.results[np.searchsorted(self.first_codes, frames, side="right")])

    def folds(self) -> Iterator[Fold]:
        return pixel_folds(self.source.shape)

    def stage(self, fold: Fold) -> Stage:
        return StepsStage(layer=self, fold=fold)


@dataclass(frozen=True, kw_only=True, eq=False)
class StepsStage(ElementwiseStage):
    """Each lane compares its code with every threshold, all of them constants."""

    layer: Steps

    template = "steps"

    @property
    def count(self) -> int:
        """Thresholds."""
        return len(self.layer.reached) - 1

    def tables(self) -> Mapping[str, tuple[Codes, FixedType]]:
        source = self.layer.source_type
        code_type = FixedType(source.width, source.width, source.signed)
        results = {"RESULTS": (self.layer.results, self.layer.fixed_result)}
        return {"FIRST_CODES": (self.layer.first_codes, code_type), **results} if self.count else results

    def work(self) -> tuple[Work, ...]:
        count = self.lanes * self.count
        return (
            Work(operator="compare", count=count, bits=(self.layer.source_type.width,)),
            Work(operator="select", count=count, bits=(self.layer.fixed_result.width,)),
        )

    def constants(self) -> dict[str, Any]:
        source = self.layer.source_type
        code_t = f"ap_{'int' if source.signed else 'uint'}<{source.width}>"
        return {**super().constants(), "code_t": code_t, "STEPS": self.count}


def reached(
    source: FixedType, thresholds: Sequence[float], values: Sequence[float]
) -> tuple[tuple[int, float], ...]:
    """(first code, value) of each range that has a code of `source`; neighbours of one value are joined."""
    ranges = {source.min_code: values[0]}
    for threshold, value in zip(thresholds, values[1:], strict=True):
        # ldexp of a double is exact here, and so is ceil
        code = max(source.min_code, math.ceil(math.ldexp(threshold, source.fraction)))
        if code <= source.max_code:
            ranges[code] = value
    found: list[tuple[int, float]] = []
    for code, value in ranges.items():
        if not found or found[-1][1] != value:
            found.append((code, value))
    return tuple(found)
