"""How jobs are run and watched; here one after another, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias

from hlsgen.sweep.jobs import Job, Outcome, run_job

Ended: TypeAlias = "tuple[Job, str | BaseException]"
"""A job with its outcome's text; or with what a bug of hlsgen raised."""


class Listener(Protocol):
    """What is told of jobs of any kind while they run."""

    def running(self, jobs: int) -> None:
        """Says how many jobs are being worked on now."""

    def say(self, text: str) -> None:
        """Something that the user should know."""


class Watch(Listener, Protocol):
    """What is told of a sweep as it goes."""

    def begin(self, total: int, kept: int) -> None:
        """There are `total` jobs, and `kept` of them were done by an earlier sweep."""

    def ended(self, job: Job, outcome: Outcome) -> None: ...


def run_serially(jobs: Sequence[Job], watch: Watch) -> Iterator[Ended]:
    for job in jobs:
        watch.running(1)
        try:
            ended: str | BaseException = run_job(job)
        except Exception as error:  # a bug in one job: the others still run, then its traceback is shown
            ended = error
        yield job, ended
