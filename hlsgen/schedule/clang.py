"""The Clang of the ziglang package: where it is, how it is called, and what its errors say.

It writes nowhere but to the folder that it is given.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hlsgen.base.child_processes import running
from hlsgen.base.errors import ToolError

INSTALL = "fix: pip install 'hlsgen[schedule]'"
COMPILE_SECONDS = 600
# what any compilation wants: no sanitizer, nothing of exceptions, no optimisation yet but the names and lines
FLAGS = (
    *("-w", "-O1", "-Xclang", "-disable-llvm-passes"),
    # the names of files are those that are given, wherever this process stands
    *("-fno-discard-value-names", "-gline-tables-only", "-fdebug-compilation-dir=/-"),
    *("-fno-sanitize=all", "-fno-stack-protector"),
    *("-fno-strict-aliasing", "-ffp-contract=off", "-fno-math-errno", "-fignore-exceptions"),
    *("-fno-threadsafe-statics", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"),
    *("-fomit-frame-pointer", "-ferror-limit=0", "-fno-caret-diagnostics", "-fcomplex-arithmetic=basic"),
    *("-fconstexpr-steps=1000000000", "-fconstexpr-depth=100000"),
    *("-ftemplate-depth=10000", "-fbracket-depth=10000"),
    *("-Wno-error", "-Wno-c++11-narrowing", "-Wno-invalid-constexpr", "-Wno-register"),
    *("-Wno-reserved-user-defined-literal", "-Wno-parentheses"),
)
HEADERS = ("-target", "x86_64-linux-musl")
"""The machine that files are preprocessed for: one whose C and C++ library comes with the compiler."""
PLAIN = (
    *("-target", "wasm64-freestanding", "-Xclang", "-fexperimental-max-bitint-width=1048576"),
    *("-Xclang", "-fnative-half-type", "-fhosted"),
)
"""The machine that is compiled for: with the same sizes, but structures are passed as what they are.

x86 passes a structure of 16 bytes as two integers of 64 bits, whatever its members are.
"""
_ERROR = re.compile(
    r"^(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+): (?:fatal )?(?P<kind>error|note): (?P<text>[^\n]*)$",
    re.MULTILINE,
)


@dataclass(frozen=True, kw_only=True)
class Message:
    """An error of the compiler, or a note that belongs to one. line, column: from 1."""

    file: str
    line: int
    column: int
    is_error: bool
    message: str


@cache
def _zig() -> Path | None:
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations)))
    return next((path for path in (folder / "zig", folder / "zig.exe") if path.is_file()), None)


def is_installed() -> bool:
    """Whether there is a compiler for schedules."""
    return _zig() is not None


def compile_code(driver: str, arguments: Sequence[str], scratch: Path) -> str | None:
    """Runs the compiler of C ("cc") or C++ ("c++"): None, or what it prints when it fails.

    scratch: a folder for its caches. Raises ToolError: it is not installed, cannot start, or does not end.
    """
    path = _zig()
    if path is None:
        raise ToolError(f"error: the package ziglang, which has Clang, was not found\n{INSTALL}")
    caches = {"ZIG_GLOBAL_CACHE_DIR": str(scratch / "zig"), "ZIG_LOCAL_CACHE_DIR": str(scratch / "zig-local")}
    environment = {**os.environ, **caches, "TMPDIR": str(scratch)}
    command = [str(path), driver, *FLAGS, *arguments]
    try:
        with running(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment) as process:
            _, errors = process.communicate(timeout=COMPILE_SECONDS)
    except OSError as error:
        raise ToolError(f"error: {path} cannot be started: {error.strerror}\n{INSTALL}") from None
    except subprocess.TimeoutExpired:
        raise ToolError(
            f"error: Clang did not finish in {COMPILE_SECONDS} s\nfix: fewer templates, or no schedule"
        ) from None
    return errors if process.returncode else None


def messages(errors: str) -> list[Message]:
    """The errors and notes among what the compiler printed."""
    return [
        Message(
            file=found["file"],
            line=int(found["line"]),
            column=int(found["column"]),
            is_error=found["kind"] == "error",
            message=found["text"],
        )
        for found in _ERROR.finditer(errors)
    ]
