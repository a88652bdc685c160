"""Runs code in a process that may take only so much memory and time: what is refused early needs little."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import hlsgen

MOST_BYTES = 3 << 30
"""Of address space; what hlsgen and a framework take of it without doing anything is less than half."""
MOST_SECONDS = 60
"""Of processor time; on a busy machine most of it goes into imports."""


def limited(code: str, folder: Path, *, most_bytes: int = MOST_BYTES) -> str:
    """What the code prints. Fails if it needs more than it may, or ends with an exception."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))

    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(hlsgen.__file__).parent.parent),
            "OPENBLAS_NUM_THREADS": "1",
        },
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout
