"""The framework as the judge of a design: what it must catch, and what it must not call wrong."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

import hlsgen
from hlsgen.api.project import judge_only
from hlsgen.base.errors import JudgeError, MismatchError
from hlsgen.base.progress import silent
from hlsgen.cli.commands import cli
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.report.judge import JudgeFigures, OutputAgreement, judge_line, judge_text

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn


def network() -> Any:
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5)
    )
    return net.eval()


def design_of(net: Any, **more: Any) -> hlsgen.Design:
    frames = np.random.default_rng(0).uniform(-1, 1, (20, 2, 8, 8))
    return hlsgen.from_torch(net, (2, 8, 8), calibration=frames, board="zcu102", **more)


def judgement(design: hlsgen.Design, frames: int = 8) -> JudgeFigures:
    return judge_only(design, frames, None, silent)


def test_a_float_model_agrees_with_figures_of_its_answers() -> None:
    found = judgement(design_of(network()))
    assert found.verdict == "agrees" and found.by.startswith("PyTorch")
    (output,) = found.outputs
    assert found.frames == 8 and output.compared == 40 and output.agreement is not None
    assert output.snr_db is not None and 20 < output.snr_db < 80 and 0 < output.largest_error < 0.2
    assert found.layers >= 3 and found.read_frames == 8
    assert "dB" in judge_line(found) and "same largest score" in judge_line(found)


def changed(graph: Graph, name: str, **fields: Any) -> Graph:
    return graph.with_layers(
        replace(layer, **fields) if layer.name == name else layer for layer in graph.layers
    )


@pytest.mark.parametrize("fault", ["weight", "bias", "swap", "stride"])
def test_a_network_that_was_read_wrongly_is_refused_with_its_layer(fault: str) -> None:
    """What golden and C++ would agree over: both have the same wrong graph."""
    design = design_of(network())
    style: Any = design.given
    reference = style.reference
    (conv, *_) = [layer for layer in reference.layers if isinstance(layer, Conv2d)]
    dense = [layer for layer in reference.layers if isinstance(layer, Conv2d)][-1]
    if fault == "weight":
        weights = conv.weights.copy()
        weights[1, 0, 2, 2] += 0.05
        wrong, layer = changed(reference, conv.name, weights=weights), "2"  # conv, batch norm and ReLU as one
    elif fault == "bias":
        wrong, layer = changed(reference, dense.name, bias=dense.bias * 1.05), "5"
    elif fault == "swap":
        wrong, layer = changed(reference, dense.name, weights=dense.weights[:, ::-1]), "5"
    else:
        wrong = changed(reference, conv.name, weights=conv.weights.transpose(0, 1, 3, 2))
        layer = "2"
    judged = hlsgen.Design(replace(style, reference=wrong))
    with pytest.raises(JudgeError, match=rf"departs first in {layer} \(") as caught:
        judgement(judged)
    assert caught.value.exit_code == 3 and isinstance(caught.value, MismatchError)
    assert "--no-judge" in str(caught.value)


def test_a_function_that_makes_another_model_each_time_is_judged_by_the_one_that_was_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "net.py").write_text(
        "import torch\ndef make():\n    return torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3)).eval()\n"
    )
    data = {
        "name": "net",
        "board": "zcu102",
        "model": {"torch": "net.py:make"},
        "input": {"shape": [1, 6, 6], "samples": "random"},
    }
    (tmp_path / "net.yaml").write_text(yaml.safe_dump(data))
    assert judgement(hlsgen.load(tmp_path / "net.yaml"), 2).verdict == "agrees"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judge") / "b"
    design_of(network()).build(folder, csim=False, schedule=False)
    return folder


def test_reports_carry_what_the_framework_says(built: Path) -> None:
    report = json.loads((built / "report.json").read_text())
    assert report["judge"]["verdict"] == "agrees" and report["judge"]["by"].startswith("PyTorch")
    assert "## Against the framework" in (built / "report.md").read_text()
    page = (built / "report.html").read_text()
    assert '<section id="judge">' in page and "Against the framework" in page


def test_what_is_not_judged_is_said(tmp_path: Path) -> None:
    design_of(network()).build(tmp_path / "b", csim=False, schedule=False, judge=False)
    report = json.loads((tmp_path / "b/report.json").read_text())
    assert report["judge"]["verdict"] == "skipped" and report["judge"]["why"] == "skipped on request"
    assert "not judged by the framework: skipped on request" in (tmp_path / "b/report.md").read_text()


def test_check_with_frames_prints_the_judgement() -> None:
    done = CliRunner().invoke(cli, ["check", "designs/digits.yaml", "--frames", "3", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["judge"]["verdict"] == "agrees" and found["judge"]["frames"] == 3


@pytest.mark.skipif(importlib.util.find_spec("qkeras") is None, reason="needs qkeras")
def test_a_model_with_its_own_types_equals_its_framework_off_the_grid() -> None:
    found = judgement(hlsgen.load("designs/raider.yaml"))
    assert found.verdict == "exact" and found.by.startswith("Keras")
    assert all(one.differing == 0 and one.snr_db is None for one in found.outputs)
    assert "equal the framework's own" in judge_line(found)


@pytest.mark.skipif(importlib.util.find_spec("qkeras") is None, reason="needs qkeras")
def test_another_rounding_of_a_quantiser_is_no_tie() -> None:
    """Keras rounds halves to even codes; a design that rounds them up has one step more at each tie."""
    from hlsgen.base.fixed import Rounding

    design = hlsgen.load("designs/raider.yaml")
    style: Any = design.given
    layer = [one for one in style.graph.layers if isinstance(one, Conv2d)][1]
    type_ = layer.result_type
    for rounding in (Rounding.RND, Rounding.TRN):
        wrong = replace(type_, rounding=rounding)
        graph = style.graph
        layers = []
        for one in graph.layers:
            if layer.name in one.inputs:
                layers.append(one.retyped((wrong,), one.output_type))
            else:
                layers.append(replace(one, result_type=wrong) if one.name == layer.name else one)
        with pytest.raises(JudgeError, match="departs first in"):
            judgement(hlsgen.Design(replace(style, graph=graph.with_layers(layers))))


def test_a_channel_far_below_the_others_is_judged_by_its_own_size() -> None:
    """Before a sign: its batch norm has a scale of 1e-8 and a shift of 1e-6, beside others of 1."""
    pytest.importorskip("qonnx", reason="needs qonnx: pip install 'hlsgen[onnx]'")
    from hlsgen.layers.thresholds import Thresholds
    from tests.support.frontends.onnx_networks import Net

    net = Net((8,))
    x = net.quant("x", np.float32(0.25), bits=4)
    scale, shift = np.ones(8), np.linspace(-0.4, 0.3, 8)
    scale[3], shift[3] = 1e-8, 1e-6
    y = net.add("Add", f"{net.add('Mul', f'{x} {net.constant(scale)}')} {net.constant(shift)}")
    y = net.add("BipolarQuant", f"{y} {net.constant(1.0)}", domain="qonnx.custom_op.general")
    weights = net.integers(np.random.default_rng(0).integers(-3, 4, (8, 3)), 0.5)
    design = hlsgen.from_onnx(net.qonnx(net.add("MatMul", f"{y} {weights}"), (3,)), batch=16, board="zcu102")
    assert judgement(design, 16).verdict == "exact"
    style: Any = design.given
    graph = style.graph
    sign = next(one for one in graph.layers if one.output_type.width == 1)
    if isinstance(sign, Thresholds):
        thresholds = sign.thresholds.copy()
        thresholds[3] = thresholds[4]
        wrong: Any = replace(sign, thresholds=thresholds)
    else:
        bias = np.asarray(sign.bias_codes).copy()
        bias[3] = -1 << 20
        wrong = replace(sign, bias=bias)
    broken = hlsgen.Design(
        replace(
            style, graph=graph.with_layers(wrong if one.name == sign.name else one for one in graph.layers)
        )
    )
    with pytest.raises(JudgeError, match="BipolarQuant"):
        judgement(broken, 16)


def test_a_design_that_overflows_is_refused() -> None:
    """Its infinities have no decibels, which must not read as no noise."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5)).eval()
    with torch.no_grad():
        net[3].weight.fill_(3e3)
    with pytest.raises(JudgeError, match="values of output .* are infinite or no numbers in the design"):
        judgement(design_of(net, precision="half", style="tasks"))


def test_an_error_without_a_signal_is_not_called_exact() -> None:
    output = OutputAgreement(name="y", compared=8, differing=8, largest_error=0.5)
    found = JudgeFigures(verdict="agrees", by="PyTorch", frames=8, layers=1, outputs=(output,))
    assert "largest error 0.5, no signal;" in judge_line(found)
    assert "| no signal |" in judge_text(found)
