"""The schedules of kernels: the front end, the passes and the verdicts of each, several at a time."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

from hlsgen.schedule.component import Component
from hlsgen.schedule.results import KernelSchedule

Progress = Callable[[str], None]


def schedule_component(component: Component) -> KernelSchedule:
    """The schedule of one kernel. Raises SourceError where it does not compile, ToolError where a tool is missing."""
    from hlsgen.schedule.analysis import schedule_ir
    from hlsgen.schedule.front_end import compile_to_ir

    front = compile_to_ir(
        component.files,
        include_folders=component.include_folders,
        defines=component.defines,
        flags=component.flags,
    )
    return schedule_ir(front, component.top, component.target)


def schedule_components(
    components: Sequence[Component], *, jobs: int | None = None, progress: Progress | None = None
) -> list[KernelSchedule]:
    """The schedules of several kernels, in their order, as many at a time as there are processors.

    `progress` is told the name of each that is done. Raises what schedule_component raises, for the first that fails.
    """
    say = progress or (lambda name: None)
    workers = min(len(components), jobs or os.cpu_count() or 1)
    if workers <= 1:
        found = []
        for component in components:
            found.append(schedule_component(component))
            say(component.top)
        return found
    # spawn: a fork would copy the threads' locks of the libraries that are loaded here
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = [pool.submit(schedule_component, component) for component in components]
        names = dict(zip(waiting, components, strict=True))
        try:
            for done in as_completed(waiting):
                done.result()
                say(names[done].top)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [one.result() for one in waiting]
