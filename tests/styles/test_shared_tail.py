"""Networks whose last layers are left to the host: the boxes of a detector, a softmax, the largest class."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen import runtime
from hlsgen.base.errors import DesignError
from hlsgen.model.ir import Port
from hlsgen.program import host_tail
from hlsgen.search.processor_needs import without_tail
from hlsgen.styles.shared import SharedNetwork

NETWORK = """
name: ends
board: pynq_z2
clock_mhz: 300
style: shared
batch: 4
input: {{shape: [3, 12, 10], type: "fixed<8,1>"}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: 8, kernel: 3, padding: same, stride: 2, weights: {{seed: 1}}}}
  - {{name: fc1, kind: dense, out_channels: 6, weights: {{seed: 3}}}}
  - {{name: end, kind: {kind}}}
{more}precision: "fixed<8,4>"
"""
BEHIND = "  - {name: fc2, kind: dense, out_channels: 4, weights: {seed: 4}}\n"


def design(folder: Path, kind: str, more: str = "") -> hlsgen.Design:
    path = folder / "net.yaml"
    path.write_text(NETWORK.format(kind=kind, more=more))
    return hlsgen.load(path)


@pytest.mark.parametrize("kind", ["softmax", "argmax"])
def test_the_last_layer_is_left_to_the_host(tmp_path: Path, kind: str) -> None:
    found = design(tmp_path, kind)
    assert isinstance(found.style, SharedNetwork)
    assert [layer.name for layer in found.style.hardware.division.tail] == ["end"]
    project = found.build(tmp_path / "build", schedule=False)
    report = json.loads((tmp_path / "build" / "report.json").read_text())
    assert report["csim"]["verdict"] == "equal"
    assert {layer["name"]: layer["task"] for layer in report["layers"]}["end"] == "host"
    assert "Left to the host, without hardware: end" in (tmp_path / "build" / "report.md").read_text()
    interface = json.loads((tmp_path / "build" / "interface.json").read_text())
    assert [port["tensor"] for port in interface["outputs"]] == ["fc1"], "what the host reads"
    x = np.random.default_rng(1).uniform(-1, 0.9, (5, 3, 12, 10))
    assert np.array_equal(project.csim(x), found.golden(x))
    assert interface["left_to_host"] == [f"end ({kind})"]


def test_what_the_host_reads_has_a_name_of_its_own(tmp_path: Path) -> None:
    """Though another output is called as the last layer that processors run is."""
    graph = design(tmp_path, "softmax").style.graph
    tensors = graph.tensors()
    shown = Port.of("fc1", tensors["conv1"], "conv1"), Port.of("y", tensors["end"], "end")
    head = without_tail(replace(graph, outputs=shown)).head
    assert [(port.name, port.source) for port in head.outputs] == [("fc1", "conv1"), ("fc1_cut", "fc1")]


def test_who_runs_a_build_or_a_program_is_told_what_is_left(tmp_path: Path) -> None:
    """Results of the runtime are then what the last layer reads; without tables a function is one."""
    build = design(tmp_path, "argmax").build(tmp_path / "build", schedule=False, csim=False).folder
    other = design(tmp_path, "table, function: sigmoid")
    made = hlsgen.program_for(other, build, tmp_path / "program", frames=1)
    assert made.report["left_to_host"] == ["end (table)"]
    assert "Left to the host, without hardware: end (table)" in (made.folder / "report.md").read_text()
    x = np.random.default_rng(1).uniform(-1, 0.9, (5, 3, 12, 10))
    with (
        pytest.warns(hlsgen.HostLayersWarning, match=r"gives fc1: left to the host.*end \(table\)"),
        runtime.open(build, program=made.folder) as opened,
    ):
        (port,) = opened.interface.outputs
        assert port.tensor == "fc1"
        found = np.asarray(opened.run(x))
    path = tmp_path / "net.yaml"
    path.write_text("\n".join(line for line in path.read_text().splitlines() if "name: end," not in line))
    want = np.asarray(hlsgen.load(path).golden(x))
    np.testing.assert_array_equal(found.reshape(want.shape), want)


def test_what_layers_with_products_read_is_not(tmp_path: Path) -> None:
    with pytest.raises(hlsgen.DesignError, match=r"end: it is of kind softmax.*style: shared"):
        design(tmp_path, "softmax", BEHIND).check()


def test_the_boxes_of_a_detector_equal_golden(tmp_path: Path) -> None:
    """As SSD has them: maps of two sizes, permuted, flattened and concatenated, the scores by a softmax."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    nn = torch.nn

    class Ssd(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv2d(3, 16, 3, stride=2, padding=1)
            self.second = nn.Conv2d(16, 32, 3, stride=2, padding=1)
            self.boxes = nn.ModuleList([nn.Conv2d(16, 8, 3, padding=1), nn.Conv2d(32, 8, 3, padding=1)])
            self.scores = nn.ModuleList([nn.Conv2d(16, 6, 3, padding=1), nn.Conv2d(32, 6, 3, padding=1)])

        def forward(self, x: Any) -> Any:
            first = torch.relu(self.first(x))
            maps = first, torch.relu(self.second(first))

            def rows(heads: Any, width: int) -> Any:
                found = [head(one) for head, one in zip(heads, maps, strict=True)]
                return torch.cat([y.permute(0, 2, 3, 1).reshape(x.shape[0], -1, width) for y in found], 1)

            return rows(self.boxes, 4), torch.softmax(rows(self.scores, 3), -1)

    torch.manual_seed(1)
    x = np.random.default_rng(2).uniform(-1, 1, (3, 3, 16, 12))
    found = hlsgen.from_torch(
        Ssd().eval(),
        (3, 16, 12),
        calibration=x,
        precision="fixed<8,4>",
        board="pynq_z2",
        style="shared",
        name="ssd",
        batch=4,
    )
    kinds = {layer.kind for layer in found.style.hardware.division.tail}
    assert kinds == {"rearrange", "concat", "softmax"}
    project = found.build(tmp_path / "build", schedule=False)
    for got, want in zip(project.csim(x), found.golden(x), strict=True):
        assert np.array_equal(got, want)


def test_what_is_too_large_for_a_host_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six values of a softmax: as many are left, one less is refused with both figures."""
    monkeypatch.setattr(host_tail, "MOST_VALUES", 6)
    assert design(tmp_path, "softmax").style.hardware.division.tail
    monkeypatch.setattr(host_tail, "MOST_VALUES", 5)
    with pytest.raises(DesignError, match="6 values a frame from here on, more than the 5"):
        assert design(tmp_path, "softmax").style.hardware
