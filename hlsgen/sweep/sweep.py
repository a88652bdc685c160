"""A sweep: every design on every board for every target, run somewhere, kept as it goes."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hlsgen.base.errors import DesignError, HlsgenError, Problem, collecting
from hlsgen.sweep.inputs import code_digest, file_digest, input_files, torch_files
from hlsgen.sweep.jobs import Job, Outcome
from hlsgen.sweep.runner import Ended, Watch, run_serially
from hlsgen.sweep.store import Store, file_of
from hlsgen.targets.board import load_board
from hlsgen.vendor.vitis import Request as Synthesis

SERIAL = "serial"
LOCAL = "local"
CORES_A_SYNTHESIS = 8
"""Cores of a synthesis: Vivado's threads on Linux (general.maxThreads, UG835 2022.1 "set_param")."""


class SweepInterrupted(HlsgenError):
    """The user ended the sweep; what was done is kept, and the same command goes on."""

    exit_code = 130


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is swept. boards: empty for the designs' own. workers: None for as many as there are cores.

    synthesis: with run "synth".
    """

    designs: tuple[Path, ...]
    boards: tuple[str, ...] = ()
    targets: tuple[float, ...] = ()
    run: str = "estimate"
    terms: Path | None = None
    folder: Path = Path("sweep")
    scheduler: str = LOCAL
    workers: int | None = None
    synthesis: Synthesis | None = None


@dataclass(frozen=True, kw_only=True)
class Swept:
    """What a sweep found: its jobs in the order of their names, whatever order they ended in."""

    request: Request
    outcomes: tuple[tuple[Job, Outcome], ...]

    @property
    def exit_code(self) -> int:
        """The exit code of the sweep: 0 if all jobs are done, else the largest of theirs."""
        return max((outcome.exit_code for _, outcome in self.outcomes), default=0)

    def as_json(self) -> dict[str, Any]:
        """The table; the same for the same inputs, wherever and in whatever order the jobs ran."""
        return {
            "run": self.request.run,
            "jobs": [_row(job, outcome) for job, outcome in self.outcomes],
            "exit_code": self.exit_code,
        }


def sweep(request: Request, watch: Watch) -> Swept:
    """Runs what is not done yet.

    A job that fails has that as its outcome, and the others go on. Raises DesignError: a board is wrong.
    ToolError: the scheduler cannot be reached, or is lost. OutputError: the folder. SweepInterrupted.
    """
    store = Store.opened(request.folder)
    jobs = jobs_of(request, store)
    outcomes = {job: found for job in jobs if (found := store.finished(job)) is not None}
    left = [job for job in jobs if job not in outcomes]
    _write(store, request, jobs, outcomes)
    _announce(left, watch)
    watch.begin(len(jobs), len(outcomes))
    bugs = []
    try:
        # closed at once if this block is left: a cluster that was started for it ends then
        with closing(_running(left, request, watch)) as running:
            for job, ended in running:
                if isinstance(ended, BaseException):
                    ended.add_note(f"in the job {job}")
                    bugs.append(ended)
                    continue
                outcomes[job] = Outcome.model_validate_json(ended)
                store.keep(job, outcomes[job])
                watch.ended(job, outcomes[job])
    except KeyboardInterrupt:
        raise _interrupted(len(jobs), outcomes, request) from None
    finally:
        swept = _write(store, request, jobs, outcomes)
    if bugs:
        raise bugs[0]
    return swept


def jobs_of(request: Request, store: Store) -> list[Job]:
    """Every design on every board for every target, by name; what is given twice counts once.

    Raises DesignError: a board is wrong, or a file is there but cannot be read.
    """
    problems: list[Problem] = []
    for name in request.boards:
        with collecting(problems):
            load_board(name)
    if problems:
        raise DesignError(problems)
    boards: tuple[str | None, ...] = tuple(dict.fromkeys(request.boards)) or (None,)
    digest = cache(file_digest)
    jobs = []
    for design in dict.fromkeys(request.designs):
        for board in boards:
            own_board = (Path(board),) if board and board.endswith(".yaml") else ()
            others = (*own_board, *((request.terms,) if request.terms else ()))
            inputs = input_files(design, others=others, digest=digest)
            jobs += [
                Job(
                    run=request.run,
                    title=str(design),
                    design=os.path.abspath(design),
                    board=os.path.abspath(board) if board and own_board else board,
                    terms=os.path.abspath(request.terms) if request.terms else None,
                    target_fps=target,
                    builds=str(store.builds),
                    inputs=inputs,
                    code=code_digest(),
                    synthesis=request.synthesis,
                )
                for target in dict.fromkeys(request.targets or (None,))
            ]
    return sorted(jobs, key=lambda job: (job.title, job.board or "", job.target_fps or 0.0))


def _running(jobs: Sequence[Job], request: Request, watch: Watch) -> Generator[Ended, None, None]:
    if request.scheduler == SERIAL:
        yield from run_serially(jobs, watch)
    elif jobs:
        from hlsgen.sweep.cluster import run_on_cluster

        yield from run_on_cluster(jobs, request.scheduler, _workers(request), watch)


def _workers(request: Request) -> int | None:
    """The vendor's tools take several cores and many gigabytes each: one at once for every few cores."""
    if request.workers is None and request.synthesis is not None and request.scheduler == LOCAL:
        return max(1, len(os.sched_getaffinity(0)) // CORES_A_SYNTHESIS)
    return request.workers


def _announce(jobs: Sequence[Job], watch: Watch) -> None:
    """Says whose code will run, before it does."""
    designs = dict.fromkeys((job.title, job.design) for job in jobs)
    for title, design in designs:
        for name in torch_files(Path(design)):
            watch.say(f"{title} runs {Path(title).parent / name}, your own code")


def _write(store: Store, request: Request, jobs: Sequence[Job], outcomes: dict[Job, Outcome]) -> Swept:
    """The table of the jobs that have ended."""
    ended = tuple((job, outcomes[job]) for job in jobs if job in outcomes)
    swept = Swept(request=request, outcomes=ended)
    store.write_table(swept.as_json())
    return swept


def _interrupted(total: int, outcomes: dict[Job, Outcome], request: Request) -> SweepInterrupted:
    done = sum(outcome.done for outcome in outcomes.values())
    message = f"error: interrupted; {done} of {total} jobs are done and kept in {request.folder}"
    return SweepInterrupted(f"{message}\nfix: the same command goes on with the rest")


def _row(job: Job, outcome: Outcome) -> dict[str, Any]:
    row: dict[str, Any] = {"design": job.title, "board": job.board, "target_fps": job.target_fps}
    row["file"] = file_of(job)
    if job.run in ("build", "synth"):
        row["build"] = f"builds/{job.folder.name}"
    if outcome.summary is None:
        return {**row, "error": outcome.error, "exit_code": outcome.exit_code}
    return {**row, **outcome.summary.model_dump(exclude_none=True)}
