"""How deep the pipelines of a network's stages are, by their schedules, for the timing simulation."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import PurePath

from hlsgen.schedule.results import KernelSchedule, LoopSchedule
from hlsgen.schedule.source_functions import calls_of


def latencies_of_stages(kernels: Iterable[KernelSchedule], stages: Collection[str]) -> dict[str, int]:
    """Cycles from the start of an iteration to its last write, by stage, for `hlsgen.timing.timing.simulate`.

    A stage is emitted as a file of its name, what carries words as a function of its name: its loops stand
    there, or in what is called from there. Of several that with the most iterations counts, for it is what
    words pass. Stages of which no loop is found are left out.
    """
    found: dict[str, LoopSchedule] = {}
    for kernel in kernels:
        for loop in kernel.loops:
            stage = _stage_of(loop, stages)
            if stage and (stage not in found or _weight(loop) > _weight(found[stage])):
                found[stage] = loop
    return {stage: max(1, loop.depth - 1) for stage, loop in found.items()}


def _weight(loop: LoopSchedule) -> tuple[int, int]:
    return loop.trips or 1 << 62, loop.depth


def _stage_of(loop: LoopSchedule, stages: Collection[str]) -> str:
    """The stage whose file or function the loop stands in, or is called from."""
    for place in calls_of(loop.place):
        for name in (PurePath(place.file).stem, place.function):
            if name in stages:
                return name
    return ""
