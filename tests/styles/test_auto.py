"""`style: auto`: the fastest of the styles that fits, with what became of each."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.explore.design_file import fixed_design
from hlsgen.report.reading import read_report
from hlsgen.styles.auto import STYLES, AutoNetwork

NET = """name: net
board: BOARD
style: STYLE
batch: 8
input: {shape: [3, 17, 15], type: "fixed<8,1>"}
layers:
  - {name: conv1, kind: conv2d, out_channels: 8, kernel: 3, padding: same, weights: {seed: 1}}
  - {name: pool1, kind: pool2d, function: max, kernel: 2, stride: 2}
  - {name: fc1, kind: dense, out_channels: 10, weights: {seed: 2}}
precision: PRECISION
mapping: MAPPING
"""


def written(
    tmp_path: Path,
    style: str,
    mapping: str = "auto",
    precision: str = '"fixed<8,3>"',
    board: str = "zcu102",
) -> Path:
    text = NET.replace("STYLE", style).replace("MAPPING", mapping).replace("PRECISION", precision)
    text = text.replace("BOARD", board)
    if precision == "float32":
        text = text.replace(', type: "fixed<8,1>"', "")
    path = tmp_path / f"{style}.yaml"
    path.write_text(text)
    return path


SMALL = "pynq_z2"
"""The board where a search looks at all processors that fit: on this one they are few."""


def style_of(design: hlsgen.Design) -> str:
    return next(name for name, kind in STYLES.items() if type(design.style) is kind)


def test_it_is_the_fastest_of_the_styles(tmp_path: Path) -> None:
    design = hlsgen.load(written(tmp_path, "auto", board=SMALL))
    alone = {name: hlsgen.load(written(tmp_path, name, board=SMALL)).estimate() for name in STYLES}
    found = {one.style: one for one in design.estimate().figures().styles}
    assert list(found) == list(STYLES)
    mixed = found.pop("mixed")
    if mixed.frames_per_s is None:
        assert "no mixture of net makes more than" in mixed.refusal
        alone["mixed"] = min(alone.values(), key=lambda one: one.frames_per_s)
    for name, one in found.items():
        assert one.frames_per_s == pytest.approx(alone[name].frames_per_s, rel=1e-6)
        assert one.fits == pytest.approx(alone[name].fit.usable, abs=1e-5)
    best = max(alone, key=lambda name: alone[name].frames_per_s)
    assert [name for name, one in found.items() if one.chosen] == [best] == [style_of(design)]
    assert design.estimate().frames_per_s == alone[best].frames_per_s


def test_the_build_says_what_was_compared(tmp_path: Path) -> None:
    design = hlsgen.load(written(tmp_path, "auto", "{processor: {rows: 3, lanes: 8}}"))
    project = design.build(tmp_path / "net", csim=False, schedule=False)
    said = project.report["styles"]
    assert [one["style"] for one in said] == list(STYLES)
    assert ["processor says what layers share" in one.get("refusal", "") for one in said] == [
        True,
        True,
        False,
        False,
    ]
    (chosen,) = [one for one in said if one["chosen"]]
    assert chosen["style"] == style_of(design) == max(said[2:], key=lambda one: one["frames_per_s"])["style"]
    text = (tmp_path / "net/report.md").read_text()
    assert "## Styles" in text and f"| `{chosen['style']}` (this one) |" in text
    page = (tmp_path / "net/report.html").read_text()
    assert f"{chosen['style']} (this one)" in page and 'id="styles"' in page and 'href="#styles"' in page
    assert read_report(tmp_path / "net").styles == project.figures.styles
    damaged = json.loads((tmp_path / "net/report.json").read_text())
    del damaged["styles"][0]["refusal"]
    (tmp_path / "net/report.json").write_text(json.dumps(damaged))
    with pytest.raises(DesignError, match="must have figures or a refusal for each style"):
        read_report(tmp_path / "net")


def test_styles_that_cannot_obey_are_left_out(tmp_path: Path) -> None:
    fold = hlsgen.load(written(tmp_path, "auto", "{conv1: {rows: 2, pe: 4, simd: 3}}"))
    assert style_of(fold) == "tasks"
    refusals = {one.style: one.refusal for one in fold.estimate().figures().styles}
    assert "in style: dataflow a window slides" in refusals["dataflow"]
    assert "in style: shared all layers share it" in refusals["shared"]
    in_float = hlsgen.load(written(tmp_path, "auto", precision="float32"))
    chosen = style_of(in_float)
    assert chosen in ("tasks", "shared"), "a streaming kernel has no floats"
    x = np.random.default_rng(1).normal(size=(1, 3, 17, 15)).astype(np.float32)
    alone = hlsgen.load(written(tmp_path, chosen, precision="float32"))
    assert np.array_equal(in_float.golden(x), alone.golden(x)), "additions have the order of its style"


def test_only_what_no_style_holds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DesignError) as caught:
        hlsgen.load(written(tmp_path, "auto", "{interval: 5}", board=SMALL)).estimate()
    for name, problem in zip(STYLES, caught.value.problems, strict=True):
        assert problem.message.startswith(f"net: style: {name}: ") and problem.fix
    with pytest.raises(DesignError, match="conv1: pe folds a layer's own hardware"):
        hlsgen.load(
            written(tmp_path, "auto", "{processor: {rows: 3, lanes: 8}, interval: 9999, conv1: {pe: 2}}")
        )
    both = hlsgen.load(written(tmp_path, "auto", "{processor: {rows: 3, lanes: 8}, conv1: {pe: 2}}"))
    assert style_of(both) == "mixed", "a layer that streams, and processors"


def test_with_confidence_comes_before_without(tmp_path: Path) -> None:
    style = hlsgen.load(written(tmp_path, "auto")).given
    assert isinstance(style, AutoNetwork)

    def outcome(confident: bool, rate: float) -> Any:
        estimate = SimpleNamespace(fit=SimpleNamespace(confident=confident), frames_per_s=rate)
        return SimpleNamespace(estimate=estimate)

    slow, fast = outcome(True, 10.0), outcome(False, 20.0)
    assert max((slow, fast), key=style._merit) is slow
    assert max((outcome(True, 30.0), slow), key=style._merit).estimate.frames_per_s == 30
    fixed = replace(style, board=style.board.with_margin(0.1))
    assert max((slow, fast), key=fixed._merit) is fast


def test_explore_keeps_to_the_chosen_style(tmp_path: Path) -> None:
    path = written(tmp_path, "auto", board=SMALL)
    design = hlsgen.load(path)
    found = design.explore()
    target = tmp_path / "best.yaml"
    target.write_text(fixed_design(found, path, target))
    again = hlsgen.load(target)
    assert f"\nstyle: {style_of(design)}\n" in target.read_text()
    assert again.estimate().frames_per_s == pytest.approx(found.point.frames_per_s, rel=1e-9)


def test_from_python() -> None:
    import torch

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU())
    design = hlsgen.from_torch(model, (3, 12, 12), precision="fixed<8,3>", board=SMALL, style="auto")
    assert "style" not in vars(design) and style_of(design) in STYLES
    assert len(design.estimate().figures().styles) == len(STYLES)
    other = design.at_clock(150)
    assert other.estimate().clock_mhz == 150 and other.estimate().figures().styles
    streams = hlsgen.from_torch(
        model, (3, 12, 12), precision="fixed<8,3>", board=SMALL, style="auto", interface="stream"
    )
    assert style_of(streams) == "dataflow"
    with pytest.raises(DesignError, match="one of dataflow, tasks, shared, mixed, auto"):
        hlsgen.from_torch(model, (3, 12, 12), style="fastest")
