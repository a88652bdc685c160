"""What the pools share: the windows' function, its types, and the division of an average."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

from hlsgen.base.errors import Problem
from hlsgen.base.fixed import FixedType
from hlsgen.layers.averaging_stage import Divider, FloatDivider, count_table
from hlsgen.layers.division import Averaging, average_type
from hlsgen.layers.stage import Stage
from hlsgen.layers.unary import Unary

Counts = tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Pool(Unary):
    """One value of each window of a channel: "max", "average", or what else a kind has."""

    function: str

    @property
    @abstractmethod
    def window_counts(self) -> tuple[Counts, Counts]:
        """The rows that an average counts in each output row, and the columns in each column: a window's
        count is their product.
        """

    @cached_property
    def distinct_counts(self) -> Counts:
        """Every divisor that an average of this layer has, ascending."""
        rows, columns = (set(counts) for counts in self.window_counts)
        return tuple(sorted({row * column for row in rows for column in columns}))

    @property
    def most_pixels(self) -> int:
        """The most pixels of the image that a window covers."""
        return self.distinct_counts[-1]

    @cached_property
    def averaging(self) -> Averaging:
        """The division of the windows' sums by `distinct_counts`, with the constants that hardware needs."""
        type_ = self.source_type
        return Averaging(
            counts=self.distinct_counts,
            low=self.most_pixels * type_.min_code,
            high=self.most_pixels * type_.max_code,
            fraction=type_.fraction,
            result=self.fixed_result,
        )

    @property
    def only_selects(self) -> bool:
        return self.function == "max"

    @property
    def natural_type(self) -> FixedType:
        if self.function == "max":
            return self.source_type
        return average_type(self.source_type, self.distinct_counts, self.most_pixels)

    def check(self) -> list[Problem]:
        return super().check() or self.average_problems()

    def average_problems(self) -> list[Problem]:
        """The rule that an average's quotient has at most 128 bits."""
        if self.function != "average" or self.is_float:
            return []
        try:
            _ = self.averaging.quotient_type
        except ValueError:
            message = f"averages of {self.source.type} as {self.result_type} need more than 128 bits"
            return [self.problem(message, "narrower types, or types of a similar range")]
        return []


@dataclass(frozen=True, kw_only=True, eq=False)
class PoolingStage(Stage):
    """A pool as a stage: with an average, a divider behind its sums."""

    layer: Pool

    @property
    def averages(self) -> bool:
        return self.layer.function == "average"

    @cached_property
    def divider(self) -> Divider | FloatDivider:
        counts, windows = self.layer.distinct_counts, self.layer.window_counts
        if self.layer.is_float:
            return FloatDivider(counts=count_table(counts, windows))
        return Divider(averaging=self.layer.averaging, counts=count_table(counts, windows))

    @property
    def latency(self) -> int:  # type: ignore[override]
        return Stage.latency + (self.divider.latency if self.averages else 0)
