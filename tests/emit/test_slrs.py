"""Kernels and SLRs: one that needs several is pinned to none, and what is pinned has room."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hlsgen.api.design import Design, load
from hlsgen.base.errors import DesignError, EmissionError
from hlsgen.explore.design_file import fixed_design
from hlsgen.hardware.pipeline import pipeline_of
from hlsgen.lint.check_slrs import check_slrs
from hlsgen.search.board_limits import allowed
from hlsgen.search.slr_cut import taken_by_slr
from hlsgen.timing.fifos import fifo_depths
from hlsgen.timing.timing import simulate
from tests.support.stand_ins.config_files import kernels_in, read_link

SLRS = """slrs:
  - {{name: SLR0, lut: {lut}, ff: 100000, bram18: 200, uram: 20, dsp: {dsp}}}
  - {{name: SLR1, lut: {lut}, ff: 100000, bram18: 200, uram: 20, dsp: {dsp}}}
  - {{name: SLR2, lut: {lut}, ff: 100000, bram18: 200, uram: 20, dsp: {dsp}}}

memory:"""
NETWORK = """
name: net
board: small.yaml
margin: 0
batch: 64
style: {style}
input: {{shape: [4, 8, 8], type: "fixed<8,3>", samples: random}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: 8, kernel: 3, padding: same}}
  - {{name: relu1, kind: clamp, low: 0}}
  - {{name: conv2, kind: conv2d, out_channels: 8, kernel: 3, padding: same}}
  - {{name: sum, kind: add, inputs: [conv2, relu1]}}
  - {{name: conv3, kind: conv2d, out_channels: 8, kernel: 3}}
precision: "fixed<8,3>"
mapping: {mapping}
"""


def made(
    folder: Path, *, lut: int = 14_000, dsp: int = 200, style: str = "dataflow", **mapping: Any
) -> Design:
    """The network on a board of three equal SLRs."""
    board = (Path(__file__).parents[2] / "boards" / "u200.yaml").read_text()
    text = re.sub(r"slrs:\n.*?\nmemory:", SLRS.format(lut=lut, dsp=dsp), board, flags=re.DOTALL)
    (folder / "small.yaml").write_text(text)
    (folder / "net.yaml").write_text(NETWORK.format(style=style, mapping=mapping or "auto"))
    return load(folder / "net.yaml")


def link_of(design: Design) -> str:
    inputs = design.sample_inputs(1)
    return str(design.style.plan(inputs, design.golden_codes(inputs))["vitis/link.cfg"])


def test_a_kernel_over_several_slrs_is_pinned_to_none(tmp_path: Path) -> None:
    design = made(tmp_path)
    assert design.style.hardware.spans, "this board tests nothing"
    project = design.build(tmp_path / "out", csim=False)
    path = tmp_path / "out/vitis/link.cfg"
    linked = read_link(path, kernels_in((tmp_path / "out/src").glob("*.cpp")))
    assert list(linked.units) == ["net_1"] and linked.slr == {}
    assert {bank for _, bank in linked.banks} == {"m_axi_gmem_x", "m_axi_gmem_output1"}
    assert "# No slr= for net_1" in path.read_text()
    rows = {slr["name"]: slr["instances"] for slr in project.report["slrs"]}
    assert rows["all SLRs"] == 1 and rows["SLR0"] == 0


def test_it_is_cut_into_slrs_with_relays_at_the_borders(tmp_path: Path) -> None:
    """Every layer lies in one SLR that has room for it; the cut kernel is C-simulated bit for bit."""
    design = made(tmp_path, weights="runtime")  # layers of constants would take all channels at once
    pipeline, board = design.style.hardware.pipeline, design.board
    assert list(pipeline.slrs) == ["conv1", "conv2", "sum", "conv3"] and len(set(pipeline.slrs.values())) == 3
    report = design.build(tmp_path / "out", frames=2).report
    assert report["csim"]["verdict"] == "equal"
    crossings = {border["between"]: border["bits"] for border in report["borders"]}
    words = {name: one.words.lanes * 8 for name, one in pipeline.streams.items()}
    assert crossings == {
        "SLR0 and SLR1": words["conv2_0_words0_s"] + words["sum_1_words0_s"],
        "SLR1 and SLR2": words["conv3_0_words0_s"],
    }
    source = (tmp_path / "out/src/net.cpp").read_text()
    assert source.count("HLSGEN_STAGE(relay_") == len(pipeline.relays) == 3
    rows = {slr["name"]: slr for slr in report["slrs"]}
    parts = [rows[slr.name]["used"] for slr in board.slrs]
    for kind in ("lut", "ff", "dsp", "bram18"):
        assert sum(part[kind] for part in parts) == rows["all SLRs"]["used"][kind] == report["total"][kind]
        assert all(rows[slr.name]["used"][kind] <= rows[slr.name]["usable"][kind] for slr in board.slrs)
    assert [layer["slr"] for layer in report["layers"]] == ["SLR0", "SLR1", "SLR1", "SLR2"]
    assert "## Several SLRs" in (tmp_path / "out/report.md").read_text()


def test_relays_cost_no_speed(tmp_path: Path) -> None:
    pipeline = made(tmp_path).style.hardware.pipeline
    folds = {name: stage.fold for name, stage in pipeline.stages.items()}
    alone = pipeline_of(pipeline.graph, folds, pipeline.weights, interfaces=pipeline.interfaces)
    far = alone.across({"conv1": 0, "conv2": 2, "sum": 0, "conv3": 2})
    assert alone.interval == far.interval and not alone.relays
    # conv1 to conv2, conv2 to sum, sum to conv3: two borders each; conv1 to sum: none
    assert len(far.relays) == 6
    ends = {relay.writes[0] for relay in far.relays} - {relay.reads[0] for relay in far.relays}
    assert {one.name for one in far.processes if set(one.reads) & ends} >= {"conv2", "conv3"}
    depths = fifo_depths(far)
    assert (
        set(depths) == set(far.streams) and simulate(far.with_depths(depths)).interval_cycles == far.interval
    )


def test_a_layer_larger_than_any_slr_is_folded_more(tmp_path: Path) -> None:
    """The sum of the SLRs would take the faster kernel; no SLR takes its largest layer."""
    design = made(tmp_path, lut=11_000)
    hardware, board = design.style.hardware, design.board
    limits = [allowed(slr, board).lut for slr in board.slrs]
    assert all(
        taken.lut <= limit
        for taken, limit in zip(taken_by_slr(hardware.pipeline, board), limits, strict=True)
    )
    assert hardware.pipeline.interval > made(tmp_path).style.hardware.pipeline.interval


def test_explore_writes_the_slrs_into_its_mapping(tmp_path: Path) -> None:
    design = made(tmp_path)
    found = design.explore()
    slrs = {name: one["slr"] for name, one in found.mapping.items() if isinstance(one, dict)}
    assert set(slrs) == {"conv1", "conv2", "sum", "conv3"}
    (tmp_path / "best.yaml").write_text(fixed_design(found, tmp_path / "net.yaml", tmp_path / "best.yaml"))
    again = load(tmp_path / "best.yaml").style.hardware
    best = found.chosen.style.hardware
    assert again.pipeline.slrs == best.pipeline.slrs and again.each == best.each
    assert again.pipeline.streams == best.pipeline.streams
    assert found.point.frames_per_s >= design.estimate().frames_per_s * (1 - 1e-9)


def test_other_weights_keep_the_cut(tmp_path: Path) -> None:
    pipeline = made(tmp_path).style.hardware.pipeline
    again = pipeline.with_graph(pipeline.graph)
    assert again.streams == pipeline.streams and again.slrs == pipeline.slrs


LAYERS = ("conv1", "conv2", "sum", "conv3")


@pytest.mark.parametrize(
    ("mapping", "says"),
    [
        ({"conv1": {"slr": "SLR7"}}, "has no SLR 'SLR7'"),
        ({"instances": 2, **{one: {"slr": "SLR0"} for one in LAYERS}}, "of one streaming kernel"),
        ({"conv1": {"slr": "SLR0"}}, "not of conv2, sum, conv3"),
    ],
)
def test_wrong_slrs_are_refused(tmp_path: Path, mapping: dict[str, Any], says: str) -> None:
    with pytest.raises(DesignError, match=says) as caught:
        made(tmp_path, **mapping).estimate()
    assert "SLR" in caught.value.problems[0].fix.upper()


def test_slrs_of_the_design_are_kept(tmp_path: Path) -> None:
    """In the quick search and in the exact one: the first layer in the middle."""
    wanted = {"conv1": "SLR1", "conv2": "SLR0", "sum": "SLR0", "conv3": "SLR2"}
    design = made(tmp_path, lut=20_000, **{name: {"slr": slr} for name, slr in wanted.items()})
    explored = design.explore().chosen
    for one in (design, explored):
        slrs = one.style.hardware.pipeline.slrs
        assert {name: f"SLR{number}" for name, number in slrs.items()} == wanted


def test_what_has_room_is_pinned(tmp_path: Path) -> None:
    design = made(tmp_path, lut=60_000, instances=3)
    pinned = dict(re.findall(r"^slr=(\w+):(\w+)$", link_of(design), re.MULTILINE))
    assert pinned == {"net_1": "SLR0", "net_2": "SLR1", "net_3": "SLR2"}
    assert not design.style.hardware.spans


@pytest.mark.parametrize("style", ["dataflow", "tasks"])
def test_a_pin_to_an_slr_that_is_too_small_is_a_bug(
    tmp_path: Path, style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As hlsgen emitted it until now: the whole kernel in SLR0."""
    design = made(tmp_path, style=style, lut=14_000 if style == "dataflow" else 60_000)
    link = link_of(design)
    pins = (
        "slr=net_1:SLR0\n" if style == "dataflow" else "".join(f"slr={unit}:SLR0\n" for unit in units(link))
    )
    wrong = re.sub(r"^slr=.*\n", "", link, flags=re.MULTILINE) + pins
    given = type(design.style).plan

    def pinned(self: Any, *more: Any) -> dict[str, Any]:
        return {**given(self, *more), "vitis/link.cfg": wrong}

    monkeypatch.setattr(type(design.style), "plan", pinned)
    with pytest.raises(EmissionError, match="slr-overfull") as caught:
        design.build(tmp_path / "out", csim=False)
    assert caught.value.exit_code == 5 and "LUT of " in str(caught.value)
    assert not (tmp_path / "out").exists()


def units(link: str) -> list[str]:
    """The compute units of the link configuration, several times over: enough to fill any SLR."""
    return [
        name
        for names in re.findall(r"^nk=\w+:\d+:([\w.]+)$", link, re.MULTILINE)
        for name in names.split(".")
    ]


KERNELS = {"a": {"lut": 60, "dsp": 5}, "b": {"lut": 30, "dsp": 0}}
REGIONS = {"SLR0": {"lut": 100, "dsp": 9}, "SLR1": {"lut": 50, "dsp": 100}}


@pytest.mark.parametrize(
    ("link", "over"),
    [
        (["nk=a:1", "nk=b:2:x.y", "slr=a_1:SLR0", "slr=x:SLR0", "slr=y:SLR1"], ""),
        (["nk=a:1", "nk=b:2:x.y", "slr=a_1:SLR0", "slr=x:SLR0", "slr=y:SLR0"], "120 LUT of 100"),
        (["nk=a:2", "slr=a_1:SLR0", "slr=a_2:SLR0"], "120 LUT of 100, 10 DSP of 9"),
        (["nk=a:1", "slr=a_1:SLR1"], "60 LUT of 50"),
        (["nk=a:9"], ""),
    ],
)
def test_the_rule(link: list[str], over: str) -> None:
    """The last line is one compute unit too many."""
    found = check_slrs("vitis/link.cfg", "\n".join(link), KERNELS, REGIONS)
    assert bool(found) == bool(over)
    for one in found:
        unit, slr = link[-1].removeprefix("slr=").split(":")
        assert one.message == f"{unit} and what {slr} has already take {over} there"
        assert (one.place.line, one.place.excerpt) == (len(link), link[-1])
