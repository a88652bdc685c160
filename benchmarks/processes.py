"""Programs that a benchmark starts: run to their end, and what they and this process took."""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class Failed(Exception):
    """A command that could not start, failed or took too long; says which and why."""


class TookTooLong(Failed):
    """A command that was stopped."""


class Raised(Failed):
    """A Python program that an exception ended: what it says is the exception's message."""


EXCEPTION = re.compile(
    r"^Traceback \(most recent call last\):\n(?:[ \t].*\n)+([\w.]+)(?:: (.*))?$", re.MULTILINE
)
"""The end of a traceback: kind and first line of the message."""


def run(
    command: Sequence[str], folder: Path, timeout: float, environment: dict[str, str] | None = None
) -> str:
    """The output of `command`, run in `folder`. Raises Failed; then nothing it started is left running."""
    # no folders: the reason may stand in a report
    name = " ".join(Path(part).name for part in command[:2])
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # so that a compiler it started can be ended with it
        )
    except OSError as error:
        raise Failed(f"{name} cannot be started: {error.strerror}") from None
    try:
        output, _ = process.communicate(timeout=timeout)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise TookTooLong(f"{name} took more than {timeout:g} s") from None
        raise
    if process.returncode:
        raised = EXCEPTION.findall(output)
        if process.returncode == 1 and raised:
            kind, message = raised[-1]
            raise Raised(message or kind)
        end = (output.strip().splitlines() or ["no output"])[-1]
        raise Failed(f"{name} ended with status {process.returncode}: {end}")
    return output


FIRST_LINE_SECONDS = 300.0


def first_line(command: Sequence[str]) -> str:
    return run(command, Path.cwd(), FIRST_LINE_SECONDS).splitlines()[0]


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def children_cpu() -> float:
    """CPU seconds of all ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def own_peak_mb() -> float:
    """The most memory that this process has held, in MB of 10**6 bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6


METER = """\
import json, os, sys, time

log, program, *arguments = sys.argv[1:]
start = time.perf_counter()
process = os.posix_spawn(program, [program, *arguments], os.environ)
_, status, used = os.wait4(process, 0)
line = {
    "cpu": used.ru_utime + used.ru_stime,
    "wall": time.perf_counter() - start,
    "peak": used.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
}
with open(log, "a") as file:
    file.write(json.dumps(line) + chr(10))
code = os.waitstatus_to_exitcode(status)
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""
"""Runs a program and writes down what it and what it started took.

A small process of its own: a child starts with the memory of the process that made it as its peak.
"""


@dataclass(frozen=True, kw_only=True)
class Use:
    """What the runs of a program took: seconds in all, and the most memory that one of its processes held.

    least_cpu_s: of the run that took least.
    """

    runs: int
    cpu_s: float
    least_cpu_s: float
    wall_s: float
    peak_mb: float


class Metered:
    """`script`, called as `name` in `folder`, stands for a program and measures every run of it.

    Peaks below 10 MB, which the measuring process itself takes, are not seen.
    """

    def __init__(self, program: str | Path, folder: Path, name: str) -> None:
        self.script = folder / name
        self._log = folder / f"{name}.use"
        meter = folder / f"{name}.py"
        meter.write_text(METER, encoding="utf-8")
        parts = [sys.executable, "-I", "-S", str(meter), str(self._log), str(program)]
        self.script.write_text(f'#!/bin/sh\nexec {shlex.join(parts)} "$@"\n', encoding="utf-8")
        self.script.chmod(0o755)

    @property
    def use(self) -> Use | None:
        """Of the runs that ended; None: there was none."""
        if not self._log.exists():
            return None
        lines = [json.loads(line) for line in self._log.read_text(encoding="utf-8").splitlines()]
        return Use(
            runs=len(lines),
            cpu_s=sum(line["cpu"] for line in lines),
            least_cpu_s=min(line["cpu"] for line in lines),
            wall_s=sum(line["wall"] for line in lines),
            peak_mb=max(line["peak"] for line in lines) / 1e6,
        )


def worker(file: str, *arguments: object) -> list[str]:
    """The command that runs a Python file of this folder."""
    return [sys.executable, str(Path(file).resolve()), *map(str, arguments)]


def environment(**changes: str) -> dict[str, str]:
    """This process's environment for a worker, which finds the same modules."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **changes}
