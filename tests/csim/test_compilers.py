"""Another compiler, and what a compiler may do as it likes: the emitted code computes the same.

The headers with Clang: tests/csim/test_fast_headers.py.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import hlsgen
from hlsgen.base.errors import ToolError
from hlsgen.csim.compiler import errors_first
from hlsgen.hardware.conv_folding import Folding
from hlsgen.layers.base import Layer
from hlsgen.layers.stage import Fold
from tests.support.build_folders import make, write_build
from tests.support.header_programs import compile_program, reference_include, run
from tests.support.host_builds import built, compile_against_stand_in
from tests.support.kernels import assert_exact, conv
from tests.support.pipelines import assert_layers_exact
from tests.support.small_design import DESIGN
from tests.support.type_combinations import layers_of_any_types, weighted_layers

needs_clang = pytest.mark.skipif(shutil.which("clang++") is None, reason="clang++ is not installed")
UNDEFINED = "-fsanitize=undefined -fno-sanitize-recover=undefined"


FOLDING = Folding(rows=1, pe=2, simd=2)


def compiler_script(folder: Path, script: str) -> Path:
    """A compiler as CXX names it: `script`, of which "$@" are the arguments."""
    path = folder / "compiler"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def widest(layer: Layer) -> Fold:
    return list(layer.folds())[-1]


@needs_clang
def test_make_with_clang(tmp_path: Path) -> None:
    build = write_build("int8", tmp_path)
    for target in ("csim", "csim-check", "ompss"):
        done = make(build, target, "CXX=clang++")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "warning:" not in done.stderr


@needs_clang
def test_make_with_clang_and_other_headers(tmp_path: Path) -> None:
    build = write_build("fixed16", tmp_path)
    done = make(build, "csim", "CXX=clang++", f"HEADERS={reference_include()}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning:" not in done.stderr


@needs_clang
@pytest.mark.parametrize("kind", ["streaming", "tasks"])
def test_networks_and_their_host_programs_with_clang(kind: str, tmp_path: Path) -> None:
    build = built(kind, tmp_path).folder
    for target in ("csim-bounded", *(["ompss"] if kind == "tasks" else [])):
        done = make(build, target, "CXX=clang++")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "warning:" not in done.stderr
    compile_against_stand_in(build, tmp_path / "host", "clang++", "-Werror")


@needs_clang
def test_build_honours_cxx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are compiled by what CXX names; here one of it that leaves a trace."""
    trace = tmp_path / "compiled"
    monkeypatch.setenv("CXX", str(compiler_script(tmp_path, f'echo "$@" >> {trace}\nexec clang++ "$@"')))
    assert_exact(
        conv((2, 5, 6), 2, input_type="ufixed<8,3>", weight_type="ufixed<5,1>"), FOLDING, tmp_path / "k"
    )
    assert "conv_tb.cpp" in trace.read_text()


# ---------------------------------------------------------------- undefined behaviour


def test_no_layer_leaves_what_is_defined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Overflows of signed integers, shifts by too much: each would end the C-simulation."""
    # the last level counts: unoptimised code compiles sooner, and has the same checks
    monkeypatch.setenv("CXX", str(compiler_script(tmp_path, f'exec g++ {UNDEFINED} "$@" -O0')))
    layers = layers_of_any_types()[::10]
    weighted = list(weighted_layers())[::25]
    cases = [(layer, widest(layer)) for layer in layers]
    cases += [(layer, fold) for layer, fold, where in weighted if where.place == "constant"]
    assert_layers_exact(cases, tmp_path / "kernel")


def test_a_kernel_of_tasks_does_not_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", str(compiler_script(tmp_path, f'exec g++ {UNDEFINED} "$@"')))
    layer = conv((4, 6, 7), 4, input_type="fixed<8,3>", weight_type="ufixed<7,1>", result_type="fixed<9,4>")
    assert_exact(layer, FOLDING, tmp_path / "kernel")


def test_the_sanitizer_would_see_it(tmp_path: Path) -> None:
    source = "int main(int argc, char **) { int x = 2147483647; x += argc; return x == 0; }\n"
    program = compile_program(tmp_path, "overflow", source, *UNDEFINED.split())
    assert "signed integer overflow" in run(program).stderr


def test_a_full_disk_is_no_fault_of_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "ccx.s: fatal error: error writing to ccx.s: No space left on device"
    monkeypatch.setenv("CXX", str(compiler_script(tmp_path, f'echo "{said}" >&2\nexit 1')))
    (tmp_path / "small.yaml").write_text(DESIGN)
    with pytest.raises(ToolError, match="(?s)found no space left in .*TMPDIR"):
        hlsgen.load(tmp_path / "small.yaml").build(tmp_path / "b", schedule=False)


def test_errors_of_a_compiler_are_shown_first() -> None:
    lines = [
        "a.h: In function",
        "a.h:3: warning: w",
        "a.h:4:1: error: wrong",
        "note: n",
        "b: fatal error: gone",
    ]
    assert errors_first("\n".join(lines)) == [lines[2], lines[4], lines[0], lines[1], lines[3]]
