"""The schedules of kernels: the front end, the passes and the verdicts of each, several at a time."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress

from hlsgen.base.errors import ToolError
from hlsgen.schedule.component import Component
from hlsgen.schedule.results import KernelSchedule

Progress = Callable[[str], None]


def schedule_component(component: Component, careful: bool = False) -> KernelSchedule:
    """The schedule of one kernel, in this process. Raises SourceError where it does not compile, ToolError.

    `careful` leaves out the pass of LLVM that is known to end the process on some code.
    """
    from hlsgen.schedule.front_end import NO_LLVM, compile_to_ir

    try:
        import llvmlite.binding  # noqa: F401
    except (ImportError, OSError):
        raise ToolError(NO_LLVM) from None
    from hlsgen.schedule.analysis import schedule_ir

    front = compile_to_ir(
        component.files,
        include_folders=component.include_folders,
        defines=component.defines,
        flags=component.flags,
    )
    return schedule_ir(front, component.top, component.target, careful=careful)


def schedule_components(
    components: Sequence[Component], *, jobs: int | None = None, progress: Progress | None = None
) -> list[KernelSchedule]:
    """The schedules of several kernels, in their order, as many at a time as there are processors.

    Each in a process of its own, since LLVM ends its process where an assertion of its fails. `progress` is
    told the name of each that is done. Raises what schedule_component raises, for the first that fails.
    """
    say = progress or (lambda name: None)
    found: dict[int, KernelSchedule] = {}
    # those that went down with another's process come again alone: what is said of them must not depend on it
    for careful, alone in ((False, False), (False, True), (True, True)):
        left = [at for at in range(len(components)) if at not in found]
        for chosen in [[at] for at in left] if alone else [left]:
            workers = min(len(chosen), jobs or os.cpu_count() or 1)
            _schedule([(at, components[at]) for at in chosen], max(1, workers), careful, found, say)
    lost = [
        component.top or ", ".join(map(str, component.files))
        for at, component in enumerate(components)
        if at not in found
    ]
    if lost:
        raise ToolError(
            f"error: LLVM failed on {', '.join(lost)}\nfix: another release of llvmlite, or --no-schedule"
        )
    return [found[at] for at in range(len(components))]


def _schedule(
    components: Sequence[tuple[int, Component]],
    workers: int,
    careful: bool,
    found: dict[int, KernelSchedule],
    say: Progress,
) -> None:
    """Schedule them into `found`; those whose process ends stay out."""
    # spawn: a fork would copy the threads' locks of the libraries that are loaded here
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = {pool.submit(schedule_component, one, careful): (at, one.top) for at, one in components}
        try:
            for done in as_completed(waiting):
                at, name = waiting[done]
                with suppress(BrokenProcessPool):
                    found[at] = done.result()
                    say(name)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
