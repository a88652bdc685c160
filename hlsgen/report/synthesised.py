"""What the vendor's tools report of a kernel, beside the model's figures (the section `synthesised`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from hlsgen.report.section import Any_, Count, Flag, Number, Section, Text
from hlsgen.search.board_limits import COLUMNS

HEADS = ("one kernel", "modelled", "synthesised", "model above by")
NAMES = {
    **{kind: kind.upper() for kind in COLUMNS},
    "latency_cycles": "cycles of a call",
    "clock_ns": "clock, ns",
    "largest_ii": "largest II of a loop",
}
"""Differences, in words."""


@dataclass(frozen=True, kw_only=True)
class Difference(Section):
    """A figure of both. percent: how far the model is above what is synthesised; None: above nothing."""

    modelled: Any_
    synthesised: Any_
    percent: Any_ | None


@dataclass(frozen=True, kw_only=True)
class CycleRange(Section):
    """Cycles, from the fewest to the most."""

    min: Count
    max: Count


@dataclass(frozen=True, kw_only=True)
class SynthesisFigures(Section):
    """A report of the vendor's tools beside the model. passed: of a co-simulation.

    resources: by kind, in the report's own order; each is a key of its own, which is not read again: the
    differences have them too.
    """

    stage: Text
    file: Text
    top: Text
    version: Text
    part: Text
    clock_ns: Number | None = None
    estimated_clock_ns: Number | None = None
    passed: Flag | None = None
    latency_cycles: CycleRange | None = None
    interval_cycles: CycleRange | None = None
    resources: Mapping[str, float] = field(default_factory=dict)
    differences: Annotated[Mapping[Text, Difference], Field(max_length=100)]

    @property
    def about(self) -> str:
        """The report in words: how far the design had come, by which tool, for which part."""
        text = " ".join(part for part in (self.stage, self.version, self.part) if part)
        return text + {True: ", passed", False: ", FAILED", None: ""}[self.passed]

    def rows(self, unknown: str = "-") -> list[tuple[str, str, str, str]]:
        """The differences as cells of a table; `unknown` stands for no percentage."""
        return [
            (
                NAMES.get(name, name),
                f"{one.modelled:,}",
                f"{one.synthesised:,}",
                unknown if one.percent is None else f"{one.percent:+.1f} %",
            )
            for name, one in self.differences.items()
        ]

    def as_json(self) -> dict[str, Any]:
        found = super().as_json()
        resources, differences = found.pop("resources"), found.pop("differences")
        return {**found, **resources, "differences": differences}
