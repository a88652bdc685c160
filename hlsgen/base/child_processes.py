"""Compilers and simulations: processes that end, with all that they started, no later than this one."""

from __future__ import annotations

import logging
import shlex
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

COMMANDS = logging.getLogger("hlsgen.commands")

WARDEN = ("/bin/sh", "-c", "read -r _; kill -KILL 0")
"""Leads a group of processes and kills it, itself too, when its standard input closes.

Which it does however this process dies, with SIGKILL too. The group is there before its other processes, so
that there is no moment at which one of them runs and would be forgotten.
"""


@contextmanager
def _warden() -> Iterator[int]:
    """A group of processes, which is killed after the block."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        WARDEN, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, process_group=0
    ) as warden:
        yield warden.pid


@contextmanager
def logged_command(command: Sequence[str]) -> Iterator[None]:
    """Says in the log what is run, and how long it took."""
    if not COMMANDS.isEnabledFor(logging.DEBUG):
        yield
        return
    shown = shlex.join(command)
    COMMANDS.debug("running %s", shown)
    begun = time.perf_counter()
    try:
        yield
    finally:
        COMMANDS.debug("ended after %.2f s: %s", time.perf_counter() - begun, shown)


@contextmanager
def running(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that reads nothing; it and all that it started are killed after the block.

    So they are when this process dies, by whatever signal. options: Popen's. Raises OSError: it cannot start.
    """
    with ExitStack() as ended, logged_command(command), _warden() as group:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            process_group=group,
            **options,
        )
        ended.enter_context(process)  # which waits for it, when the warden has killed it
        yield process
