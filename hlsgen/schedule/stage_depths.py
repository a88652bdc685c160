"""How deep the pipelines of a network's stages are, by their schedules, for the timing simulation."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import PurePath

from hlsgen.hardware.pipeline import Pipeline
from hlsgen.schedule.ir import Place
from hlsgen.schedule.results import KernelSchedule, LoopSchedule
from hlsgen.schedule.source_functions import calls_of


def latencies_of_processes(kernels: Iterable[KernelSchedule], pipeline: Pipeline) -> dict[str, int]:
    """The same of a kernel's processes but those whose latency is that of DDR, of which no code tells."""
    return latencies_of_stages(kernels, {one.name for one in pipeline.processes if not one.ddr_bits})


def latencies_of_stages(kernels: Iterable[KernelSchedule], stages: Collection[str]) -> dict[str, int]:
    """Cycles from the start of an iteration to its last write, by stage, for `hlsgen.timing.timing.simulate`.

    A stage is emitted as a file of its name, what carries words as a function of its name: its loops stand
    there, or in what is called from there. Of several that with the most iterations counts, for it is what
    words pass. Stages of which no loop is found are left out.
    """
    found: dict[str, LoopSchedule] = {}
    for kernel in kernels:
        for loop in kernel.loops:
            for stage in _stages_of(loop, stages):
                if stage not in found or _weight(loop) > _weight(found[stage]):
                    found[stage] = loop
    return {stage: max(1, loop.depth - 1) for stage, loop in found.items()}


def _weight(loop: LoopSchedule) -> tuple[int, int]:
    return loop.trips or 1 << 62, loop.depth


def _stages_of(loop: LoopSchedule, stages: Collection[str]) -> set[str]:
    """The stages whose file or function the loop, or a copy of it, stands in or is called from."""
    found = (_stage_at(place, stages) for place in (loop.place, *loop.other_places))
    return {stage for stage in found if stage}


def _stage_at(place: Place | None, stages: Collection[str]) -> str:
    for call in calls_of(place):
        for name in (PurePath(call.file).stem, call.function):
            if name in stages:
                return name
    return ""
