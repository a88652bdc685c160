"""The tilings and times of a network's tasks on processors of a list, none of them computed twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hlsgen.cost.program_time import TaskTime, task_time
from hlsgen.hardware.processor import Processor
from hlsgen.program.tasks import Task
from hlsgen.program.tiling import Tiling, held, tiled

Key = tuple[object, ...]


@dataclass(frozen=True, kw_only=True)
class Timed:
    """The tasks of a program: how each is cut, for a processor whose banks hold as much of each, and its time
    in a round."""

    tilings: tuple[Tiling, ...]
    times: tuple[TaskTime, ...]

    def on(self, processor: Processor) -> tuple[Tiling, ...]:
        """The tilings for the processor itself, or one that differs in what its memories are made of."""
        return tuple(replace(one, processor=processor) for one in self.tilings)


class TaskTimes:
    """Those of one network, for processors that read and write words of the same widths."""

    def __init__(self) -> None:
        self.programs: dict[Key, Timed] = {}
        self.cuts: dict[Key, tuple[Tiling, TaskTime]] = {}
        self.times: dict[Key, TaskTime] = {}

    def of(self, processor: Processor, tasks: Sequence[Task], together: int) -> Timed:
        """The tasks with `together` frames a round. Raises NotTiled."""
        depths = processor.pixel_depth, processor.weight_depth
        on_the_way = processor.pool_columns, processor.window_columns, processor.window_results
        wider = processor.extra_lanes, processor.carried_words
        key: Key = (processor.rows, processor.lanes, *wider, *on_the_way, *depths, together)
        if key not in self.programs:
            cuts = [self._cut(processor, task, together) for task in tasks]
            tilings, times = tuple(cut for cut, _ in cuts), tuple(time for _, time in cuts)
            self.programs[key] = Timed(tilings=tilings, times=times)
        return self.programs[key]

    def _cut(self, processor: Processor, task: Task, together: int) -> tuple[Tiling, TaskTime]:
        """A task's tiling and time: banks that hold the same of it, however deep they are, cut it alike."""
        one = processor
        widths = one.rows, one.lanes, one.extra_lanes, one.carried_words
        key: Key = (task, *widths, together, *held(processor, task))
        if key not in self.cuts:
            tiling = tiled(processor, task, together)
            self.cuts[key] = tiling, self._time(tiling)
        return self.cuts[key]

    def _time(self, tiling: Tiling) -> TaskTime:
        """A task's time: of equal shapes that are cut alike it is the same."""
        task, processor = tiling.task, tiling.processor
        behind = task.behind
        key: Key = (
            processor.rows,
            processor.lanes,
            processor.extra_lanes,
            tiling.wide,
            tiling.frames,
            tiling.sequels,
            tiling.band_out,
            tiling.chunks,
            tiling.read_groups,
            task.in_shape,
            task.out_shape,
            task.pooled,
            task.window,
            None if behind is None else (behind.window, behind.shape, behind.weights is None),
            task.weights is None,
            task.added is None,
        )
        if key not in self.times:
            self.times[key] = task_time(tiling)
        return self.times[key]
