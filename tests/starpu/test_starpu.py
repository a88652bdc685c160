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
from tests.support import stand_in_pyxrt
from tests.support.host_builds import compile_kernels, kernels, stand_in_xclbin

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")


def has_starpu() -> bool:
    if not shutil.which("pkg-config") or not shutil.which("make") or not shutil.which("g++"):
        return False
    return not subprocess.run(["pkg-config", "--exists", "starpu-1.3"], check=False).returncode


needs_starpu = pytest.mark.skipif(not has_starpu(), reason="no StarPU 1.3 with pkg-config, make and g++")


@pytest.fixture(scope="module")
def design() -> Design:
    return network("zcu102")


def network(board: str) -> Design:
    torch.manual_seed(3)
    nn = torch.nn
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 4, 3), nn.Flatten()
    )
    frames = np.random.default_rng(1).uniform(-0.9, 0.9, (8, 3, 8, 8))
    return from_torch(net.eval(), (3, 8, 8), name="net", calibration=frames, precision=12, board=board)


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


@pytest.fixture(scope="module")
def on_card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CPU part and one with a kernel, and beside them what `make xclbin` of its build would give."""
    design = network("u200")
    made = tmp_path_factory.mktemp("card") / "net"
    build_starpu(design, made, [design.graph.layers[0].name], targets=["cpu", "fpga"], cpus=1, frames=3)
    build = made / "parts/b/build"
    stand_in_xclbin(made / "net.xclbin", compile_kernels(build, made / "kernels.so"), kernels(build))
    (made / "modules").mkdir()
    (made / "modules/pyxrt.py").write_text(Path(stand_in_pyxrt.__file__).read_text())
    return made


@needs_starpu
def test_a_card(on_card: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in for pyxrt in the place of a card: what it gives is checked as any kernel's is."""
    monkeypatch.delenv("XCL_EMULATION_MODE", raising=False)
    monkeypatch.setenv("PYTHONPATH", f"{on_card / 'modules'}:{os.environ.get('PYTHONPATH', '')}")
    done = make(on_card, "--policy dmda --requests 6 --xclbin net.xclbin")
    assert done.returncode == 0, done.stderr
    assert "part b: equal to golden on 3 frames" in done.stdout and "stand-in" not in done.stdout
    told = json.loads((on_card / "figures.json").read_text())
    assert told["fpga_time"] == "measured" and told["parts"]["b"]["fpga"]["tasks"] == 6
    rows = list(csv.DictReader((on_card / "trace.csv").read_text().splitlines()))
    assert {(row["part"], row["on"], row["time"]) for row in rows} == {
        ("a", "cpu", "measured"),
        ("b", "fpga", "measured"),
    }
    monkeypatch.setenv("XCL_EMULATION_MODE", "hw_emu")
    done = make(on_card, "--requests 2 --xclbin net.xclbin")
    assert done.returncode == 0 and "an emulation of the kernel: no FPGA's speed" in done.stdout
    assert json.loads((on_card / "figures.json").read_text())["fpga_time"] == "emulated"


@needs_starpu
@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        ("no file", "other.xclbin is no file"),
        ("no unit", "has no compute unit net_b:net_b_1"),
        ("no card", "XRT's Python module cannot be imported"),
        ("wrong kernel", "part b: what the kernel gives for frame 0 differs from golden"),
    ],
)
def test_a_card_that_is_wrong(
    on_card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: str, said: str
) -> None:
    """Said without a traceback; a card that computes something else is found."""
    other = tmp_path / "other.xclbin"
    if mistake != "no file":
        text = (on_card / "net.xclbin").read_text()
        other.write_text(text.replace("net_b_1", "net_b_9") if mistake == "no unit" else text)
    place = tmp_path / "modules"
    place.mkdir()
    source = (on_card / "modules/pyxrt.py").read_text()
    called = "done = self.call(self.kernel.encode(), len(given), given)"
    assert called in source
    sources = {
        "no card": "raise ImportError('none here')\n",
        "wrong kernel": source.replace(called, "done = True"),
    }
    (place / "pyxrt.py").write_text(sources.get(mistake, source))
    monkeypatch.setenv("PYTHONPATH", f"{place}:{os.environ.get('PYTHONPATH', '')}")
    done = make(on_card, f"--requests 1 --xclbin {other}")
    assert done.returncode and said in done.stderr and "Traceback" not in done.stderr, done.stderr


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
