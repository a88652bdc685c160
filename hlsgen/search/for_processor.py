"""Another network's program for a processor that is built: how many frames go through it together.

More frames at a time read their weights once; fewer fill the memories less. All that the search of a new
processor tries is tried here, and the fastest taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.short_repr import Brief
from hlsgen.cost.program_time import TaskTime, task_time
from hlsgen.hardware.processor_file import BuiltProcessor
from hlsgen.model.ir import Graph
from hlsgen.program.program import Program, program
from hlsgen.search.shared import TOGETHER


@dataclass(frozen=True, kw_only=True)
class FittedProgram(Brief):
    """A network's program, and the modelled times of its tasks on the processor of a build."""

    built: BuiltProcessor
    program: Program
    times: tuple[TaskTime, ...]

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
    if graph.input.is_float:
        message = f"{graph.name} is in floating point, and the processor {built.name} computes in fixed point"
        raise DesignError(Problem(message=message, fix="a fixed-point precision"))
    first = program(graph, built.processor, TOGETHER[0])
    known: dict[tuple[object, ...], TaskTime] = {}
    found = [_timed(first, built, known)]
    found += [_timed(program(graph, built.processor, count), built, known) for count in TOGETHER[1:]]
    return min(found, key=lambda one: one.frame_cycles)


def _timed(made: Program, built: BuiltProcessor, known: dict[tuple[object, ...], TaskTime]) -> FittedProgram:
    """The program with its times; tasks of equal shapes take as long. known: those that were timed before."""
    times = []
    for tiling in made.tilings:
        task = tiling.task
        cut = (tiling.frames, tiling.sequels, tiling.band_out, tiling.read_groups, tiling.read_step)
        shapes = (task.in_shape, task.source.shape, task.out_shape, task.window)
        key = (*cut, *shapes, task.weights is None, task.added is None)
        if key not in known:
            known[key] = task_time(tiling)
        times.append(known[key])
    return FittedProgram(built=built, program=made, times=tuple(times))
