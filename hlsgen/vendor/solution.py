"""A solution of Vitis HLS on disk: what was compiled, how it was asked for, and how it was scheduled.

Reads a folder such as `project/solution1` (or the `hls` folder of a component of 2023.2 and later), written
by anybody: sizes are limited, names lead nowhere outside the root, and nothing is written.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hlsgen.base.errors import DesignError
from hlsgen.designfile.tcl_commands import TclCommand, commands
from hlsgen.designfile.text_files import read_text, refuse
from hlsgen.schedule.configuration import FILE, TOP, Configuration
from hlsgen.schedule.directives import Directive, directives_of
from hlsgen.schedule.languages import is_code
from hlsgen.schedule.tcl_script import options_said
from hlsgen.vendor.configurations import configurations
from hlsgen.vendor.csynth import read_csynth
from hlsgen.vendor.pragma_report import ReportedPragma, read_pragmas
from hlsgen.vendor.project_files import (
    MOST_FILES,
    CompilerFlags,
    Finder,
    ProjectFile,
    bases_of,
    named_in_app,
    named_in_data,
    named_in_script,
    sorted_flags,
    split_flags,
)
from hlsgen.vendor.report import Loop, Module, Range, SynthesisReport
from hlsgen.vendor.schedule_report import ModuleSchedule, SourcePlace, places_of, read_schedule
from hlsgen.vendor.synthesis_messages import SynthesisMessages, read_messages

REPORT = Path("syn/report/csynth.xml")


@dataclass(frozen=True, kw_only=True)
class VendorLoop:
    """A loop as the tool scheduled it.

    module: the function of the RTL that holds it. name: labels of a flattened nest joined by `_`. places: its
    lines, the inlined function first; empty if no report tells. ii None: not pipelined; ii_target None: not
    asked for, or not told. depth: cycles of an iteration. cause: why it missed its II, where a log says so,
    and `said` in the tool's words.
    """

    module: str
    name: str
    places: tuple[SourcePlace, ...]
    ii_target: int | None
    ii: int | None
    depth: int | None
    trip_count: Range | None
    latency: Range | None
    estimated_ns: float | None
    automatic: bool = False
    cause: str = ""
    said: str = ""


@dataclass(frozen=True, kw_only=True)
class SolutionInputs:
    """What the tool was given. sources: the C++, no test benches; missing: those that are not there."""

    sources: tuple[Path, ...]
    missing: tuple[str, ...]
    include_folders: tuple[Path, ...]
    flags: CompilerFlags
    directives: tuple[Directive, ...]
    options: Mapping[str, str]
    """By the keys of a configuration: those of script.tcl, else of the script that made the project, else of
    the configuration of a component (tcl_script.options_said)."""


@dataclass(frozen=True, kw_only=True)
class VendorSolution(SolutionInputs):
    """A solution: what the tool was given, and what it made of it."""

    folder: Path
    pragmas: tuple[ReportedPragma, ...]
    """Those that csynth lists; none before 2021.2."""
    report: SynthesisReport
    loops: tuple[VendorLoop, ...]
    uncertainty_ns: float | None
    budget_ns: float | None
    """The clock less its uncertainty: what csynth schedules to."""


def read_solution(folder: Path, root: Path) -> VendorSolution:
    """The solution in a folder. root: what its files may be looked for in, as a checkout of its repository.

    Raises DesignError: it has no csynth.xml, or that is damaged. Damaged ones among its other files are left
    out.
    """
    report = read_csynth(folder / REPORT)
    given = read_inputs(folder, root, report.top)
    schedules = _schedules(folder)
    uncertainty = _uncertainty(report, schedules)
    return VendorSolution(
        folder=folder,
        sources=given.sources,
        missing=given.missing,
        include_folders=given.include_folders,
        flags=given.flags,
        directives=given.directives,
        options=given.options,
        pragmas=_pragmas(folder),
        report=report,
        loops=tuple(_loops(report, schedules, _messages(folder))),
        uncertainty_ns=uncertainty,
        budget_ns=None
        if report.clock_ns is None or uncertainty is None
        else round(report.clock_ns - uncertainty, 3),
    )


def read_inputs(folder: Path, root: Path, top: str = "") -> SolutionInputs:
    """What a solution's folder, its project and its configuration say that the tool was given; empty where
    nothing is told. root: what its files may be looked for in. top: its kernel, if that is known. Damaged
    files are left out.
    """
    script = _script(folder)
    finder = Finder(root, bases_of(root, folder))
    configured = list(configurations(folder, root, top))
    named = _named(folder, script, configured, finder)
    sources = {file.name: finder.find(file.name) for file in named}
    own = _own_configuration(configured, set(sources.values()), finder)
    files = named if own is None or any(file.flags for file in named) else _configured(own)
    flags = sorted_flags([flag for file in files for flag in file.flags])
    folders = (finder.find(name, folder=True) for name in flags.include_folders)
    return SolutionInputs(
        sources=tuple(dict.fromkeys(path for path in sources.values() if path)),
        missing=tuple(name for name, path in sources.items() if path is None),
        include_folders=tuple(dict.fromkeys(path for path in folders if path)),
        flags=flags,
        directives=tuple(_directives(folder, script, configured)),
        options=options_said(script or _own_script(folder)) or _options(own),
    )


def find_solutions(folder: Path) -> list[Path]:
    """The solutions below a folder, in the order of paths. Raises DesignError: there is no such folder."""
    if not folder.is_dir():
        refuse(folder, "is no folder", "name a folder of projects of Vitis HLS")
    return sorted(path.parents[2] for path in folder.rglob(str(REPORT)) if path.is_file())


def _script(folder: Path) -> list[TclCommand]:
    path = folder / "script.tcl"
    try:
        return list(commands(path, read_text(path)))
    except DesignError:
        return []


def _own_script(folder: Path) -> list[TclCommand]:
    """The commands of the script beside the project that opens it, or one whose name only a run could tell;
    none where there is no such script.
    """
    project = folder.parent
    for path in sorted(project.parent.glob("*.tcl")):
        try:
            found = list(commands(path, read_text(path)))
        except DesignError:
            continue
        named = [one.values()[1] for one in found if one.name == "open_project"]
        if any(Path(name).name == project.name or set(name) & set("$[") for names in named for name in names):
            return found
    return []


def _own_configuration(
    configured: Sequence[Configuration], sources: Collection[Path | None], finder: Finder
) -> Configuration | None:
    """The first configuration that names one of the sources."""
    for one in configured:
        if any(finder.find(name) in sources for name in one.all(FILE)):
            return one
    return None


def _options(configuration: Configuration | None) -> dict[str, str]:
    if configuration is None:
        return {}
    return {key: configuration.one(key) for key in configuration.values if key not in (FILE, TOP)}


def _named(
    folder: Path, script: Sequence[TclCommand], configured: Sequence[Configuration], finder: Finder
) -> list[ProjectFile]:
    """The sources as hls.app names them, or script.tcl, the solution's data, its configuration.

    hls.app may be newer than the solution: a list of which no file is there gives way to the next.
    """
    found: list[ProjectFile] = []
    for files in _lists(folder, script, configured):
        code = [file for file in files if is_code(file.name)][:MOST_FILES]
        if any(finder.find(file.name) for file in code):
            return code
        found = found or code
    return found


def _lists(
    folder: Path, script: Sequence[TclCommand], configured: Sequence[Configuration]
) -> Iterator[list[ProjectFile]]:
    for path in (folder.parent / "hls.app", folder.parent / "vivado_hls.app"):
        try:
            yield list(named_in_app(path))
        except DesignError:
            continue
    yield list(named_in_script(script))
    for path in sorted(folder.glob("*_data.json"))[:4]:
        try:
            yield list(named_in_data(path))
        except DesignError:
            continue
    yield from map(_configured, configured)


def _configured(configuration: Configuration) -> list[ProjectFile]:
    """`syn.file=` with `syn.cflags=` and `syn.file_cflags=`, from 2023.2 on."""
    flags = tuple(flag for line in configuration.lines_of_flags() for flag in split_flags(line))
    return [ProjectFile(name=name, flags=flags) for name in configuration.all(FILE)]


def _directives(
    folder: Path, script: Sequence[TclCommand], configured: Sequence[Configuration]
) -> Iterator[Directive]:
    """Those of directives.tcl, of script.tcl if the solution has no such file; of a configuration if it has
    neither."""
    path = folder / "directives.tcl"
    try:
        found = list(directives_of(commands(path, read_text(path)), str(path)))
    except DesignError:
        found = list(directives_of(script, str(folder / "script.tcl")))
    asked = next((one.directives for one in configured if one.directives), ())
    yield from found or asked


def _schedules(folder: Path) -> dict[str, ModuleSchedule]:
    """By module; the verbose schedule goes before the report, as it tells the lines."""
    reports = sorted(folder.glob("syn/report/*_csynth.rpt"))
    verbose = sorted(folder.glob(".autopilot/db/*.verbose.sched.rpt"))
    found: dict[str, ModuleSchedule] = {}
    for path in [*reports, *verbose][:MOST_FILES]:
        try:
            schedule = read_schedule(path)
        except DesignError:
            continue
        found[schedule.module] = schedule
    return found


def _pragmas(folder: Path) -> tuple[ReportedPragma, ...]:
    try:
        return tuple(read_pragmas(folder / REPORT.with_suffix(".rpt")))
    except DesignError:
        return ()


def _messages(folder: Path) -> SynthesisMessages:
    for path in (folder / ".autopilot/db/.message_syn.xml", folder / f"{folder.name}.log"):
        try:
            return read_messages(path)
        except DesignError:
            continue
    return SynthesisMessages()


def _uncertainty(report: SynthesisReport, schedules: Mapping[str, ModuleSchedule]) -> float | None:
    if report.uncertainty_ns is not None:
        return report.uncertainty_ns
    told = (one.uncertainty_ns for one in schedules.values())
    return next((value for value in told if value is not None), None)


def _loops(
    report: SynthesisReport, schedules: Mapping[str, ModuleSchedule], messages: SynthesisMessages
) -> Iterator[VendorLoop]:
    for module in report.modules:
        for loop in module.loops:
            yield _loop(module, loop, schedules.get(module.name), messages)


def _loop(
    module: Module, loop: Loop, schedule: ModuleSchedule | None, messages: SynthesisMessages
) -> VendorLoop:
    rows = [row for row in schedule.loops if row.name == loop.name] if schedule else []
    unasked = [
        one
        for one in messages.automatic
        if loop.name.endswith(one.loop) and re.match(rf"{re.escape(one.function)}(_|$)", module.name)
    ]
    missed = [one for one in messages.violations if one.module == module.name and one.loop == loop.name]
    places = places_of(loop.source)
    if not places and unasked:
        places = (unasked[0].place,)
    if not places and schedule and len(schedule.loops) == 1:
        places = tuple(dict.fromkeys(chain[0] for chain in schedule.loop_places if chain))
    return VendorLoop(
        module=module.name,
        name=loop.name,
        places=places,
        ii_target=rows[0].ii_target if rows else None,
        ii=loop.ii,
        depth=loop.depth if loop.depth is not None or not rows else rows[0].depth,
        trip_count=loop.trip_count,
        latency=loop.latency,
        estimated_ns=module.estimated_clock_ns,
        automatic=bool(unasked),
        cause=missed[-1].cause if missed else "",
        said=missed[-1].text if missed else "",
    )
