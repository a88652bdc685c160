"""What a network costs and how fast it is: report.json, and report.md for a person. All modelled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.cost.error_margins import cost_figures, cost_text
from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import fifo_resources, total_resources
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.model.accuracy import Accuracy
from hlsgen.report.estimates import Estimates
from hlsgen.report.explored import explored_text
from hlsgen.report.figures import (
    adapter_figures,
    batch_cycles,
    board_figures,
    fifo_memory,
    layer_figures,
    performance_figures,
    quantisation_figures,
    resource_figures,
    slr_figures,
)
from hlsgen.report.interface import interface_figures, interface_text
from hlsgen.report.roofline import built_ceiling, roofline_figures, stage_ceilings
from hlsgen.report.structure import graph_figures
from hlsgen.report.tables import (
    KIND_HEADS,
    LAYER_HEADS,
    clipping_text,
    csim_text,
    kind_cells,
    layer_cells,
    lint_text,
    network_summary,
    page,
    quantisation_text,
    slr_table,
    table,
    warning_lines,
    weight_text,
)
from hlsgen.report.timing import timing_figures, timing_text
from hlsgen.search.board_limits import usable, whole_of
from hlsgen.search.placement import Instance, ddr_bytes_per_s
from hlsgen.search.streaming import StreamingHardware
from hlsgen.targets.board import Board
from hlsgen.timing import fifos
from hlsgen.timing.deadlock import least_depths, small_enough
from hlsgen.timing.relaxation import Unrepeated
from hlsgen.timing.smallest_fifos import MOST_WORDS, QUICK_WORDS, can_search, smallest_depths
from hlsgen.timing.timing import Timing, can_simulate, simulate


@dataclass(frozen=True, kw_only=True)
class StreamingEstimate(Estimates):
    """The modelled figures of a network. `as_json` has the keys of report.json."""

    design: str
    balanced: StreamingHardware
    board: Board
    clock_mhz: float
    batch: int
    accuracy: tuple[Accuracy, ...]
    quality: dict[str, Any] | None
    """What `quality_figures` gives."""
    timing: Timing | None
    explored: dict[str, Any] | None = None
    """What the search for the best mapping found, if there was one."""
    search_fifos: bool = False
    """Whether the smallest FIFOs are looked for in a large network too."""

    @property
    def target(self) -> tuple[Board, float]:
        return self.board, self.clock_mhz

    @property
    def hardware_text(self) -> str:
        return str(self.balanced)

    @property
    def used(self) -> Resources:
        return self.balanced.each.times(self.balanced.instances)

    def with_smallest_fifos(self) -> StreamingEstimate:
        if can_search(self.balanced.pipeline):
            return replace(self, search_fifos=True)
        message = f"a frame of {self.design} has too many words for a search of its smallest FIFOs"
        raise DesignError(Problem(message=message, fix="leave --fifos out"))

    @cached_property
    def interval_cycles(self) -> int:
        """Cycles from frame to frame of one instance, in the steady state."""
        return self.timing.interval_cycles if self.timing else self.balanced.pipeline.interval

    @cached_property
    def latency_cycles(self) -> int:
        """Cycles of a call with one frame."""
        return (
            self.timing.latency_cycles
            if self.timing
            else fifos.run_unbounded(self.balanced.pipeline, 1).latency_cycles
        )

    @property
    def frames_per_s(self) -> float:
        """Frames a second of all instances, in the steady state, no more than DDR carries."""
        rate = self.balanced.instances * self.clock_mhz * 1e6 / self.interval_cycles
        return min(rate, self._ddr_frames_per_s)

    @property
    def gops(self) -> float:
        return 2 * self.balanced.pipeline.graph.macs * self.frames_per_s / 1e9

    @property
    def binds(self) -> str:
        rate = self.balanced.instances * self.clock_mhz * 1e6 / self.interval_cycles
        return "DDR bandwidth" if self._ddr_frames_per_s < rate else self.balanced.bottleneck

    @property
    def frame_bytes(self) -> int:
        """Moved between DDR and the kernel for a frame, of full blocks where weights are streamed."""
        return self.balanced.pipeline.frame_bytes

    @cached_property
    def _placed(self) -> tuple[Instance, ...]:
        return self.balanced.at_banks(self.board)

    @cached_property
    def _ddr_gb_per_s(self) -> float:
        return ddr_bytes_per_s(self._placed, self.board, self.clock_mhz) / 1e9

    @property
    def _ddr_frames_per_s(self) -> float:
        return self._ddr_gb_per_s * 1e9 / self.frame_bytes if self.frame_bytes else float("inf")

    def as_json(self) -> dict[str, Any]:
        pipeline, instances = self.balanced.pipeline, self.balanced.instances
        least = least_depths(pipeline) if small_enough(pipeline) else {}
        searched = self.timing is not None and can_search(
            pipeline, MOST_WORDS if self.search_fifos else QUICK_WORDS
        )
        smallest = smallest_depths(pipeline) if searched else {}
        return {
            "design": self.design,
            "board": self.board.name,
            "clock_mhz": self.clock_mhz,
            **board_figures(self.board),
            "interface": interface_figures(pipeline),
            "graph": graph_figures(pipeline.graph, pipeline),
            "layers": [layer_figures(process, self.board) for process in pipeline.stage_processes],
            "total": {
                "macs": pipeline.graph.macs,
                "interval_cycles": self.interval_cycles,
                "latency_cycles": self.latency_cycles,
                **resource_figures(self.balanced.each.times(instances)),
                "instances": instances,
            },
            "performance": performance_figures(
                frames_per_s=self.frames_per_s,
                batch=self.batch,
                batch_frames_per_s=self.batch_frames_per_s,
                macs=pipeline.graph.macs,
                binds=self.binds,
            ),
            "cost": streaming_cost(self.balanced, self.board),
            "roofline": self._roofline(),
            "slrs": self._slrs(),
            "joints": [adapter_figures(process, self.board) for process in pipeline.adapters],
            "fifos": [
                {
                    "name": stream.name,
                    "depth": stream.depth,
                    "least_depth": least.get(stream.name),
                    "smallest_depth": smallest.get(stream.name),
                    "lanes": stream.words.lanes,
                    "type": str(stream.words.type),
                    **resource_figures(fifo_resources(stream, self.board)),
                }
                for stream in pipeline.streams.values()
            ],
            **timing_figures(self.timing),
            "quantisation": quantisation_figures(self.accuracy),
            "quality": self.quality,
            **({"explored": self.explored} if self.explored else {}),
        }

    @property
    def batch_frames_per_s(self) -> float:
        """Frames a second of `batch` frames in one go: an instance's first one takes the latency."""
        cycles = batch_cycles(self.batch, self.balanced.instances, self.latency_cycles, self.interval_cycles)
        return min(self.batch * self.clock_mhz * 1e6 / cycles, self.frames_per_s)

    def _roofline(self) -> dict[str, Any] | None:
        pipeline = self.balanced.pipeline
        built = sum(-(-stage.layer.macs // stage.interval) for stage in pipeline.stages.values())
        own = built_ceiling(built, self.balanced.instances, self.clock_mhz)
        return roofline_figures(
            ceilings=(*stage_ceilings(pipeline.stages.values(), self.board, self.clock_mhz), own),
            gops=self.gops,
            macs=pipeline.graph.macs,
            frame_bytes=self.frame_bytes,
            ddr_gb_per_s=self._ddr_gb_per_s,
        )

    def _slrs(self) -> list[dict[str, Any]]:
        rows = []
        spans = self.balanced.spans
        for slr in self.board.slrs:
            count = 0 if spans else self.balanced.placed[slr.name]
            banks = sorted({one.bank for one in self._placed if one.slr == slr.name and count})
            used, limit = self.balanced.each.times(count), usable(slr, self.board)
            rows.append(slr_figures(slr.name, slr, limit, instances=count, used=used, banks=banks))
        if spans:
            banks = sorted({one.bank for one in self._placed})
            whole, used = whole_of(self.board), self.balanced.each
            rows.append(slr_figures("all SLRs", self.board.total, whole, instances=1, used=used, banks=banks))
        return rows


def streaming_cost(balanced: StreamingHardware, board: Board) -> dict[str, Any]:
    """The section `cost` of report.json: LUT and FF of all instances, and how far off they may be."""
    return cost_figures(
        lambda terms: total_resources(balanced.pipeline, board.with_terms(terms)).times(balanced.instances),
        board,
    )


def _timing(pipeline: Pipeline) -> Timing | None:
    """None where no period can be simulated: too many words, or frames too short to repeat themselves."""
    try:
        return simulate(pipeline) if can_simulate(pipeline) else None
    except Unrepeated:
        return None


def streaming_estimate(
    design: str,
    balanced: StreamingHardware,
    board: Board,
    clock_mhz: float,
    batch: int,
    accuracy: tuple[Accuracy, ...],
    *,
    quality: dict[str, Any] | None = None,
    explored: dict[str, Any] | None = None,
) -> StreamingEstimate:
    """explored: what the search for the best mapping found, if there was one."""
    return StreamingEstimate(
        design=design,
        balanced=balanced,
        board=board,
        clock_mhz=clock_mhz,
        batch=batch,
        accuracy=accuracy,
        quality=quality,
        timing=_timing(balanced.pipeline),
        explored=explored,
    )


def streaming_markdown(name: str, board: Board, balanced: StreamingHardware, report: dict[str, Any]) -> str:
    """The report of a build. Every figure is modelled unless it says measured."""
    cycles = f"{report['total']['interval_cycles']:,} cycles a frame"
    at_once = "with all stages at once and FIFOs of these depths the kernel runs through"
    return page(
        (
            f"# {name} on {board.title}",
            network_summary(
                balanced.pipeline.graph, report, instances="", interval=("interval of an instance", cycles)
            ),
            "## Ports\n\n" + interface_text(report["interface"]),
            warning_lines(report),
            "## Board\n\n" + slr_table(report),
            cost_text(report),
            explored_text(report),
            "## Layers of one instance\n\n" + _layer_table(report),
            timing_text(report),
            "## Streams\n\n" + _fifo_table(report),
            quantisation_text(report),
            clipping_text(report),
            "## C-simulation\n\n" + csim_text(report, compared="layers", at_once=at_once),
            lint_text(report),
        )
    )


def _layer_table(report: dict[str, Any]) -> str:
    rows = [
        (f"`{layer['name']}`", *layer_cells(layer), weight_text(layer.get("weights")), *kind_cells(layer))
        for layer in report["layers"]
    ]
    rows += [
        (f"`{joint['name']}`", "", "", "", "", f"{joint['interval_cycles']:,}", "", *kind_cells(joint))
        for joint in report["joints"]
    ]
    return table(("stage", *LAYER_HEADS, "weights", *KIND_HEADS), rows)


def _fifo_table(report: dict[str, Any]) -> str:
    deep = [fifo for fifo in report["fifos"] if fifo["depth"] > 2]
    text = f"{len(report['fifos'])} FIFOs, {len(report['fifos']) - len(deep)} of them of 2 words"
    if not deep:
        return text + "."
    rows = [
        (
            f"`{f['name']}`",
            f["depth"],
            f["smallest_depth"] or "",
            f["least_depth"] or "not computed",
            f"{f['lanes']} of {f['type']}",
            fifo_memory(f["bram18"], f["uram"]),
        )
        for f in deep
    ]
    return (
        text
        + ":\n\n"
        + table(("stream", "words", "no slower from", "deadlock below", "word", "memory"), rows)
    )
