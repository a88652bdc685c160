"""Starts an outside tool, follows what it prints, and ends it with all that it started."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from hlsgen.base.child_processes import logged_command
from hlsgen.base.errors import ToolError
from hlsgen.base.output import LOCK
from hlsgen.vendor import supervisor

GRACE_SECONDS = 10.0
"""Seconds between asking a tool to end and killing it."""
POLL_SECONDS = 0.5
LOCK_SECONDS = GRACE_SECONDS + 20
Line = Callable[[str], None]


def run_tool(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    log: Path,
    lock: int,
    deadline: float | None,
    line: Line,
) -> int | None:
    """The exit status of a tool that runs in `folder`; None: it was ended at the deadline, monotonic seconds.

    All that it prints goes to `log`, and line by line to `line`. However this ends, also by KeyboardInterrupt
    or the death of this process, all that the tool has started ends with it. `lock`: a descriptor that stays
    open until then. Raises OSError: the log cannot be written.
    """
    words = [sys.executable, "-I", supervisor.__file__, str(GRACE_SECONDS), *command]
    with log.open("wb") as file, logged_command(command):
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in a terminal is for hlsgen alone
            pass_fds=[lock],
        )
        assert process.stdin is not None
        try:
            return _follow(process, file, deadline, line)
        finally:
            process.stdin.close()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def _follow(
    process: subprocess.Popen[bytes], log: BinaryIO, deadline: float | None, line: Line
) -> int | None:
    """Copies what is printed until the tool has ended or the deadline has come."""
    assert process.stdout is not None
    output = process.stdout.fileno()
    rest = b""
    while deadline is None or time.monotonic() < deadline:
        ready, _, _ = select.select([output], [], [], POLL_SECONDS)
        chunk = os.read(output, 1 << 16) if ready else b""
        if chunk:
            log.write(chunk)
            log.flush()
            *whole, rest = (rest + chunk).replace(b"\r", b"\n").split(b"\n")
            for one in whole:
                line(one.decode(errors="replace"))
        elif process.poll() is not None:
            # nobody prints any more, or a process that could not be ended keeps the pipe open
            if rest:
                line(rest.decode(errors="replace"))
            return process.returncode
        elif ready:
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL_SECONDS)  # it ends, or has closed its output and works on
    return None


@contextmanager
def claimed(folder: Path) -> Iterator[int]:
    """The build folder for this synthesis alone: the descriptor of its lock, which tools keep open too.

    What an earlier hlsgen started that was killed is about to end; it is waited for. Raises ToolError:
    another one is at work there.
    """
    path = folder / LOCK
    path.parent.mkdir(exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        end = time.monotonic() + LOCK_SECONDS
        while not _locked(descriptor):
            if time.monotonic() > end:
                message = f"error: another synthesis is at work in {folder}"
                raise ToolError(f"{message}\nfix: wait for its end, or build into another folder with -o")
            time.sleep(POLL_SECONDS)
        yield descriptor
    finally:
        os.close(descriptor)


def wait_until_free(folder: Path) -> None:
    """Waits until no synthesis is at work in the build folder. Raises ToolError as `claimed`."""
    if (folder / LOCK).exists():
        with claimed(folder):
            pass


def _locked(descriptor: int) -> bool:
    """Whether the lock could be taken; a file system without locks gives it to everybody."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
    return True
