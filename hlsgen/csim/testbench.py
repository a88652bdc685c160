"""Runs a compiled testbench, and says what its exit status means."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hlsgen.base.child_processes import running
from hlsgen.base.errors import MismatchError, ToolError
from hlsgen.base.fixed import Codes, NumberType

RUN_SECONDS = 3600


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A run that ended well: the kernels' own time (measured), and what went to the standard error."""

    seconds: float
    log: str


def run_testbench(command: Sequence[str], refusals: Mapping[int, str]) -> Finished:
    """`refusals`: what the emitted code does wrong, by the exit status that says so.

    Raises MismatchError: it ended with one of these. ToolError: it cannot be started, crashed, did not end,
    or did not say how long it took.
    """
    try:
        with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            output, errors = process.communicate(timeout=RUN_SECONDS)
    except subprocess.TimeoutExpired:
        raise ToolError(
            f"error: the C-simulation did not finish in {RUN_SECONDS} s\nfix: fewer --frames"
        ) from None
    except OSError as error:
        raise ToolError(
            f"error: the compiled C-simulation cannot be started: {error.strerror}\n"
            "fix: check the compiler (CXX), and that programs in the temporary folder (TMPDIR) may run"
        ) from None
    if process.returncode in refusals:
        what = refusals[process.returncode]
        raise MismatchError(f"error: the emitted kernel {what}:\n{errors.strip()[:4000]}")
    if process.returncode in (-signal.SIGKILL, -signal.SIGTERM):
        # not its own doing, as a crash is
        name = signal.Signals(-process.returncode).name
        raise ToolError(
            f"error: the C-simulation was ended by signal {name}, which another process or the system sent\n"
            "fix: more memory for it, or fewer --frames"
        )
    if process.returncode:
        raise ToolError(
            f"error: the C-simulation ended with status {process.returncode}:\n{errors.strip()[:2000]}\n"
            "fix: report this design as a bug of hlsgen"
        )
    seconds = re.search(r"^kernel seconds (\S+)", output, re.MULTILINE)
    if seconds is None:
        raise no_result()
    return Finished(seconds=float(seconds[1]), log=errors)


def no_result() -> ToolError:
    """The error for a run that ended well and did not leave what it should have."""
    return ToolError(
        "error: the C-simulation ended with status 0 and left no result\n"
        "fix: check that the compiler (CXX) is one for this machine"
    )


def save_frames(path: Path, codes: Codes, type_: NumberType) -> None:
    """Codes as the .npy file that the testbench reads."""
    np.save(path, np.ascontiguousarray(codes.astype(type_.dtype)))
