"""An application of CEDR, compiled and run alone: every call on CPUs and stand-ins of accelerators."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hlsgen.base.child_processes import running
from hlsgen.base.errors import MismatchError, ToolError
from hlsgen.csim.compiler import find_compiler

SECONDS = 1800
DIFFERENT = 1
"""What the application returns where a result differs."""


def run_alone(folder: Path, name: str) -> str:
    """Makes and runs the application in `folder`/cedr; what it prints.

    Raises MismatchError: a result differs from golden. ToolError: no make, no compiler, or they fail.
    """
    where = folder / "cedr"
    _called(
        ["make", "-s", f"CXX={find_compiler()}", f"{name}_alone", f"{name}.so", f"{name}_calls.so"], where
    )
    code, said, errors = _run([f"./{name}_alone"], where)
    _called(["make", "-s", "clean"], where)  # what was made knows this folder, which is about to move
    if code == DIFFERENT:
        raise MismatchError(f"error: the application of CEDR differs from golden\n{said}\nfix: report it")
    if code:
        raise ToolError(f"error: the application of CEDR ended with status {code}\n{errors}\nfix: see above")
    return said


def _called(command: list[str], where: Path) -> None:
    code, _, errors = _run(command, where)
    if code:
        first = "\n".join(errors.splitlines()[:20])
        raise ToolError(
            f"error: {command[0]} failed with status {code}\n{first}\nfix: check make and the compiler"
        )


def _run(command: list[str], where: Path) -> tuple[int, str, str]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    try:
        with running(command, cwd=where, **pipes) as process:
            said, errors = process.communicate(timeout=SECONDS)
            return process.returncode, said, errors
    except subprocess.TimeoutExpired:
        raise ToolError(f"error: {command[0]} did not end in {SECONDS} s\nfix: fewer --frames") from None
    except OSError as error:
        message = f"error: {command[0]} cannot be started: {error.strerror}"
        raise ToolError(f"{message}\nfix: install make and g++, or --no-run") from None
