"""Networks as StarPU tasks: built, run under several policies, equal to the whole; wrong wishes refused."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hlsgen.api.design import Design
from hlsgen.api.from_model import from_torch
from hlsgen.base.errors import DesignError
from hlsgen.starpu.building import build_starpu
from hlsgen.starpu.description import TaskNetwork, TaskPart, symbol_of

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")


def has_starpu() -> bool:
    if not shutil.which("pkg-config") or not shutil.which("make") or not shutil.which("g++"):
        return False
    return not subprocess.run(["pkg-config", "--exists", "starpu-1.3"], check=False).returncode


needs_starpu = pytest.mark.skipif(not has_starpu(), reason="no StarPU 1.3 with pkg-config, make and g++")


@pytest.fixture(scope="module")
def design() -> Design:
    torch.manual_seed(3)
    nn = torch.nn
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 4, 3), nn.Flatten()
    )
    frames = np.random.default_rng(1).uniform(-0.9, 0.9, (8, 3, 8, 8))
    return from_torch(net.eval(), (3, 8, 8), name="net", calibration=frames, precision=12, board="zcu102")


@pytest.fixture(scope="module")
def folder(design: Design, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("starpu") / "net"
    cut = design.graph.layers[0].name
    build_starpu(design, made, [cut], cpus=1, frames=3)
    return made


def make(folder: Path, arguments: str) -> subprocess.CompletedProcess[str]:
    home = {**os.environ, "STARPU_HOME": str(folder / "starpu"), "STARPU_SILENT": "1"}
    command = ["make", "run", f"PYTHON={sys.executable}", "CXXFLAGS=-O0 -Wall", f"ARGS={arguments}"]
    return subprocess.run(
        command, cwd=folder, env=home, capture_output=True, text=True, timeout=120, check=False
    )


@needs_starpu
@pytest.mark.parametrize("policy", ["lws", "dmda", "eager"])
def test_equal_to_the_whole_under_each_policy(folder: Path, policy: str) -> None:
    done = make(folder, f"--policy {policy} --requests 7")
    assert done.returncode == 0, done.stderr
    assert "equal to the whole network in ONNX Runtime in every bit" in done.stdout
    rows = list(csv.DictReader((folder / "trace.csv").read_text().splitlines()))
    ran = {(int(row["request"]), row["part"]): row for row in rows}
    assert sorted(ran) == [(request, part) for request in range(7) for part in "ab"] and len(rows) == 14
    for request in range(7):
        assert float(ran[request, "a"]["ended_us"]) <= float(ran[request, "b"]["begun_us"])
    assert json.loads((folder / "figures.json").read_text())["policy"] == policy


@needs_starpu
def test_kernels_beside_cpus(design: Design, tmp_path: Path) -> None:
    """A part on either, one on the FPGA alone: its C-simulation equals golden, and its time is nobody's."""
    made = tmp_path / "net"
    cut = design.graph.layers[0].name
    build_starpu(design, made, [cut], targets=["any", "fpga"], cpus=1, frames=2)
    for policy in ("dmda", "lws"):
        done = make(made, f"--policy {policy} --requests 9")
        assert done.returncode == 0, done.stderr
        for part in "ab":
            assert f"part {part}: equal to golden on 2 frames" in done.stdout
        assert "no FPGA's speed" in done.stdout and "of the stand-in" in done.stdout
    rows = list(csv.DictReader((made / "trace.csv").read_text().splitlines()))
    assert len(rows) == 18 and {row["part"] for row in rows} == {"a", "b"}


@needs_starpu
def test_a_wrong_answer_is_found(folder: Path, tmp_path: Path) -> None:
    """Part a's model with other weights."""
    import onnx

    other = tmp_path / "net"
    shutil.copytree(folder, other)
    model = onnx.load(str(other / "parts/a/model.onnx"))
    weights = max(model.graph.initializer, key=lambda one: len(one.raw_data))
    weights.raw_data = (np.frombuffer(weights.raw_data, np.float32) * np.float32(1.01)).tobytes()
    onnx.save(model, str(other / "parts/a/model.onnx"))
    done = make(other, "--requests 1")
    assert done.returncode and "differ from the whole network" in done.stderr


def test_refusals(design: Design, tmp_path: Path) -> None:
    with pytest.raises(DesignError, match="the target 'gpu'"):
        build_starpu(design, tmp_path / "x", [], targets=["gpu"])
    part = TaskPart(
        name="a",
        reads=tuple("abcdefgh"),
        gives=("y",),
        symbol="s",
        on_cpu=True,
        on_fpga=False,
        fpga_us=0.0,
        types={},
        shown=(),
    )
    with pytest.raises(DesignError, match="9 tensors"):
        TaskNetwork(name="n", inputs=(), outputs=(), tensors={}, parts=(part,), cpus=1).check()


def test_a_changed_part_has_another_performance_model() -> None:
    assert symbol_of("n", "a", [b"1"]) != symbol_of("n", "a", [b"2"])
