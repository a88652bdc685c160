"""Sweeps on dask: real processes, of which some are killed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from hlsgen.base.errors import ToolError
from hlsgen.sweep import cluster as dask_cluster
from tests.support.command_line import failure, working_folder
from tests.support.places import ROOT
from tests.support.sweeps import (
    cluster,
    contents,
    design_files,
    is_alive,
    meanwhile,
    processes_at_work,
    program,
    swept,
    wait_for,
)

pytest.importorskip("distributed", reason="needs dask: pip install 'hlsgen[cluster]'")
pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    working_folder(tmp_path, monkeypatch)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    design_files(tmp_path)
    return tmp_path


def test_three_processes_give_what_one_gives_byte_for_byte() -> None:
    names = ["c", "wrong", "a", "b"]
    boards = ("zcu102", "u200")
    serial, _ = swept(names, "one", boards=boards, scheduler="serial")
    several, seen = swept(names, "three", boards=boards, scheduler="local", workers=3)
    assert contents("three") == contents("one")
    assert several.as_json() == serial.as_json()
    assert len(seen.order) == 8
    assert 2 <= seen.most_running <= 3


def test_the_jobs_of_a_killed_worker_run_again(folder: Path) -> None:
    def kill() -> None:
        wait_for(lambda: processes_at_work(folder))
        os.kill(processes_at_work(folder)[0], signal.SIGKILL)
        wait_for(lambda: len(processes_at_work(folder)) > 1)
        (folder / "go").touch()

    with meanwhile(kill):
        several, seen = swept(["a", "b", "waits"], "several", scheduler="local", workers=2)
    assert several.exit_code == 0
    assert "a worker was lost; its job goes to another one: waits.yaml" in seen.notes
    swept(["a", "b", "waits"], "serial", scheduler="serial")
    assert contents("several") == contents("serial")


def test_a_job_that_always_kills_its_worker_is_given_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "LOST_WORKERS", 2)
    several, seen = swept(["a", "b", "kills"], "several", scheduler="local", workers=2)
    assert len(processes_at_work(folder)) == 2
    assert [outcome.done for _, outcome in several.outcomes] == [True, True, False]
    given_up = several.outcomes[-1][1]
    assert given_up.exit_code == several.exit_code == 4
    assert "kills.yaml: given up, because 2 workers died of it" in given_up.text
    assert sum("kills.yaml" in note for note in seen.notes) == 3


@pytest.mark.parametrize(("scheduler", "number"), [("serial", signal.SIGTERM), ("local", signal.SIGINT)])
def test_an_interrupted_sweep_goes_on(folder: Path, scheduler: str, number: signal.Signals) -> None:
    command = ("sweep", "a.yaml", "b.yaml", "waits.yaml", "-o", "out", "--scheduler", scheduler)
    process = program(*command)
    wait_for(lambda: processes_at_work(folder) and len(list(Path("out/jobs").glob("[!.]*"))) == 2)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does: every process gets it
    else:
        process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    assert "error: interrupted; 2 of 3 jobs are done and kept in out" in said
    assert "Traceback" not in said
    wait_for(lambda: not is_alive(processes_at_work(folder)[0]))
    assert len(json.loads(Path("out/sweep.json").read_text())["jobs"]) == 2

    (folder / "go").touch()
    before = {path: path.stat().st_mtime_ns for path in Path("out/jobs").iterdir()}
    again, seen = swept(["a", "b", "waits"], "out", scheduler="serial")
    assert (seen.kept, seen.order, again.exit_code) == (2, ["waits"], 0)
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())
    swept(["a", "b", "waits"], "whole", scheduler="serial")
    assert contents("out") == contents("whole")


# ---------------------------------------------------------------- a scheduler that runs already


def test_a_scheduler_and_workers_elsewhere_of_which_one_is_killed(folder: Path) -> None:
    def kill() -> None:
        wait_for(lambda: processes_at_work(folder))
        os.kill(processes_at_work(folder)[0], signal.SIGKILL)
        wait_for(lambda: len(processes_at_work(folder)) > 1)
        (folder / "go").touch()

    names = ["a", "b", "waits", "wrong"]
    with cluster(folder / "dask", 2) as there, meanwhile(kill):
        elsewhere, seen = swept(names, "elsewhere", scheduler=there.address)
    assert elsewhere.exit_code == 1
    assert any("a worker was lost" in note for note in seen.notes)
    swept(names, "serial", scheduler="serial")
    assert contents("elsewhere") == contents("serial")


def test_a_scheduler_that_is_lost_ends_the_sweep(folder: Path) -> None:
    with cluster(folder / "dask", 2) as there:

        def kill() -> None:
            wait_for(lambda: processes_at_work(folder) and len(list(Path("out/jobs").glob("[!.]*"))) == 1)
            there.scheduler.kill()

        with meanwhile(kill), pytest.raises(ToolError, match="connection to the scheduler was lost"):
            swept(["a", "waits"], "out", scheduler=there.address)
    assert len(json.loads(Path("out/sweep.json").read_text())["jobs"]) == 1


def test_workers_that_cannot_serve(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "WORKER_SECONDS", 1)
    with cluster(folder / "dask", 0) as there:
        said = failure(4, "sweep", "a.yaml", "--scheduler", there.address)
        assert f"the scheduler at {there.address} has no workers" in said
        monkeypatch.setattr(dask_cluster, "WORKER_SECONDS", 30)
        there.add_worker(before="import sys; sys.modules['hlsgen'] = None")
        said = failure(4, "sweep", "a.yaml", "--scheduler", there.address)
        assert "has no hlsgen, or another one" in said


def test_no_scheduler_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 1)
    said = failure(4, "sweep", "a.yaml", "--scheduler", "tcp://127.0.0.1:9")
    assert "no dask scheduler answers at tcp://127.0.0.1:9" in said
    said = failure(4, "sweep", "a.yaml", "--scheduler", "tls://127.0.0.1:9")
    assert "TLS expects" in said


# ---------------------------------------------------------------- a queue

SBATCH = """#!/bin/sh
for script; do :; done
sh "$script" >"$0.log" 2>&1 &
echo "Submitted batch job $!"
"""
QUEUE = (
    "jobqueue: {slurm: {cores: 1, memory: 1GB, interface: lo, local-directory: tmp, job-script-prologue: []}}"
)


def test_a_queue(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """sbatch and scancel are made here: they start and end a job at once, as an empty queue would."""
    pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue: pip install 'hlsgen[queue]'")
    import dask

    (folder / "bin").mkdir()
    for name, script in (("sbatch", SBATCH), ("scancel", '#!/bin/sh\nkill "$@"\n')):
        (folder / "bin" / name).write_text(script)
        (folder / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}/bin:{os.environ['PATH']}")
    settings = {"cores": 1, "memory": "1GB", "local-directory": str(folder), "interface": "lo"}
    with dask.config.set({"jobqueue.slurm": {**dask.config.get("jobqueue.slurm"), **settings}}):
        queued, _ = swept(["a", "b"], "queued", scheduler="slurm", workers=2)
    swept(["a", "b"], "serial", scheduler="serial")
    assert queued.exit_code == 0
    assert contents("queued") == contents("serial")


def test_a_queue_without_its_settings() -> None:
    pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue: pip install 'hlsgen[queue]'")
    said = failure(4, "sweep", "a.yaml", "--scheduler", "slurm")
    assert "for the queue slurm, nothing says cores and memory of a job" in said
