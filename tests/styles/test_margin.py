"""`margin`: hardware that the model's error leaves inside the usable share, in every style and in explore."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scipy.stats import norm

from hlsgen.api.design import Design, load
from hlsgen.base.errors import DesignError
from hlsgen.cost.fit_probability import CONFIDENCE
from hlsgen.report.fit import percent_text
from hlsgen.search.board_limits import usable
from hlsgen.targets.board import load_board

LAYER = """
name: conv
board: u200
{margin}
batch: 1024
input: {{shape: [16, 64, 64], type: "fixed<16,6>", samples: random}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: 16, kernel: 3}}
mapping: {mapping}
"""
NETWORK = """
name: net
board: zcu102
{margin}
batch: 1024
style: {style}
input: {{shape: [8, 12, 12], type: "fixed<4,2>", samples: random}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: 16, kernel: 3}}
  - {{name: relu1, kind: clamp, low: 0}}
  - {{name: conv2, kind: conv2d, out_channels: 16, kernel: 3}}
precision: "fixed<4,2>"
mapping: {mapping}
"""
TEXTS = {"layer": LAYER, "dataflow": NETWORK, "tasks": NETWORK}


def made(folder: Path, style: str, margin: str = "", mapping: str = "auto", **board: Any) -> Design:
    if style == "tasks" and mapping == "auto":
        mapping = "{weights: runtime}"  # adders for constant weights would leave the board half empty
    path = folder / "design.yaml"
    path.write_text(TEXTS[style].format(margin=margin, mapping=mapping, style=style))
    return load(path, **board)


def fullest(design: Design, kind: str) -> float:
    """The largest share of the usable of an SLR, in numbers of the report."""
    return max(slr["used"][kind] / slr["usable"][kind] for slr in design.estimate().as_json()["slrs"])


@pytest.mark.parametrize("style", list(TEXTS))
def test_auto_stays_inside_with_confidence(tmp_path: Path, style: str) -> None:
    greedy, careful = made(tmp_path, style, "margin: 0"), made(tmp_path, style)
    assert greedy.estimate().fit.usable < CONFIDENCE, "this design tests nothing"
    fit = careful.estimate().fit
    assert fit.confident and fit.margin == "auto"
    assert careful.style.fit_warnings() == greedy.style.fit_warnings() == []
    for kind in ("lut", "ff"):
        error = getattr(careful.estimate().cost.routed, f"{kind}_error")
        share = fullest(careful, kind)
        assert norm.cdf((1 / share - 1) * norm.ppf(0.95) / error) >= CONFIDENCE - 1e-3
        assert share * (1 + error * norm.ppf(CONFIDENCE) / norm.ppf(0.95)) <= 1.001
    speeds = careful.estimate().frames_per_s / greedy.estimate().frames_per_s
    assert 0.6 < speeds <= 1


@pytest.mark.parametrize("style", list(TEXTS))
def test_a_number_is_kept_free(tmp_path: Path, style: str) -> None:
    design = made(tmp_path, style, "margin: 0.4")
    assert max(fullest(design, "lut"), fullest(design, "ff")) <= 0.6
    assert design.estimate().fit.margin == "0.4"
    nothing = made(tmp_path, style, "margin: 0")
    assert max(fullest(nothing, "lut"), fullest(nothing, "ff")) > 0.6
    kinds = {one.kind: one for one in design.estimate().fit.kinds}
    assert kinds["lut"].margin == 0.4
    for kind in {"dsp", "bram18"} & set(kinds):
        assert kinds[kind].margin == kinds[kind].error == 0


def test_dsp_memory_and_what_reports_call_usable_have_no_margin(tmp_path: Path) -> None:
    board = load_board("u200")
    design = made(tmp_path, "layer", "margin: 0.4")
    assert fullest(design, "dsp") > 0.8
    for row, slr in zip(design.estimate().as_json()["slrs"], board.slrs, strict=True):
        assert row["usable"]["lut"] == usable(slr, board).lut == int(slr.lut * 0.7)


def test_what_the_design_fixes_is_built_with_a_warning(tmp_path: Path) -> None:
    """The mapping that fills 99 % is what the user asked for: it is not refused, and not passed over."""
    found = made(tmp_path, "layer", "margin: 0", "{foldings: 1}").style.hardware.deployment
    folding, count = found.mapping.folding, len(found.instances)
    values = f"rows: {folding.rows}, pe: {folding.pe}, simd: {folding.simd}, fabric_pe: {folding.fabric_pe}"
    mapping = f"{{instances: {count}, conv1: {{{values}}}}}"
    design = made(tmp_path, "layer", mapping=mapping)
    assert design.estimate().instances == count
    fit = design.estimate().fit
    assert fit.usable < CONFIDENCE
    (warning,) = design.style.fit_warnings()
    assert "stays inside the usable share of AMD Alveo U200 with a probability of" in warning
    assert f"{100 * fit.usable:.0f} % only, not 90 %: LUT " in warning and "margin: 0" in warning
    assert made(tmp_path, "layer", "margin: 0", mapping).style.fit_warnings() == []


@pytest.mark.parametrize("style", list(TEXTS))
def test_a_margin_that_leaves_no_room_is_refused(tmp_path: Path, style: str) -> None:
    mapping = "{instances: 10, conv1: {rows: 3, pe: 16, simd: 1}}" if style == "layer" else "{instances: 9}"
    with pytest.raises(DesignError) as caught:
        made(tmp_path, style, "margin: 0.9", mapping).estimate()
    assert caught.value.problems[0].fix.endswith(", or a smaller margin")


def test_the_boards_margin_counts_unless_the_design_has_one(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "boards" / "u200.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(text.replace("margin: auto", "margin: 0.3"))
    own = made(tmp_path, "layer", board=str(tmp_path / "mine.yaml"))
    assert own.estimate().fit.margin == "0.3" and fullest(own, "lut") <= 0.7
    assert made(tmp_path, "layer", "margin: 0", board=str(tmp_path / "mine.yaml")).board.margin == 0


def test_explore_keeps_the_margin_of_a_layer(tmp_path: Path) -> None:
    found = made(tmp_path, "layer", mapping="{conv1: {rows: 4, order: rows}}").explore()
    assert found.chosen.estimate().fit.confident


@pytest.mark.parametrize("style", ["dataflow", "tasks"])
def test_explore_keeps_the_margin(tmp_path: Path, style: str) -> None:
    found = made(tmp_path, style).explore()
    assert found.chosen.estimate().fit.confident
    assert found.point.frames_per_s >= made(tmp_path, style).estimate().frames_per_s * (1 - 1e-9)
    without = made(tmp_path, style, "margin: 0").explore()
    assert without.point.frames_per_s >= found.point.frames_per_s
    half = made(tmp_path, style, "margin: 0.5").explore()
    assert max(fullest(half.chosen, "lut"), fullest(half.chosen, "ff")) <= 0.5


def test_reports_say_how_likely_it_fits(tmp_path: Path) -> None:
    design = made(tmp_path, "layer")
    project = design.build(tmp_path / "out", csim=False)
    fit = project.report["fit"]
    lut = next(one for one in fit["kinds"] if one["kind"] == "lut")
    percent = percent_text(lut["usable"])
    assert fit["usable"] == min(one["usable"] for one in fit["kinds"]) and fit["confidence"] == 0.9
    for path in ("report.md", "report.html"):
        text = (tmp_path / "out" / path).read_text()
        assert f"fits the usable share with a probability of {percent} (LUT {percent}, FF" in text
        assert "DSP, BRAM18 exact" in text
