"""A build folder appears whole or not at all, whatever happens to the build."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hlsgen import output
from hlsgen.errors import NotOursError, OutputError
from hlsgen.output import MARK, replacing, write_files
from tests.small_design import DESIGN

HLSGEN = [sys.executable, "-c", "from hlsgen.cli import main; main()"]
INTERRUPTED = 130
LONG = 60
"""Seconds after which a test has failed."""

Tree = dict[str, bytes]


def tree(folder: Path) -> Tree:
    """Every file below `folder`, and its content."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def content(number: int) -> dict[str, str | bytes]:
    return {MARK: f'{{"build": {number}}}\n', "src/kernel.cpp": f"// {number}\n"}


def make(target: Path, number: int) -> None:
    with replacing(target) as fresh:
        write_files(fresh, content(number))


@pytest.fixture
def earlier(tmp_path: Path) -> Iterator[Path]:
    """An earlier build, alone in its folder; after the test nothing else may be left there."""
    target = tmp_path / "builds" / "conv"
    make(target, 1)
    yield target
    assert [path.name for path in target.parent.iterdir()] == ["conv"]


def is_build(target: Path, number: int) -> bool:
    return tree(target) == {
        name: text.encode() for name, text in content(number).items() if isinstance(text, str)
    }


# ---------------------------------------------------------------- the target


def test_a_build_appears_and_replaces_an_earlier_one(earlier: Path) -> None:
    make(earlier, 2)
    assert is_build(earlier, 2)


def test_a_build_can_be_read_by_others(earlier: Path) -> None:
    assert earlier.stat().st_mode & 0o777 == 0o755


def test_parents_are_made_and_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for target in (tmp_path / "a" / "b" / "c", tmp_path / "empty"):
        make(target, 1)
        assert is_build(target, 1)


@pytest.mark.parametrize(
    "name", ["with spaces in it", "Übung-卷积 [x]*?", "-o", "a.b.hlsgen-old", "'\"$(id)"]
)
def test_strange_names_are_only_names(name: str, tmp_path: Path) -> None:
    for number in (1, 2):
        make(tmp_path / name, number)
        assert is_build(tmp_path / name, number)
    assert os.listdir(tmp_path) == [name]


def test_a_relative_target_is_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with replacing(Path("out/../conv")) as fresh:
        os.chdir("/")  # the target is where it was meant when the build began
        write_files(fresh, content(1))
    assert is_build(tmp_path / "conv", 1)


def foreign_file(target: Path) -> None:
    target.write_text("notes")


def foreign_folder(target: Path) -> None:
    target.mkdir()
    (target / "thesis.tex").write_text("years of work")


def link_to_folder(target: Path) -> None:
    (target.parent / "elsewhere").mkdir()
    target.symlink_to(target.parent / "elsewhere")


def dangling_link(target: Path) -> None:
    target.symlink_to(target.parent / "nowhere")


def folder_called_like_the_mark(target: Path) -> None:
    (target / MARK).mkdir(parents=True)


@pytest.mark.parametrize(
    "occupy", [foreign_file, foreign_folder, link_to_folder, dangling_link, folder_called_like_the_mark]
)
def test_what_is_no_build_is_refused_and_untouched(tmp_path: Path, occupy: object) -> None:
    target = tmp_path / "conv"
    occupy(target)  # type: ignore[operator]
    before = {path: (path.lstat().st_ino, path.lstat().st_mtime_ns) for path in tmp_path.rglob("*")}
    with pytest.raises(NotOursError, match="fix: -o names a new folder") as caught, replacing(target):
        pytest.fail("the block must not run")
    assert caught.value.exit_code == 2
    assert {path: (path.lstat().st_ino, path.lstat().st_mtime_ns) for path in tmp_path.rglob("*")} == before


def test_what_was_put_there_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "conv"
    with pytest.raises(NotOursError), replacing(target) as fresh:
        write_files(fresh, content(1))
        foreign_folder(target)
    assert tree(tmp_path) == {"conv/thesis.tex": b"years of work"}


@pytest.mark.parametrize("name", ["../outside", "/outside", "src/../../outside"])
def test_no_file_is_written_outside(earlier: Path, name: str) -> None:
    with pytest.raises(ValueError, match="leaves the build folder"), replacing(earlier) as fresh:
        write_files(fresh, {name: "x"})
    assert is_build(earlier, 1)


# ---------------------------------------------------------------- failures


@pytest.mark.parametrize("failure", [RuntimeError("bug"), KeyboardInterrupt(), SystemExit(3), MemoryError()])
def test_a_failing_block_changes_nothing(earlier: Path, failure: BaseException) -> None:
    with pytest.raises(type(failure)), replacing(earlier) as fresh:
        write_files(fresh, content(2))
        raise failure
    assert is_build(earlier, 1)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO])
def test_a_failing_write_is_an_output_error(
    earlier: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    written = 0

    def write_bytes(self: Path, data: bytes) -> int:
        nonlocal written
        written += 1
        if written == 2:
            raise OSError(code, os.strerror(code))
        return len(data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", write_bytes)
        with pytest.raises(OutputError, match=os.strerror(code)) as caught:
            make(earlier, 2)
    assert caught.value.exit_code == 4
    assert "an earlier build there is unchanged" in str(caught.value)
    assert ("free some space" in str(caught.value)) == (code in (errno.ENOSPC, errno.EDQUOT))
    assert is_build(earlier, 1)


def test_a_name_that_is_too_long_is_an_output_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=os.strerror(errno.ENAMETOOLONG)):
        make(tmp_path / ("x" * 300), 1)


def test_a_file_in_the_way_of_the_parents_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="/file"):
        make(tmp_path / "file" / "conv", 1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into read-only folders")
def test_a_read_only_folder_is_an_output_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(OutputError, match=os.strerror(errno.EACCES)):
            make(tmp_path / "conv", 1)
    finally:
        tmp_path.chmod(0o755)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if (
        os.geteuid() != 0
        or not shutil.which("mount")
        or subprocess.run(mount, capture_output=True).returncode
    ):
        pytest.skip("no file system can be mounted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_leaves_the_earlier_build(small_disk: Path) -> None:
    make(small_disk / "conv", 1)
    with pytest.raises(OutputError, match="No space left"), replacing(small_disk / "conv") as fresh:
        write_files(fresh, content(2) | {"large": b"x" * (1 << 20)})
    assert is_build(small_disk / "conv", 1)
    assert os.listdir(small_disk) == ["conv"]


def test_a_read_only_disk_is_an_output_error(small_disk: Path) -> None:
    make(small_disk / "conv", 1)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(OutputError, match="Read-only"):
        make(small_disk / "conv", 2)
    assert is_build(small_disk / "conv", 1)


# ---------------------------------------------------------------- between the two renames


def test_a_rename_that_fails_puts_the_earlier_build_back(
    earlier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if target == earlier and not self.name.endswith("old"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", failing)
        with pytest.raises(OutputError):
            make(earlier, 2)
    assert is_build(earlier, 1)


def test_a_crash_between_the_renames_is_mended_by_the_next_build(earlier: Path) -> None:
    make(earlier.with_name("conv2"), 2)
    earlier.rename(earlier.with_name(".conv.hlsgen-old"))
    earlier.with_name("conv2").rename(earlier.with_name(".conv.hlsgen-abcdefgh"))
    with pytest.raises(RuntimeError), replacing(earlier):
        assert is_build(earlier, 1)
        raise RuntimeError
    assert is_build(earlier, 1)


def test_a_crash_after_the_renames_is_tidied_by_the_next_build(earlier: Path) -> None:
    make(earlier.with_name(".conv.hlsgen-old"), 0)
    with pytest.raises(RuntimeError), replacing(earlier):
        raise RuntimeError
    assert is_build(earlier, 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_between_the_renames_waits(
    earlier: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    rename = Path.rename

    def signalled(self: Path, target: Path) -> Path:
        signal.raise_signal(number)
        return rename(self, target)

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(number, interrupt)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(Path, "rename", signalled)
            with pytest.raises(KeyboardInterrupt):
                make(earlier, 2)
    finally:
        assert signal.signal(number, before) is interrupt
    assert is_build(earlier, 2)


# ---------------------------------------------------------------- builds at once


def test_a_build_leaves_those_that_are_under_way_alone(earlier: Path) -> None:
    with replacing(earlier) as slow:
        write_files(slow, content(2))
        make(earlier, 3)
        assert is_build(earlier, 3)
    assert is_build(earlier, 2)


def test_targets_with_like_names_do_not_touch_each_other(tmp_path: Path) -> None:
    with replacing(tmp_path / "conv") as one, replacing(tmp_path / "conv.hlsgen-x") as two:
        write_files(one, content(1))
        write_files(two, content(2))
    assert is_build(tmp_path / "conv", 1)
    assert is_build(tmp_path / "conv.hlsgen-x", 2)


def test_without_locks_nothing_of_others_is_removed(earlier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = earlier.with_name(".conv.hlsgen-abcdefgh")
    other.mkdir()
    (earlier / "synth").mkdir()
    (earlier / "synth/lock").touch()  # of a synthesis, which nobody can be known to hold

    def flock(_descriptor: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    with monkeypatch.context() as patch:
        patch.setattr(output.fcntl, "flock", flock)
        make(earlier, 2)
    assert is_build(earlier, 2)
    assert other.is_dir()
    make(earlier, 3)


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
    (tmp_path / "build" / "small" / "earlier").write_text("this is the earlier build")
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


@pytest.mark.parametrize("delay", [0.15, 0.3, 0.45, 0.6, 0.8, 1.0, 1.3])
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
