"""Synthesis of a build folder: the goals of its Makefile in order, each timed, logged and remembered.

Nothing here knows a tool's options: those stand in the build folder's Makefile, which does the same by hand.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hlsgen.base.errors import DesignError, HlsgenError, OutputError, Problem, ToolError
from hlsgen.designfile.validation import printable
from hlsgen.report.synthesised import SynthesisFigures
from hlsgen.vendor.compare import read_back
from hlsgen.vendor.log_lines import Heard, at
from hlsgen.vendor.observer import SynthesisObserver
from hlsgen.vendor.runner import Line, claimed, run_tool
from hlsgen.vendor.step_states import Status, StepState, read_state, write_state
from hlsgen.vendor.synthesis_steps import Flow, Place, Step, needs_of, read_flow, sha256, steps_to

RELEASE = re.compile(r"Vitis (20\d\d\.\d+)$")
PLATFORM = re.compile(r"platform (.+\.xpfm)$")
OUTER_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "GNUMAKEFLAGS")
"""What a make that called hlsgen would tell the make that hlsgen calls."""
READ_BACK = ("csynth", "cosim", "link")
"""The steps that leave reports."""


class MachineError(DesignError):
    """This machine lacks something that the steps need: all of it at once."""

    exit_code = ToolError.exit_code


class SynthesisInterrupted(HlsgenError):
    """The user ended a step; those before it are kept, and the same command goes on."""

    exit_code = 130


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked for: how far, for what. platform: None: the board's own. hours: None: no limit."""

    to: str = "csynth"
    target: str = "hw"
    platform: str | None = None
    hours: float | None = None
    restart: bool = False


@dataclass(frozen=True, kw_only=True)
class EndedStep:
    """A step of a synthesis. status: "complete", or "kept" from before. log: its file in the build folder."""

    name: str
    status: str
    seconds: float
    log: str


@dataclass(frozen=True, kw_only=True)
class Synthesised:
    """A synthesis that came to its end. release: of Vitis, if its tools tell. reports: beside the model."""

    folder: Path
    request: Request
    place: Place
    release: str
    steps: tuple[EndedStep, ...]
    reports: tuple[SynthesisFigures, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "build": str(self.folder),
            "to": self.request.to,
            "target": self.place.target,
            "platform": self.place.platform,
            "release": self.release,
            "steps": [asdict(one) for one in self.steps],
            "synthesised": [one.as_json() for one in self.reports],
        }


def synthesise(folder: Path, request: Request, watch: SynthesisObserver) -> Synthesised:
    """Runs the steps of a build folder that are not complete, and reads their reports into its report.json.

    Raises DesignError: no build folder. MachineError, ToolError: a tool is missing or fails, the time is
    over, or another synthesis is at work there. SynthesisInterrupted. OutputError: it cannot be written.
    """
    flow = read_flow(folder)
    place = Place(target=request.target, platform=_platform(request.platform or flow.platform))
    try:
        with claimed(folder) as lock:
            return _Synthesis(
                folder=folder, flow=flow, place=place, request=request, watch=watch, lock=lock
            ).run()
    except OSError as error:
        message = f"error: cannot write {error.filename or folder}: {error.strerror or error}"
        raise OutputError(f"{message}\nfix: free some space, and check permissions") from None


def _platform(name: str) -> str:
    """A platform's file is named from where the user is, and used from the build folder."""
    return os.path.abspath(name) if name.endswith(".xpfm") else name


@dataclass(kw_only=True)
class _Synthesis:
    """One run; `lock` is the descriptor of the build folder's lock."""

    folder: Path
    flow: Flow
    place: Place
    request: Request
    watch: SynthesisObserver
    lock: int
    rows: list[EndedStep] = field(default_factory=list)
    said: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        hours = self.request.hours
        self.deadline = None if hours is None else time.monotonic() + 3600 * hours
        self.environment = {name: value for name, value in os.environ.items() if name not in OUTER_MAKE}
        self.environment |= {"TARGET": self.place.target, "PLATFORM": self.place.platform}

    def run(self) -> Synthesised:
        steps = steps_to(self.request.to, self.flow, self.place)
        self.watch.begin([step.name for step in steps])
        release, platform = self.checked()
        around = {
            "release": release,
            "platform": self.identity(platform),
            "link": self.environment.get("VPP_LDFLAGS", ""),
        }
        for step in steps:
            if not self.is_kept(step, around):
                self.do(step, around)
                if step.name in READ_BACK:
                    self.read_back()
        reports = self.read_back()
        return Synthesised(
            folder=self.folder,
            request=self.request,
            place=self.place,
            release=release,
            steps=tuple(self.rows),
            reports=tuple(reports),
        )

    def identity(self, platform: str) -> str:
        """The identity of a platform: a folder's name of results has only the last part of its name."""
        path = Path(os.path.abspath(self.folder / platform))
        return f"{path} {sha256(path)}" if path.is_file() else self.place.platform

    def checked(self) -> tuple[str, str]:
        """The release of Vitis, and the platform's file if it is needed; empty: no tool tells.

        Raises MachineError: this machine lacks something that the steps need.
        """
        said: list[str] = []
        platforms: list[str] = []

        def line(text: str) -> None:
            platforms.extend(PLATFORM.findall(text))
            said.append(printable(text))
            if text.startswith("note: "):
                self.watch.say(said[-1].removeprefix("note: "))

        needs = " ".join(needs_of(self.request.to, self.flow, self.place))
        status = self.make(["checked", f"NEEDS={needs}"], "checks", line)
        if status is None:
            raise ToolError(f"error: the tools did not tell their release in time\nfix: {_go_on('')}")
        if status:
            raise _lacking(said, self.log("checks"))
        releases = [found[1] for text in said if (found := RELEASE.match(text))]
        return "".join(releases[:1]), "".join(platforms[:1])

    def make(self, words: list[str], log: str, line: Line) -> int | None:
        """The exit status of make; None: the time is over. Raises ToolError: there is no make."""
        if shutil.which("make") is None:
            raise ToolError("error: make was not found\nfix: install GNU make")
        return run_tool(
            ["make", "--no-print-directory", *words],
            folder=self.folder,
            environment=self.environment,
            log=self.log(log),
            lock=self.lock,
            deadline=self.deadline,
            line=line,
        )

    def log(self, key: str) -> Path:
        return self.folder / _log_name(key)

    def is_kept(self, step: Step, around: dict[str, str]) -> bool:
        """Whether the step is complete with these very inputs."""
        before = read_state(self.folder).steps.get(step.key)
        outputs = [self.folder / path for path in step.outputs]
        if self.request.restart or before is None or before.status is not Status.COMPLETE or not outputs:
            return False
        if not all(path.exists() for path in outputs):
            return False
        if before.inputs != step.digest(self.folder, around):
            return False
        newest = max(path.stat().st_mtime_ns for path in step.files(self.folder))
        for path in outputs:
            if path.stat().st_mtime_ns < newest:
                os.utime(path)  # make goes by times, and a copied folder's sources may look newer
        self.rows.append(_ended(step, "kept", before))
        self.watch.kept(step.name)
        return True

    def do(self, step: Step, around: dict[str, str]) -> None:
        """Runs the step. Raises ToolError: it fails or does not end in time. SynthesisInterrupted."""
        digest = step.digest(self.folder, around)
        before = read_state(self.folder).steps.get(step.key)
        if self.request.restart or (before is not None and _is_doubtful(step, before, digest)):
            self.forget(step)
        self.watch.started(step.name, str(self.log(step.key)))
        heard = Heard()

        def line(text: str) -> None:
            heard.hear(text)
            self.watch.line(printable(text))
            now = at(text)
            if now is not None:
                self.watch.at(now)

        self.record(step, Status.RUNNING, digest)
        begin = time.monotonic()
        ended = Status.INTERRUPTED
        status: int | None = None
        try:
            status = self.make([step.goal], step.key, line)
            ended = Status.TIMED_OUT if status is None else Status.FAILED if status else Status.COMPLETE
        except KeyboardInterrupt:
            message = f"error: interrupted in {step.name}; its log is {self.log(step.key)}"
            raise SynthesisInterrupted(f"{message}\nfix: {_go_on(step.name)}") from None
        finally:
            state = self.record(step, ended, digest, time.monotonic() - begin)
        if ended is not Status.COMPLETE:
            how = (
                f"was ended, for the {self.request.hours:g} hours of --timeout for all steps are over"
                if status is None
                else f"failed (make ended with status {status})"
            )
            message = f"error: {step.name} {how}; its log is {self.log(step.key)}\n{heard.excerpt()}"
            raise ToolError(f"{message}\nfix: {_go_on(step.name)}")
        self.rows.append(_ended(step, "complete", state))
        self.watch.ended(step.name, state.seconds)

    def record(self, step: Step, status: Status, inputs: str, seconds: float = 0.0) -> StepState:
        state = StepState(status=status, inputs=inputs, seconds=round(seconds, 1), log=_log_name(step.key))
        write_state(self.folder, read_state(self.folder).with_step(step.key, state))
        return state

    def forget(self, step: Step) -> None:
        """Removes results that are of other inputs, so that make does not take them for new."""
        for path in step.outputs:
            (self.folder / path).unlink(missing_ok=True)
        for pattern in step.scratch:
            for found in self.folder.glob(pattern):
                if found.is_dir() and not found.is_symlink():
                    shutil.rmtree(found, ignore_errors=True)
                else:
                    found.unlink(missing_ok=True)

    def read_back(self) -> list[SynthesisFigures]:
        """The reports that are there, now also in report.json. One that is damaged is said to be, no more."""
        found, notes = read_back(self.folder)
        for note in notes:
            if note not in self.said:
                self.said.add(note)
                self.watch.say(note)
        return found


def _is_doubtful(step: Step, before: StepState, digest: str) -> bool:
    """Whether results of a step may be there that are of other inputs, or half written."""
    return before.inputs != digest or (before.status is not Status.COMPLETE and not step.stamps)


def _log_name(key: str) -> str:
    return f"synth/{key}.log"


def _ended(step: Step, status: str, state: StepState) -> EndedStep:
    return EndedStep(name=step.name, status=status, seconds=state.seconds, log=state.log)


def _go_on(step: str) -> str:
    return f"mend what it says, if anything; the same command goes on with {step or 'the first step'}"


def _lacking(said: list[str], log: Path) -> HlsgenError:
    """What vitis/check.sh found missing; if it found nothing, the Makefile itself failed."""
    problems = []
    for text, after in zip(said, [*said[1:], ""], strict=True):
        if text.startswith("error: "):
            fix = after.removeprefix("fix: ") if after.startswith("fix: ") else f"see {log}"
            problems.append(Problem(message=text.removeprefix("error: "), fix=fix))
    if problems:
        return MachineError(problems)
    last = "\n".join(f"  {text}" for text in said[-5:])
    return ToolError(
        f"error: the build folder's Makefile failed:\n{last}\nfix: build the design again; see {log}"
    )
