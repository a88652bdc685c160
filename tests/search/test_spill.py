"""Weights that have no room on chip: streamed where the design leaves it open, and told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.designfile.constraints import LayerWeightConstraints, NetworkConstraints, WeightConstraints
from hlsgen.targets.board import Board, load_board
from tests.support.command_line import text

NET = """
import torch
def make_net():
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 64, 3),
                         nn.ReLU(), nn.Conv2d(64, 256, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(256, 1000))
"""
DESIGN = {
    "name": "net",
    "board": "zcu102",
    "batch": 16,
    "model": {"torch": "net.py:make_net"},
    "input": {"shape": [3, 16, 16], "samples": "random"},
    "precision": "fixed<8,3>",
}


def designed(folder: Path, board: Board, **keys: object) -> hlsgen.Design:
    """The network on `board`; the weights of its last three layers are 9,216, 147,456 and 256,000 codes."""
    (folder / "net.py").write_text(NET)
    (folder / "net.yaml").write_text(yaml.safe_dump(DESIGN | keys))
    design = hlsgen.load(folder / "net.yaml")
    return hlsgen.Design(replace(design.given, board=board))


def with_bram(count: int, gb_per_s: float = 17.06) -> Board:
    """A ZCU102 of `count` BRAM18 that a design may use, too few LUTs for much LUTRAM, and such a DDR."""
    board = load_board("zcu102")
    slr = board.slrs[0].model_copy(update={"lut": 60_000, "bram18": -(-count * 10 // 8)})
    bank = board.memory.banks[0].model_copy(update={"gb_per_s": gb_per_s})
    memory = board.memory.model_copy(update={"banks": (bank,)})
    return board.model_copy(update={"slrs": (slr,), "memory": memory})


def streamed(design: hlsgen.Design) -> set[str]:
    weights = design.style.hardware.pipeline.weights
    return {name for name, one in weights.items() if one.place == "stream"}


def test_what_fits_stays_on_chip(tmp_path: Path) -> None:
    design = designed(tmp_path, load_board("zcu102"))
    assert not streamed(design) and not design.style.hardware.spilled


def test_only_as_much_is_streamed_as_makes_it_fit(tmp_path: Path) -> None:
    """Of the layers whose weights have no room; the kernel fits, and says which they are."""
    design = designed(tmp_path, with_bram(100))
    names = streamed(design)
    assert names and names < {"n0", "n3", "n5", "n9"} and set(design.style.hardware.spilled) == names
    assert design.style.hardware.each.bram18 <= 100
    places = design.style.hardware.pipeline.weights
    assert not any(places[name].any_weights for name in names)


def test_a_network_that_spills_is_exact(tmp_path: Path) -> None:
    project = designed(tmp_path, with_bram(60)).build(tmp_path / "build", frames=3)
    layers = {one["name"]: one["weights"] for one in project.report["layers"] if "weights" in one}
    assert {one["place"] for one in layers.values()} == {"constant", "runtime", "stream"}
    assert "stream in ddr, for every" in (tmp_path / "build/report.md").read_text()
    x = np.random.default_rng(0).normal(0, 1, (2, 3, 16, 16))
    assert np.array_equal(project.csim(x), project.golden(x))


def test_a_slow_memory_makes_larger_blocks(tmp_path: Path) -> None:
    """Each word of weights then serves several frames."""
    fast, slow = (designed(tmp_path, with_bram(100, rate)) for rate in (17.06, 0.05))
    blocks = [
        max(one.batch for one in design.style.hardware.pipeline.weights.values()) for design in (fast, slow)
    ]
    assert blocks[0] < blocks[1]
    assert slow.estimate().frames_per_s < fast.estimate().frames_per_s


def test_what_the_design_keeps_on_chip_is_not_streamed(tmp_path: Path) -> None:
    design = designed(tmp_path, with_bram(60), mapping={"weights": "runtime"})
    with pytest.raises(DesignError) as refused:
        _ = design.style.hardware
    assert "LUT of 42,000" in str(refused.value)  # of memories made of LUTs
    assert "weights: stream for n9, the most weights that the design keeps on chip" in str(refused.value)


def test_when_even_that_does_not_fit_it_says_so(tmp_path: Path) -> None:
    message = "and the weights of 1 layer streamed the kernel needs .* LUT of 42,000"
    with pytest.raises(DesignError, match=message):
        _ = designed(tmp_path, with_bram(20)).style.hardware


def test_a_layer_can_be_streamed_for_the_weights_at_hand(tmp_path: Path) -> None:
    """storage: ddr, unlike weights: stream, keeps accumulators as narrow as these weights allow."""
    graphs = [
        designed(tmp_path, load_board("zcu102"), mapping={"n5": constraints})
        for constraints in ({"storage": "ddr"}, {"weights": "stream"})
    ]
    at_hand, for_any = (
        next(layer.accumulator.width for layer in design.graph.layers if layer.name == "n5")  # type: ignore[attr-defined]
        for design in graphs
    )
    assert at_hand < for_any
    assert [streamed(design) for design in graphs] == [{"n5"}, {"n5"}]


def test_explore_streams_them_too_and_writes_it_down(tmp_path: Path) -> None:
    """The design file that it writes is the kernel that it found."""
    design = designed(tmp_path, with_bram(60))
    explored = design.explore()
    mapping = explored.mapping
    spilled = {name for name, one in mapping.items() if isinstance(one, dict) and one.get("storage") == "ddr"}
    assert spilled and all(mapping[name]["batch_reuse"] >= 1 for name in spilled)
    assert explored.point.frames_per_s >= design.estimate().frames_per_s * 0.999
    again = designed(tmp_path, with_bram(60), mapping=mapping)
    assert explored.summary()["streamed_layers"] == len(spilled)
    chosen = explored.chosen
    assert again.style.hardware.pipeline.interval == chosen.style.hardware.pipeline.interval
    assert again.style.hardware.each == chosen.style.hardware.each and streamed(again) == spilled


def test_the_command_line_tells(tmp_path: Path) -> None:
    designed(tmp_path, load_board("zcu102"), mapping={"n5": {"storage": "ddr"}, "n9": {"weights": "stream"}})
    said = text("estimate", str(tmp_path / "net.yaml"))
    assert "streamed from DDR for every block of 16 frames: 403,456 of 413,104 weights" in said
    assert "those of 2 of 4 layers" in said


def test_a_wish_counts_as_one_for_the_weights_at_hand() -> None:
    weight_constraints = WeightConstraints(layers={"a": LayerWeightConstraints(storage="ddr")})
    assert weight_constraints.of("a").streams and not weight_constraints.of("b").streams
    # with weights: runtime for all the two contradict each other, and are refused
    assert not replace(weight_constraints, place="runtime").of("a").streams
    assert NetworkConstraints(weights=weight_constraints).weights is weight_constraints
