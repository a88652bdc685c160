"""The build folder's Makefile as far as it needs no vendor tool: C-simulation really run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hlsgen.csim.compiler import reference_headers
from hlsgen.emit.project import csim_header_files
from tests.support.build_folders import CASES, emitted, make, outputs, stand_in, write_build

SYSTEM = "/usr/bin:/bin"


@pytest.fixture
def build(tmp_path: Path) -> Path:
    return write_build("float", tmp_path / "a build")


@pytest.mark.parametrize("name", CASES)
def test_csim_equals_golden(name: str, tmp_path: Path) -> None:
    done = make(write_build(name, tmp_path / "path with spaces"), "csim")
    assert done.returncode == 0, done.stderr
    assert f"conv: {outputs(name)} of {outputs(name)} equal" in done.stdout


@pytest.mark.parametrize("name", ["int8", "channels"])
def test_csim_check_records_ports(name: str, tmp_path: Path) -> None:
    done = make(write_build(name, tmp_path), "csim-check")
    assert done.returncode == 0, done.stderr
    assert f"conv: {outputs(name)} of {outputs(name)} equal" in done.stdout
    assert "iterations compute" in done.stderr


def test_reference_headers(tmp_path: Path) -> None:
    headers = reference_headers()
    if headers is None:
        pytest.skip("hls4ml is not installed: no reference ap_ headers")
    done = make(write_build("fixed16", tmp_path), "csim", "ompss", f"HEADERS={headers}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(f"conv: {outputs('fixed16')} of {outputs('fixed16')} equal") == 2


def test_wrong_golden_fails(build: Path) -> None:
    golden = np.load(build / "tb/golden.npy")
    golden[1, 2, 3, 4] += 1
    np.save(build / "tb/golden.npy", golden)
    done = make(build, "csim")
    assert done.returncode == 2
    assert "frame 1, channel 2, row 3, column 4" in done.stdout
    assert f"conv: {outputs('float') - 1} of {outputs('float')} equal" in done.stdout
    assert "Error 1" in done.stderr


def test_csim_says_what_is_missing(build: Path) -> None:
    done = make(build, "csim", "HEADERS=/no where")
    assert done.returncode == 2
    assert "error: /no where has no ap_int.h; set HEADERS" in done.stderr
    done = make(build, "csim", "CXX=no-such-compiler")
    assert done.returncode == 2
    assert "error: no-such-compiler was not found" in done.stderr


def test_help_is_the_default(build: Path, tmp_path: Path) -> None:
    stand_in(tmp_path / "bin", "vitis-run")
    done = make(build, env={"PATH": f"{tmp_path / 'bin'}:{SYSTEM}"})
    assert done.returncode == 0
    for target in (
        "csim",
        "csim-check",
        "ompss",
        "csynth",
        "cosim",
        "xo",
        "xclbin",
        "host",
        "all",
        "run",
        "test",
    ):
        assert f"\n  {target} " in done.stdout
    assert "these need g++: found" in done.stdout
    assert "vitis_hls or vitis-run: found" in done.stdout
    assert not (build / "work").exists()


def test_clean(build: Path) -> None:
    before = {path for path in build.rglob("*")}
    (build / "work").mkdir()
    (build / "ompss/conv-seq").touch()
    assert make(build, "clean").returncode == 0
    assert {path for path in build.rglob("*")} == before


def test_every_header_is_carried() -> None:
    files = csim_header_files()
    assert {path.split("/")[2] for path in files} == {"fast", "common", "trace", "dataflow"}
    assert "ap_fixed<" in files["csim/include/fast/ap_fixed.h"]


@pytest.mark.parametrize("name", CASES)
def test_same_design_same_bytes(name: str) -> None:
    assert emitted(CASES[name].deployment()) == emitted(CASES[name].deployment())


def test_help_tells_what_is_missing(build: Path) -> None:
    done = make(build, "help", "PATH=/usr/bin:/bin")
    assert done.returncode == 0, done.stderr
    assert "these need vitis_hls or vitis-run: not found" in done.stdout
    assert "it needs v++: not found" in done.stdout
