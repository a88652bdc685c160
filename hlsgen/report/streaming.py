"""What a network costs and how fast it is: report.json, and report.md for a person. All modelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from hlsgen.base.errors import DesignError, Problem
from hlsgen.cost.stages import total_resources
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.model.ir import Graph
from hlsgen.report.cells import Cost, cost_figures
from hlsgen.report.content import Figures, Report
from hlsgen.report.figures import (
    Border,
    Fifo,
    Joint,
    Layer,
    Slr,
    adapter_figures,
    fifo_figures,
    fifo_memory,
    layer_figures,
    region_figures,
    slr_figures,
)
from hlsgen.report.interface import interface_figures, interface_text
from hlsgen.report.network import NetworkEstimate, network_markdown
from hlsgen.report.roofline import Roofline, built_ceiling, roofline_figures, stage_ceilings
from hlsgen.report.structure import GraphSection, graph_figures
from hlsgen.report.tables import KIND_HEADS, LAYER_HEADS, kind_cells, layer_cells, table, weight_text
from hlsgen.report.timing import Span, timing_figures, timing_spans, timing_text
from hlsgen.schedule.results import KernelSchedule
from hlsgen.search.board_limits import whole_of
from hlsgen.search.placement import Instance, ddr_bytes_per_s
from hlsgen.search.slr_cut import border_bits, taken_by_slr
from hlsgen.search.streaming import StreamingHardware
from hlsgen.timing import fifos
from hlsgen.timing.deadlock import least_depths, small_enough
from hlsgen.timing.smallest_fifos import MOST_WORDS, QUICK_WORDS, can_search, smallest_depths
from hlsgen.timing.timing import Timing, simulate


@dataclass(frozen=True, kw_only=True)
class StreamingEstimate(NetworkEstimate):
    """The modelled figures of a streaming network. `as_json` has the keys of report.json.

    search_fifos: whether the smallest FIFOs are looked for in a large network too. unscheduled: the same with
    the round figures for which FIFOs are made; None: these are those.
    """

    hardware: StreamingHardware
    search_fifos: bool = False
    unscheduled: StreamingEstimate | None = None

    @cached_property
    def timing(self) -> Timing | None:
        """The simulated timing; None: no period can be (too many words, or frames that never repeat)."""
        latencies = self._latencies_of(self.design)
        known = self.hardware.timing
        return simulate(self._pipeline, latencies=latencies) if known and latencies else known

    def scheduled(self, kernels: Sequence[KernelSchedule]) -> Self:
        return replace(super().scheduled(kernels), unscheduled=self)

    def _pipelines(self) -> dict[str, Pipeline]:
        return {self.design: self._pipeline}

    @property
    def slowed(self) -> tuple[str, ...]:
        """The FIFOs that are too shallow for the depths of the schedule, if that costs cycles of a frame."""
        round_figures = self.unscheduled and self.unscheduled.timing
        if not (self.timing and round_figures):
            return ()
        before, after = round_figures.interval_cycles, self.timing.interval_cycles
        if after <= before:
            return ()
        needed = fifos.fifo_depths(self._pipeline, self._latencies_of(self.design))
        shallow = [
            f"{name} ({needed[name]:,} for {stream.depth:,} words)"
            for name, stream in self._pipeline.streams.items()
            if needed[name] > stream.depth
        ]
        return (
            f"a frame takes {after:,} cycles, not the {before:,} that the design is made for: the pipelines "
            f"are deeper than the FIFOs allow for: {', '.join(map(str, self.timing.waits))}. Deeper FIFOs "
            f"would mend it: {', '.join(shallow) or 'of all streams'}",
        )

    @property
    def _pipeline(self) -> Pipeline:
        return self.hardware.pipeline

    def with_smallest_fifos(self) -> StreamingEstimate:
        if not can_search(self._pipeline):
            message = f"a frame of {self.design} has too many words for a search of its smallest FIFOs"
            raise DesignError(Problem(message=message, fix="leave --fifos out"))
        found = replace(self, search_fifos=True)
        vars(found)["timing"] = self.timing
        return found

    @cached_property
    def interval_cycles(self) -> int:
        """Cycles from frame to frame of one instance, in the steady state."""
        return self.timing.interval_cycles if self.timing else self._pipeline.interval

    @cached_property
    def latency_cycles(self) -> int:
        if self.timing:
            return self.timing.latency_cycles
        return fifos.run_unbounded(self._pipeline, 1, self._latencies_of(self.design)).latency_cycles

    @property
    def _unlimited_frames_per_s(self) -> float:
        """Frames a second if DDR carried all of them."""
        return self.instances * self.clock_mhz * 1e6 / self.interval_cycles

    @property
    def frames_per_s(self) -> float:
        """Frames a second of all instances, in the steady state, no more than DDR carries."""
        return min(self._unlimited_frames_per_s, self._ddr_frames_per_s)

    @property
    def binds(self) -> str:
        waits = self._ddr_frames_per_s < self._unlimited_frames_per_s
        return "DDR bandwidth" if waits else self.hardware.bottleneck

    @property
    def frame_bytes(self) -> int:
        """Bytes moved between DDR and the kernel for a frame, of full blocks where weights are streamed."""
        return self._pipeline.frame_bytes

    @cached_property
    def _placed(self) -> tuple[Instance, ...]:
        return self.hardware.at_banks(self.board)

    @cached_property
    def _ddr_gb_per_s(self) -> float:
        return ddr_bytes_per_s(self._placed, self.board, self.clock_mhz) / 1e9

    @property
    def _ddr_frames_per_s(self) -> float:
        return self._ddr_gb_per_s * 1e9 / self.frame_bytes if self.frame_bytes else float("inf")

    @cached_property
    def cost(self) -> Cost:
        return cost_figures(
            lambda terms: total_resources(self._pipeline, self.board.with_terms(terms)).times(self.instances),
            self.board,
        )

    def figures(self) -> Figures:
        return replace(
            super().figures(),
            interface=interface_figures(self._pipeline),
            timing=timing_figures(self.timing) if self.timing else None,
            borders=self._borders(),
        )

    def _graph_section(self) -> GraphSection:
        return graph_figures(self.graph, self._pipeline)

    def _layers(self) -> list[Layer]:
        names, slrs = [slr.name for slr in self.board.slrs], self._pipeline.slrs
        latencies = self._latencies_of(self.design)
        return [
            replace(
                layer_figures(process, self.board, latencies.get(process.name, process.latency)),
                slr=names[slrs[process.name]] if slrs else "",
            )
            for process in self._pipeline.stage_processes
        ]

    def _borders(self) -> tuple[Border, ...]:
        """The borders of SLRs that the kernel lies across; none if it lies in one."""
        if not self.hardware.spans:
            return ()
        names = [slr.name for slr in self.board.slrs]
        bits = border_bits(self._pipeline, self.board)
        pairs = zip(names, names[1:], bits, strict=False)
        return tuple(Border(between=f"{one} and {other}", bits=count) for one, other, count in pairs)

    def _joints(self) -> list[Joint]:
        return [adapter_figures(process, self.board) for process in self._pipeline.adapters]

    def _fifos(self) -> list[Fifo]:
        return self.unscheduled._fifo_figures if self.unscheduled else self._fifo_figures

    @cached_property
    def _fifo_figures(self) -> list[Fifo]:
        """What is emitted, which rests on round figures."""
        least = least_depths(self._pipeline) if small_enough(self._pipeline) else {}
        most = MOST_WORDS if self.search_fifos else QUICK_WORDS
        searched = self.timing is not None and can_search(self._pipeline, most)
        smallest = smallest_depths(self._pipeline) if searched else {}
        return [
            fifo_figures(stream, self.board, least=least.get(stream.name), smallest=smallest.get(stream.name))
            for stream in self._pipeline.streams.values()
        ]

    def _timeline(self) -> tuple[Span, ...]:
        return timing_spans(self.timing) if self.timing else ()

    def _roofline(self) -> Roofline | None:
        stages = self._pipeline.stages.values()
        built = sum(-(-stage.layer.macs // stage.interval) for stage in stages)
        own = built_ceiling([(built, self.instances)], self.clock_mhz)
        return roofline_figures(
            ceilings=(*stage_ceilings(stages, self.board, self.clock_mhz), own),
            gops=self.gops,
            macs=self.graph.macs,
            frame_bytes=self.frame_bytes,
            ddr_gb_per_s=self._ddr_gb_per_s,
        )

    def _slrs(self) -> list[Slr]:
        if self.hardware.spans:
            return self._parts_of_slrs()
        rows = []
        for slr in self.board.slrs:
            count = self.hardware.placed[slr.name]
            banks = sorted({one.bank for one in self._placed if one.slr == slr.name and count})
            used = self.hardware.each.times(count)
            rows.append(slr_figures(slr, self.board, instances=count, used=used, banks=banks))
        return rows

    def _parts_of_slrs(self) -> list[Slr]:
        """What of each SLR a kernel takes that lies across them, and what it takes of all."""
        parts = zip(self.board.slrs, taken_by_slr(self._pipeline, self.board), strict=True)
        rows = [slr_figures(slr, self.board, instances=0, used=used, banks=()) for slr, used in parts]
        banks = sorted({one.bank for one in self._placed})
        whole, used = whole_of(self.board), self.hardware.each
        every = region_figures("all SLRs", self.board.total, whole, instances=1, used=used, banks=banks)
        return [*rows, every]


def streaming_markdown(report: Report, graph: Graph) -> str:
    """The report of a build of `graph`."""
    assert report.interface is not None
    return network_markdown(
        graph,
        report,
        interval=("interval of an instance", f"{report.total.interval_cycles:,} cycles a frame"),
        notes=("## Ports\n\n" + interface_text(report.interface), _borders_text(report)),
        sections=(
            "## Layers of one instance\n\n" + _layer_table(report),
            timing_text(report.timing, report.total.depths_text),
            "## Streams\n\n" + _fifo_table(report.fifos),
        ),
        compared="layers",
        at_once="with all stages at once and FIFOs of these depths the kernel runs through",
    )


def _borders_text(report: Report) -> str:
    """Which layers lie in which SLR; empty for a kernel in one."""
    if not report.borders:
        return ""
    placed: dict[str, list[str]] = {}
    for layer in report.layers:
        placed.setdefault(layer.slr, []).append(layer.name)
    rows = [(slr, len(names), f"`{names[0]}` to `{names[-1]}`") for slr, names in placed.items()]
    bits = ", ".join(f"{one.bits:,} between {one.between}" for one in report.borders)
    return (
        "## Several SLRs\n\nThe kernel is larger than an SLR: it is cut into these, and where a stream goes "
        "from one to the next it has a relay, registers between two FIFOs. vitis/link.cfg names no SLR for "
        f"it, so that the placer decides. Bits across the borders: {bits}.\n\n"
        + table(("SLR", "layers", "from, to"), rows)
    )


def _layer_table(report: Report) -> str:
    rows = [
        (f"`{layer.name}`", *layer_cells(layer), weight_text(layer.weights), *kind_cells(layer))
        for layer in report.layers
    ]
    rows += [
        (f"`{joint.name}`", "", "", "", "", f"{joint.interval_cycles:,}", "", *kind_cells(joint))
        for joint in report.joints
    ]
    return table(("stage", *LAYER_HEADS, "weights", *KIND_HEADS), rows)


def _fifo_table(fifos: Sequence[Fifo]) -> str:
    deep = [fifo for fifo in fifos if fifo.depth > 2]
    text = f"{len(fifos)} FIFOs, {len(fifos) - len(deep)} of them of 2 words"
    if not deep:
        return text + "."
    rows = [
        (
            f"`{one.name}`",
            one.depth,
            one.smallest_depth or "",
            one.least_depth or "not computed",
            f"{one.lanes} of {one.type}",
            fifo_memory(one),
        )
        for one in deep
    ]
    return (
        text
        + ":\n\n"
        + table(("stream", "words", "no slower from", "deadlock below", "word", "memory"), rows)
    )
