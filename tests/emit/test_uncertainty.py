"""The clock's uncertainty, from the design to everything that a synthesis tool reads and a report says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hlsgen.api.design import Design, load
from hlsgen.designfile.clock import Clock

LAYER = """
name: conv
board: u200
clock_mhz: 300
{uncertainty}
batch: 2
input: {{shape: [2, 8, 8], type: "fixed<8,3>", samples: random}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: 2, kernel: 3}}
mapping: {{instances: 1, conv1: {{rows: 1, pe: 1, simd: 1}}}}
"""
NETWORK = """
name: net
board: u200
clock_mhz: 300
{uncertainty}
batch: 2
style: {style}
input: {{shape: [2, 8, 8], type: "fixed<8,3>", samples: random}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: 2, kernel: 3}}
  - {{name: relu1, kind: clamp, low: 0}}
mapping: {{instances: 1}}
"""
DESIGNS = {"layer": LAYER, "dataflow": NETWORK, "tasks": NETWORK}
AIT = "AIT 8 has no option for the clock's uncertainty"


def made(folder: Path, style: str, uncertainty: str) -> Design:
    path = folder / f"{style}.yaml"
    path.write_text(DESIGNS[style].format(uncertainty=uncertainty, style=style))
    return load(path)


def emitted(design: Design) -> dict[str, str]:
    """The text files of a build."""
    inputs = design.sample_inputs(1)
    plan = design.style.plan(inputs, design.golden_codes(inputs))
    return {path: content for path, content in plan.items() if isinstance(content, str)}


def said(files: dict[str, str]) -> set[str]:
    """Every uncertainty that a script or a settings file for HLS gives."""
    found = set()
    for path, text in files.items():
        if path.endswith(".tcl"):
            assert text.count("create_clock ") == text.count("set_clock_uncertainty ") == 1
            found |= set(re.findall(r"^ *set_clock_uncertainty (\S+) default$", text, re.MULTILINE))
        elif path.endswith(".cfg") and "[hls]" in text:
            found |= set(re.findall(r"^clock_uncertainty=(\S+)$", text, re.MULTILINE)) or {path}
    return found


@pytest.mark.parametrize("style", list(DESIGNS))
@pytest.mark.parametrize(
    ("line", "written", "budget"),
    [("", "27%", 2.433), ("uncertainty: 0.125", "12.5%", 2.917), ("uncertainty: 0", "0%", 3.333)],
)
def test_every_tool_and_report_is_told(
    tmp_path: Path, style: str, line: str, written: str, budget: float
) -> None:
    design = made(tmp_path, style, line)
    files = emitted(design)
    assert said(files) == {written}
    clock = design.estimate().as_json()["clock"]
    share = float(written.rstrip("%")) / 100
    assert clock == {"period_ns": 3.333, "uncertainty": share, "budget_ns": budget}
    assert any(AIT in one for one in design.style.warnings(())) == (style != "dataflow" and bool(line))
    if style != "dataflow":
        assert (AIT in files["ompss/Makefile"]) == bool(line)


def test_reports_say_the_budget(tmp_path: Path) -> None:
    project = made(tmp_path, "layer", "uncertainty: 0.125").build(tmp_path / "out", csim=False)
    text = "2.92 of 3.33 ns for logic, 12.5 % kept back for routing"
    assert f"| clock | {text} |" in (tmp_path / "out/report.md").read_text()
    assert text in (tmp_path / "out/report.html").read_text()
    assert json.loads((tmp_path / "out/report.json").read_text())["clock"]["budget_ns"] == 2.917
    assert any(AIT in one for one in project.figures.warnings)


def test_python_designs_have_it() -> None:
    torch = pytest.importorskip("torch")
    from hlsgen import from_torch

    design = from_torch(torch.nn.Conv2d(1, 1, 3), (1, 8, 8), clock_mhz=250, uncertainty=0.2)
    assert design.clock == Clock(mhz=250, uncertainty=0.2)
    assert (design.clock.period_ns, design.clock.budget_ns) == (4.0, 3.2)
    assert from_torch(torch.nn.Conv2d(1, 1, 3), (1, 8, 8)).clock.percent == "27%"
