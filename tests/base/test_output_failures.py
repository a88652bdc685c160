"""A build folder appears whole or not at all, whatever fails and whenever."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hlsgen.base import output
from hlsgen.base.errors import OutputError
from hlsgen.base.output import replacing, write_files
from tests.support.earlier_builds import content, earlier_build, is_build, make

earlier = pytest.fixture(earlier_build)


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
