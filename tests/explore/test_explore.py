"""hlsgen explore: goals, the design file that it writes, the picture, the command line, refusals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.designfile.document import Document
from hlsgen.explore.console import headline
from hlsgen.explore.design_file import fixed_design
from hlsgen.explore.result import Explored
from tests.support.command_line import document, failure, text, working_folder

NET = """
import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(2, 4, 3, padding=1)
        self.body = nn.Conv2d(4, 4, 3, padding=1)
        self.head = nn.Linear(4 * 8 * 6, 5)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        return self.head(torch.relu(self.body(x) + x).flatten(1))


def make_net():
    torch.manual_seed(3)
    return Residual()
"""
NETWORK = """
name: net
board: zcu102
batch: 64
margin: 0
model: {torch: "net.py:make_net"}
input: {shape: [2, 8, 6], samples: x.npy}
precision: "fixed<8,3>"
mapping: {weights: runtime, stem: {storage: bram}}
"""
CONV = """
name: small
board: zcu102
batch: 4
input: {shape: [4, 8, 8], type: "fixed<16,6>", samples: random}
layers:
  - {name: conv1, kind: conv2d, out_channels: 4, kernel: 3, weights: {seed: 3}}
"""

CONV8 = """
name: small8
board: zcu102
clock_mhz: 300
batch: 64
input: {shape: [8, 16, 16], type: "fixed<8,1,rnd,sat>", samples: random}
layers:
  - {name: conv1, kind: conv2d, out_channels: 8, kernel: 3, weights: {seed: 3}}
precision: {weights: "fixed<8,1>", output: "fixed<8,3,rnd,sat>", accumulator: exact}
mapping: auto
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a network and a layer."""
    working_folder(tmp_path, monkeypatch)
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "net.yaml").write_text(NETWORK)
    (tmp_path / "conv.yaml").write_text(CONV)
    np.save(tmp_path / "x.npy", np.random.default_rng(1).uniform(-1, 1, (4, 2, 8, 6)))
    return tmp_path


def network() -> hlsgen.Design:
    pytest.importorskip("torch", reason="torch is not installed")
    return hlsgen.load("net.yaml")


def test_the_fastest_beats_greedy_and_the_old_search() -> None:
    design = network()
    found = design.explore()
    assert found.proven and found.point.frames_per_s <= found.bound * (1 + 1e-9)
    assert found.greedy is not None and found.greedy.frames_per_s <= found.point.frames_per_s
    auto = design.estimate().as_json()["performance"]["frames_per_s"]
    assert found.point.frames_per_s >= auto * (1 - 1e-9)
    # more than all DSPs give: some products are in logic cells
    assert found.multiplier_share is not None and found.multiplier_share > 1


def test_the_design_file_makes_just_that_kernel(folder: Path) -> None:
    found = network().explore()
    target = folder / "elsewhere" / "fixed.yaml"
    target.parent.mkdir()
    target.write_text(fixed_design(found, folder / "net.yaml", target))
    again = hlsgen.load(target)
    made, chosen = again.style.hardware, found.chosen.style.hardware  # type: ignore[attr-defined]
    assert made.pipeline.interval == found.point.interval_cycles
    assert (made.instances, made.each) == (chosen.instances, chosen.each)
    for name, stage in made.pipeline.stages.items():
        assert stage.fold == chosen.pipeline.stages[name].fold
    assert made.pipeline.weights == chosen.pipeline.weights
    assert {one.name: one.depth for one in made.pipeline.streams.values()} == {
        one.name: one.depth for one in chosen.pipeline.streams.values()
    }
    kept = yaml.safe_load(target.read_text())
    assert kept["model"] == {"torch": "../net.py:make_net"} and kept["input"]["samples"] == "../x.npy"
    assert kept["mapping"]["weights"] == "runtime" and kept["mapping"]["stem"]["storage"] == "bram"
    assert again.estimate().as_json()["performance"]["frames_per_s"] == pytest.approx(
        found.point.frames_per_s, rel=1e-6
    )
    assert_cells_with_errors(found, again, target.read_text())
    assert len(repr(found)) < 450 and repr(found).count("\n") == 4
    assert f"Explored {found.design.name} on zcu102" in repr(
        found
    ) and f"{found.point.frames_per_s:,.0f} frames/s" in repr(found)


def assert_cells_with_errors(found: Explored, again: hlsgen.Design, text: str) -> None:
    """LUT and FF stand beside their errors wherever explore says them, as the design's own report has it."""
    cost = again.estimate().as_json()["cost"]
    assert found.as_json()["cost"] == cost
    routed = cost["routed"]
    assert (routed["lut"], routed["ff"]) == (found.point.used["lut"], found.point.used["ff"])
    shown = f"as routed: LUT {routed['lut']:,} +- {100 * routed['lut_error']:.0f} %, FF {routed['ff']:,} +- "
    assert shown in headline(found)[-2] and f"\n# {shown}" in text


def test_the_chosen_design_is_built_and_simulated(folder: Path) -> None:
    project = network().explore(target_fps=1e5).chosen.build(folder / "build")
    assert project.report["csim"]["verdict"] == "equal"
    assert project.report["performance"]["frames_per_s"] >= 1e5


def test_a_target_is_reached_at_less_cost() -> None:
    design = network()
    fastest = design.explore()
    rate = fastest.point.frames_per_s / 7
    found = design.explore(target_fps=rate)
    assert found.point.frames_per_s >= rate
    assert found.bound <= found.point.cost < fastest.point.cost
    assert found.gap < 0.1
    assert found.greedy is None
    more = design.explore(target_fps=rate * 2)
    assert more.point.cost >= found.point.cost


def test_latency_is_kept() -> None:
    design = network()
    slow = design.explore(max_latency_us=1e6).point
    limit = slow.latency_us / 3
    found = design.explore(max_latency_us=limit).point
    assert found.latency_us <= limit and found.cost > slow.cost
    # the intervals that are tried for a latency are no longer than it
    assert all(one.latency_us * design.clock_mhz >= one.interval_cycles for one in (slow, found))
    both = design.explore(max_latency_us=limit, target_fps=1e6).point
    assert both.latency_us <= limit and both.frames_per_s >= 1e6


@pytest.mark.parametrize("design", ["net.yaml", "conv.yaml"])
def test_what_is_out_of_reach_says_what_is_not(design: str) -> None:
    if design == "net.yaml":
        pytest.importorskip("torch", reason="torch is not installed")
    loaded = hlsgen.load(design)
    with pytest.raises(DesignError) as refused:
        loaded.explore(target_fps=1e12)
    fix = refused.value.problems[0].fix
    reachable = float(fix.split("--target-fps ")[1].split(" ")[0])
    assert loaded.explore(target_fps=reachable).point.frames_per_s >= reachable
    with pytest.raises(DesignError) as refused:
        loaded.explore(max_latency_us=1e-3)
    reachable = float(refused.value.problems[0].fix.split("--max-latency-us ")[1].split(" ")[0])
    assert loaded.explore(max_latency_us=reachable).point.latency_us <= reachable
    for wrong in (0.0, -1.0, float("nan"), float("inf"), "1e6", True, [1.0]):
        with pytest.raises(DesignError, match="target_fps is .*\n.*a number above 0"):
            loaded.explore(target_fps=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("luts", "said"),
    [(6000, "no kernel fits the usable share"), (1000, "stem: even its smallest folding takes more than")],
)
def test_what_cannot_fit_is_refused(luts: int, said: str) -> None:
    design = network()
    slr = design.board.slrs[0].model_copy(update={"lut": luts})
    with pytest.raises(DesignError, match=said):
        hlsgen.Design(replace(design.given, board=design.board.model_copy(update={"slrs": (slr,)}))).explore()


def test_one_layer_is_as_build_chooses_it_and_cheapest_for_a_target(folder: Path) -> None:
    design = hlsgen.load("conv.yaml")
    found = design.explore()
    deployment = design.style.hardware.deployment
    assert found.point.frames_per_s == deployment.frames_per_s
    assert found.greedy is not None and found.greedy.frames_per_s <= found.point.frames_per_s * 1.001
    target = folder / "fixed.yaml"
    target.write_text(fixed_design(found, folder / "conv.yaml", target))
    again = hlsgen.load(target)
    assert again.style.hardware.deployment.mapping.folding == deployment.mapping.folding
    assert again.style.hardware.deployment.instances == deployment.instances
    assert_cells_with_errors(found, again, target.read_text())
    rate = deployment.frames_per_s / 5
    cheap = design.explore(target_fps=rate).point
    assert cheap.frames_per_s >= rate and cheap.cost < found.point.cost
    assert all(one.frames_per_s > 0 for one in found.front) and any(one.chosen for one in found.front)


def test_two_foldings_reach_a_target_for_less(folder: Path) -> None:
    source = folder / "conv8.yaml"
    source.write_text(CONV8)
    both = hlsgen.load(source).explore(target_fps=2.5e6)
    assert both.point.frames_per_s >= 2.5e6 and len(both.layers) == 2
    target = folder / "fixed.yaml"
    target.write_text(fixed_design(both, source, target))
    again = hlsgen.load(target).style.hardware.deployment
    assert again.frames_per_s == both.point.frames_per_s
    assert sum(len(kernel.instances) for kernel in again.kernels) == both.point.instances
    target.write_text(CONV8.replace("mapping: auto", "mapping: {foldings: 1}"))
    single = hlsgen.load(target).explore(target_fps=2.5e6)
    assert len(single.layers) == 1
    assert both.point.cost < 0.98 * single.point.cost


def test_the_front_has_no_point_that_another_beats() -> None:
    front = network().explore().front
    assert sum(one.chosen for one in front) == 1
    for one in front:
        for other in front:
            if other.frames_per_s > one.frames_per_s * (1 + 1e-6) and not one.chosen:
                assert other.largest_share > one.largest_share


def test_command_line(folder: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    said = text("explore", "net.yaml", "-o", "best.yaml", "--plot", "front.svg")
    assert "proven the fastest of this model" in said and "Pareto front" in said
    assert "greedy baseline" in said and "binds: " in said and "wrote best.yaml" in said
    assert "fits the usable share with a probability of " in said and said.count("; margin 0\n") == 1
    assert "; margin 0\n" in (folder / "best.yaml").read_text()
    assert (folder / "front.svg").read_text().startswith("<?xml")
    first = (folder / "front.svg").read_bytes()
    text("explore", "net.yaml", "-o", "best.yaml", "--force", "--plot", "front.svg")
    assert (folder / "front.svg").read_bytes() == first
    assert "ok; " in text("check", "best.yaml")
    assert "is there already" in failure(4, "explore", "net.yaml", "-o", "best.yaml")
    assert "--plot front.svg" in failure(1, "explore", "net.yaml", "--plot", "front.pdf")


def test_command_line_json(folder: Path) -> None:
    found = document("explore", "conv.yaml", "--target-fps", "1000", "--board", "u200")
    assert found["board"] == "u200" and found["point"]["frames_per_s"] >= 1000
    assert found["proven"] and found["greedy"] is None
    assert set(found["mapping"]) == {"instances", "conv1"}


def test_another_board_is_in_the_design_file(folder: Path) -> None:
    text("explore", "conv.yaml", "--board", "u200", "-o", "best.yaml")
    assert Document.read(folder / "best.yaml").data["board"] == "u200"
