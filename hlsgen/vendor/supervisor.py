"""Runs a program, and ends it with all that it started when standard input ends.

    python supervisor.py GRACE COMMAND...

Whoever wants the program's end closes the pipe; if that process is killed, the pipe closes by itself, so a
tool that runs for hours never outlives its hlsgen. All that the program starts inherits a mark in its
environment, by which it is found even where it has left the process group. GRACE: seconds between SIGTERM and
SIGKILL. Ends as the program did; 128 + its number if a signal ended it. A script of its own, of Python's own
library only: it starts in the time that a shell takes.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

MARK = "HLSGEN_GUARD"
POLL_SECONDS = 0.05
KILL_SECONDS = 5.0


def main(grace: float, command: list[str]) -> int:
    mark = f"{os.getpid()}-{time.time_ns()}"
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, env={**os.environ, MARK: mark}, start_new_session=True
        )
    except OSError as error:
        sys.stdout.write(f"error: {command[0]} cannot be started: {error.strerror}\n")
        return 127
    _wait(process)
    _end(process, mark, grace)
    code = process.wait()
    return code if code >= 0 else 128 - code


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Waits until the program has ended, or standard input."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while process.poll() is None:
        ready, _, _ = select.select([0, reader], [], [])
        if reader in ready:
            os.read(reader, 4096)
        elif not os.read(0, 4096):
            return


def _end(process: subprocess.Popen[bytes], mark: str, grace: float) -> None:
    """Ends what is left of the program: asked first, then killed."""
    for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, KILL_SECONDS)):
        if not _left(process, mark):
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        for pid in _left(process, mark):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        _until(lambda: not _left(process, mark), seconds)


def _left(process: subprocess.Popen[bytes], mark: str) -> set[int]:
    """The program itself and the processes that have its mark. Without /proc: the program alone."""
    found = {process.pid} if process.poll() is None else set()
    with suppress(OSError):
        for name in os.listdir("/proc"):
            with suppress(OSError):
                if name.isdecimal() and _has_mark(int(name), mark):
                    found.add(int(name))
    return found


def _has_mark(pid: int, mark: str) -> bool:
    with open(f"/proc/{pid}/environ", "rb") as file:
        return f"{MARK}={mark}".encode() in file.read().split(b"\0")


def _until(done: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
