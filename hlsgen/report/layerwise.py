"""What a network of tasks costs and how fast it is: report.json, and report.md for a person. All modelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hlsgen.cost.error_margins import by_term
from hlsgen.cost.resources import Resources
from hlsgen.emit.layerwise import layerwise_weight_files
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.hardware.ports import frame_bytes
from hlsgen.model.ir import Graph
from hlsgen.report.cells import Cells, CellsByTarget, Cost, cost_figures
from hlsgen.report.content import Figures, Report
from hlsgen.report.figures import (
    DdrBytes,
    DdrTraffic,
    Fifo,
    Joint,
    Layer,
    Slr,
    adapter_figures,
    fifo_figures,
    layer_figures,
    slr_figures,
)
from hlsgen.report.network import NetworkEstimate, network_markdown
from hlsgen.report.roofline import Ceiling, Roofline, roofline_figures, stage_ceilings
from hlsgen.report.section import resource_counts
from hlsgen.report.tables import KIND_HEADS, LAYER_HEADS, kind_cells, layer_cells, table, weight_text
from hlsgen.report.timing import Span, spans_in_turn
from hlsgen.search.layerwise import LayerwiseHardware
from hlsgen.search.task_kernels import TaskKernel, kernel_resources
from hlsgen.targets.terms import OUTSIDE, Target, Terms


@dataclass(frozen=True, kw_only=True)
class LayerwiseEstimate(NetworkEstimate):
    """The modelled figures of a network of tasks. `as_json` has the keys of report.json."""

    hardware: LayerwiseHardware

    @property
    def interval_cycles(self) -> int:
        """Cycles of a frame through all kernels of an instance, within a large batch."""
        return self.hardware.interval

    @property
    def frames_per_s(self) -> float:
        return self.instances * self.clock_mhz * 1e6 / self.interval_cycles

    @property
    def binds(self) -> str:
        return self.hardware.bottleneck

    @cached_property
    def latency_cycles(self) -> int:
        """Cycles of one frame through all kernels; what the host takes between calls is not in it."""
        return sum(map(self._call_cycles, self.hardware.kernels))

    def _call_cycles(self, kernel: TaskKernel) -> int:
        """Cycles of a call of `kernel` with one frame."""
        return max(self._latency_of(kernel), self.hardware.ddr_cycles(kernel))

    def _latency_of(self, kernel: TaskKernel) -> int:
        """The same as far as DDR keeps up."""
        return kernel.latency_with(self._latencies_of(kernel.name))

    def _pipelines(self) -> dict[str, Pipeline]:
        return {kernel.name: kernel.pipeline for kernel in self.hardware.kernels}

    @cached_property
    def cost(self) -> Cost:
        return cost_figures(self._with_terms, self.board)

    def figures(self) -> Figures:
        return replace(
            super().figures(), style="tasks", memory=self._memory(), foldings_tried=self.hardware.tried
        )

    def _timeline(self) -> list[Span]:
        """The spans in which the kernels work on the first frame: one after the other."""
        return spans_in_turn(
            (kernel.layer.name, self._call_cycles(kernel)) for kernel in self.hardware.kernels
        )

    def _roofline(self) -> Roofline | None:
        choice, macs = self.hardware, self.graph.macs
        working = sum(kernel.interval for kernel in choice.kernels)
        own = Ceiling(
            name="kernels, not waiting for DDR",
            gops=2 * macs / working * choice.instances * self.clock_mhz / 1e3,
            basis=f"{macs:,} products in {working:,} cycles of the kernels in turn, "
            f"{choice.instances} instances, {self.clock_mhz:g} MHz",
        )
        stages = [stage for kernel in choice.kernels for stage in kernel.pipeline.stages.values()]
        return roofline_figures(
            ceilings=(*stage_ceilings(stages, self.board, self.clock_mhz), own),
            gops=self.gops,
            macs=macs,
            frame_bytes=sum(kernel.bytes_moved for kernel in choice.kernels),
            ddr_gb_per_s=choice.ddr_rate * self.clock_mhz / 1e3 * choice.instances,
        )

    def _with_terms(self, terms: Terms) -> Resources:
        """All kernels of all instances."""
        board, total = self.board.with_terms(terms), Resources()
        for kernel in self.hardware.kernels:
            total += kernel_resources(kernel.pipeline, board)
        return total.times(self.instances)

    def _cells(self, kernel: TaskKernel, target: Target) -> Cells:
        """LUTs and FFs of one instance of a kernel, as reports of it have them."""
        terms = self.board.terms.of(target)
        whole = kernel_resources(kernel.pipeline, self.board.with_terms(terms))
        outside = by_term(lambda one: kernel_resources(kernel.pipeline, self.board.with_terms(one)), terms)[
            OUTSIDE
        ]
        return Cells(lut=whole.lut - outside["lut"], ff=whole.ff - outside["ff"])

    def _layers(self) -> list[Layer]:
        return [self._layer(kernel) for kernel in self.hardware.kernels]

    def _layer(self, kernel: TaskKernel) -> Layer:
        """The layer's kernel: its cycles and resources are those of the whole kernel, not of its stage."""
        (process,) = kernel.pipeline.stage_processes
        ddr = self.hardware.ddr_cycles(kernel)
        return replace(
            layer_figures(process, self.board, process.latency),
            kernel=kernel.name,
            interval_cycles=self.hardware.interval_of(kernel),
            stage_interval_cycles=process.interval,
            kernel_interval_cycles=kernel.interval,
            ddr_cycles=ddr,
            ddr_bytes=DdrBytes(read=kernel.bytes_read, written=kernel.bytes_written),
            latency_cycles=self._latency_of(kernel),
            binds="DDR bandwidth" if ddr > kernel.interval else kernel.pipeline.slowest.name,
            **resource_counts(kernel.resources),
            cells=CellsByTarget(routed=self._cells(kernel, "routed"), csynth=self._cells(kernel, "csynth")),
        )

    def _memory(self) -> DdrTraffic:
        """DDR traffic of a frame, with what fills words up; weights are read once and stay."""
        choice = self.hardware
        total = sum(kernel.bytes_moved for kernel in choice.kernels)
        written = {kernel.layer.name for kernel in choice.kernels}
        reads = [one for kernel in choice.kernels for one in kernel.layer.inputs if one in written]
        between = sum(frame_bytes(choice.formats[one]) for one in (*reads, *sorted(set(reads))))
        waiting = sum(
            choice.interval_of(one) for one in choice.kernels if choice.ddr_cycles(one) > one.interval
        )
        return DdrTraffic(
            port_bits=choice.port_bits,
            word_bits=choice.word_bits,
            frame_bytes=total,
            intermediate_bytes=between,
            weight_bytes=sum(beats.nbytes for beats in layerwise_weight_files(choice).values()),
            gb_per_s=round(total * self.frames_per_s / 1e9, 3),
            gb_per_s_of_an_instance=round(choice.ddr_rate * self.clock_mhz / 1e3, 3),
            bound_cycles=waiting,
            banks=tuple(choice.placed.banks),
        )

    def _slrs(self) -> list[Slr]:
        """The SLRs, each with the kernels of all instances that lie in it (`instances` counts them)."""
        rows = []
        for slr in self.board.slrs:
            used, count = Resources(), 0
            for kernel, slrs in zip(self.hardware.kernels, self.hardware.slrs, strict=True):
                used += kernel.resources.times(slrs.count(slr.name))
                count += slrs.count(slr.name)
            banks = [bank for bank in self.hardware.placed.banks if self._slr_of(bank) == slr.name]
            rows.append(slr_figures(slr, self.board, instances=count, used=used, banks=banks))
        return rows

    def _slr_of(self, name: str) -> str:
        return next(bank.slr for bank in self.board.memory.banks if bank.name == name)

    def _joints(self) -> list[Joint]:
        return [
            adapter_figures(process, self.board, kernel.name)
            for kernel in self.hardware.kernels
            for process in kernel.pipeline.adapters
        ]

    def _fifos(self) -> list[Fifo]:
        return [
            fifo_figures(stream, self.board, kernel.name)
            for kernel in self.hardware.kernels
            for stream in kernel.pipeline.streams.values()
        ]


def layerwise_markdown(report: Report, graph: Graph) -> str:
    """The report of a build of `graph`."""
    cycles = f"{report.total.interval_cycles:,}, the sum over its kernels"
    at_once = "with the stages of a kernel at once and FIFOs of the emitted depths every kernel runs through"
    return network_markdown(
        graph,
        report,
        each=", each all kernels",
        interval=("cycles a frame of an instance", cycles),
        notes=("The time of a host between two calls is not in these figures.",),
        sections=(
            "## Kernels of one instance, in the order of the calls\n\n" + _kernel_table(report.layers),
            "## DDR\n\n" + _memory_text(report),
        ),
        compared="kernels",
        at_once=at_once,
    )


def _kernel_table(layers: Sequence[Layer]) -> str:
    rows = [
        (
            f"`{layer.kernel}`",
            *layer_cells(layer),
            layer.binds,
            weight_text(layer.weights),
            *kind_cells(layer),
        )
        for layer in layers
    ]
    return table(("kernel", *LAYER_HEADS, "set by", "weights", *KIND_HEADS), rows)


def _memory_text(report: Report) -> str:
    memory, total = report.memory, report.total.interval_cycles
    assert memory is not None
    return (
        f"A frame moves {memory.frame_bytes:,} bytes, {memory.intermediate_bytes:,} of them between "
        f"kernels: {memory.gb_per_s:,.2f} GB/s for all instances on the average; an instance has "
        f"{memory.gb_per_s_of_an_instance:,.2f} GB/s at a time. For {memory.bound_cycles:,} of "
        f"{total:,} cycles a frame DDR is what a kernel waits for. Words of up to {memory.word_bits} bits "
        f"through ports of {memory.port_bits}."
    )
