"""Compiles the emitted sources, unchanged, for this machine."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from hlsgen.errors import ToolError

INCLUDE = Path(__file__).resolve().parent / "include"
COMPILE_SECONDS = 600
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-label")
# the reference ap headers are not clean under -Wall, and their assertions stop on shifts that their code handles
REFERENCE_FLAGS = ("-Wno-uninitialized", "-Wno-maybe-uninitialized", "-DNDEBUG")


class Headers(StrEnum):
    """Which ap_int/ap_fixed headers: our fast ones, or the Apache-2.0 reference in the hls4ml wheel."""

    FAST = "fast"
    REFERENCE = "reference"


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """An executable, and what making it took (measured)."""

    path: Path
    seconds: float


def find_compiler() -> str:
    """$CXX, else g++, else clang++. Raises ToolError if there is none."""
    wanted = os.environ.get("CXX")
    for name in [wanted] if wanted else ["g++", "clang++"]:
        found = shutil.which(name)
        if found:
            return found
    what = f"the compiler {wanted!r} that CXX names" if wanted else "a C++ compiler (g++ or clang++)"
    raise ToolError(
        f"error: {what} was not found\nfix: install g++, or set CXX; --no-csim builds without C-simulation"
    )


def reference_headers() -> Path | None:
    """The folder of the reference ap headers, or None. hls4ml is looked up, not imported."""
    spec = importlib.util.find_spec("hls4ml")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations))) / "templates" / "vivado" / "ap_types"
    return folder if (folder / "ap_fixed.h").is_file() else None


def compile_testbench(
    build: Path,
    kernel: str,
    out: Path,
    *,
    headers: Headers = Headers.FAST,
    record_ports: bool = False,
    optimise: str = "-O2",
    standard: str = "c++14",
) -> Compiled:
    """The testbench of the build folder `build` as executable `out`.

    record_ports: with memories that record their accesses. Raises ToolError: no compiler, headers missing, or it fails.
    """
    command = [find_compiler(), f"-std={standard}", optimise, "-ffp-contract=off", *WARNINGS]
    if record_ports:
        command.append(f"-I{INCLUDE / 'trace'}")
    command += [f"-I{build / 'src'}", f"-I{INCLUDE / 'common'}"]
    if headers is Headers.REFERENCE:
        folder = reference_headers()
        if folder is None:
            raise ToolError("error: the reference ap headers were not found\nfix: pip install hls4ml==1.3.0")
        command += ["-isystem", str(folder), *REFERENCE_FLAGS]
    else:
        command.append(f"-I{INCLUDE / 'fast'}")
    command += [str(build / "src" / f"{kernel}.cpp"), str(build / "tb" / f"{kernel}_tb.cpp"), "-o", str(out)]
    return Compiled(path=out, seconds=_run(command, out.with_suffix(".log")))


def _run(command: list[str], log: Path) -> float:
    start = time.perf_counter()
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=COMPILE_SECONDS,
            check=False,
        )
    except OSError as error:
        raise ToolError(
            f"error: {command[0]} cannot be started: {error.strerror}\nfix: install g++, or set CXX"
        ) from None
    except subprocess.TimeoutExpired:
        raise ToolError(
            f"error: {command[0]} did not finish in {COMPILE_SECONDS} s\nfix: a smaller folding"
        ) from None
    if done.returncode:
        log.write_text(" ".join(command) + "\n" + done.stderr, encoding="utf-8")
        shown = "\n".join(done.stderr.splitlines()[:20])
        raise ToolError(
            f"error: {command[0]} ended with status {done.returncode}:\n{shown}\n"
            "fix: check that it is a working C++14 compiler (CXX chooses another one)"
        )
    return time.perf_counter() - start
