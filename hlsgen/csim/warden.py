"""Kills the process groups of an hlsgen that has died.

    python warden.py

Standard input says GROUP where one begins and -GROUP when it has ended, each in a line. When it ends, hlsgen
has: what is left is killed. A pipe closes however a process dies, with SIGKILL too. A script of its own, of
Python's own library only.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress


def main() -> None:
    groups: set[int] = set()
    for line in sys.stdin:
        number = int(line)
        (groups.add if number > 0 else groups.discard)(abs(number))
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
