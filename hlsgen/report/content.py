"""What report.json holds, typed: made once from the hardware and its verification, written everywhere.

report.json, report.md, report.html and the console say these figures; reading.py makes the same ones of a
build folder. Every figure is the cost model's unless it is said to be measured or synthesised.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Annotated, Any, Self

from pydantic import BeforeValidator

from hlsgen.designfile.validation import Entries
from hlsgen.report.cells import Cost
from hlsgen.report.checks import CsimFigures, LintFigures
from hlsgen.report.explored import Search
from hlsgen.report.figures import (
    Banks,
    Border,
    ClockBudget,
    DdrTraffic,
    Fifo,
    Joint,
    Layer,
    Memory,
    OmpssFigures,
    Performance,
    Slr,
    Total,
)
from hlsgen.report.fit import Fit
from hlsgen.report.frames import FrameFigures
from hlsgen.report.interface import Interface
from hlsgen.report.judge import JudgeFigures
from hlsgen.report.kernels import KernelFigures
from hlsgen.report.mixture import MixtureFigures
from hlsgen.report.processor import ProcessorFigures, TaskFigures
from hlsgen.report.profile import TensorFigures
from hlsgen.report.quality import Quality, TensorAccuracy
from hlsgen.report.roofline import Roofline
from hlsgen.report.schedule import ScheduleFigures
from hlsgen.report.section import MOST_ROWS, Count, Positive, Rows, Section, Text
from hlsgen.report.structure import GraphSection
from hlsgen.report.styles import StyleFigures
from hlsgen.report.synthesised import SynthesisFigures
from hlsgen.report.timing import Span, Timing
from hlsgen.search.board_limits import COLUMNS


def _none_if_empty(value: object) -> object:
    """A kernel whose period is too long to simulate has an empty mapping there."""
    return None if value == {} else value


@dataclass(frozen=True, kw_only=True)
class Figures(Section):
    """The modelled figures of a design of any style; what a style has not is None or empty.

    memories and banks, ompss: of one convolution. kernels: of one whose instances differ in folding; layers,
    cycles of the total, memories and banks are those of the first of them. interface, joints, fifos, timing,
    quantisation, quality, styles, explored: of networks. memory: of a network of tasks or a program.
    processor, tasks: of a program. mixture: of a streaming kernel that feeds processors.
    """

    design: Text
    style: Text = ""
    board: Text
    clock_mhz: Positive
    clock: ClockBudget
    board_title: Text
    part: Text
    interface: Interface | None = None
    graph: GraphSection
    layers: Annotated[tuple[Layer, ...], Entries(1, MOST_ROWS)]
    total: Total
    performance: Performance
    cost: Cost
    fit: Fit
    memory: DdrTraffic | None = None
    roofline: Roofline | None
    timeline: Annotated[tuple[Span, ...], Rows]
    ompss: OmpssFigures | None = None
    slrs: Annotated[tuple[Slr, ...], Entries(1, 64)]
    borders: Annotated[tuple[Border, ...], Rows] = ()
    banks: Banks | None = None
    memories: Annotated[tuple[Memory, ...], Rows] = ()
    joints: Annotated[tuple[Joint, ...], Rows] = ()
    fifos: Annotated[tuple[Fifo, ...], Rows] = ()
    timing: Annotated[Timing | None, BeforeValidator(_none_if_empty)] = None
    quantisation: Annotated[tuple[TensorAccuracy, ...], Rows] | None = None
    quality: Quality | None = None
    styles: Annotated[tuple[StyleFigures, ...], Rows] = ()
    explored: Search | None = None
    foldings_tried: Count | None = None
    kernels: Annotated[tuple[KernelFigures, ...], Rows] = ()
    processor: ProcessorFigures | None = None
    tasks: Annotated[tuple[TaskFigures, ...], Rows] = ()
    mixture: MixtureFigures | None = None

    @property
    def nulls(self) -> Collection[str]:
        return () if self.quantisation is None else ("quality",)

    @property
    def unit_counts(self) -> dict[str, dict[str, int]]:
        """What a compute unit of each kernel takes, by kind."""
        if self.cost.style == "tasks":
            return {one.kernel: {kind: getattr(one, kind) for kind in COLUMNS} for one in self.layers}
        if self.kernels:
            return {one.kernel: {kind: getattr(one, kind) for kind in COLUMNS} for one in self.kernels}
        total = self.total
        if self.mixture is not None:
            first = {kind: getattr(self.mixture, kind) for kind in COLUMNS}
            rest = {kind: (getattr(total, kind) - first[kind]) // total.instances for kind in COLUMNS}
            return {self.mixture.kernel: first, self.design: rest}
        return {self.design: {kind: getattr(total, kind) // total.instances for kind in COLUMNS}}

    def as_json(self) -> dict[str, Any]:
        """The figures as report.json has them."""
        found = super().as_json()
        if self.cost.style != "dataflow":
            return found
        keys = [key for key in found if key not in ("timing", "timeline")]
        after = keys.index("fifos") + 1
        found.setdefault("timing", {})
        return {key: found[key] for key in (*keys[:after], "timing", "timeline", *keys[after:])}


@dataclass(frozen=True, kw_only=True)
class Report(FrameFigures, Figures):
    """report.json of a build. ranges: of tensors on the calibration frames, if there are some. schedule: None
    in builds of before there was one, as judge is. synthesised: what the vendor's tools reported, if they
    have run."""

    lint: LintFigures
    csim: CsimFigures
    judge: JudgeFigures | None = None
    ranges: Annotated[tuple[TensorFigures, ...], Rows] = ()
    schedule: ScheduleFigures | None = None
    synthesised: Annotated[tuple[SynthesisFigures, ...], Rows] = ()

    @classmethod
    def of(
        cls,
        figures: Figures,
        frames: FrameFigures,
        lint: LintFigures,
        csim: CsimFigures,
        judge: JudgeFigures,
        schedule: ScheduleFigures,
        ranges: tuple[TensorFigures, ...] = (),
    ) -> Self:
        """The modelled figures of a design with what its build has found."""
        parts = {one.name: getattr(part, one.name) for part in (figures, frames) for one in fields(part)}
        return cls(**parts, lint=lint, csim=csim, judge=judge, schedule=schedule, ranges=ranges)
