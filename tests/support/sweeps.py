"""Sweeps in tests: designs whose jobs wait, or kill their worker, and clusters of real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hlsgen.sweep.jobs import Job, Outcome
from hlsgen.sweep.sweep import Request, Swept, sweep
from tests.support.places import ROOT
from tests.support.small_design import DESIGN

PATIENCE = 60
"""Seconds after which a test stops waiting for something to happen."""

NETWORK = """
name: {name}
board: zcu102
batch: 4
model: {{torch: "net.py:{function}"}}
input: {{shape: [1, 4, 4], type: "fixed<8,1>", samples: random}}
"""

NET = """
import os, signal, time
from pathlib import Path
import torch

HERE = Path(__file__).parent

def small():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU())

def waits():
    (HERE / "pids" / str(os.getpid())).touch()
    while not (HERE / "go").exists():
        time.sleep(0.05)
    return small()

def kills():
    (HERE / "pids" / str(os.getpid())).touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""
"""A network whose making says which process makes it, then waits for the file `go` or ends that process."""


def design_files(folder: Path) -> None:
    """Layers a.yaml, b.yaml, c.yaml; wrong.yaml; networks waits.yaml and kills.yaml."""
    folder.mkdir(exist_ok=True)
    (folder / "pids").mkdir()
    for seed, name in enumerate(("a", "b", "c")):
        (folder / f"{name}.yaml").write_text(DESIGN.replace("seed: 3", f"seed: {seed}"))
    (folder / "wrong.yaml").write_text(DESIGN.replace("kernel: 3", "kernel: 0"))
    (folder / "net.py").write_text(NET)
    for function in ("waits", "kills"):
        (folder / f"{function}.yaml").write_text(NETWORK.format(name=f"net_{function}", function=function))


def processes_at_work(folder: Path) -> list[int]:
    """Of those that ever began to make a network of `design_files`."""
    return sorted(int(path.name) for path in (folder / "pids").iterdir())


@dataclass
class Seen:
    """A watch that remembers."""

    total: int = 0
    kept: int = 0
    most_running: int = 0
    order: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def begin(self, total: int, kept: int) -> None:
        self.total, self.kept = total, kept

    def running(self, jobs: int) -> None:
        self.most_running = max(self.most_running, jobs)

    def ended(self, job: Job, outcome: Outcome) -> None:
        self.order.append(Path(job.design).stem)

    def say(self, text: str) -> None:
        self.notes.append(text)


def swept(names: list[str], output: str, **options: Any) -> tuple[Swept, Seen]:
    """A sweep over designs of the working folder."""
    seen = Seen()
    designs = tuple(Path(f"{name}.yaml") for name in names)
    return sweep(Request(designs=designs, folder=Path(output), **options), seen), seen


def contents(folder: str) -> dict[str, bytes]:
    """Every file below the folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def wait_for(what: Callable[[], object]) -> None:
    """Until `what` is true."""
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    """Whether there is such a process, and not only its remains."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@contextmanager
def meanwhile(action: Callable[[], None]) -> Iterator[None]:
    """`action` in a thread beside the block; its failure is the test's."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            action()
        except BaseException as error:  # whatever it is, the test has to hear of it
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        thread.join(PATIENCE)
    if failures:
        raise failures[0]


@dataclass
class Cluster:
    """A scheduler and workers, each a process of its own, as on other machines."""

    folder: Path
    address: str = ""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def scheduler(self) -> subprocess.Popen[bytes]:
        return self.processes[0]

    def start(self, *words: str) -> None:
        log = (self.folder / f"dask{len(self.processes)}.log").open("wb")
        with log:
            environment = {**os.environ, "TMPDIR": str(self.folder)}
            process = subprocess.Popen([sys.executable, *words], stdout=log, stderr=log, env=environment)
            self.processes.append(process)

    def add_worker(self, *, before: str = "") -> None:
        code = f"{before}\nfrom distributed.cli.dask_worker import main; main()"
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder))
        self.start("-c", code, self.address, *options)

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    folder.mkdir()
    started = Cluster(folder)
    file = folder / "scheduler.json"
    options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    started.start("-m", "distributed.cli.dask_scheduler", *options)
    try:
        wait_for(lambda: file.exists() and file.stat().st_size)
        started.address = json.loads(file.read_text())["address"]
        for _ in range(workers):
            started.add_worker()
        yield started
    finally:
        started.stop()


def program(*words: str) -> subprocess.Popen[str]:
    """`hlsgen` as a process, in a group of its own as a shell starts it."""
    command = [sys.executable, "-c", "from hlsgen.cli.commands import main; main()", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment,
    )
