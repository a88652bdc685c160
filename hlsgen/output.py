"""A build folder appears whole or not at all: files go to a folder beside it, which takes its place at the end."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from hlsgen.errors import NotOursError, OutputError

MARK = "report.json"
"""A folder with this file is a build of hlsgen and may be replaced by another."""


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A new folder beside `target`, which takes its place if the block ends without an exception.

    Raises NotOursError: `target` exists and is no build of hlsgen. OutputError: the disk is full, no permission, ...
    """
    target = Path(os.path.abspath(target))
    try:
        _check_ours(target)
        _tidy(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=_prefix(target), suffix=f".{os.getpid()}", dir=target.parent))
        fresh.chmod(0o755)
        try:
            yield fresh
            _swap(fresh, target)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        raise _output_error(target, error) from None


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Writes {relative path: content}. A path that leaves `folder` is a bug and raises ValueError."""
    for name, content in sorted(files.items()):
        relative = PurePosixPath(name)
        if relative.is_absolute() or ".." in relative.parts:
            raise ValueError(f"{name} leaves the build folder")
        path = folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def _prefix(target: Path) -> str:
    return f".{target.name}.hlsgen-"


def _check_ours(target: Path) -> None:
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise NotOursError(
            f"error: {target} is no folder\nfix: -o names a new folder or an earlier build of hlsgen"
        )
    if target.is_dir() and any(target.iterdir()) and not (target / MARK).is_file():
        raise NotOursError(
            f"error: {target} holds files that are no build of hlsgen; nothing was changed\n"
            "fix: -o names a new folder or an earlier build of hlsgen"
        )


def _tidy(target: Path) -> None:
    """What builds that were killed left behind: their folders go, an old build that was put aside comes back."""
    if not target.parent.is_dir():
        return
    aside = target.parent / f"{_prefix(target)}old"
    if aside.is_dir():
        if target.exists():
            shutil.rmtree(aside)
        else:
            aside.rename(target)
    for left in target.parent.glob(f"{_prefix(target)}*"):
        pid = left.suffix[1:]
        if pid.isdigit() and not _alive(int(pid)):
            shutil.rmtree(left, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _swap(fresh: Path, target: Path) -> None:
    aside = target.parent / f"{_prefix(target)}old"
    if target.exists():
        target.rename(aside)
    fresh.rename(target)
    shutil.rmtree(aside, ignore_errors=True)


def _output_error(target: Path, error: OSError) -> OutputError:
    fix = (
        "free some space, or choose another folder with -o"
        if error.errno == errno.ENOSPC
        else "choose another folder with -o"
    )
    return OutputError(
        f"error: cannot write {target}: {error.strerror or error}\nfix: {fix}; an earlier build there is unchanged"
    )
