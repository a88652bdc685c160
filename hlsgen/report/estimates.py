"""The modelled figures of a design of any style."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.short_repr import Brief, lines
from hlsgen.cost.resources import Resources
from hlsgen.designfile.clock import Clock
from hlsgen.model.ir import Graph
from hlsgen.report.cells import Cost
from hlsgen.report.content import Figures
from hlsgen.report.figures import ClockBudget, Depths, Layer, Slr, Total, performance_figures
from hlsgen.report.fit import Fit, fit_figures
from hlsgen.report.roofline import Roofline
from hlsgen.report.section import resource_counts
from hlsgen.report.structure import GraphSection, graph_figures
from hlsgen.report.timing import Span
from hlsgen.schedule.results import KernelSchedule
from hlsgen.targets.board import Board


@dataclass(frozen=True, kw_only=True)
class Estimates(Brief, ABC):
    """The modelled figures of a design, which is called `design`. batch: frames of a call."""

    design: str
    graph: Graph
    board: Board
    clock: Clock
    batch: int

    @property
    def clock_mhz(self) -> float:
        return self.clock.mhz

    def __repr__(self) -> str:
        used, target = self.used, f"{self.board.name} at {self.clock_mhz:g} MHz"
        return lines(
            f"{type(self).__name__} of {self.design} on {target}, modelled",
            self.hardware_text,
            f"{self.frames_per_s:,.0f} frames/s in the steady state",
            f"DSP {used.dsp:,}, BRAM18 {used.bram18:,}, URAM {used.uram:,}, LUT {used.lut:,}, FF {used.ff:,}",
            "as_json() has all figures",
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from hlsgen.report.notebook import figures_card

        return figures_card(self.figures()).html()

    @property
    @abstractmethod
    def hardware_text(self) -> str:
        """Instances, their interval and what binds, in words."""

    @property
    @abstractmethod
    def instances(self) -> int:
        """Copies of the kernel, or of all kernels of a network of tasks."""

    @property
    @abstractmethod
    def interval_cycles(self) -> int:
        """Cycles from frame to frame of one instance, within a large batch."""

    @property
    @abstractmethod
    def latency_cycles(self) -> int:
        """Cycles of a call with one frame."""

    @property
    @abstractmethod
    def frames_per_s(self) -> float:
        """Frames a second of all instances, in the steady state."""

    @property
    @abstractmethod
    def batch_frames_per_s(self) -> float:
        """Frames a second of `batch` frames in one go."""

    @property
    @abstractmethod
    def binds(self) -> str:
        """What keeps the design from being faster."""

    @property
    @abstractmethod
    def used(self) -> Resources:
        """What all instances take."""

    @property
    @abstractmethod
    def cost(self) -> Cost:
        """LUT and FF of all instances, and how far off they may be."""

    @property
    def fit(self) -> Fit:
        """How likely the design is to fit its board."""
        return fit_figures(self.cost, self._slrs(), self.board)

    @property
    def gops(self) -> float:
        """Operations (two a multiply-accumulate) in 10^9 a second, in the steady state."""
        return 2 * self.graph.macs * self.frames_per_s / 1e9

    @property
    def depths(self) -> Depths:
        """Whose depths of pipelines the latency rests on."""
        return "modelled"

    def scheduled(self, kernels: Sequence[KernelSchedule]) -> Estimates:
        """The same with the depths that the schedule of the emitted code has, where the style counts them."""
        return self

    @property
    def slowed(self) -> tuple[str, ...]:
        """What scheduled depths cost that the design has not reckoned with, as warnings."""
        return ()

    def as_json(self) -> dict[str, Any]:
        """The figures as report.json has them."""
        return self.figures().as_json()

    def figures(self) -> Figures:
        """The figures that reports are written from."""
        cost, slrs = self.cost, tuple(self._slrs())
        return Figures(
            design=self.design,
            board=self.board.name,
            clock_mhz=self.clock_mhz,
            clock=ClockBudget.of(self.clock),
            board_title=self.board.title,
            part=self.board.part,
            graph=self._graph_section(),
            layers=tuple(self._layers()),
            total=Total(
                macs=self.graph.macs,
                interval_cycles=self.interval_cycles,
                latency_cycles=self.latency_cycles,
                **resource_counts(self.used),
                instances=self.instances,
                depths=self.depths,
            ),
            performance=performance_figures(
                frames_per_s=self.frames_per_s,
                batch=self.batch,
                batch_frames_per_s=self.batch_frames_per_s,
                macs=self.graph.macs,
                binds=self.binds,
            ),
            cost=cost,
            fit=fit_figures(cost, slrs, self.board),
            roofline=self._roofline(),
            timeline=tuple(self._timeline()),
            slrs=slrs,
        )

    def _graph_section(self) -> GraphSection:
        return graph_figures(self.graph)

    @abstractmethod
    def _layers(self) -> Sequence[Layer]:
        """The layers in the order of the graph."""

    @abstractmethod
    def _roofline(self) -> Roofline | None:
        """The roofline; None if there is nothing to multiply, or no DDR is used."""

    @abstractmethod
    def _timeline(self) -> Sequence[Span]:
        """A call with one frame."""

    @abstractmethod
    def _slrs(self) -> Sequence[Slr]:
        """What of each SLR is used."""

    def with_smallest_fifos(self) -> Estimates:
        """The same with the shallowest FIFOs that cost no speed, however long that takes.

        Raises DesignError: not a streaming network, or one too large to search.
        """
        message = "only a network of style dataflow has FIFOs to search"
        raise DesignError(Problem(message=message, fix="leave --fifos out"))
