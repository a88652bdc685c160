"""What a report of the vendor tools says, whichever tool and version wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

MOST = 2**64 - 1
"""No count in a report is larger: latencies of nests without known bounds come near it."""


class Stage(StrEnum):
    """The stage that the design had come to when the report was written."""

    CSYNTH = "csynth"
    COSIM = "cosim"
    SYNTHESISED = "synthesised"
    """Synthesised by Vivado, not yet placed and routed."""
    ROUTED = "routed"


@dataclass(frozen=True, kw_only=True)
class Range:
    """Cycles, from the fewest to the most."""

    low: int
    high: int


@dataclass(frozen=True, kw_only=True)
class Loop:
    """A loop as csynth scheduled it; None: the report leaves it open.

    source: `file:line`, or `file:line~caller:line` for a loop of an inlined function; empty before 2023.1.
    """

    name: str
    trip_count: Range | None
    latency: Range | None
    ii: int | None
    depth: int | None
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Module:
    """One function of the design with what it calls. `resources` as of `SynthesisReport`.

    pipeline: `no`, `yes` or `dataflow`; depth: of a pipelined function, whose interval is its II.
    """

    name: str
    resources: Mapping[str, float]
    latency: Range | None = None
    interval: Range | None = None
    loops: tuple[Loop, ...] = ()
    pipeline: str = ""
    depth: int | None = None
    estimated_clock_ns: float | None = None


@dataclass(frozen=True, kw_only=True)
class SynthesisReport:
    """One report. resources: by kind, in the units of report.json (BRAM18, not 36 Kbit tiles).

    clock_ns: what was asked for; uncertainty_ns: what csynth keeps of it; estimated_clock_ns: what csynth
    expects. flow_target: `vivado` or `vitis`. passed: of a co-simulation. What is not said is None or
    empty.
    """

    path: Path
    stage: Stage
    top: str
    version: str = ""
    part: str = ""
    flow_target: str = ""
    clock_ns: float | None = None
    uncertainty_ns: float | None = None
    estimated_clock_ns: float | None = None
    latency: Range | None = None
    interval: Range | None = None
    resources: Mapping[str, float] = field(default_factory=dict)
    available: Mapping[str, float] = field(default_factory=dict)
    modules: tuple[Module, ...] = ()
    passed: bool | None = None

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops of all modules."""
        return tuple(loop for module in self.modules for loop in module.loops)
