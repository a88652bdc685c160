"""An hlsgen that is killed: its compiler and simulation end too, its folders go with the next run."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hlsgen.base import scratch
from hlsgen.base.child_processes import running
from hlsgen.base.scratch import OWNER, SCRATCH_PREFIX, scratch_folder
from tests.support.small_design import DESIGN

SECONDS = 300.0
"""A limit that no machine however busy needs; no test waits longer than until what it waits for."""
ASLEEP = "sleep 3600"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The temporary folder."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    scratch._tidied.cache_clear()
    yield temporary
    scratch._tidied.cache_clear()


def left(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{SCRATCH_PREFIX}*"))


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not done():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"  # whoever adopts it may be slow to look


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_compiler_and_what_it_started_die_with_hlsgen(folder: Path, number: int) -> None:
    """A compiler driver that waits for the compiler proper, as g++ does."""
    pids, compiler = folder.parent / "pids", folder.parent / "slow-compiler"
    compiler.write_text(f"#!/bin/sh\n{ASLEEP} &\necho $$ $! > {pids}.new\nmv {pids}.new {pids}\nwait\n")
    compiler.chmod(0o755)
    (folder.parent / "small.yaml").write_text(DESIGN)
    process = subprocess.Popen(
        [sys.executable, "-c", "from hlsgen.cli.commands import main; main()", "csim", "small.yaml"],
        cwd=folder.parent,
        env={**os.environ, "CXX": str(compiler), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with process:
        until(pids.exists)
        process.send_signal(number)
        process.wait(SECONDS)
    started = [int(word) for word in pids.read_text().split()]
    assert len(started) == 2
    until(lambda: not any(map(alive, started)))
    assert bool(left(folder)) == (number == signal.SIGKILL)
    with scratch_folder() as fresh:
        assert left(folder) == [fresh]
    assert left(folder) == []


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_a_process_that_begins_as_hlsgen_is_killed_does_not_stay() -> None:
    """Killed by the very call that starts it, and before hlsgen can have noted anything of it."""
    code = """
import os, signal, subprocess
from hlsgen.base.child_processes import running

class Killed(subprocess.Popen):
    def __init__(self, command, **options):
        super().__init__(command, **options)
        if command[0] == "sleep":
            print(self.pid, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

subprocess.Popen = Killed
with running(["sleep", "3600"]):
    pass
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == -signal.SIGKILL
    until(lambda: not alive(int(done.stdout)))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_what_a_process_has_started_ends_with_the_block() -> None:
    """Whether the process has ended before, leaving others behind, or an error ends the block."""
    leaves = ["/bin/sh", "-c", f"{ASLEEP} >/dev/null & echo $!"]
    with running(leaves, stdout=subprocess.PIPE) as process:
        output, _ = process.communicate(timeout=SECONDS)
        assert process.returncode == 0 and alive(int(output))
    until(lambda: not alive(int(output)))
    with (
        pytest.raises(KeyboardInterrupt),
        running([*leaves[:2], leaves[2] + "; wait"], stdout=subprocess.PIPE) as process,
    ):
        assert process.stdout is not None
        left_over = int(process.stdout.readline())
        raise KeyboardInterrupt
    until(lambda: not alive(left_over) and not alive(process.pid))


def made_by_a_dead_process(folder: Path) -> Path:
    code = (
        "import os; from hlsgen.base.scratch import _made; p, _ = _made(); print(p, flush=True); os._exit(9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    path = Path(done.stdout.strip())
    assert path.parent == folder and (path / OWNER).read_text() == platform.node()
    (path / "testbench").write_bytes(b"much")
    return path


def test_only_what_is_surely_dead_and_ours_is_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dead, others = made_by_a_dead_process(folder), made_by_a_dead_process(folder)
    (others / OWNER).write_text("another-machine")
    older = folder / f"{SCRATCH_PREFIX}older"  # of a version without locks, or about to be claimed
    older.mkdir()
    valuable = folder.parent / "valuable"
    valuable.mkdir()
    (valuable / OWNER).write_text(platform.node())
    link = folder / f"{SCRATCH_PREFIX}link"
    link.symlink_to(valuable)
    linked = folder / f"{SCRATCH_PREFIX}linked"
    linked.mkdir()
    (linked / OWNER).symlink_to(valuable / OWNER)
    (folder / f"{SCRATCH_PREFIX}file").write_text("")
    with scratch_folder() as living:
        scratch._tidied.cache_clear()
        with scratch_folder():
            pass
        assert living.is_dir() and not dead.exists()
    assert all(path.exists() for path in (others, older, link, linked, valuable / OWNER))
    (others / OWNER).write_text(platform.node())
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    scratch._tidied.cache_clear()
    with scratch_folder():
        assert others.is_dir()


def test_several_runs_that_start_at_once(folder: Path) -> None:
    for _ in range(2):
        made_by_a_dead_process(folder)

    def run(_: int) -> None:
        scratch._tidied.cache_clear()
        with scratch_folder() as path:
            (path / "work").write_text("mine")
            time.sleep(0.01)
            assert (path / "work").read_text() == "mine"

    with ThreadPoolExecutor(max_workers=8) as pool:
        list(pool.map(run, range(40)))
    assert left(folder) == []
