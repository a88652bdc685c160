"""The schedules of kernels: the front end of each, then the passes and verdicts of their parts, several at a
time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hlsgen.base.errors import ToolError
from hlsgen.schedule.areas import Areas
from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.front_end import NO_LLVM, FrontEnd, compile_to_ir
from hlsgen.schedule.own_processes import in_own_processes
from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.processes import Part, parts_of, source_name
from hlsgen.schedule.results import KernelSchedule, PartSchedule, in_order, merged
from hlsgen.schedule.usage import usage_of

Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class _Compiled:
    """A kernel behind the front end; `front` without its IR, which the parts have."""

    front: FrontEnd
    parts: tuple[Part, ...]
    seconds: float


@dataclass(frozen=True, kw_only=True)
class _Work:
    """A part of the kernel with that index, and all that its schedule depends on."""

    kernel: int
    part: Part
    pragmas: Sequence[Pragma]
    target: Target


def schedule_component(component: Component, careful: bool = False) -> KernelSchedule:
    """The schedule of one kernel, in this process. Raises SourceError where it does not compile, ToolError.

    `careful` leaves out the pass of LLVM that is known to end the process on some code.
    """
    compiled = _compiled(component)
    work = _work([component], [compiled])
    return _whole(component, compiled, [_scheduled(one, careful) for one in work])


def schedule_components(
    components: Sequence[Component], *, jobs: int | None = None, progress: Progress | None = None
) -> list[KernelSchedule]:
    """The schedules of several kernels, in their order, as many parts at a time as there are processors.

    `progress` is told the name of each that is done. Raises what schedule_component raises, for the first
    that fails.
    """
    titles = [component.top or ", ".join(map(str, component.files)) for component in components]
    compiled = in_own_processes(_compiled, components, titles, jobs=jobs)
    work = _work(components, compiled)
    left = Counter(one.kernel for one in work)

    def done(at: int) -> None:
        left[work[at].kernel] -= 1
        if progress and not left[work[at].kernel]:
            progress(components[work[at].kernel].top)

    parts = in_own_processes(_scheduled, work, [titles[one.kernel] for one in work], jobs=jobs, done=done)
    return [
        _whole(component, one, [part for part, mine in zip(parts, work, strict=True) if mine.kernel == at])
        for at, (component, one) in enumerate(zip(components, compiled, strict=True))
    ]


def _compiled(component: Component, careful: bool = False) -> _Compiled:
    begun = time.perf_counter()
    try:
        import llvmlite.binding  # noqa: F401
    except (ImportError, OSError):
        raise ToolError(NO_LLVM) from None
    front = compile_to_ir(
        component.files,
        include_folders=component.include_folders,
        defines=component.defines,
        flags=component.flags,
    )
    parts = tuple(parts_of(front.ir, component.top, front.pragmas))
    return _Compiled(front=replace(front, ir=""), parts=parts, seconds=time.perf_counter() - begun)


def _work(components: Sequence[Component], compiled: Sequence[_Compiled]) -> list[_Work]:
    return [
        _Work(kernel=at, part=part, pragmas=one.front.pragmas, target=component.target)
        for at, (component, one) in enumerate(zip(components, compiled, strict=True))
        for part in one.parts
    ]


def _scheduled(work: _Work, careful: bool) -> PartSchedule:
    from hlsgen.schedule.analysis import schedule_part

    return schedule_part(work.part, work.pragmas, work.target, careful=careful)


def _whole(component: Component, compiled: _Compiled, parts: Sequence[PartSchedule]) -> KernelSchedule:
    target = component.target
    names = dict.fromkeys(source_name(part.root) for part in compiled.parts)
    return KernelSchedule(
        kernel=component.top or ", ".join(names),
        loops=merged(in_order(loop for part in parts for loop in part.loops)),
        part=target.part,
        version=target.version,
        clock_ns=target.clock_ns,
        budget_ns=target.delays.budget_ns,
        instructions=sum(part.instructions for part in parts),
        seconds=compiled.seconds + sum(part.seconds for part in parts),
        dropped=compiled.front.dropped,
        usage=usage_of([part.usage for part in parts], Areas(delays=target.delays), target.kernel_flow),
    )
