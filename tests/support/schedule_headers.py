"""C++ programs that are compiled with the headers of schedules, by the Clang that schedules use."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

import hlsgen

SCHEDULE_INCLUDE = Path(hlsgen.__file__).parent / "schedule" / "include"
HAS_CLANG = importlib.util.find_spec("ziglang") is not None
needs_clang = pytest.mark.skipif(not HAS_CLANG, reason="the package ziglang is not installed")


def compile_with_schedule_headers(folder: Path, name: str, source: str) -> Path:
    """An executable: Clang compiles, g++ links (the first link of zig would build a C library)."""
    spec = importlib.util.find_spec("ziglang")
    assert spec is not None and spec.submodule_search_locations
    zig = Path(spec.submodule_search_locations[0]) / "zig"
    (folder / f"{name}.cpp").write_text(source, encoding="utf-8")
    caches = {"ZIG_GLOBAL_CACHE_DIR": str(folder / "zig"), "ZIG_LOCAL_CACHE_DIR": str(folder / "zig")}
    flags = ("-target", "x86_64-linux-gnu", "-std=c++17", "-w", "-g0", "-O0", "-fno-sanitize=all")
    compiling = [str(zig), "c++", *flags, f"-I{SCHEDULE_INCLUDE}", "-c", f"{name}.cpp", "-o", f"{name}.o"]
    for command in (compiling, ["g++", f"{name}.o", "-o", name]):
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, **caches}
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr[:6000]}"
    return folder / name
