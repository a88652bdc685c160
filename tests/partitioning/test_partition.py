"""`hlsgen partition` on networks: devices from files, kernels that are made, figures, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hlsgen.api.design import Design
from hlsgen.api.from_model import from_torch
from hlsgen.base.errors import DesignError
from hlsgen.partitioning.chain import chain_of
from hlsgen.partitioning.device_file import read_devices
from hlsgen.partitioning.partition import partition
from hlsgen.partitioning.times import read_times
from hlsgen.partitioning.verify import broken_limits
from hlsgen.styles.streaming import StreamingNetwork
from tests.support.command_line import run
from tests.support.places import ROOT

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
SHAPE = (3, 16, 16)


@pytest.fixture(scope="module")
def design() -> Design:
    torch.manual_seed(2)
    nn = torch.nn
    module = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 16, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * 36, 10),
    ).eval()
    calibration = np.random.default_rng(1).normal(size=(4, *SHAPE))
    return from_torch(module, SHAPE, name="net", calibration=calibration, precision=8, board="zcu102")


def times(folder: Path, **layers: float) -> Path:
    path = folder / "times.json"
    path.write_text(json.dumps({"machine": "a machine of this test", "layers": layers}))
    return path


def devices(folder: Path, text: str) -> Path:
    path = folder / "devices.yaml"
    path.write_text(f"devices:\n{text}")
    return path


def layer_names(design: Design) -> list[str]:
    return [layer.name for layer in design.graph.layers]


def test_the_chain_is_the_network(design: Design) -> None:
    """Tasks are all layers in their order; bytes between are those of the tensors there, a byte a value."""
    chain = chain_of(design.graph)
    assert [name for task in chain.tasks for name in task.layers] == layer_names(design)
    assert len(chain.tasks) == 4 and all(task.macs for task in chain.tasks)
    assert chain.bytes_between == (3 * 256, 8 * 64, 16 * 64, 16 * 36, 10 * chain.tasks[-1].bytes_out // 10)
    shorter = chain_of(design.graph, 2)
    assert len(shorter.tasks) == 2 and shorter.tasks[0].first == 0
    assert sum(task.macs for task in shorter.tasks) == design.macs


def test_a_skip_crosses_the_cut() -> None:
    """Both tensors that are alive between two convolutions of a residual block are moved."""

    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = torch.nn.Conv2d(4, 4, 3, padding=1), torch.nn.Conv2d(4, 4, 3, padding=1)

        def forward(self, x):  # type: ignore[no-untyped-def]
            return self.b(torch.relu(self.a(x))) + x

    found = from_torch(Block().eval(), (4, 8, 8), name="b", precision=8, calibration=np.ones((1, 4, 8, 8)))
    chain = chain_of(found.graph)
    assert chain.bytes_between[1] == 2 * 4 * 64


@pytest.mark.parametrize("style", ["shared", "dataflow", "auto"])
def test_best_of_all_devices(design: Design, tmp_path: Path, style: str) -> None:
    """At least as fast as the FPGA or the CPU alone; every limit holds; kernels exist and are fast enough."""
    slow = times(tmp_path, **dict.fromkeys(layer_names(design), 2e-4))
    file = devices(
        tmp_path,
        f"  host: {{kind: cpu, times: {slow.name}, count: 2}}\n  card: {{kind: fpga, style: {style}}}\n",
    )
    found = partition(design, file)
    assert [one.name for one in found.devices] == ["host0", "host1", "card"]
    best = found.best_alone
    assert best is not None and best.name == "card" and best.alone is not None
    assert found.bound >= found.frames_per_s >= best.alone * (1 - 1e-6)
    assert broken_limits(found.problem, found.found) == []
    assert sum(route.rate for route in found.routes) == pytest.approx(found.frames_per_s)
    words = found.as_pipeline
    if words is not None:
        # every cut ends a task, every target is that of its device
        options = dict(zip(words.split()[::2], words.split()[1::2], strict=True))
        targets = options["--target"].split(",")
        assert set(targets) <= {"cpu", "fpga"} and len(targets) == options.get("--cut", "").count(",") + (
            2 if "--cut" in options else 1
        )
    if style == "dataflow":
        rate = max(float(share) for share in found.found.shares[:, 2])
        (kernel,) = found.kernels.values()
        made = kernel["instances"] * design.clock_mhz * 1e6 / kernel["interval_cycles"]
        assert made >= rate * (1 - 1e-6)
        whole = StreamingNetwork(
            **{
                key: getattr(design.given, key)
                for key in ("name", "graph", "board", "clock_mhz", "batch", "source")
            }
        )
        assert found.frames_per_s >= whole.estimate().frames_per_s * (1 - 1e-6)


def test_a_network_that_has_no_room_is_cut(design: Design, tmp_path: Path) -> None:
    """A board too small for all streams a part of it; the CPU does the others."""
    board = (ROOT / "boards" / "zcu102.yaml").read_text().replace("lut: 274080", "lut: 60000")
    (tmp_path / "small.yaml").write_text(
        board.replace("name: zcu102", "name: small").replace("dsp: 2520", "dsp: 60")
    )
    slow = times(tmp_path, **dict.fromkeys(layer_names(design), 1e-4))
    file = devices(
        tmp_path,
        f"  host: {{kind: cpu, times: {slow.name}}}\n"
        "  card: {kind: fpga, style: dataflow, board: small.yaml}\n",
    )
    found = partition(design, file)
    alone = next(one.alone for one in found.devices if one.name == "host")
    assert alone is not None and found.frames_per_s > alone
    assert broken_limits(found.problem, found.found) == []


def test_measured_here(design: Design, tmp_path: Path) -> None:
    """Without a file of times each layer and task is measured, in both frameworks."""
    found = partition(design, devices(tmp_path, "  cpu: {kind: cpu, count: 1}\n"))
    told = found.times["cpu"]
    assert set(told.layers) == set(layer_names(design))
    assert set(told.frameworks.values()) <= {"onnxruntime", "torch"}
    assert found.frames_per_s == pytest.approx(1 / sum(told.of(task.layers) for task in found.chain.tasks))
    assert found.devices[0].about.endswith("1 thread, measured")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  cpu: {kind: gpu}\n", "`kind` must be cpu or fpga or table"),
        ("  cpu: {kind: cpu, style: shared}\n", "is no key of a device of kind cpu"),
        ("  gpu: {kind: table}\n", "has no `times`"),
        ("  'a b': {kind: cpu}\n", 'is called "a b"'),
        ("  cpu: {kind: cpu, times: missing.json}\n", "cannot be read as times"),
        ("  card: {kind: fpga, board: nowhere}\n", 'no board is called "nowhere"'),
        ("  cpu: {kind: cpu, count: 0}\n", "must be a whole number from 1 to 64"),
        ("  cpu: {kind: cpu, count: 1, memory_gb: 0.000001}\n", "the memory of cpu: 0.001 MB"),
    ],
)
def test_refusals(design: Design, tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DesignError) as caught:
        partition(design, devices(tmp_path, text))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "{}",
        '{"layers": {"a": 0}}',
        '{"layers": {"a": "1"}}',
        '{"layers": {"a": 1}, "tasks": 3}',
        "nan",
    ],
)
def test_files_of_times_are_data(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(DesignError):
        read_times(path)


def test_a_layer_is_missing(design: Design, tmp_path: Path) -> None:
    file = devices(tmp_path, f"  gpu: {{kind: table, times: {times(tmp_path, other=1.0).name}}}\n")
    with pytest.raises(DesignError, match="have no layer"):
        partition(design, file)


def test_command(tmp_path: Path) -> None:
    design = str(ROOT / "designs" / "digits.yaml")
    measured = tmp_path / "cpu.json"
    assert run("partition", design, "--write-times", str(measured)).exit_code == 0
    assert read_times(measured).layers
    file = devices(tmp_path, "  cpu: {kind: cpu, times: cpu.json}\n  card: {kind: fpga}\n")
    picture = tmp_path / "p.svg"
    done = run("partition", design, "--devices", str(file), "--json", "--plot", str(picture))
    told = json.loads(done.stdout)
    assert done.exit_code == 0 and picture.read_text().startswith("<?xml")
    alone = max(one["alone_frames_per_s"] for one in told["devices"])
    assert told["bound_frames_per_s"] >= told["frames_per_s"] >= alone * (1 - 1e-6)
    assert {one["name"] for one in told["devices"]} == {"cpu", "card"}
    text = run("partition", design, "--devices", str(file)).stdout
    assert "frames/s, " in text and "measured" in text and "modelled" in text
    layer = run("partition", str(ROOT / "designs" / "conv.yaml"))
    assert layer.exit_code == 1 and "is a single layer, which is not cut" in layer.stderr


def test_devices_are_read_with_places(tmp_path: Path) -> None:
    file = devices(tmp_path, "  cpu: {kind: cpu}\n  card: {kind: fpga, dsp: 3}\n")
    with pytest.raises(DesignError) as caught:
        read_devices(file)
    place = caught.value.problems[0].place
    assert place is not None and place.line == 3
