"""A solution of Vitis HLS as its log tells it, where no csynth.xml was kept: vitis_hls.log, solution1.log.

A log has the commands that were run, the release, part and clock, the files that were analysed, and for each
pipelined loop its II and depth. Of several runs in a log the last that came to its end counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hlsgen.base.errors import DesignError
from hlsgen.designfile.tcl_commands import TclCommand, commands
from hlsgen.designfile.text_files import read_text, refuse
from hlsgen.schedule.directives import Directive, directives_of
from hlsgen.schedule.languages import is_code
from hlsgen.schedule.tcl_script import options_said
from hlsgen.vendor.project_files import Finder, bases_of, sorted_flags
from hlsgen.vendor.report import Stage, SynthesisReport
from hlsgen.vendor.solution import REPORT, VendorLoop, VendorSolution, read_inputs
from hlsgen.vendor.synthesis_messages import SynthesisMessages, read_messages

MOST_BYTES = 60_000_000
_VERSION = re.compile(
    r"Vitis HLS - High-Level Synthesis.* v(\d{4}\.\d)|Running '[^']*[/\\]Vitis(?:_HLS)?[/\\](\d{4}\.\d)[/\\]"
)
_RUN = re.compile(r"\[HLS 200-1510\] Running: (\w+.*)")
_PART = re.compile(r"Setting target device to '([^']+)'")
_CLOCK = re.compile(r"Setting up clock '[^']*' with a period of ([\d.]+)ns")
_UNCERTAINTY = re.compile(r"Setting up clock '[^']*' with an uncertainty of ([\d.]+)ns")
_FLOW = re.compile(r"flow_target '(\w+)'")
_ANALYSED = re.compile(r"Analyzing design file '([^']+)'")
_MODULE = re.compile(r"-- Implementing module '([^']+)'")
_RESULT = re.compile(
    r"Pipelining result : Target II = (\d+|NA), Final II = (\d+), Depth = (\d+), loop '([^']+)'"
)
_TOP = re.compile(r"Generating VHDL RTL for (\w+)\.")
_FLAG = re.compile(r"(?<!\S)-[ID]\s*[^\s}\"]+")
_LOGS_OF_STEPS = (".autopilot", "_ide", "sim", "csim", "impl")


@dataclass(frozen=True, kw_only=True)
class LoggedLoop:
    """A pipelined loop that a log reports. ii_target None: not asked for."""

    module: str
    name: str
    ii_target: int | None
    ii: int
    depth: int


@dataclass(frozen=True, kw_only=True)
class Run:
    """One synthesis of a log. script: the commands up to it; lines: what was said during it."""

    version: str
    part: str
    flow_target: str
    clock_ns: float | None
    uncertainty_ns: float | None
    top: str
    script: tuple[str, ...]
    analysed: tuple[str, ...]
    loops: tuple[LoggedLoop, ...]


def find_logs(root: Path) -> list[Path]:
    """The logs below a folder that report pipelined loops of Vitis HLS, in the order of paths; of solutions
    that have their report none."""
    return [path for path in sorted(root.rglob("*.log")) if _is_log(path, root)]


def tops_of(logs: Sequence[Path]) -> set[str]:
    """The tops that logs have told of."""
    return {run.top for path in logs if (run := last_run(_text(path)))}


def _is_log(path: Path, root: Path) -> bool:
    inside = path.relative_to(root).parts
    if any(part in _LOGS_OF_STEPS for part in inside) or path.is_symlink() or not path.is_file():
        return False
    if path.stat().st_size > MOST_BYTES or (path.parent / REPORT).is_file():
        return False
    text = _text(path)
    return bool(_RESULT.search(text) and _VERSION.search(text))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def last_run(text: str) -> Run | None:
    """The last synthesis of a log that came to its end; None if none did, or it tells no release."""
    found: Run | None = None
    run = _Reader()
    for line in text.splitlines():
        run.read(line)
        if run.top:
            found = run.finished() or found
            run.begin()
    return found


class _Reader:
    """What the lines of a log have said so far."""

    def __init__(self) -> None:
        self.version = self.part = self.flow_target = self.module = self.top = ""
        self.clock_ns: float | None = None
        self.uncertainty_ns: float | None = None
        self.script: list[str] = []
        self.begin()

    def begin(self) -> None:
        """Forget what was said of a synthesis."""
        self.analysed: dict[str, None] = {}
        self.loops: dict[tuple[str, str], LoggedLoop] = {}
        self.module = self.top = ""

    def read(self, line: str) -> None:
        """Take a line."""
        if found := _RUN.search(line):
            self._command(found[1])
        elif found := _ANALYSED.search(line):
            self.analysed[found[1]] = None
        elif found := _MODULE.search(line):
            self.module = found[1]
        elif found := _RESULT.search(line):
            asked, ii, depth, name = found.groups()
            target = int(asked) if asked != "NA" else None
            self.loops[self.module, name] = LoggedLoop(
                module=self.module, name=name, ii_target=target, ii=int(ii), depth=int(depth)
            )
        elif found := _TOP.search(line):
            self.top = found[1]
        else:
            self._setting(line)

    def _command(self, command: str) -> None:
        if command.startswith("open_project"):
            self.script.clear()
        if command.startswith("csynth_design"):
            self.begin()
        self.script.append(command)

    def _setting(self, line: str) -> None:
        if found := _VERSION.search(line):
            self.version = found[1] or found[2]
            self.script.clear()
        elif found := _PART.search(line):
            self.part = found[1]
        elif found := _CLOCK.search(line):
            self.clock_ns = float(found[1])
        elif found := _UNCERTAINTY.search(line):
            self.uncertainty_ns = float(found[1])
        elif found := _FLOW.search(line):
            self.flow_target = found[1]

    def finished(self) -> Run | None:
        """The synthesis that came to its end."""
        if not (self.version and self.part and self.loops):
            return None
        return Run(
            version=self.version,
            part=self.part,
            flow_target=self.flow_target,
            clock_ns=self.clock_ns,
            uncertainty_ns=self.uncertainty_ns,
            top=self.top,
            script=tuple(self.script),
            analysed=tuple(self.analysed),
            loops=tuple(self.loops.values()),
        )


def read_logged(path: Path, root: Path) -> VendorSolution:
    """The solution that a log tells of. root: what its files may be looked for in.

    Raises DesignError: no synthesis came to its end, or the log has no commands and is in no solution, so
    that its directives are not known.
    """
    run = last_run(_text(path))
    if run is None:
        refuse(path, "tells of no synthesis that came to its end", "keep the log of one that did")
    script = list(commands(path, "\n".join(map(_quoted, run.script))))
    finder = Finder(root, [path.parent, *bases_of(root, path.parent)])
    sources = {name: finder.find(name) for name in run.analysed if is_code(name)}
    added = [line for line in run.script if line.startswith("add_files")]
    flags = sorted_flags([flag for line in added for flag in _FLAG.findall(line)])
    if not added:  # a session of the tool's window names no files: the project beside the log does
        flags = read_inputs(path.parent, root).flags
    folders = (finder.find(name, folder=True) for name in flags.include_folders)
    top = next((_top(one) for one in reversed(script) if one.name == "set_top"), run.top)
    return VendorSolution(
        folder=path,
        sources=tuple(dict.fromkeys(found for found in sources.values() if found)),
        missing=tuple(name for name, found in sources.items() if found is None),
        include_folders=tuple(dict.fromkeys(folder for folder in folders if folder)),
        flags=flags,
        directives=_directives(path, script, finder),
        options=options_said(one for one in script if one.name.startswith("config_")),
        pragmas=(),
        report=SynthesisReport(
            path=path,
            stage=Stage.CSYNTH,
            top=top or run.top,
            version=run.version,
            part=run.part,
            flow_target=run.flow_target,
            clock_ns=run.clock_ns,
            uncertainty_ns=run.uncertainty_ns,
        ),
        loops=tuple(_loops(run, _messages(path))),
        uncertainty_ns=run.uncertainty_ns,
        budget_ns=None,
    )


def _quoted(command: str) -> str:
    """A command without what would end its words elsewhere than the log's spaces."""
    return re.sub(r"[\[\]{}\"$;\\]", " ", command)


def _top(command: TclCommand) -> str:
    return next(iter(command.values()[1]), "")


def _directives(path: Path, script: Sequence[TclCommand], finder: Finder) -> tuple[Directive, ...]:
    """Those that the log has run; of a log without commands those of its solution."""
    found = tuple(directives_of(script, str(path)))
    if found:
        return found
    beside = path.parent / "directives.tcl"
    project = next((_top(one) for one in script if one.name == "open_project"), "")
    solution = next((_top(one) for one in script if one.name == "open_solution"), "solution1")
    told = finder.find(f"{project}/{solution}/directives.tcl") if project else None
    for file in (told, beside):
        if file is not None and file.is_file():
            return tuple(directives_of(commands(file, read_text(file)), str(file)))
    if not script:
        refuse(path, "has no commands, and no directives.tcl beside it", "keep the solution's folder")
    return ()


def _messages(path: Path) -> SynthesisMessages:
    try:
        return read_messages(path)
    except DesignError:
        return SynthesisMessages()


def _loops(run: Run, messages: SynthesisMessages) -> Iterator[VendorLoop]:
    for loop in run.loops:
        unasked = [
            one
            for one in messages.automatic
            if loop.name.endswith(one.loop) and re.match(rf"{re.escape(one.function)}(_|$)", loop.module)
        ]
        missed = [one for one in messages.violations if (one.module, one.loop) == (loop.module, loop.name)]
        plain = VendorLoop(
            module=loop.module,
            name=loop.name,
            places=(unasked[0].place,) if unasked else (),
            ii_target=loop.ii_target,
            ii=loop.ii,
            depth=loop.depth,
            trip_count=None,
            latency=None,
            estimated_ns=None,
            automatic=bool(unasked),
        )
        yield replace(plain, cause=missed[-1].cause, said=missed[-1].text) if missed else plain
