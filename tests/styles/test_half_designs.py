"""Designs in half, from the file to the host: C-simulation, host program, tasks, runtime, refusals."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import hlsgen
import hlsgen.runtime
from hlsgen.base.errors import DesignError
from tests.support.build_folders import make
from tests.support.host_builds import (
    HostBuild,
    compile_against_stand_in,
    compile_kernels,
    kernels,
    stand_in_xclbin,
)

CONV = """
name: conv
board: u200
batch: 64
input: {shape: [4, 9, 11], type: half, samples: random}
layers:
  - {name: conv1, kind: conv2d, out_channels: 4, kernel: 3, weights: {seed: 3}}
mapping: {instances: 2, conv1: {rows: 2, pe: 2, simd: 2, fabric_pe: 1}}
"""
OUTPUTS = 4 * 7 * 9


def written(folder: Path, text: str) -> Path:
    path = folder / "conv.yaml"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> HostBuild:
    folder = tmp_path_factory.mktemp("half")
    project = hlsgen.load(written(folder, CONV)).build(folder / "build", frames=3)
    assert project.report["csim"]["verdict"] == "equal"
    library = compile_kernels(project.folder, folder / "kernels.so")
    compile_against_stand_in(project.folder, folder / "host")
    stand_in_xclbin(folder / "stand_in.xclbin", library, kernels(project.folder))
    return HostBuild(kind="half", folder=folder)


def test_files_hold_halves(made: HostBuild) -> None:
    data = made.build / "tb"
    kinds = {path.name: np.load(path).dtype for path in data.glob("*.npy")}
    assert set(kinds) == {"input.npy", "weights.npy", "biases.npy", "golden.npy"}
    assert set(kinds.values()) == {np.dtype(np.float16)}
    source = (made.build / "src" / "conv1.h").read_text()
    assert "typedef half in_t;" in source and "constexpr int IN_SLOT = 16;" in source
    assert "impl=fulldsp" in (made.build / "src" / "hlsgen" / "half_sums.h").read_text()


@pytest.mark.parametrize("arguments", ["codes", "fixed"])
def test_tasks_equal_golden(made: HostBuild, arguments: str, tmp_path: Path) -> None:
    """Arguments as the bits in plain integers, or as half for a compiler that copies class types."""
    build = Path(shutil.copytree(made.build, tmp_path / "build"))
    done = make(build / "ompss", "sequential", f"ARGUMENTS={arguments}")
    assert done.returncode == 0, done.stderr
    assert f"conv: {3 * OUTPUTS} of {3 * OUTPUTS} equal" in done.stdout
    header = (build / "ompss" / "conv_kernel.fpga.h").read_text()
    assert "typedef half in_code_t;" in header and "typedef unsigned short in_code_t;" in header


def test_host_program(made: HostBuild, tmp_path: Path) -> None:
    done = made.stand_in(str(made.build / "tb"), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"output: {3 * OUTPUTS} of {3 * OUTPUTS} equal" in done.stdout


def test_host_program_shows_numbers(made: HostBuild, tmp_path: Path) -> None:
    data = Path(shutil.copytree(made.build / "tb", tmp_path / "data"))
    want = np.load(data / "golden.npy")
    was, want[2, 3, 6, 8] = want[2, 3, 6, 8], np.float16(-6.5e-5)
    np.save(data / "golden.npy", want)
    done = made.stand_in(str(data), cwd=tmp_path)
    assert done.returncode == 1
    shown = f"got {float(was):.9g}, golden {float(np.float16(-6.5e-5)):.9g}\n"
    assert f"output: frame 2, channel 3, row 6, column 8: {shown}" in done.stdout


def test_runtime_equals_golden(made: HostBuild, tmp_path: Path) -> None:
    design = hlsgen.load(written(tmp_path, CONV))
    x = np.random.default_rng(1).standard_normal((2, 4, 9, 11))
    with hlsgen.runtime.open(made.build) as simulated:
        np.testing.assert_array_equal(simulated.run(x), design.golden(x))
    with pytest.raises(DesignError, match=r"x leaves the range of half"):
        design.golden(1e5 * x)


def test_sums_in_float32_are_nearer(tmp_path: Path) -> None:
    found = []
    for precision in ("", "precision: {accumulator: float32}\n"):
        design = hlsgen.load(written(tmp_path, CONV.replace("[4, 9, 11]", "[64, 9, 11]") + precision))
        x = np.random.default_rng(1).standard_normal((1, 64, 9, 11)).astype(np.float16)
        layer = design.graph.layers[0]
        exact = layer.float64_sums(x)  # type: ignore[attr-defined]
        found.append(float(np.abs(design.golden(x) - exact).max()))
    in_half, in_float = found
    assert in_float < 1.01 * 2.0**-11 * np.abs(exact).max(), "half a last bit: rounded once"
    assert in_half > 2 * in_float


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        (CONV + "precision: {weights: float32}\n", "half is mixed with float32", ""),
        (CONV + "precision: {output: 'fixed<16,6>'}\n", "half is mixed with fixed point", ""),
        (CONV.replace("type: half", "type: half<16>"), "half takes no parameters", ":5:"),
        (CONV.replace("type: half", "type: float16"), 'unknown number type "float16"', ":5:"),
    ],
)
def test_refused(text: str, message: str, place: str, tmp_path: Path) -> None:
    with pytest.raises(DesignError) as refused:
        hlsgen.load(written(tmp_path, text))
    assert message in str(refused.value) and place in str(refused.value)
