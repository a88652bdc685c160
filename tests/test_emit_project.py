"""The build folder's Makefile: C-simulation really run, the vendor's tools by stand-ins."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from hlsgen.csim.compiler import reference_headers
from hlsgen.emit.project import csim_header_files
from tests.build_folders import CASES, calls, emitted, make, outputs, stand_in, write_build

SYSTEM = "/usr/bin:/bin"


def vendor_path(folder: Path) -> dict[str, str]:
    return {"PATH": f"{folder}:{SYSTEM}", "XILINX_VITIS": "/nowhere"}


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
    for target in ("csim", "csim-check", "ompss", "csynth", "cosim", "xo", "xclbin", "clean"):
        assert f"\n  {target} " in done.stdout
    assert "these need g++: found" in done.stdout
    assert "vitis_hls or vitis-run: found" in done.stdout
    assert not (build / "work").exists()


def test_csynth_takes_the_tool_that_is_there(build: Path, tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    stand_in(new, "vitis-run")
    stand_in(old, "vitis_hls")
    stand_in(old, "vitis-run")
    for folder in (new, old):
        assert make(build, "csynth", env=vendor_path(folder)).returncode == 0
        assert make(build, "cosim", env=vendor_path(folder)).returncode == 0
    assert calls(new) == [
        f"vitis-run [{steps}] --mode hls --tcl run_hls.tcl" for steps in ("csynth", "csynth cosim")
    ]
    assert calls(old) == [f"vitis_hls [{steps}] -f run_hls.tcl" for steps in ("csynth", "csynth cosim")]


def test_vitis_missing(build: Path) -> None:
    if any(shutil.which(tool, path=SYSTEM) for tool in ("vitis_hls", "vitis-run", "v++")):
        pytest.skip("Vitis is installed in the system's folders")
    done = make(build, "csynth", env={"PATH": SYSTEM})
    assert done.returncode == 2
    assert "error: neither vitis_hls nor vitis-run was found" in done.stderr
    done = make(build, "xclbin", env={"PATH": SYSTEM})
    assert done.returncode == 2
    assert "v++ was not found" in done.stderr


def test_xclbin_checks_its_settings(build: Path, tmp_path: Path) -> None:
    stand_in(tmp_path / "bin", "v++")
    env = vendor_path(tmp_path / "bin")
    for argument, message in (
        ("TARGET=sw_emu", 'TARGET must be hw or hw_emu, not "sw_emu"'),
        ("PLATFORM=", "PLATFORM must name a Vitis platform"),
        ("XILINX_VITIS=", "XILINX_VITIS is not set"),
    ):
        done = make(build, "xclbin", argument, env=env)
        assert done.returncode == 2
        assert message in done.stderr
    assert not (tmp_path / "bin/calls.txt").exists()


@pytest.mark.parametrize(("name", "links"), [("float", 2), ("channels", 1)])
def test_xclbin(name: str, links: int, tmp_path: Path) -> None:
    build, tools = write_build(name, tmp_path / "build"), tmp_path / "bin"
    stand_in(tools, "vitis_hls", "touch conv.xo")
    stand_in(tools, "v++")
    done = make(build, "xclbin", "TARGET=hw_emu", "PLATFORM=mine", env=vendor_path(tools))
    assert done.returncode == 0, done.stderr
    hls, link, *package = calls(tools)
    assert hls == "vitis_hls [csynth export] -f run_hls.tcl"
    assert link.startswith("v++ [] -l -t hw_emu --platform mine --save-temps -g --config vitis/link.cfg ")
    assert link.endswith(" vitis/conv.xo")
    assert len(package) == links - 1
    assert make(build, "xo", env=vendor_path(tools)).returncode == 0
    assert len(calls(tools)) == 1 + links, "the .xo is made once"


def test_clean(build: Path) -> None:
    before = {path for path in build.rglob("*")}
    (build / "work").mkdir()
    (build / "vitis/conv_hls").mkdir()
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
