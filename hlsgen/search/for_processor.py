"""Another network's program for a processor that is built: how many frames go through it together.

More frames at a time read their weights once; fewer fill the memories less. All that the search of a new
processor tries is tried here, and the fastest taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.short_repr import Brief
from hlsgen.cost.program_time import TaskTime
from hlsgen.hardware.processor import Processor
from hlsgen.hardware.processor_file import BuiltProcessor
from hlsgen.model.ir import Graph
from hlsgen.program.host_tail import Division, divided
from hlsgen.program.lowering import lowered
from hlsgen.program.program import Program, program
from hlsgen.program.tiling import NotTiled
from hlsgen.search.processor_rounds import TOGETHER
from hlsgen.search.task_times import TaskTimes


@dataclass(frozen=True, kw_only=True)
class FittedProgram(Brief):
    """A network's program, and the modelled times of its tasks on the processor of a build. division: what
    the program runs of the network, and what is left to the host.
    """

    built: BuiltProcessor
    program: Program
    times: tuple[TaskTime, ...]
    division: Division

    @cached_property
    def task_cycles(self) -> tuple[int, ...]:
        """Cycles of each task of a round."""
        return tuple(time.with_ddr(self.built.ddr_rate) for time in self.times)

    @property
    def round_cycles(self) -> int:
        return sum(self.task_cycles)

    @property
    def frame_cycles(self) -> float:
        """Cycles of a compute unit for a frame."""
        return self.round_cycles / self.program.together

    @property
    def frames_per_s(self) -> float:
        """Of all compute units."""
        return len(self.built.units) * self.built.clock_mhz * 1e6 / self.frame_cycles


def fitted_program(graph: Graph, built: BuiltProcessor) -> FittedProgram:
    """The fastest program. Raises DesignError: the network does not keep to the processor's limits."""
    if graph.input.is_float != built.processor.floating:
        its, own = ("floating", "fixed") if graph.input.is_float else ("fixed", "floating")
        message = f"{graph.name} is in {its} point, and the processor {built.name} computes in {own} point"
        fix = "a fixed-point precision" if graph.input.is_float else "precision: float32"
        raise DesignError(Problem(message=message, fix=fix))
    plain = replace(built.processor.without_windows, pool_columns=0)
    division = Division(head=graph) if graph.input.is_float else divided(graph, plain)
    found: list[FittedProgram] = [
        *_programs(division, built, plain),
        *(_programs(division, built, built.processor) if plain != built.processor else ()),
    ]
    if not found:
        # raises with the reason
        program(division.head, plain, TOGETHER[0])
    fastest: FittedProgram = min(found, key=lambda one: one.frame_cycles)
    return fastest


def _programs(division: Division, built: BuiltProcessor, lowered_for: Processor) -> Iterator[FittedProgram]:
    """One for each count of frames that go together, if its tasks fit. lowered_for: whether pools and
    windows join tasks.
    """
    graph, times = division.head, TaskTimes()
    tasks = lowered(graph, lowered_for)
    for together in TOGETHER:
        try:
            timed = times.of(built.processor, tasks.tasks, together)
        except NotTiled:
            continue
        made = Program(
            graph=graph,
            processor=built.processor,
            lowered=tasks,
            tilings=timed.on(built.processor),
            together=together,
        )
        yield FittedProgram(built=built, program=made, times=timed.times, division=division)
