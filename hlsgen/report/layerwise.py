"""What a network of tasks costs and how fast it is: report.json, and report.md for a person. All modelled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hlsgen.cost.error_margins import cost_figures, cost_text
from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import fifo_resources
from hlsgen.emit.layerwise import layerwise_weight_files
from hlsgen.hardware.ports import frame_bytes
from hlsgen.model.accuracy import Accuracy
from hlsgen.model.ir import Graph
from hlsgen.report.estimates import Estimates
from hlsgen.report.figures import (
    adapter_figures,
    batch_cycles,
    board_figures,
    layer_figures,
    performance_figures,
    quantisation_figures,
    resource_figures,
    slr_figures,
)
from hlsgen.report.roofline import Ceiling, roofline_figures, stage_ceilings
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
from hlsgen.search.board_limits import usable
from hlsgen.search.layerwise import LayerwiseHardware
from hlsgen.search.task_kernels import TaskKernel, kernel_resources
from hlsgen.targets.board import Board
from hlsgen.targets.terms import OUTSIDE, TARGETS, Terms


@dataclass(frozen=True, kw_only=True)
class LayerwiseEstimate(Estimates):
    """The modelled figures of a network of tasks. `as_json` has the keys of report.json."""

    design: str
    choice: LayerwiseHardware
    graph: Graph
    board: Board
    clock_mhz: float
    batch: int
    accuracy: tuple[Accuracy, ...]
    quality: dict[str, Any] | None = None
    """What `quality_figures` gives."""

    @property
    def target(self) -> tuple[Board, float]:
        return self.board, self.clock_mhz

    @property
    def hardware_text(self) -> str:
        return str(self.choice)

    @property
    def used(self) -> Resources:
        return self.choice.each.times(self.choice.instances)

    @property
    def interval_cycles(self) -> int:
        """Cycles of a frame through all kernels of an instance, within a large batch."""
        return self.choice.interval

    @property
    def frames_per_s(self) -> float:
        """Frames a second of all instances, within a large batch."""
        return self.choice.instances * self.clock_mhz * 1e6 / self.interval_cycles

    @property
    def batch_frames_per_s(self) -> float:
        """Frames a second of `batch` frames: the way through every kernel is paid once."""
        cycles = batch_cycles(self.batch, self.choice.instances, self.latency_cycles, self.interval_cycles)
        return min(self.batch * self.clock_mhz * 1e6 / cycles, self.frames_per_s)

    @cached_property
    def latency_cycles(self) -> int:
        """Cycles of one frame through all kernels; what the host takes between calls is not in it."""
        return sum(
            max(kernel.latency_cycles, self.choice.ddr_cycles(kernel)) for kernel in self.choice.kernels
        )

    @property
    def cost(self) -> dict[str, Any]:
        """The section `cost` of report.json: LUT and FF of all kernels, and how far off they may be."""
        return cost_figures(self._with_terms, self.board)

    def as_json(self) -> dict[str, Any]:
        choice, macs = self.choice, self.graph.macs
        return {
            "design": self.design,
            "style": "tasks",
            "board": self.board.name,
            "clock_mhz": self.clock_mhz,
            **board_figures(self.board),
            "graph": graph_figures(self.graph),
            "layers": [self._layer(kernel) for kernel in choice.kernels],
            "total": {
                "macs": macs,
                "interval_cycles": self.interval_cycles,
                "latency_cycles": self.latency_cycles,
                **resource_figures(choice.each.times(choice.instances)),
                "instances": choice.instances,
            },
            "performance": performance_figures(
                frames_per_s=self.frames_per_s,
                batch=self.batch,
                batch_frames_per_s=self.batch_frames_per_s,
                macs=macs,
                binds=choice.bottleneck,
            ),
            "cost": self.cost,
            "memory": self._memory(),
            "roofline": self._roofline(),
            "timeline": self._timeline(),
            "slrs": self._slrs(),
            "joints": self._adapters(),
            "fifos": self._fifos(),
            "quantisation": quantisation_figures(self.accuracy),
            "quality": self.quality,
            "foldings_tried": choice.tried,
        }

    def _timeline(self) -> list[dict[str, Any]]:
        """When the kernel of each layer works on the first frame: one after the other."""
        rows, begin = [], 0
        for kernel in self.choice.kernels:
            end = begin + max(kernel.latency_cycles, self.choice.ddr_cycles(kernel))
            rows.append({"name": kernel.layer.name, "begin": begin, "first_output": None, "end": end})
            begin = end
        return rows

    def _roofline(self) -> dict[str, Any] | None:
        choice = self.choice
        working = sum(kernel.interval for kernel in choice.kernels)
        own = Ceiling(
            name="kernels, not waiting for DDR",
            gops=2 * self.graph.macs / working * choice.instances * self.clock_mhz / 1e3,
            basis=f"{self.graph.macs:,} products in {working:,} cycles of the kernels in turn, "
            f"{choice.instances} instances, {self.clock_mhz:g} MHz",
        )
        stages = [stage for kernel in choice.kernels for stage in kernel.pipeline.stages.values()]
        return roofline_figures(
            ceilings=(*stage_ceilings(stages, self.board, self.clock_mhz), own),
            gops=2 * self.graph.macs * self.frames_per_s / 1e9,
            macs=self.graph.macs,
            frame_bytes=sum(kernel.bytes_moved for kernel in choice.kernels),
            ddr_gb_per_s=choice.ddr_rate * self.clock_mhz / 1e3 * choice.instances,
        )

    def _with_terms(self, terms: Terms) -> Resources:
        """All kernels of all instances."""
        board, total = self.board.with_terms(terms), Resources()
        for kernel in self.choice.kernels:
            total += kernel_resources(kernel.pipeline, board)
        return total.times(self.choice.instances)

    def _cells(self, kernel: TaskKernel) -> dict[str, dict[str, int]]:
        """LUT and FF of the kernel by target, as reports on it alone count them: without its interconnect."""
        found: dict[str, dict[str, int]] = {}
        for target in TARGETS:
            terms = self.board.terms.of(target)
            whole = kernel_resources(kernel.pipeline, self.board.with_terms(terms))
            outside = kernel_resources(kernel.pipeline, self.board.with_terms(terms.only(OUTSIDE)))
            found[target] = {"lut": whole.lut - outside.lut, "ff": whole.ff - outside.ff}
        return found

    def _layer(self, kernel: TaskKernel) -> dict[str, Any]:
        """The layer's kernel: its cycles and resources are those of the whole kernel, not of its stage."""
        (process,) = kernel.pipeline.stage_processes
        ddr = self.choice.ddr_cycles(kernel)
        slowest = kernel.pipeline.slowest.name
        return {
            **layer_figures(process, self.board),
            "kernel": kernel.name,
            "interval_cycles": self.choice.interval_of(kernel),
            "stage_interval_cycles": process.interval,
            "kernel_interval_cycles": kernel.interval,
            "ddr_cycles": ddr,
            "ddr_bytes": {"read": kernel.bytes_read, "written": kernel.bytes_written},
            "latency_cycles": kernel.latency_cycles,
            "binds": "DDR bandwidth" if ddr > kernel.interval else slowest,
            **resource_figures(kernel.resources),
            "cells": self._cells(kernel),
        }

    def _memory(self) -> dict[str, Any]:
        """DDR traffic of a frame, with what fills words up; weights are read once and stay."""
        choice = self.choice
        total = sum(kernel.bytes_moved for kernel in choice.kernels)
        written = {kernel.layer.name for kernel in choice.kernels}
        reads = [one for kernel in choice.kernels for one in kernel.layer.inputs if one in written]
        between = sum(frame_bytes(choice.formats[one]) for one in (*reads, *sorted(set(reads))))
        waiting = sum(
            choice.interval_of(one) for one in choice.kernels if choice.ddr_cycles(one) > one.interval
        )
        return {
            "port_bits": choice.port_bits,
            "word_bits": choice.word_bits,
            "frame_bytes": total,
            "intermediate_bytes": between,
            "weight_bytes": sum(beats.nbytes for beats in layerwise_weight_files(choice).values()),
            "gb_per_s": round(total * self.frames_per_s / 1e9, 3),
            "gb_per_s_of_an_instance": round(choice.ddr_rate * self.clock_mhz / 1e3, 3),
            "bound_cycles": waiting,
            "banks": list(choice.banks),
        }

    def _slrs(self) -> list[dict[str, Any]]:
        """Of each SLR: the kernels of all instances that lie in it (`instances` counts them)."""
        rows = []
        for slr in self.board.slrs:
            used, count = Resources(), 0
            for kernel, slrs in zip(self.choice.kernels, self.choice.slrs, strict=True):
                used += kernel.resources.times(slrs.count(slr.name))
                count += slrs.count(slr.name)
            banks = [bank for bank in dict.fromkeys(self.choice.banks) if self._slr_of(bank) == slr.name]
            limit = usable(slr, self.board)
            rows.append(slr_figures(slr.name, slr, limit, instances=count, used=used, banks=banks))
        return rows

    def _slr_of(self, name: str) -> str:
        return next(bank.slr for bank in self.board.memory.banks if bank.name == name)

    def _adapters(self) -> list[dict[str, Any]]:
        return [
            {"kernel": kernel.name, **adapter_figures(process, self.board)}
            for kernel in self.choice.kernels
            for process in kernel.pipeline.adapters
        ]

    def _fifos(self) -> list[dict[str, Any]]:
        return [
            {
                "kernel": kernel.name,
                "name": stream.name,
                "depth": stream.depth,
                "lanes": stream.words.lanes,
                "type": str(stream.words.type),
                **resource_figures(fifo_resources(stream, self.board)),
            }
            for kernel in self.choice.kernels
            for stream in kernel.pipeline.streams.values()
        ]


def layerwise_markdown(name: str, board: Board, graph: Graph, report: dict[str, Any]) -> str:
    """The report of a build. Every figure is modelled unless it says measured."""
    cycles = f"{report['total']['interval_cycles']:,}, the sum over its kernels"
    at_once = "with the stages of a kernel at once and FIFOs of the emitted depths every kernel runs through"
    return page(
        (
            f"# {name} on {board.title}",
            network_summary(
                graph,
                report,
                instances=", each all kernels",
                interval=("cycles a frame of an instance", cycles),
            ),
            "The time of a host between two calls is not in these figures.",
            warning_lines(report),
            "## Board\n\n" + slr_table(report, "kernels"),
            cost_text(report),
            "## Kernels of one instance, in the order of the calls\n\n" + _kernel_table(report),
            "## DDR\n\n" + _memory_text(report),
            quantisation_text(report),
            clipping_text(report),
            "## C-simulation\n\n" + csim_text(report, compared="kernels", at_once=at_once),
            lint_text(report),
        )
    )


def _kernel_table(report: dict[str, Any]) -> str:
    rows = [
        (
            f"`{layer['kernel']}`",
            *layer_cells(layer),
            layer["binds"],
            weight_text(layer.get("weights")),
            *kind_cells(layer),
        )
        for layer in report["layers"]
    ]
    return table(("kernel", *LAYER_HEADS, "set by", "weights", *KIND_HEADS), rows)


def _memory_text(report: dict[str, Any]) -> str:
    memory, total = report["memory"], report["total"]["interval_cycles"]
    return (
        f"A frame moves {memory['frame_bytes']:,} bytes, {memory['intermediate_bytes']:,} of them between "
        f"kernels: {memory['gb_per_s']:,.2f} GB/s for all instances on the average; an instance has "
        f"{memory['gb_per_s_of_an_instance']:,.2f} GB/s at a time. For {memory['bound_cycles']:,} of "
        f"{total:,} cycles a frame DDR is what a kernel waits for. Words of up to {memory['word_bits']} bits "
        f"through ports of {memory['port_bits']}."
    )
