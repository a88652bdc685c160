"""One job of a sweep: a pure function of files, which any process on any machine may run."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from hlsgen.api.design import Design, load
from hlsgen.base.errors import DesignError, HlsgenError, OutputError, ToolError, error_json
from hlsgen.report.content import Figures
from hlsgen.report.section import resource_counts
from hlsgen.search.board_limits import KINDS
from hlsgen.sweep.inputs import InputFile, check_inputs, code_digest
from hlsgen.vendor.observer import SilentObserver
from hlsgen.vendor.runner import wait_until_free
from hlsgen.vendor.vitis import Request as Synthesis
from hlsgen.vendor.vitis import Synthesised, SynthesisInterrupted, synthesise

KEY_DIGITS = 16


@dataclass(frozen=True, kw_only=True)
class Job:
    """What to run, on which design, board and target; and the bytes that the result depends on.

    run: a name of RUNS. title: the design as the user named it. design, board (None: the design's own), terms
    and folder (of a build) are absolute where they are paths: a worker may have another working folder.
    inputs: the files that it reads. code: hlsgen's own digest. synthesis: with run "synth", how far it goes.
    """

    run: str
    title: str
    design: str
    board: str | None
    terms: str | None
    target_fps: float | None
    builds: str
    inputs: tuple[InputFile, ...]
    code: str
    synthesis: Synthesis | None = None

    @property
    def key(self) -> str:
        """A hash of all that the result depends on, and of nothing else: not of where the files lie, but for
        a platform's file, which has others beside it.
        """
        one = self.synthesis
        what = None if one is None else (one.to, one.target, one.platform or "")
        return self._key({} if what is None else {"synthesis": what})

    def _key(self, more: dict[str, Any]) -> str:
        parts = {
            **more,
            "run": self.run,
            # a design that cannot be read has no inputs, and its error names its path
            "design": os.path.basename(self.design) if self.inputs else self.design,
            "board": os.path.basename(self.board) if self.board else None,
            "terms": os.path.basename(self.terms) if self.terms else None,
            "target_fps": self.target_fps,
            "inputs": [(one.name, one.sha256) for one in self.inputs],
            "code": self.code,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:KEY_DIGITS]

    @property
    def stem(self) -> str:
        """Name of the result's file: for people, and unique by its key."""
        words = [f"{self.target_fps:g}fps" if self.target_fps else ""]
        words += [self.synthesis.to if self.synthesis else "", self.key]
        return self._stem(words)

    def _stem(self, words: list[str]) -> str:
        words = [Path(self.design).stem, Path(self.board).stem if self.board else "", *words]
        return "-".join(word for word in words if word)

    @property
    def folder(self) -> Path:
        """The folder of the job's build. Syntheses of it have one folder however far they go: a further one
        goes on there.
        """
        return Path(self.builds) / (self._stem([self._key({})]) if self.synthesis else self.stem)

    def __str__(self) -> str:
        board = f" on {self.board}" if self.board else ""
        target = f" for {self.target_fps:,.0f} frames/s" if self.target_fps else ""
        synthesis = f", {self.synthesis.to}" if self.synthesis else ""
        return f"{self.title}{board}{target}{synthesis}"


class SynthesisSummary(BaseModel):
    """A synthesis. stage: of the furthest reports; the figures are theirs, all kernels and units together."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    to: str
    release: str
    stage: str | None = None
    dsp: float | None = None
    bram18: float | None = None
    uram: float | None = None
    lut: float | None = None
    ff: float | None = None


class Summary(BaseModel):
    """A line of the table: what the design does on the board; all instances together.

    csim: of a build. synthesis: how far one has come, and what its reports say.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    board: str
    frames_per_s: float
    interval_cycles: int
    instances: int
    dsp: int
    bram18: int
    uram: int
    lut: int
    ff: int
    binds: str
    csim: str | None = None
    synthesis: SynthesisSummary | None = None


class Outcome(BaseModel):
    """The end of a job. figures: all that was found, if it is done. error, text: what failed, else empty."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    key: str
    exit_code: int
    summary: Summary | None = None
    figures: dict[str, Any] = {}
    error: list[dict[str, Any]] = []
    text: str = ""

    @property
    def done(self) -> bool:
        return self.summary is not None

    def as_text(self) -> str:
        """The outcome's file: the same bytes wherever the job ran."""
        return json.dumps(self.model_dump(), indent=2, allow_nan=False) + "\n"


def failed(job: Job, error: HlsgenError) -> Outcome:
    """The outcome of a job that an error ended; the design is called what the user called it."""
    if isinstance(error, DesignError):
        problems = []
        for one in error.problems:
            if one.place and one.place.file == job.design:
                one = replace(one, place=replace(one.place, file=job.title))
            problems.append(one)
        error = type(error)(problems)
    return Outcome(key=job.key, exit_code=error.exit_code, error=error_json(error), text=str(error))


_one_at_a_time = threading.Lock()
"""A worker may have several threads, but a design's own modules are imported for the whole process."""


def run_job(job: Job) -> str:
    """The text of the job's outcome. What is wrong with the design or its machine is an outcome too."""
    with _one_at_a_time:
        try:
            return _outcome(job).as_text()
        except SynthesisInterrupted:
            raise KeyboardInterrupt from None  # the whole sweep is meant
        except HlsgenError as error:
            return failed(job, error).as_text()
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            text = f"error: {where}{error.strerror or error}\nfix: free some space, and check permissions"
            return failed(job, OutputError(text)).as_text()
        except MemoryError:
            text = "error: there is not enough memory\nfix: fewer --workers on a machine, or a larger one"
            return failed(job, ToolError(text)).as_text()


def _outcome(job: Job) -> Outcome:
    if code_digest() != job.code:
        message = "error: the worker runs another hlsgen than the one that began the sweep"
        raise ToolError(f"{message}\nfix: install the same on every machine, and start the workers anew")
    check_inputs(job.inputs)
    design = load(job.design, board=job.board, terms=job.terms)
    figures, summary = RUNS[job.run](job, design)
    return Outcome(key=job.key, exit_code=0, figures=figures, summary=summary)


Found = dict[str, Any]
"""All that a job has found, as JSON."""


def _estimate(_job: Job, design: Design) -> tuple[Found, Summary]:
    figures = design.estimate().figures()
    return figures.as_json(), _summary(figures)


def _build(job: Job, design: Design) -> tuple[Found, Summary]:
    report = design.build(job.folder).figures
    return report.as_json(), _summary(report, csim=report.csim.verdict)


def _synth(job: Job, design: Design) -> tuple[Found, Summary]:
    assert job.synthesis is not None
    wait_until_free(job.folder)  # of the tools of a worker that was lost
    report = design.build(job.folder).figures
    done = synthesise(job.folder, job.synthesis, SilentObserver())
    furthest = [one.resources for one in done.reports if one.stage == _furthest(done)]
    counts = {kind: sum(one[kind] for one in furthest) for kind in KINDS if furthest and kind in furthest[0]}
    found = SynthesisSummary(to=job.synthesis.to, release=done.release, stage=_furthest(done), **counts)
    with_reports = {**report.as_json(), "synthesised": [one.as_json() for one in done.reports]}
    return with_reports, _summary(report, csim=report.csim.verdict, synthesis=found)


def _furthest(done: Synthesised) -> str | None:
    """The last stage that has a report with resources."""
    stages = {one.stage for one in done.reports if "lut" in one.resources}
    return next((stage for stage in ("routed", "synthesised", "csynth") if stage in stages), None)


def _explore(job: Job, design: Design) -> tuple[Found, Summary]:
    found = design.explore(target_fps=job.target_fps)
    point = found.point
    summary = Summary(
        board=design.board.name,
        frames_per_s=point.frames_per_s,
        interval_cycles=point.interval_cycles,
        instances=point.instances,
        binds=found.binds,
        csim=None,
        synthesis=None,
        **{kind: point.used[kind] for kind in KINDS},
    )
    return found.as_json(), summary


def _summary(
    figures: Figures, *, csim: str | None = None, synthesis: SynthesisSummary | None = None
) -> Summary:
    return Summary(
        board=figures.board,
        frames_per_s=figures.performance.frames_per_s,
        interval_cycles=figures.total.interval_cycles,
        instances=figures.total.instances,
        **resource_counts(figures.total),
        binds=figures.performance.binds,
        csim=csim,
        synthesis=synthesis,
    )


RUNS: dict[str, Callable[[Job, Design], tuple[Found, Summary]]] = {
    "estimate": _estimate,
    "explore": _explore,
    "build": _build,
    "synth": _synth,
}
"""What a job may run."""
