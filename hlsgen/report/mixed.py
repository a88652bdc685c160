"""What a streaming kernel that feeds shared processors costs and how fast both are. All modelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hlsgen.cost.processor import processor_resources
from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import total_resources
from hlsgen.emit.mixed import front_name
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.model.ir import Graph
from hlsgen.report.cells import Cost, cost_figures
from hlsgen.report.content import Figures, Report
from hlsgen.report.figures import Fifo, Joint, Layer, Slr, slr_figures
from hlsgen.report.mixture import mixture_figures, mixture_text
from hlsgen.report.network import NetworkEstimate, network_markdown
from hlsgen.report.processor import processor_text, task_table
from hlsgen.report.roofline import Roofline
from hlsgen.report.shared import SharedEstimate
from hlsgen.report.streaming import StreamingEstimate
from hlsgen.report.timing import Span
from hlsgen.search.mixture import MixedHardware
from hlsgen.targets.terms import Terms


@dataclass(frozen=True, kw_only=True)
class MixedEstimate(NetworkEstimate):
    """The modelled figures of a mixture. `as_json` has the keys of report.json."""

    hardware: MixedHardware

    @cached_property
    def front(self) -> StreamingEstimate:
        """Those of the streaming kernel alone."""
        hardware = self.hardware
        return StreamingEstimate(
            design=front_name(self.design),
            graph=hardware.front.pipeline.graph,
            board=hardware.front_board,
            clock=self.clock,
            batch=self.batch,
            accuracy=(),
            quality=None,
            hardware=hardware.front,
            latencies=self.latencies,
        )

    @cached_property
    def back(self) -> SharedEstimate:
        """Those of the processors alone."""
        return SharedEstimate(
            design=self.design,
            graph=self.hardware.back.program.graph,
            board=self.board,
            clock=self.clock,
            batch=self.batch,
            accuracy=(),
            quality=None,
            hardware=self.hardware.back,
        )

    def _pipelines(self) -> Mapping[str, Pipeline]:
        return {front_name(self.design): self.hardware.front.pipeline}

    @property
    def frames_per_s(self) -> float:
        return min(self.front.frames_per_s, self.back.frames_per_s)

    @property
    def interval_cycles(self) -> int:
        """Cycles of a frame of a processor, at the speed of both sides."""
        return int(self.instances * self.clock_mhz * 1e6 / self.frames_per_s)

    @cached_property
    def latency_cycles(self) -> int:
        """Cycles until a round is streamed and run."""
        together = self.hardware.back.program.together
        streamed = self.front.latency_cycles + (together - 1) * self.front.interval_cycles
        return streamed + self.back.latency_cycles

    @property
    def batch_frames_per_s(self) -> float:
        """Frames a second of `batch` frames in one go: all but the first round are streamed meanwhile."""
        rounds = -(-self.batch // (self.instances * self.hardware.back.program.together))
        of_both = self.instances * self.hardware.back.program.together / self.frames_per_s
        return self.batch / (self.latency_cycles / (self.clock_mhz * 1e6) + (rounds - 1) * of_both)

    @property
    def binds(self) -> str:
        if self.front.frames_per_s < self.back.frames_per_s:
            return f"the layers that stream: {self.hardware.front_limit}"
        return f"the processors: {self.back.binds}"

    @property
    def used(self) -> Resources:
        return Resources.sum(self.hardware.used_by_slr.values())

    @property
    def cost(self) -> Cost:
        return cost_figures(self._with_terms, self.board)

    def _with_terms(self, terms: Terms) -> Resources:
        hardware = self.hardware
        board = hardware.front_board.with_terms(terms)
        processors = processor_resources(hardware.back.processor, terms).times(self.instances)
        return processors + total_resources(hardware.front.pipeline, board)

    def figures(self) -> Figures:
        back = self.back.figures()
        return replace(
            super().figures(),
            style="mixed",
            memory=back.memory,
            processor=back.processor,
            tasks=back.tasks,
            foldings_tried=self.hardware.tried,
            mixture=mixture_figures(self.hardware, front_name(self.design), self.clock_mhz),
        )

    def _layers(self) -> Sequence[Layer]:
        """Those that stream, then those that the processors run."""
        streaming = list(self.front._layers())[:-1]
        return [*streaming, *self.back._layers()]

    def _roofline(self) -> Roofline | None:
        """None: two ceilings that work at once are no picture of one."""
        return None

    def _timeline(self) -> Sequence[Span]:
        """A round of the processors."""
        return self.back._timeline()

    def _slrs(self) -> list[Slr]:
        back = {slr.name: slr for slr in self.back._slrs()}
        return [
            slr_figures(
                slr,
                self.board,
                instances=self.hardware.back.slrs.count(slr.name),
                used=self.hardware.used_by_slr[slr.name],
                banks=back[slr.name].ddr,
            )
            for slr in self.board.slrs
        ]

    def _joints(self) -> Sequence[Joint]:
        return self.front._joints()

    def _fifos(self) -> Sequence[Fifo]:
        return self.front._fifos()


def mixed_markdown(report: Report, graph: Graph) -> str:
    """The report of a build of `graph`."""
    assert report.processor is not None and report.mixture is not None
    together, total = report.processor.frames_together, report.total
    return network_markdown(
        graph,
        report,
        each=", each all layers behind those that stream, on frames of its own",
        interval=("cycles a frame of a processor", f"{total.interval_cycles:,}, rounds of {together} frames"),
        latency=("latency of a round", "streamed, then run by a processor"),
        notes=("The time of a host between two calls is not in these figures.",),
        sections=(
            mixture_text(report.mixture),
            "## Processor\n\n" + processor_text(report.processor),
            "## Tasks of a round\n\n" + task_table(report.tasks),
        ),
        compared="layers and tasks",
        at_once="with all stages, then all processes of a task, at once and FIFOs of the emitted depths both "
        "run through",
    )
