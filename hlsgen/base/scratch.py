"""Temporary folders of ours, those that killed runs left too, and what is said if one fails."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import stat
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, lru_cache
from pathlib import Path

from hlsgen.base.errors import ToolError

SCRATCH_PREFIX = "hlsgen-csim-"
OWNER = "owner.lock"
"""A file in each of these folders with its machine's name, which its process keeps locked until it ends."""
SOURCES = (".cpp", ".h")
DIGEST_DIGITS = 16
"""The digits of the sources' digest in an executable's name."""


class Scratch:
    """A folder for executables, made when it is first asked for and gone with this object."""

    _gone: weakref.finalize[..., object] | None = None

    @cached_property
    def folder(self) -> Path:
        """Raises OSError: it cannot be made."""
        path, self._gone = scratch_of(self)
        return path

    @contextmanager
    def kept_on_success(self) -> Iterator[None]:
        """An error in the block removes the folder at once: whoever holds the error would hold the folder."""
        try:
            yield
        except BaseException:
            if self._gone is not None:
                self._gone()
            raise


@contextmanager
def scratch_folder(kept: Scratch | None = None) -> Iterator[Path]:
    """A folder that is gone after the block, or that of `kept`. Raises ToolError: it cannot be written."""
    with scratch_errors():
        if kept is not None:
            yield kept.folder
            return
        path, lock = _made()
        try:
            yield path
        finally:
            _removed(path, lock)


def scratch_of(holder: object) -> tuple[Path, weakref.finalize[..., object]]:
    """A folder that is gone when `holder` is, and what removes it before. Raises OSError."""
    path, lock = _made()
    return path, weakref.finalize(holder, _removed, path, lock)


def executable_in(scratch: Path, build: Path, name: str, headers: str) -> Path:
    """Where the testbench of the build folder `build` is, or will be, as compiled from its sources of now."""
    whole = hashlib.sha256()
    for path in sorted(path for part in ("src", "tb") for path in (build / part).rglob("*")):
        if path.suffix in SOURCES:
            content = path.read_bytes()
            whole.update(f"{path.relative_to(build).as_posix()} {len(content)}\n".encode() + content)
    return scratch / f"{name}_{headers}_{whole.hexdigest()[:DIGEST_DIGITS]}"


@contextmanager
def scratch_errors(who: str = "C-simulation") -> Iterator[None]:
    """OSErrors of the block, which works in a temporary folder, as a ToolError."""
    try:
        yield
    except OSError as error:
        raise ToolError(
            f"error: {who} cannot use the temporary folder: {error.strerror or error}\n"
            "fix: free some space there, or let TMPDIR name another folder"
        ) from None


def _made() -> tuple[Path, int]:
    """A fresh folder and the descriptor of its lock."""
    _tidied(tempfile.gettempdir(), os.getpid())
    path = Path(tempfile.mkdtemp(prefix=SCRATCH_PREFIX))
    try:
        return path, _claimed(path)
    except OSError:
        shutil.rmtree(path, ignore_errors=True)
        raise


def _claimed(path: Path) -> int:
    """The lock gets its name when it is held: nobody finds one that is free of a process that lives."""
    fresh = path / f"{OWNER}.new"
    lock = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(lock, platform.node().encode())
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fresh.rename(path / OWNER)
    except OSError:
        # a full disk is found out by what needs more of it; on a file system without locks nothing is tidied
        with suppress(OSError):
            fresh.unlink()
    return lock


def _removed(path: Path, lock: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        os.close(lock)


@lru_cache(maxsize=8)
def _tidied(folder: str, process: int) -> None:
    """Removes what dead processes of this user and machine have left there; once in each process."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith(SCRATCH_PREFIX):
                with suppress(OSError):
                    _remove_if_dead(Path(entry.path))


def _remove_if_dead(path: Path) -> None:
    """Never a link, another user's or another machine's folder, nor one without a lock that was held.

    Raises OSError: it is gone, or it cannot be looked at.
    """
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        return
    lock = os.open(path / OWNER, os.O_RDWR | os.O_NOFOLLOW)
    try:
        if os.read(lock, 1024) != platform.node().encode():
            return
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an OSError if its process lives
        shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)
