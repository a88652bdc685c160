"""g++ as tests have it: at -O1 what users compile at more, and once what several tests compile alike.

tests/support/compiler/g++ runs this as a program; tests/support/compiled_once.py puts that before the real
one in PATH, and says which that is. The headers of the standard library are compiled once for all that has
the same options: a quarter of what a small kernel takes. What includes too few of them shows in the tests
that compile as users do.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

COMPILER, COMPILED, PYTHON = "HLSGEN_TESTS_COMPILER", "HLSGEN_TESTS_COMPILED", "HLSGEN_TESTS_PYTHON"
"""The environment's names of the real compiler, of what is kept, and of what runs this."""
NOTES = "notes"
SOURCES = (".cpp", ".cc", ".c")
OTHER_RESULTS = frozenset(["-c", "-E", "-S", "-M", "-MM", "-MD", "-MMD", "-shared", "-x", "--version", "-v"])
OTHER_PARTS = ("@", "-l", "-L", "-Wl,", "-fsanitize", "-flto", "--coverage")
READ_BEFORE = ("-I", "-isystem", "-include")
"""Options of the preprocessor, whose result has what they name."""
STANDARD = (
    *(
        "algorithm",
        "array",
        "chrono",
        "cmath",
        "cstddef",
        "cstdint",
        "cstdio",
        "cstdlib",
        "cstring",
        "fstream",
    ),
    *("functional", "iostream", "limits", "map", "memory", "string", "type_traits", "utility", "vector"),
)
"""Headers that testbenches and what they include have in common."""
ALIKE = ("-std=", "-O", "-f", "-m", "-D", "-g", "-p")
"""Options that compiled headers and what includes them must have in common."""


def parts_of(arguments: Sequence[str]) -> tuple[str, list[str]] | None:
    """Where an executable goes, and what its bits depend on besides the preprocessed text; None of what is no
    executable made of sources alone."""
    out = ""
    sources = 0
    others: list[str] = []
    waiting = iter(arguments)
    for one in waiting:
        if one in OTHER_RESULTS or one.startswith(OTHER_PARTS):
            return None
        if one == "-o":
            out = next(waiting, "")
        elif one in READ_BEFORE:
            others.append(one)
            next(waiting, None)
        elif one.startswith("-"):
            others += [] if one.startswith(READ_BEFORE) else [one]
        elif one.endswith(SOURCES):
            sources += 1
        else:
            return None
    return (out, others) if sources and out else None


def preprocessed(compiler: str, arguments: Sequence[str], out: str) -> bytes | None:
    """The text that is compiled, without the places where it lay; None where it cannot be made."""
    command = [one for one in arguments if one not in ("-o", out)]
    found = subprocess.run([compiler, "-E", "-P", *command], capture_output=True)
    return None if found.returncode else found.stdout


def compiled(compiler: str, kept: Path, arguments: Sequence[str]) -> int:
    """Makes the executable, or copies one that was made of the same; the compiler's exit code."""
    parts = parts_of(arguments)
    text = preprocessed(compiler, arguments, parts[0]) if parts else None
    if parts is None or text is None:
        os.execv(compiler, [compiler, *arguments])
    out, others = parts
    same = kept / hashlib.sha256(repr(others).encode() + text).hexdigest()
    with contextlib.suppress(OSError):
        shutil.copy(same, out)
        _note(kept, "reused")
        return 0
    before = _standard_headers(compiler, kept, [one for one in others if one.startswith(ALIKE)])
    done = subprocess.run([compiler, *before, *arguments], stderr=subprocess.PIPE)
    sys.stderr.buffer.write(done.stderr)
    if not done.returncode and not done.stderr and Path(out).is_file():
        _note(kept, "compiled")
        with contextlib.suppress(OSError):
            shutil.copy(out, f"{same}.{os.getpid()}")
            os.replace(f"{same}.{os.getpid()}", same)
    return done.returncode if done.returncode >= 0 else 1


def _standard_headers(compiler: str, kept: Path, options: Sequence[str]) -> list[str]:
    """The arguments that include the standard library's headers; none while another process compiles them."""
    folder = kept / f"headers-{hashlib.sha256(repr(options).encode()).hexdigest()}"
    headers, compiled = folder / "standard.h", folder / "standard.h.gch"
    with contextlib.suppress(OSError):
        folder.mkdir()
        headers.write_text("".join(f"#include <{name}>\n" for name in STANDARD))
        made = folder / "made"
        command = [compiler, *options, "-x", "c++-header", str(headers), "-o", str(made)]
        if not subprocess.run(command, capture_output=True).returncode:
            os.replace(made, compiled)
    return ["-include", str(headers)] if compiled.is_file() else []


def _note(kept: Path, word: str) -> None:
    with contextlib.suppress(OSError), (kept / NOTES).open("a") as notes:
        notes.write(word + "\n")


if __name__ == "__main__":
    lowered = ["-O1" if one in ("-O2", "-O3") else one for one in sys.argv[1:]]
    sys.exit(compiled(os.environ[COMPILER], Path(os.environ[COMPILED]), lowered))
