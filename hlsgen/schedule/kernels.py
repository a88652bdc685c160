"""The schedules of kernels: the front end of each, then the passes and verdicts of their parts, several at a
time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from hlsgen.base.errors import DesignError, Problem, ToolError
from hlsgen.base.progress import Progress, silent
from hlsgen.schedule.areas import Areas
from hlsgen.schedule.component import Component
from hlsgen.schedule.configuration import SHOWN_UNREAD, components_of_build
from hlsgen.schedule.front_end import NO_LLVM, FrontEnd, SourceError, compile_to_ir
from hlsgen.schedule.ir_text import module_text
from hlsgen.schedule.kept_parts import KeptParts, Work, read_kept_parts
from hlsgen.schedule.names import function_name
from hlsgen.schedule.own_processes import OwnProcesses
from hlsgen.schedule.predefined import predefined_macros
from hlsgen.schedule.processes import Part, parts_of
from hlsgen.schedule.results import KernelSchedule, PartSchedule, in_order, merged
from hlsgen.schedule.usage import usage_of


@dataclass(frozen=True, kw_only=True)
class _Compiled:
    """A kernel behind the front end; `front` without its IR, which the parts have. defined: the functions of
    the IR."""

    front: FrontEnd
    parts: tuple[Part, ...]
    defined: frozenset[str]


def schedule_component(component: Component, careful: bool = False) -> KernelSchedule:
    """The schedule of one kernel, in this process. Raises SourceError where it does not compile, ToolError.

    `careful` leaves out the pass of LLVM that is known to end the process on some code.
    """
    begun = time.perf_counter()
    compiled = _compiled(component)
    kept = KeptParts(component.folder)
    parts = [kept.relative(_scheduled(work, careful)) for work in _work(component, compiled)]
    return _whole(component, compiled, parts, time.perf_counter() - begun)


def schedule_components(
    components: Sequence[Component],
    *,
    kept: KeptParts | None = None,
    jobs: int | None = None,
    progress: Progress = silent,
) -> list[KernelSchedule]:
    """The schedules of several kernels, in their order, as many parts at a time as there are processors.

    kept: schedules that are known already, if all kernels are of one folder; those that were needed stay in
    it, and new ones come to it. Raises what schedule_component raises, for the first that fails.
    """
    begun = time.perf_counter()
    titles = [component.top or ", ".join(map(str, component.files)) for component in components]
    with OwnProcesses(jobs) as processes:
        progress("compiling", 0, len(components))
        compiled = processes.run(_compiled, components, titles)
        works = [_work(component, one) for component, one in zip(components, compiled, strict=True)]
        schedules = [KeptParts(component.folder) if kept is None else kept for component in components]
        digests = [[mine.digest(work) for work in part] for mine, part in zip(schedules, works, strict=True)]
        new = {
            digest: (at, work)
            for at, mine in enumerate(schedules)
            for digest, work in zip(digests[at], works[at], strict=True)
            if digest not in mine.known
        }
        done = count()

        def said(at: int) -> None:
            progress("scheduling", next(done) + 1, len(new))

        names = [titles[at] for at, _ in new.values()]
        found = processes.run(_scheduled, [work for _, work in new.values()], names, done=said)
    for (digest, (at, _)), part in zip(new.items(), found, strict=True):
        relative = schedules[at].relative(part)
        for mine, keys in zip(schedules, digests, strict=True):  # solutions may have parts that are the same
            if digest in keys:
                mine.known[digest] = relative
    if kept is not None:
        kept.forget_but({digest for mine in digests for digest in mine})
    seconds = time.perf_counter() - begun
    return [
        _whole(component, one, [mine.known[digest] for digest in keys], seconds)
        for component, one, mine, keys in zip(components, compiled, schedules, digests, strict=True)
    ]


def schedule_build(
    folder: Path, *, earlier: Path | None = None, progress: Progress = silent
) -> tuple[list[KernelSchedule], KeptParts]:
    """The schedules of the kernels of a build folder, with what the folder may keep for the next time.

    earlier: a folder of an earlier build, which may keep parts that are still the same. Raises DesignError:
    the folder holds no kernel; what schedule_component raises.
    """
    folder = folder.resolve()
    kept = KeptParts(folder, read_kept_parts(earlier) if earlier is not None else {})
    return schedule_components(components_of_build(folder), kept=kept, progress=progress), kept


def _compiled(component: Component, careful: bool = False) -> _Compiled:
    missing = [path for path in component.files if not path.is_file()]
    if missing:
        fix = "names are relative to the configuration, the script, or the folder in which that is run"
        problems = [
            Problem(message=f"{path}, which is to be compiled, is not there", fix=fix) for path in missing
        ]
        raise DesignError(problems)
    try:
        import llvmlite.binding  # noqa: F401
    except (ImportError, OSError):
        raise ToolError(NO_LLVM) from None
    try:
        front = compile_to_ir(
            component.files,
            include_folders=component.include_folders,
            predefined=predefined_macros(component.target.part, component.target.version),
            defines=component.defines,
            flags=component.flags,
            directives=component.directives,
        )
    except SourceError as error:
        raise _with_ignored(error, component.ignored) from None
    parts = tuple(parts_of(front.ir, component.top, front.pragmas))
    defined = frozenset(module_text(front.ir).functions)
    return _Compiled(front=replace(front, ir=""), parts=parts, defined=defined)


def _with_ignored(error: SourceError, ignored: Sequence[str]) -> SourceError:
    """The error with what the project says and is not obeyed, which may be flags that the code needs."""
    if not ignored:
        return error
    first, *others = error.problems
    what = "; ".join(ignored[:SHOWN_UNREAD])
    return SourceError([replace(first, fix=f"{first.fix} ({what})"), *others])


def _work(component: Component, compiled: _Compiled) -> list[Work]:
    return [
        Work(part=part, pragmas=compiled.front.pragmas, target=component.target) for part in compiled.parts
    ]


def _scheduled(work: Work, careful: bool) -> PartSchedule:
    from hlsgen.schedule.analysis import schedule_part

    return schedule_part(work.part, work.pragmas, work.target, careful=careful)


def _whole(
    component: Component, compiled: _Compiled, parts: Sequence[PartSchedule], seconds: float
) -> KernelSchedule:
    target = component.target
    names = dict.fromkeys(function_name(part.root) for part in compiled.parts)
    lost = dict.fromkeys(one for part in parts for one in part.lost)
    return KernelSchedule(
        kernel=component.top or ", ".join(names),
        solution=component.solution,
        loops=merged(in_order(loop for part in parts for loop in part.loops)),
        part=target.part,
        version=target.version,
        clock_ns=target.clock_ns,
        budget_ns=target.delays.budget_ns,
        instructions=sum(part.instructions for part in parts),
        seconds=seconds,
        dropped=(*compiled.front.dropped, *lost),
        unplaced=compiled.front.unplaced,
        ignored=component.ignored,
        moved=component.moved,
        too_large=tuple(part.too_large for part in parts if part.too_large),
        by_first_calls=tuple(part.by_first_calls for part in parts if part.by_first_calls and part.loops),
        usage=usage_of(
            [part.usage for part in parts],
            Areas(delays=target.delays),
            target.kernel_flow,
            compiled.defined,
        ),
    )
