"""What the reports of networks have in common, streaming and layer by layer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

from hlsgen.cost.resources import Resources
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.model.accuracy import Accuracy
from hlsgen.model.ir import Graph
from hlsgen.report.cells import cost_text
from hlsgen.report.checks import csim_text, lint_text
from hlsgen.report.content import Figures, Report
from hlsgen.report.estimates import Estimates
from hlsgen.report.explored import Search, explored_text
from hlsgen.report.figures import Depths, Fifo, Joint, batch_cycles
from hlsgen.report.fit import fit_text
from hlsgen.report.frames import calibration_line, clipping_text, warning_lines
from hlsgen.report.judge import judge_text
from hlsgen.report.quality import Quality, quantisation_figures
from hlsgen.report.schedule import schedule_text
from hlsgen.report.styles import StyleFigures, styles_text
from hlsgen.report.summary import Row, summary_rows
from hlsgen.report.tables import page, slr_table, table
from hlsgen.schedule.results import KernelSchedule
from hlsgen.schedule.stage_depths import latencies_of_processes


class Instances(Protocol):
    """Of a network's hardware. each: what one takes."""

    @property
    def instances(self) -> int: ...
    @property
    def each(self) -> Resources: ...


@dataclass(frozen=True, kw_only=True)
class NetworkEstimate(Estimates, ABC):
    """The modelled figures of a network.

    quality: how near its outputs are to floating point, if known. explored: what the search for the best
    mapping found, if there was one; styles: those that were compared. latencies: of processes by kernel and
    name, cycles from reading to writing by the schedule of the emitted code; None: round figures.
    """

    hardware: Instances
    accuracy: tuple[Accuracy, ...]
    quality: Quality | None
    explored: Search | None = None
    styles: tuple[StyleFigures, ...] = ()
    latencies: Mapping[str, Mapping[str, int]] | None = None

    @property
    def depths(self) -> Depths:
        return "modelled" if self.latencies is None else "scheduled"

    def scheduled(self, kernels: Sequence[KernelSchedule]) -> Self:
        found = {
            name: latencies_of_processes([one for one in kernels if one.kernel == name], pipeline)
            for name, pipeline in self._pipelines().items()
        }
        return replace(self, latencies=found)

    @abstractmethod
    def _pipelines(self) -> Mapping[str, Pipeline]:
        """The kernels by name."""

    def _latencies_of(self, kernel: str) -> Mapping[str, int]:
        """Those that are known of the processes of a kernel."""
        return (self.latencies or {}).get(kernel, {})

    @property
    def hardware_text(self) -> str:
        return str(self.hardware)

    @property
    def instances(self) -> int:
        return self.hardware.instances

    @property
    def used(self) -> Resources:
        return self.hardware.each.times(self.instances)

    @property
    def batch_frames_per_s(self) -> float:
        """Frames a second of `batch` frames in one go: an instance's first one takes the latency."""
        cycles = batch_cycles(self.batch, self.instances, self.latency_cycles, self.interval_cycles)
        return min(self.batch * self.clock_mhz * 1e6 / cycles, self.frames_per_s)

    def figures(self) -> Figures:
        return replace(
            super().figures(),
            joints=tuple(self._joints()),
            fifos=tuple(self._fifos()),
            quantisation=quantisation_figures(self.accuracy),
            quality=self.quality,
            explored=self.explored,
            styles=self.styles,
        )

    @abstractmethod
    def _joints(self) -> Sequence[Joint]:
        """What stands between the stages."""

    @abstractmethod
    def _fifos(self) -> Sequence[Fifo]:
        """The streams."""


def network_markdown(
    graph: Graph,
    report: Report,
    *,
    interval: Row,
    notes: Sequence[str],
    sections: Sequence[str],
    compared: str,
    at_once: str,
    each: str = "",
    latency: Row = ("latency of one frame", "weights there already"),
) -> str:
    """The report of a build. Every figure is modelled unless it says measured.

    notes: what follows the summary; sections: what the style says of its hardware. each, interval, latency:
    as of `summary_rows`. compared, at_once: as of `csim_text`.
    """
    rows = summary_rows(report, interval=interval, latency=latency, decimals=1, each=each)
    ports = [str(port) for port in (*graph.inputs, *graph.outputs)]
    placed = "kernels" if report.cost.style == "tasks" else "instances"
    return page(
        (
            f"# {report.design} on {report.board_title}",
            "; ".join(ports) + ".\n\n" + table(("modelled", ""), rows),
            *notes,
            warning_lines(report.warnings),
            "## Board\n\n" + slr_table(report.slrs, placed),
            cost_text(report.cost),
            fit_text(report.fit),
            styles_text(report.styles),
            explored_text(report.explored),
            *sections,
            _quantisation_text(report),
            clipping_text(report.clipping),
            "## C-simulation\n\n" + csim_text(report.csim, compared=compared, at_once=at_once),
            judge_text(report.judge),
            schedule_text(report.schedule),
            lint_text(report.lint),
        )
    )


def _quantisation_text(report: Report) -> str:
    """A section, empty without calibration data."""
    if not report.quantisation:
        return ""
    rows = [
        (
            f"`{one.name}`",
            one.type,
            "equal" if one.snr_db is None else f"{one.snr_db:.1f}",
            "" if one.agreement is None else f"{one.agreement:.0%}",
        )
        for one in report.quantisation
    ]
    head = ("layer, then outputs", "type", "dB", "same largest score")
    reached = "\n".join(f"- {line}" for line in (report.quality.summary if report.quality else ()))
    return (
        f"## Fixed point against floating point\n\n{reached}\n\nMeasured on the first of these: signal to "
        f"noise of each layer's output, and of the network's; {calibration_line(report.calibration)}.\n\n"
        + table(head, rows)
    )
