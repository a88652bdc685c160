"""What a program on shared processors costs and how fast it is. All modelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from hlsgen.cost.processor import processor_resources
from hlsgen.cost.resources import Resources
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.layers.float_cores import FLOAT_CORES
from hlsgen.model.ir import Graph
from hlsgen.program.program import Program
from hlsgen.report.cells import Cost, cost_figures
from hlsgen.report.content import Figures, Report
from hlsgen.report.figures import DdrTraffic, Fifo, Folding, Joint, Layer, Slr, slr_figures
from hlsgen.report.network import NetworkEstimate, network_markdown
from hlsgen.report.processor import (
    ProcessorFigures,
    TaskFigures,
    host_text,
    processor_figures,
    processor_text,
    task_figures,
    task_table,
)
from hlsgen.report.roofline import Roofline, built_ceiling, dsp_ceiling, roofline_figures
from hlsgen.report.section import resource_counts
from hlsgen.report.timing import Span, spans_in_turn
from hlsgen.schedule.results import KernelSchedule
from hlsgen.search.shared import SharedHardware
from hlsgen.targets.terms import Terms

HOST = "host"
"""The task of a layer that no processor does."""


@dataclass(frozen=True, kw_only=True)
class SharedEstimate(NetworkEstimate):
    """The modelled figures of a program. `as_json` has the keys of report.json."""

    hardware: SharedHardware

    def scheduled(self, kernels: Sequence[KernelSchedule]) -> Self:
        """The same: round figures of pipelines are a hundredth of a task's cycles."""
        return self

    def _pipelines(self) -> Mapping[str, Pipeline]:
        return {}

    @property
    def _program(self) -> Program:
        return self.hardware.program

    @property
    def interval_cycles(self) -> int:
        """Cycles of a frame of a processor, whose rounds are of several."""
        return self.hardware.interval

    @property
    def frames_per_s(self) -> float:
        together = self._program.together
        return self.instances * together * self.clock_mhz * 1e6 / self.hardware.round_cycles

    @cached_property
    def latency_cycles(self) -> int:
        """Cycles of a round: no frame is there before the last one of its round."""
        return self.hardware.round_cycles

    @property
    def batch_frames_per_s(self) -> float:
        """Frames a second of `batch` frames in one go, in whole rounds of all processors."""
        rounds = -(-self.batch // (self.instances * self._program.together))
        return self.batch * self.clock_mhz * 1e6 / (rounds * self.hardware.round_cycles)

    @property
    def binds(self) -> str:
        return self.hardware.bottleneck

    @cached_property
    def cost(self) -> Cost:
        return cost_figures(self._with_terms, self.board)

    def _with_terms(self, terms: Terms) -> Resources:
        return processor_resources(self.hardware.processor, terms).times(self.instances)

    def figures(self) -> Figures:
        return replace(
            super().figures(),
            style="shared",
            memory=self._memory(),
            processor=self._processor(),
            tasks=tuple(self._tasks()),
            foldings_tried=self.hardware.tried,
        )

    def _processor(self) -> ProcessorFigures:
        return processor_figures(self._program, self.hardware.round_cycles)

    def _tasks(self) -> list[TaskFigures]:
        return task_figures(self._program, self.hardware.times, self.hardware.task_cycles)

    def _timeline(self) -> list[Span]:
        names = [task.name for task in self._program.tasks]
        return spans_in_turn(zip(names, self.hardware.task_cycles, strict=True))

    def _roofline(self) -> Roofline | None:
        one, macs = self.hardware.processor, self.graph.macs
        moved = sum(time.bytes_moved for time in self.hardware.times)
        products, dsps = 2 if one.packed else 1, FLOAT_CORES.multiplier_dsp if one.floating else 1
        return roofline_figures(
            ceilings=(
                dsp_ceiling(self.board, self.clock_mhz, products=products, dsps=dsps),
                built_ceiling([(one.multipliers, self.instances)], self.clock_mhz),
            ),
            gops=self.gops,
            macs=macs,
            frame_bytes=-(-moved // self._program.together),
            ddr_gb_per_s=self.hardware.ddr_rate * self.clock_mhz / 1e3 * self.instances,
        )

    def _layers(self) -> list[Layer]:
        """The layers; those that are done with another one's task take no cycles of their own."""
        of_task = {name: task for task in self._program.tasks for name in task.layers}
        cycles = dict(
            zip((task.name for task in self._program.tasks), self.hardware.task_cycles, strict=True)
        )
        one = self.hardware.processor
        found = []
        for layer in self.graph.layers:
            task = of_task.get(layer.name)
            own = cycles[task.name] if task is not None and task.layers[0] == layer.name else 0
            folding = Folding(
                rows=one.rows,
                pe=one.lanes,
                simd=one.lanes,
                arithmetic="float" if one.floating else "packed" if one.packed else "plain",
                macs_per_cycle=layer.macs * self._program.together // own if own else 0,
            )
            found.append(
                Layer(
                    name=layer.name,
                    kind=layer.kind,
                    macs=layer.macs,
                    type=str(layer.output_type),
                    shape=layer.output_shape,
                    folding=folding,
                    ii=1,
                    interval_cycles=-(-own // self._program.together),
                    latency_cycles=own,
                    task=HOST if task is None else task.name,
                    **resource_counts(Resources()),
                )
            )
        return found

    def _memory(self) -> DdrTraffic:
        times, hardware = self.hardware.times, self.hardware
        together = self._program.together
        total = -(-sum(time.bytes_moved for time in times) // together)
        waiting = sum(
            cycles for cycles, time in zip(hardware.task_cycles, times, strict=True) if cycles > time.cycles
        )
        inner = sum(time.bytes_moved for time in times) - self._outer_bytes()
        bits = hardware.processor.word_bits
        return DdrTraffic(
            port_bits=bits,
            word_bits=bits,
            frame_bytes=total,
            intermediate_bytes=max(0, inner) // together,
            weight_bytes=int(self._program.weights.size),
            gb_per_s=round(total * self.frames_per_s / 1e9, 3),
            gb_per_s_of_an_instance=round(hardware.ddr_rate * self.clock_mhz / 1e3, 3),
            bound_cycles=waiting,
            banks=tuple(hardware.banks),
        )

    def _outer_bytes(self) -> int:
        """Bytes of a round's inputs and outputs, each once."""
        program = self._program
        return sum(program.layout(name).frame_bytes for name in program.outer) * program.together

    def _slrs(self) -> list[Slr]:
        rows = []
        for slr in self.board.slrs:
            count = self.hardware.slrs.count(slr.name)
            banks = [bank for bank in dict.fromkeys(self.hardware.banks) if self._slr_of(bank) == slr.name]
            used = self.hardware.each.times(count)
            rows.append(slr_figures(slr, self.board, instances=count, used=used, banks=banks))
        return rows

    def _slr_of(self, name: str) -> str:
        return next(bank.slr for bank in self.board.memory.banks if bank.name == name)

    def _joints(self) -> list[Joint]:
        return []

    def _fifos(self) -> list[Fifo]:
        return []


def shared_markdown(report: Report, graph: Graph) -> str:
    """The report of a build of `graph`."""
    assert report.processor is not None
    together = report.processor.frames_together
    total = report.total
    left = host_text([f"{layer.name} ({layer.kind})" for layer in report.layers if layer.task == HOST])
    cycles = f"{total.interval_cycles:,}: a round of {together} frames takes {total.latency_cycles:,}"
    return network_markdown(
        graph,
        report,
        each=", each the whole program on frames of its own",
        interval=("cycles a frame of a processor", cycles),
        latency=("latency of a round", "no frame is there before"),
        notes=("The time of a host between two calls is not in these figures.", *((left,) if left else ())),
        sections=(
            "## Processor\n\n" + processor_text(report.processor),
            "## Tasks of a round\n\n" + task_table(report.tasks),
        ),
        compared="tasks",
        at_once="with all processes of a task at once and FIFOs of the emitted depths it runs through",
    )
