"""explore for networks as tasks: no worse than the quick choice, within its bound, true to its file."""

from __future__ import annotations

from pathlib import Path

import pytest

import hlsgen
from hlsgen.base.errors import DesignError

DESIGN = """name: net
board: zcu102
style: tasks
batch: 8
input: {{shape: [3, 17, 15], type: "fixed<8,1>"}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: 8, kernel: 3, padding: same, weights: {{seed: 1}}}}
  - {{name: pool1, kind: pool2d, function: max, kernel: 2, stride: 2}}
  - {{name: conv2, kind: conv2d, out_channels: 12, kernel: 3, padding: 1, weights: {{seed: 3}}}}
  - {{name: fc1, kind: dense, out_channels: 10, weights: {{seed: 2}}}}
precision: "fixed<8,3>"
mapping: {mapping}
"""


def written(tmp_path: Path, mapping: str = "auto") -> Path:
    path = tmp_path / "net.yaml"
    path.write_text(DESIGN.format(mapping=mapping))
    return path


def test_the_best_is_no_worse_than_the_quick_choice_and_within_its_bound(tmp_path: Path) -> None:
    design = hlsgen.load(written(tmp_path))
    found = design.explore()
    quick = design.estimate().frames_per_s
    # the design's own quick choice has several margins to try, the baseline that of the search
    assert found.greedy is not None and 0 < found.greedy.frames_per_s <= quick * (1 + 1e-6)
    assert quick <= found.point.frames_per_s * (1 + 1e-9) <= found.bound * (1 + 1e-6)
    assert found.gap == pytest.approx(found.bound / found.point.frames_per_s - 1, abs=1e-9)
    assert any(one.chosen for one in found.front)
    assert [one.name for one in found.layers] == ["conv1", "pool1", "conv2", "fc1"]


def test_what_it_writes_is_what_it_found(tmp_path: Path) -> None:
    path = written(tmp_path)
    found = hlsgen.load(path).explore()
    again = hlsgen.load(written(tmp_path, str(dict(found.mapping)).replace("'", "")))
    estimate = again.estimate()
    assert estimate.frames_per_s == pytest.approx(found.point.frames_per_s, rel=1e-6)
    assert again.style.hardware.instances == found.point.instances


def test_the_cheapest_for_a_target(tmp_path: Path) -> None:
    design = hlsgen.load(written(tmp_path))
    most = design.explore().point
    few = design.explore(target_fps=most.frames_per_s / 20)
    assert few.point.frames_per_s >= most.frames_per_s / 20 * (1 - 1e-9)
    assert few.bound <= few.point.cost * (1 + 1e-9) < most.cost
    quick = design.explore(max_latency_us=2 * most.latency_us).point
    assert quick.latency_us <= 2 * most.latency_us
    with pytest.raises(DesignError, match="cannot be reached on AMD ZCU102"):
        design.explore(target_fps=most.frames_per_s * 100)


def test_mapping_best_builds_what_explore_finds(tmp_path: Path) -> None:
    found = hlsgen.load(written(tmp_path)).explore()
    best = hlsgen.load(written(tmp_path, "best"))
    built = best.build(tmp_path / "net", csim=False)
    assert built.report["performance"]["frames_per_s"] == pytest.approx(found.point.frames_per_s, rel=1e-6)
    said = built.report["explored"]
    assert said["bound"] == pytest.approx(found.bound, rel=1e-6) and said["greedy"] is None
    assert "## Search" in (tmp_path / "net/report.md").read_text()
    assert 'id="front"' in (tmp_path / "net/report.html").read_text()
