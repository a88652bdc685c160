"""A sweep of many jobs on a cluster of processes, of which one is killed; it is interrupted and resumed.

python benchmarks/sweep.py [--jobs N] [--workers N] [--json PATH] [--folder DIR]

A scheduler and workers of dask run as programs of their own, as on other machines. Half as many layers as
jobs, each estimated on two boards: once in one process, once on the workers undisturbed, once with a worker
killed by SIGKILL at a third of the jobs (another joins) and the sweep ended by SIGTERM at two thirds, then
begun again. What each leaves is compared file by file. The times are of this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from machine import machine

JSON = Path("build/benchmarks/sweep.json")
BOARDS = ("zcu102", "u200")
ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 3600
"""Seconds after which it is given up."""
POLL = 0.1
INTERRUPTED = 130
"""hlsgen's exit code for it."""
DESIGN = """name: layer{number}
board: zcu102
batch: 4
input: {{shape: [2, 8, 8], type: "fixed<16,6>", samples: random}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: {channels}, kernel: 3, weights: {{seed: {number}}}}}
mapping: {{instances: 1, conv1: {{rows: 1, pe: 1, simd: 1, fabric_pe: 0}}}}
"""


class WrongError(Exception):
    """The sweep did not do what it should; says what."""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """Seconds are measured, on this machine. lost: jobs without a result after all; again: results that were
    made anew though they were there; differing: files that are not those of one process.
    """

    jobs: int
    workers: int
    serial_s: float
    cluster_s: float
    disturbed_s: float
    done_when_killed: int
    done_when_interrupted: int
    kept: int
    lost: int
    again: int
    differing: int
    said: list[str] = field(default_factory=list)

    @property
    def speed_up(self) -> float:
        return self.serial_s / self.cluster_s


def write_designs(folder: Path, jobs: int) -> list[str]:
    """Design files, one for each board's job; their names."""
    names = []
    for number in range(jobs // len(BOARDS)):
        names.append(f"layer{number:04}.yaml")
        (folder / names[-1]).write_text(
            DESIGN.format(number=number, channels=1 + number % 4), encoding="utf-8"
        )
    return names


class Cluster:
    """A scheduler and workers of dask, each a process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
        wait_for(lambda: file.exists() and bool(file.stat().st_size), "the scheduler starts")
        self.address = str(json.loads(file.read_text(encoding="utf-8"))["address"])

    def add_worker(self) -> subprocess.Popen[bytes]:
        options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder))
        return self._start("worker", self.address, *options)

    def _start(self, kind: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + kind, *words, "--no-dashboard"]
        with (self.folder / f"{kind}{len(self.processes)}.log").open("wb") as log:
            self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment()))
        return self.processes[-1]

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    folder.mkdir()
    started = Cluster(folder)
    try:
        for _ in range(workers):
            started.add_worker()
        yield started
    finally:
        started.stop()


def environment() -> dict[str, str]:
    """Every process finds this hlsgen, wherever it runs."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def wait_for(what: Callable[[], bool], said: str) -> None:
    """Until `what` is true. Raises WrongError."""
    end = time.monotonic() + PATIENCE
    while not what():
        if time.monotonic() > end:
            raise WrongError(f"it did not happen: {said}")
        time.sleep(POLL)


class Sweep:
    """`hlsgen sweep` of all designs as a program, into `output` of `folder`."""

    def __init__(self, folder: Path, designs: Sequence[str], output: str, scheduler: str) -> None:
        self.output = folder / output
        boards = [word for board in BOARDS for word in ("--board", board)]
        command = [sys.executable, "-m", "hlsgen", "sweep", *designs, *boards, "-o", output]
        self.log = folder / f"{output}.log"
        self.begun = time.perf_counter()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--scheduler", scheduler], cwd=folder, stdout=log, stderr=log, env=environment()
            )

    def done(self) -> int:
        """Jobs whose results are there."""
        jobs = self.output / "jobs"
        return sum(path.name[0] != "." for path in jobs.iterdir()) if jobs.is_dir() else 0

    def until(self, jobs: int) -> int:
        """How many results are there once there are at least `jobs`. Raises WrongError: it ended before."""
        wait_for(lambda: self.done() >= jobs or self.process.poll() is not None, f"{jobs} jobs are done")
        if self.process.poll() is not None:
            raise WrongError(f"the sweep ended before it could be disturbed:\n{self.said()}")
        return self.done()

    def end(self, code: int = 0) -> float:
        """Seconds to its end. Raises WrongError: another exit code."""
        self.process.wait(PATIENCE)
        if self.process.returncode != code:
            raise WrongError(f"the sweep ended with {self.process.returncode}, not {code}:\n{self.said()}")
        return time.perf_counter() - self.begun

    def said(self, letters: int | None = 2000) -> str:
        """The last letters that it printed; None: all."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-(letters or 0) :]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def measure(
    folder: Path, jobs: int, workers: int, progress: Callable[[str], None] = lambda _: None
) -> Findings:
    """All three sweeps in an empty folder. Raises WrongError."""
    designs = write_designs(folder, jobs)
    progress(f"{jobs} jobs in one process")
    serial_s = Sweep(folder, designs, "serial", "serial").end()
    with cluster(folder / "dask", workers) as there:
        progress(f"{jobs} jobs on {workers} workers")
        cluster_s = Sweep(folder, designs, "cluster", there.address).end()
        progress("again, with a worker killed and the sweep interrupted")
        begun = time.perf_counter()
        first = Sweep(folder, designs, "disturbed", there.address)
        done_when_killed = first.until(jobs // 3)
        there.processes[1].send_signal(signal.SIGKILL)
        there.add_worker()
        done_when_interrupted = first.until(2 * jobs // 3)
        first.process.send_signal(signal.SIGTERM)  # SIGINT is ignored where a shell starts it behind &
        first.end(INTERRUPTED)
        before = {path: path.stat().st_mtime_ns for path in (first.output / "jobs").iterdir()}
        Sweep(folder, designs, "disturbed", there.address).end()
        disturbed_s = time.perf_counter() - begun
    wanted, got = contents(folder / "serial"), contents(folder / "disturbed")
    undisturbed = contents(folder / "cluster")
    return Findings(
        jobs=jobs,
        workers=workers,
        serial_s=round(serial_s, 1),
        cluster_s=round(cluster_s, 1),
        disturbed_s=round(disturbed_s, 1),
        done_when_killed=done_when_killed,
        done_when_interrupted=done_when_interrupted,
        kept=len(before),
        lost=jobs - sum(name.startswith("jobs/") for name in got),
        again=sum(path.stat().st_mtime_ns != time_ns for path, time_ns in before.items()),
        differing=sum(
            wanted.get(name) != other.get(name)
            for other in (got, undisturbed)
            for name in wanted.keys() | other.keys()
        ),
        said=[line for line in first.said(None).splitlines() if "worker" in line or "interrupted" in line],
    )


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path, default=JSON, metavar="PATH")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where it works; default: a temporary one")
    given = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="hlsgen-sweep-", dir=given.folder) as scratch:
        found = measure(Path(scratch), given.jobs, given.workers, lambda text: print(text, file=sys.stderr))
    document: dict[str, Any] = {"machine": machine(), "load": os.getloadavg(), **asdict(found)}
    document["speed_up"] = round(found.speed_up, 2)
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(document, indent=1))
    return 1 if found.lost or found.again or found.differing else 0


if __name__ == "__main__":
    sys.exit(main())
