"""A build that is killed, and two at once: the command line's build folders are whole."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hlsgen.base import output
from tests.support.earlier_builds import tree
from tests.support.small_design import DESIGN

HLSGEN = [sys.executable, "-c", "from hlsgen.cli.commands import main; main()"]
INTERRUPTED = 130
LONG = 60
"""Seconds after which a test has failed."""


# ---------------------------------------------------------------- whole builds, killed


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """small.yaml and its build, in a folder of their own."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "small.yaml").write_text(DESIGN)
    subprocess.run([*HLSGEN, "build", "small.yaml"], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def place(built: Path, tmp_path: Path) -> Path:
    """A copy of `built`, whose build is marked as an earlier one, and an empty folder for temporary files."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    (tmp_path / "build" / "small" / "report.md").write_text("this is the earlier build")
    (tmp_path / "tmp").mkdir()
    return tmp_path


def started(place: Path, compiler: str) -> subprocess.Popen[str]:
    """`hlsgen build` with this script as compiler; it makes the file `reached` when it runs."""
    script = place / "compiler"
    script.write_text(f'#!/bin/sh\ntouch "{place}/reached"\n{compiler}\n')
    script.chmod(0o755)
    process = subprocess.Popen(
        [*HLSGEN, "build", "small.yaml"],
        cwd=place,
        env={**os.environ, "CXX": str(script), "TMPDIR": str(place / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + LONG
    while not (place / "reached").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process


def beside_the_build(place: Path) -> list[str]:
    return sorted(path.name for path in (place / "build").iterdir())


SLEEPING = f"sleep {LONG} & wait"
"""A compiler that does not end."""
ENDLESS = """
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\ntouch "%s.runs"; sleep 60\\n' "$PWD/reached" > "$2"; chmod +x "$2"
"""
"""A compiler whose programs do not end."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("compiler", "reached"), [(SLEEPING, "reached"), (ENDLESS, "reached.runs")])
def test_an_interrupted_build_leaves_the_earlier_one(
    place: Path, number: signal.Signals, compiler: str, reached: str
) -> None:
    before = tree(place / "build")
    process = started(place, compiler)
    while not (place / reached).exists():
        time.sleep(0.01)
    start = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=LONG)
    assert time.monotonic() - start < 10, "it waited for the compiler"
    assert process.returncode == INTERRUPTED
    assert (out, err) == ("", "interrupted; the build folder is as it was, or complete\n")
    assert tree(place / "build") == before
    assert beside_the_build(place) == ["small"]
    assert os.listdir(place / "tmp") == []


@pytest.mark.parametrize("delay", [0.15, 0.45, 0.8, 1.3])
def test_a_build_terminated_at_any_time_leaves_a_whole_one(place: Path, delay: float, built: Path) -> None:
    before = tree(place / "build")
    process = subprocess.Popen(
        [*HLSGEN, "build", "small.yaml"],
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(delay)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=LONG)
    assert "Traceback" not in err
    # before Python has read hlsgen's first line, the signal ends it as it ends every program
    assert process.returncode in (0, INTERRUPTED, -signal.SIGTERM)
    assert tree(place / "build") in (before, tree(built / "build"))
    assert beside_the_build(place) == ["small"]


def test_a_killed_build_leaves_the_earlier_one_and_the_next_tidies_up(place: Path, built: Path) -> None:
    before = tree(place / "build" / "small")
    process = started(place, SLEEPING)
    process.kill()
    process.communicate()
    assert tree(place / "build" / "small") == before
    assert len(beside_the_build(place)) == 2
    subprocess.run([*HLSGEN, "build", "small.yaml"], cwd=place, check=True, capture_output=True)
    assert beside_the_build(place) == ["small"]
    assert tree(place / "build") == tree(built / "build")


def test_two_builds_of_one_target_at_once(place: Path, built: Path) -> None:
    processes = [
        subprocess.Popen([*HLSGEN, "build", "small.yaml"], cwd=place, stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    assert [process.wait(LONG) for process in processes] == [0, 0]
    assert beside_the_build(place) == ["small"]
    assert tree(place / "build") == tree(built / "build")


def test_a_build_says_that_another_one_is_at_work(place: Path, built: Path) -> None:
    process = started(place, SLEEPING)
    try:
        done = subprocess.run([*HLSGEN, "build", "small.yaml"], cwd=place, capture_output=True, text=True)
    finally:
        process.kill()
        process.communicate()
    assert done.returncode == 0 and "was at work: the one that ended last is there" in done.stderr


def test_the_same_design_gives_the_same_bytes(tmp_path: Path, built: Path) -> None:
    elsewhere = tmp_path / "an other place"
    elsewhere.mkdir()
    design = elsewhere / "small.yaml"
    design.write_text(DESIGN)
    target = tmp_path / "target"
    command = [*HLSGEN, "build", str(design), "-o", str(target)]
    environment = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    subprocess.run(command, cwd="/", env=environment, check=True, capture_output=True)
    assert tree(target) == tree(built / "build" / "small")


def test_no_path_of_this_machine_is_in_the_build(built: Path) -> None:
    root = str(Path(output.__file__).parent.parent).encode()
    for name, data in tree(built / "build").items():
        assert str(built).encode() not in data, name
        assert root not in data, name
