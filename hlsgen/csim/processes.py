"""Compilers and simulations: processes that end, with all that they started, no later than this one."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from hlsgen.csim import warden


class _Warden:
    """One process that looks after all others of this one; started with the first of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def tell(self, line: str) -> None:
        """Without a warden, if none can be started, the others are killed in all cases but SIGKILL."""
        with self._lock, suppress(OSError):
            if self._owner != os.getpid():  # also after a fork, which is a process of its own
                self._start()
            assert self._process is not None and self._process.stdin is not None
            os.write(self._process.stdin.fileno(), line.encode())

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", warden.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._owner = os.getpid()
        atexit.register(self._end)

    def _end(self) -> None:
        if self._process is not None and self._owner == os.getpid():
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()


_warden = _Warden()


@contextmanager
def running(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that reads nothing, in a session of its own; what is left of it after the block is killed.

    So it is when this process dies, by whatever signal. options: Popen's. Raises OSError: it cannot start.
    """
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        start_new_session=True,
        **options,
    ) as process:
        _warden.tell(f"{process.pid}\n")
        try:
            yield process
        finally:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            _warden.tell(f"-{process.pid}\n")
