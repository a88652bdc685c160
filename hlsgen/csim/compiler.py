"""Compiles the emitted sources, unchanged, for this machine."""

from __future__ import annotations

import errno
import importlib.util
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypedDict, Unpack

from hlsgen.base.child_processes import running
from hlsgen.base.errors import ToolError

INCLUDE = Path(__file__).resolve().parent / "include"
COMPILE_SECONDS = 600
ERROR_LINES = 20
"""The most lines that are shown of what a failing compiler prints."""
# registers of stages have no initial value: what is read of them before they are set is selected away, and
# compilers say of some that it is used; of others that it may be says g++ alone, for which the header is
WARNINGS = (
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unknown-pragmas",
    "-Wno-unused-label",
    "-Wno-error=uninitialized",
    "-include",
    str(INCLUDE / "common" / "hlsgen_warnings.h"),
)
# the reference ap headers are not clean under -Wall, and assert on shifts that their code handles
REFERENCE_FLAGS = ("-Wno-uninitialized", "-DHLSGEN_OTHER_HEADERS", "-DNDEBUG")


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


class CompileOptions(TypedDict, total=False):
    """How the testbench is compiled; what each is when left out stands in `compiling`."""

    headers: Headers
    record_ports: bool
    streaming: bool
    kernels: Sequence[str]
    optimise: str
    standard: str


def compile_testbench(build: Path, kernel: str, out: Path, **options: Unpack[CompileOptions]) -> Compiled:
    """The testbench of the build folder `build` as executable `out`; arguments and errors as `compiling`."""
    with compiling(build, kernel, out, **options) as compilation:
        return compilation.wait()


@contextmanager
def compiling(
    build: Path,
    kernel: str,
    out: Path,
    *,
    headers: Headers = Headers.FAST,
    record_ports: bool = False,
    streaming: bool = False,
    kernels: Sequence[str] = (),
    optimise: str = "-O3",
    standard: str = "c++14",
) -> Iterator[Compilation]:
    """A compiler at work on the testbench of `build`; if the block ends before it does, it is killed.

    record_ports: with memories that record their accesses. streaming: with streams and stages that record
    theirs, and can run all at once. kernels: sources besides that of `kernel`, by name.
    Raises ToolError: no compiler, headers missing, or (from `wait`) it fails.
    """
    command = [find_compiler(), f"-std={standard}", optimise, "-ffp-contract=off", *WARNINGS]
    if record_ports:
        command.append(f"-I{INCLUDE / 'trace'}")
    if streaming:
        command.append(f"-I{INCLUDE / 'dataflow'}")
    command += [f"-I{build / 'src'}", f"-I{INCLUDE / 'common'}"]
    if headers is Headers.REFERENCE:
        folder = reference_headers()
        if folder is None:
            raise ToolError("error: the reference ap headers were not found\nfix: pip install hls4ml")
        command += ["-isystem", str(folder), *REFERENCE_FLAGS]
    else:
        command.append(f"-I{INCLUDE / 'fast'}")
    sources = [build / "src" / f"{name}.cpp" for name in (kernel, *kernels)]
    command += [*map(str, sources), str(build / "tb" / f"{kernel}_tb.cpp"), "-o", str(out)]
    start = time.perf_counter()
    # what it keeps for itself lies beside the executable: it is gone with that
    environment = {**os.environ, "TMPDIR": str(out.parent)}
    with ExitStack() as stack:
        try:
            process = stack.enter_context(
                running(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
            )
        except OSError as error:
            raise ToolError(
                f"error: {command[0]} cannot be started: {error.strerror}\nfix: install g++, or set CXX"
            ) from None
        yield Compilation(command=command, out=out, process=process, start=start)


FULL = re.compile(os.strerror(errno.ENOSPC), re.IGNORECASE)
"""What compilers say of a full disk."""


def errors_first(text: str) -> list[str]:
    """The lines that a compiler printed, those that say an error before all others."""
    lines = text.splitlines()
    said = [line for line in lines if re.search(r"\b(fatal )?error: ", line)]
    return said + [line for line in lines if line not in said]


@dataclass(frozen=True, kw_only=True)
class Compilation:
    """A compiler that is running."""

    command: list[str]
    out: Path
    process: subprocess.Popen[str]
    start: float

    def wait(self) -> Compiled:
        """The executable. Raises ToolError: the compiler fails, does not end, or makes nothing."""
        compiler = self.command[0]
        try:
            _, errors = self.process.communicate(timeout=COMPILE_SECONDS)
        except subprocess.TimeoutExpired:
            raise ToolError(
                f"error: {compiler} did not finish in {COMPILE_SECONDS} s\nfix: a smaller folding"
            ) from None
        fix = "fix: check that it is a working C++14 compiler (CXX chooses another one)"
        if FULL.search(errors):
            raise ToolError(
                f"error: {compiler} found no space left in {self.out.parent}\n"
                "fix: free some space there, or let TMPDIR name another folder"
            )
        if self.process.returncode:
            shown = "\n".join(errors_first(errors)[:ERROR_LINES]) or "it printed nothing"
            raise ToolError(f"error: {compiler} ended with status {self.process.returncode}:\n{shown}\n{fix}")
        if not self.out.is_file():
            raise ToolError(f"error: {compiler} ended with status 0 and wrote no executable\n{fix}")
        return Compiled(path=self.out, seconds=time.perf_counter() - self.start)
