"""A design of hlsgen as an application: its kernels' modelled cycles, and CPU times that were measured.

style: tasks -- a task for each layer, a call of its kernel with a frame. style: shared -- a task for each of
the program's, on a round of frames. A streaming network or a single layer is one kernel, so one task.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hlsgen.api.design import load
from hlsgen.base.errors import DesignError, Problem, collecting
from hlsgen.base.progress import Progress, Say, silent
from hlsgen.designfile.document import Document
from hlsgen.dispatch.node import MICROSECOND, Task
from hlsgen.dispatch.schema import CPU, CpuTimesFile
from hlsgen.partitioning.times import Times, read_times
from hlsgen.report.content import Figures
from hlsgen.report.figures import Layer
from hlsgen.report.processor import TaskFigures

WHOLE = "network"
"""The kind of the one task of a network that is one kernel."""
TASKS, SHARED, MIXED = "tasks", "shared", "mixed"


@dataclass(frozen=True, kw_only=True)
class NetworkTasks:
    """A network's tasks. instances: of its accelerator, that fit its board as it is designed.

    frames: of an instance of the application. source: where the times come from, by type of element.
    """

    tasks: tuple[Task, ...]
    frames: int
    instances: int
    source: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Work:
    """A task before it is known what runs it. cycles: of the accelerator; None: it has no kernel."""

    name: str
    kind: str
    layers: tuple[str, ...]
    cycles: int | None


def network_tasks(
    path: Path,
    accelerators: Mapping[str, Sequence[str]],
    cpu_times: Path | None,
    *,
    say: Say = lambda _: None,
    progress: Progress = silent,
) -> NetworkTasks:
    """The network's tasks, in an order in which each comes after those it waits for.

    Raises DesignError: the design or the table is wrong, a layer is in neither, or the style is of no use.
    """
    progress(f"reading {path.name}")
    if Document.read(path).data.get("style") == MIXED:  # before a long search
        raise _no_tasks(path)
    design = load(path, say=say, progress=progress)
    design.choose(progress)
    found = design.estimate().figures()
    table = None if cpu_times is None else _read_table(cpu_times)
    frames = found.processor.frames_together if found.processor is not None else 1
    work = _work(found, path)
    problems = _kind_problems(path, accelerators, work)
    tasks = []
    for one in work:
        takes = _nanoseconds(one, accelerators, found.clock_mhz)
        if table is not None:
            with collecting(problems):
                takes[CPU] = max(1, round(table.of(one.layers, path) * frames * MICROSECOND))
        if not takes and table is None:
            message = f"{path}: nothing runs the layer {one.name}, a {one.kind}"
            fix = "add its kind to a type in `accelerators`, or times of all layers with `cpu_times`"
            problems.append(Problem(message=message, fix=fix))
        tasks.append((one, takes))
    if problems:
        raise DesignError(problems)
    source = dict.fromkeys(accelerators, f"modelled, {found.board} at {found.clock_mhz:g} MHz")
    if table is not None:
        source[CPU] = f"measured, {table.text}"
    return NetworkTasks(
        tasks=_in_order(tasks, found), frames=frames, instances=found.total.instances, source=source
    )


def _work(found: Figures, path: Path) -> list[Work]:
    layers = {one.name: one for one in found.layers}
    if found.style == TASKS:
        return [
            Work(name=one.name, kind=one.kind, layers=(one.name,), cycles=one.latency_cycles)
            for one in found.layers
        ]
    if found.style == SHARED:
        done = {name for task in found.tasks for name in task.layers}
        return _program_work(found.tasks, layers) + [
            Work(name=name, kind=one.kind, layers=(name,), cycles=None)
            for name, one in layers.items()
            if name not in done
        ]
    if found.style == MIXED:
        raise _no_tasks(path)
    return [Work(name=found.design, kind=WHOLE, layers=tuple(layers), cycles=found.total.latency_cycles)]


def _program_work(tasks: Sequence[TaskFigures], layers: Mapping[str, Layer]) -> list[Work]:
    """The tasks of a program. One without a layer of its own moves a tensor to where the next one wants it, a
    concatenation mostly: it is part of that one, as it has no CPU time apart from it either.
    """
    work, moved = [], 0
    for task in tasks:
        moved += task.cycles
        if task.layers:
            kind = layers[task.layers[0]].kind
            work.append(Work(name=task.name, kind=kind, layers=tuple(task.layers), cycles=moved))
            moved = 0
    assert not moved, "a program's last task computes an output"
    return work


def _no_tasks(path: Path) -> DesignError:
    message = f"{path} becomes style: {MIXED}, which is no set of tasks and no single kernel"
    return DesignError(Problem(message=message, fix="style: tasks, style: shared or style: dataflow"))


def _nanoseconds(work: Work, accelerators: Mapping[str, Sequence[str]], clock_mhz: float) -> dict[str, int]:
    """What accelerators take for it, rounded up."""
    if work.cycles is None:
        return {}
    takes = math.ceil(work.cycles * 1000 / clock_mhz)
    return {type_: takes for type_, kinds in accelerators.items() if work.kind in kinds}


def _kind_problems(
    path: Path, accelerators: Mapping[str, Sequence[str]], work: Sequence[Work]
) -> list[Problem]:
    """Kinds that no task has: a slip of the pen would make a CPU's task of what was to be accelerated."""
    there = sorted({one.kind for one in work if one.cycles is not None})
    return [
        Problem(
            message=f"{path} has no tasks of the kind {kind} for `{type_}`",
            fix=f"the kinds that have kernels here are {', '.join(there)}",
        )
        for type_, kinds in accelerators.items()
        for kind in kinds
        if kind not in there
    ]


@dataclass(frozen=True, kw_only=True)
class CpuTable:
    """Times that were measured. text: where and how. times: of `hlsgen partition --write-times`, which knows
    some layers together; else microseconds by layer.
    """

    file: Path
    text: str
    microseconds: Mapping[str, float]
    times: Times | None = None

    def of(self, layers: Sequence[str], design: Path) -> float:
        """Microseconds of a frame of these layers. Raises DesignError: the table lacks one."""
        if self.times is not None:
            return self.times.of(layers) * 1e6
        missing = [layer for layer in layers if layer not in self.microseconds]
        if missing:
            some = ", ".join(missing[:3]) + (" ..." if len(missing) > 3 else "")
            message = f"{self.file} has no time of {some}, which {design} has"
            fix = "add them to `microseconds`; `hlsgen estimate DESIGN --json` lists the layers' names"
            raise DesignError(Problem(message=message, fix=fix))
        return sum(self.microseconds[layer] for layer in layers)


def _read_table(path: Path) -> CpuTable:
    """The table in a file: of `hlsgen partition` if it is JSON. Raises DesignError: it is none."""
    if path.suffix == ".json":
        times = read_times(path)
        return CpuTable(file=path, text=times.machine, microseconds={}, times=times)
    given = Document.read(path).validate(CpuTimesFile)
    return CpuTable(file=path, text=given.measured, microseconds=given.microseconds)


def _in_order(tasks: Sequence[tuple[Work, Mapping[str, int]]], found: Figures) -> tuple[Task, ...]:
    """As tasks that know whom they wait for: those that do the layers which theirs read."""
    owner = {layer: place for place, (work, _) in enumerate(tasks) for layer in work.layers}
    waits: list[set[int]] = [set() for _ in tasks]
    for edge in found.graph.edges:
        if edge.source in owner and edge.to in owner and owner[edge.source] != owner[edge.to]:
            waits[owner[edge.to]].add(owner[edge.source])
    order: list[int] = []
    left = list(range(len(tasks)))
    while left:
        ready = next(place for place in left if waits[place] <= set(order))
        order.append(ready)
        left.remove(ready)
    at = {place: number for number, place in enumerate(order)}
    return tuple(
        Task(
            name=tasks[place][0].name,
            kind=tasks[place][0].kind,
            nanoseconds=tasks[place][1],
            after=tuple(sorted(at[earlier] for earlier in waits[place])),
        )
        for place in order
    )
