"""A build folder appears whole or not at all: a folder beside it is filled and takes its place at the end.

What the vendor's tools made in the earlier one stays: hlsgen/base/earlier_builds.py.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from types import FrameType

from hlsgen.base.earlier_builds import keep_results
from hlsgen.base.errors import NotOursError, OutputError
from hlsgen.base.manifest import MANIFEST, REPORT, is_build, manifest_of

LOCK = "synth/lock"
"""Locked in a build folder while a synthesis is at work there."""
MARK = REPORT
"""Every build has this file."""


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A new folder beside `target`, which takes its place if the block ends without an exception.

    Raises NotOursError: `target` exists and is no build of hlsgen. OutputError: the disk is full, no
    permission, ...
    """
    target = Path(os.path.abspath(target))
    try:
        _check_ours(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            # a signal waits until all that is made here is also known to be removed
            with _undisturbed(), _locked(target.parent):
                _tidy(target)
                fresh = Path(tempfile.mkdtemp(prefix=_prefix(target), dir=target.parent))
                stack.callback(_remove, fresh)
                # whoever can lock it knows that its build is dead
                stack.enter_context(_locked(fresh))
                fresh.chmod(0o755)
            yield fresh
            write_files(fresh, {MANIFEST: manifest_of(fresh)})
            with _undisturbed(), _locked(target.parent):
                _swap(fresh, target)
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


def overwrite_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """`write_files` into a folder that is there already; a symbolic link there is replaced, not followed.

    Raises OutputError: it cannot be written.
    """
    try:
        for name in files:
            if (folder / name).is_symlink():
                (folder / name).unlink()
        write_files(folder, files)
    except OSError as error:
        raise _output_error(folder, error) from None


def check_place(path: Path, option: str) -> None:
    """Before long work whose result goes to a file. option: that names it. Raises OutputError: there is no
    such folder, or what is there is one, or it may not be written.
    """
    if path.is_dir():
        why = "it is a folder"
    elif not path.parent.is_dir():
        why = f"there is no folder {path.parent}"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        why = "permission denied"
    else:
        return
    raise OutputError(f"error: cannot write {path}: {why}\nfix: another file with {option}")


def write_whole(path: Path, text: str) -> None:
    """Writes a file that is there whole or not at all; a symbolic link there is replaced, not followed.

    Raises OutputError: it cannot be written.
    """
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            try:
                file.write(text.encode())
                file.close()
                Path(file.name).chmod(0o644)
                os.replace(file.name, path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise OutputError(
            f"error: cannot write {path}: {error.strerror or error}\nfix: name another file with -o"
        ) from None


def _prefix(target: Path) -> str:
    return f".{target.name}.hlsgen-"


def _aside(target: Path) -> Path:
    """Where the earlier build is for the moment in which the new one takes its place."""
    return target.parent / f"{_prefix(target)}old"


def _check_ours(target: Path) -> None:
    fix = "fix: -o names a new folder or an earlier build of hlsgen"
    if target.is_symlink():
        raise NotOursError(f"error: {target} is a symbolic link, which is not followed\n{fix}")
    if target.exists() and not target.is_dir():
        raise NotOursError(f"error: {target} is no folder\n{fix}")
    if target.is_dir() and any(target.iterdir()) and not is_build(target):
        raise NotOursError(
            f"error: {target} holds files that are no build of hlsgen; nothing was changed\n{fix}"
        )
    lock = target / LOCK
    if lock.is_file():
        try:
            with _locked(lock, wait=False):
                pass
        except _NoLocksError:
            pass  # flows/runner.py lets a synthesis begin there too
        except BlockingIOError:
            raise OutputError(
                f"error: a synthesis is at work in {target}; nothing was changed\n"
                "fix: wait for its end, or build into another folder with -o"
            ) from None


def _tidy(target: Path) -> None:
    """What builds that were killed left behind: their folders go, an old build put aside comes back.

    The parent folder is locked: no other build is between its two renames.
    """
    aside = _aside(target)
    if aside.is_dir():
        if target.exists():
            _clear(aside, target)
        else:
            aside.rename(target)
    for left in target.parent.iterdir():
        if left.name.startswith(_prefix(target)) and left != aside and left.is_dir():
            with contextlib.suppress(BlockingIOError), _locked(left, wait=False):
                shutil.rmtree(left, ignore_errors=True)


def _swap(fresh: Path, target: Path) -> None:
    """`fresh` takes the place of `target`, or `target` stays. Raises as `replacing` does."""
    _check_ours(target)
    aside = _aside(target)
    earlier = target.exists()
    if earlier:
        target.rename(aside)
    try:
        fresh.rename(target)
    except OSError:
        if earlier:
            aside.rename(target)
        raise
    if earlier:
        _clear(aside, target)


def _clear(aside: Path, target: Path) -> None:
    """Ends the replacement of a build: what its successor keeps of it is moved, and the rest removed."""
    keep_results(aside, target)
    shutil.rmtree(aside, ignore_errors=True)


def _remove(fresh: Path) -> None:
    with _undisturbed():
        shutil.rmtree(fresh, ignore_errors=True)


def others_at_work(target: Path) -> bool:
    """Whether another build into `target` is at work; False too where the file system has no locks."""
    target = Path(os.path.abspath(target))
    if not target.parent.is_dir():
        return False
    for left in target.parent.iterdir():
        if left.name.startswith(_prefix(target)) and left != _aside(target) and left.is_dir():
            try:
                with _locked(left, wait=False):
                    pass
            except _NoLocksError:
                return False
            except BlockingIOError:
                return True
            except FileNotFoundError:  # it has just ended
                continue
    return False


class _NoLocksError(BlockingIOError):
    """The file system has no locks."""


@contextlib.contextmanager
def _locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """The advisory lock of a folder or file, until the block or the process ends.

    Raises BlockingIOError: it is taken, or (_NoLocksError) nobody can know.
    """
    descriptor = os.open(folder, os.O_RDONLY if folder.is_dir() else os.O_RDWR)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise
        except OSError as error:
            # some network file systems have no locks; two builds at once are then at their own risk
            if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
                raise
            if not wait:
                raise _NoLocksError from None
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """SIGINT and SIGTERM wait until the block has ended."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python runs signal handlers in the main thread only
        return
    waiting: list[int] = []

    def remember(number: int, _frame: FrameType | None) -> None:
        waiting.append(number)

    before = {number: signal.signal(number, remember) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for one in waiting[:1]:
            signal.raise_signal(one)


def _output_error(target: Path, error: OSError) -> OutputError:
    fix = "choose another folder with -o"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        fix = f"free some space, or {fix}"
    where = f" ({error.filename})" if error.filename and str(error.filename) != str(target) else ""
    return OutputError(
        f"error: cannot write {target}: {error.strerror or error}{where}\n"
        f"fix: {fix}; an earlier build there is unchanged"
    )
