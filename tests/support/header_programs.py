"""C++ programs that are compiled with the headers of C-simulation."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

import hlsgen

INCLUDE = Path(hlsgen.__file__).parent / "csim" / "include"
STRICT = ("-Wall", "-Wextra", "-Werror")


def reference_include() -> Path:
    """The reference headers' folder; skips the test if hls4ml is not installed."""
    spec = importlib.util.find_spec("hls4ml")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("hls4ml is not installed: no reference ap_ headers to compare with")
    return Path(spec.submodule_search_locations[0]) / "templates" / "vivado" / "ap_types"


def compile_program(folder: Path, name: str, source: str, *flags: str, compiler: str = "g++") -> Path:
    (folder / f"{name}.cpp").write_text(source, encoding="utf-8")
    command = [compiler, *flags, f"{name}.cpp", "-o", name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr[:6000]}"
    return folder / name


def run(program: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program)], capture_output=True, text=True, check=False)
