"""Networks as programs of shared processors, from the design file to the C-simulation of the build folder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import hlsgen
from hlsgen.styles.shared import SharedNetwork

NETWORK = """
name: {name}
board: {board}
clock_mhz: 300
style: shared
batch: 8
input: {{shape: [3, 20, 18], type: "fixed<8,1>"}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: 16, kernel: 3, padding: same, stride: 2, weights: {{seed: 1}}}}
  - {{name: relu1, kind: clamp, low: 0}}
  - {{name: conv2, kind: conv2d, out_channels: 16, kernel: 3, padding: same, weights: {{seed: 2}}}}
  - {{name: sum, kind: add, inputs: [relu1, conv2]}}
  - {{name: pool1, kind: pool2d, function: max, kernel: 2, stride: 2}}
  - {{name: fc1, kind: dense, out_channels: 10, weights: {{seed: 3}}}}
precision: "fixed<8,4>"
mapping: {mapping}
"""
SMALL = "pynq_z2"
"""Where few processors fit: the search among all that fit a larger board takes longer than all else here."""


def network(folder: Path, board: str = SMALL, mapping: str = "auto") -> hlsgen.Design:
    """A small residual network whose processor is chosen for `board`, or given."""
    path = folder / "net.yaml"
    path.write_text(NETWORK.format(name="net", board=board, mapping=mapping))
    return hlsgen.load(path)


@pytest.mark.parametrize(
    ("board", "mapping"), [("u200", "{processor: {rows: 5, lanes: 16}}"), (SMALL, "auto")]
)
def test_a_build_equals_golden_task_by_task(tmp_path: Path, board: str, mapping: str) -> None:
    design = network(tmp_path, board, mapping)
    assert isinstance(design.style, SharedNetwork)
    project = design.build(tmp_path / "build", schedule=False)
    report = json.loads((tmp_path / "build" / "report.json").read_text())
    assert report["csim"]["verdict"] == "equal" and report["csim"]["compared"] > 0
    tasks = {name for task in report["tasks"] for name in task["layers"]}
    assert tasks == {layer.name for layer in design.style.graph.layers}, "no layer is left out"
    x = np.random.default_rng(1).uniform(-1, 0.9, (5, 3, 20, 18))
    assert np.array_equal(project.csim(x), design.golden(x)), "frames that are no whole number of rounds"


def test_the_report_adds_up(tmp_path: Path) -> None:
    design = network(tmp_path)
    estimate = design.estimate().as_json()
    hardware = design.style.hardware
    cycles = sum(task["cycles"] for task in estimate["tasks"])
    assert cycles == hardware.round_cycles == estimate["total"]["latency_cycles"]
    frames = estimate["total"]["instances"] * estimate["processor"]["frames_together"]
    assert estimate["performance"]["frames_per_s"] == pytest.approx(frames * 300e6 / cycles, rel=1e-6)
    macs = sum(layer["macs"] for layer in estimate["layers"])
    busy = macs * estimate["processor"]["frames_together"] / (cycles * estimate["processor"]["multipliers"])
    assert estimate["processor"]["busy"] == pytest.approx(busy, abs=1e-4)


def test_the_residual_addition_joins_the_convolution(tmp_path: Path) -> None:
    tasks = network(tmp_path).style.hardware.program.tasks
    joined = next(task for task in tasks if "sum" in task.layers)
    assert joined.layers[:2] == ("conv2", "sum") and joined.added is not None and joined.added.name == "conv1"


def test_a_detector_with_several_heads_equals_golden(tmp_path: Path) -> None:
    """As SSD and YOLO have them: maps of two sizes, joined behind an upsampling, an output of each."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    nn = torch.nn

    class Heads(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Conv2d(3, 16, 3, stride=2, padding=1)
            self.deep = nn.Conv2d(16, 32, 3, padding=1)
            self.act = nn.SiLU()
            self.pool = nn.MaxPool2d(2)
            self.up = nn.Upsample(scale_factor=2, mode="nearest")
            self.boxes = nn.Conv2d(48, 12, 3, padding=1)
            self.scores = nn.Conv2d(32, 9, 1)

        def forward(self, x: object) -> object:
            shallow = torch.relu(self.stem(x))
            deep = self.pool(self.act(self.deep(shallow)))
            return self.boxes(torch.cat([shallow, self.up(deep)], 1)), self.scores(deep)

    torch.manual_seed(1)
    x = np.random.default_rng(2).uniform(-1, 1, (3, 3, 24, 20))
    design = hlsgen.from_torch(
        Heads().eval(),
        (3, 24, 20),
        calibration=x,
        precision="fixed<8,4>",
        board=SMALL,
        style="shared",
        name="heads",
        batch=4,
    )
    program = design.style.hardware.program
    assert program.processor.tables and any(task.table is not None for task in program.tasks)
    project = design.build(tmp_path / "build", schedule=False)
    for got, want in zip(project.csim(x), design.golden(x), strict=True):
        assert np.array_equal(got, want)


def test_what_has_no_hardware_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "net.yaml"
    text = NETWORK.format(name="net", board="zcu102", mapping="auto")
    behind = (
        "  - {name: end, kind: softmax}\n  - {name: fc2, kind: dense, out_channels: 3, weights: {seed: 4}}\n"
    )
    path.write_text(text.replace("precision:", f"{behind}precision:"))
    with pytest.raises(hlsgen.DesignError, match=r"end: .*softmax.*style: shared") as caught:
        hlsgen.load(path).check()
    assert caught.value.exit_code == 1
