"""What is clipped is said: counted apart, in float64, from what a network gives before its types limit it."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import hlsgen
from hlsgen.api.design import Design
from hlsgen.api.project import build
from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.base.overflow_count import counting_overflow
from hlsgen.base.type_text import parse_type
from hlsgen.cli.commands import cli
from hlsgen.layers.cast import Cast
from hlsgen.layers.table import Table
from hlsgen.loading.from_graph import Options, from_fixed
from hlsgen.model.ir import Graph, Tensor
from tests.support.networks import residual_network
from tests.support.places import ROOT

torch = pytest.importorskip("torch", reason="torch is not installed")

DIGITS = ROOT / "designs" / "digits"
NET = f"""
import sys

sys.path.insert(0, {str(DIGITS)!r})
from digits import Digits
from torch import nn


class Scaled(nn.Module):
    '''The trained network, for grey levels 0 to 1.'''

    def __init__(self):
        super().__init__()
        self.digits = Digits()

    def forward(self, x):
        return self.digits(x * 0.5)


def make_net():
    return Scaled()
"""
Array = NDArray[np.float64]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The network of the digits, its weights, and its test images from 0 to 1."""
    (tmp_path / "net.py").write_text(NET)
    state = torch.load(DIGITS / "digits.pt", weights_only=True)
    torch.save({f"digits.{key}": value for key, value in state.items()}, tmp_path / "net.pt")
    np.save(tmp_path / "x.npy", images())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def images() -> Array:
    return 2.0 * np.load(DIGITS / "test_images.npy").astype(np.float64)


def outside(values: Array, type_: str) -> int:
    """How many values lie, rounded half up, beyond the range of fixed<W,I> or ufixed<W,I>."""
    found = re.match(r"(u?)fixed<(\d+),(-?\d+)", type_)
    assert found is not None
    width, integer, signed = int(found[2]), int(found[3]), not found[1]
    step = 2.0 ** (integer - width)
    low, high = (
        (-(2.0 ** (integer - 1)), 2.0 ** (integer - 1) - step) if signed else (0.0, 2.0**integer - step)
    )
    rounded = np.floor(values / step + 0.5) * step
    return int(((rounded < low) | (rounded > high)).sum())


def imported(*words: str) -> str:
    """What `hlsgen import` prints of the digits' network on standard error."""
    result = CliRunner().invoke(
        cli, ["import", "net.py:make_net", "--shape", "1,8,8", "--weights", "net.pt", *words]
    )
    assert result.exit_code == 0, result.output
    return result.stderr


def test_an_import_without_samples_says_what_types_are_chosen_from(folder: Path) -> None:
    said = imported("--force")
    assert said.startswith("warning: no samples are given") and "--samples frames.npy" in said
    text = (folder / "net.yaml").read_text()
    # every line of what is said stands in the file, and so does the line to change
    editor, *lines = text.splitlines()
    assert editor.startswith("# yaml-language-server: ")
    comment = " ".join(line[2:] for line in lines if line.startswith("# "))
    assert f"warning: {comment}\n" == said
    lines = [line.strip() for line in text.splitlines() if not line.startswith("#")]
    assert "samples: photograph" in lines and "precision: auto" in lines
    result = CliRunner().invoke(cli, ["check", "net.yaml"])
    assert result.exit_code == 0 and "chosen from a stand-in photograph" in result.stderr


def test_an_import_with_samples_says_nothing_and_chooses_from_them(folder: Path) -> None:
    (folder / "designs").mkdir()
    assert imported("--samples", "x.npy", "-o", "designs/net.yaml") == ""
    design = hlsgen.load(folder / "designs" / "net.yaml")
    assert design.calibration is not None and design.calibration.warning is None
    assert (design.calibration.source, design.calibration.frames) == ("x.npy", 450)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = design.golden(images())
    labels = np.load(DIGITS / "test_labels.npy")
    assert isinstance(y, np.ndarray) and (y.argmax(axis=1) == labels).mean() > 0.98


def test_samples_that_do_not_fit_are_refused(folder: Path) -> None:
    np.save(folder / "wrong.npy", np.zeros((4, 8, 8, 1)))
    for words, message in (
        (["--samples", "wrong.npy"], "holds [4, 8, 8, 1], but the input is [1, 8, 8]"),
        (["--samples", "x.npy", "--samples", "x.npy"], "--samples is given 2 times, and the inputs are x"),
        (["--samples", "none.npy"], "none.npy does not exist"),
    ):
        result = CliRunner().invoke(
            cli, ["import", "net.py:make_net", "--shape", "1,8,8", "--weights", "net.pt", *words]
        )
        assert result.exit_code == 1 and message in result.stderr
    assert not (folder / "net.yaml").exists()


def test_inputs_beyond_a_stand_in_are_warned_of(folder: Path) -> None:
    imported()
    design = hlsgen.load(folder / "net.yaml")
    x = 5.0 * images()
    share = outside(x, str(design.graph.input.type)) / x.size
    assert 0.05 < share < 0.5
    with pytest.warns(hlsgen.ClippingWarning) as caught:
        design.golden(x)
    (warning,) = caught
    message = str(warning.message)
    assert f"input x: {share:.1%} of {x.size:,} values lie beyond {design.graph.input.type}" in message
    assert "a stand-in photograph (32 frames)" in message and "calibration=x" in message
    assert warning.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        design.golden(x / 10)


def test_a_build_says_it_too(folder: Path) -> None:
    imported()
    words = ["build", "net.yaml", "-o", "b", "--no-csim"]
    plain = CliRunner().invoke(cli, words)
    assert plain.exit_code == 0, plain.output
    assert "warning: number types were chosen from a stand-in photograph" in plain.stderr
    assert "number types chosen from a stand-in photograph: 32 frames" in plain.stdout
    x = 5.0 * images()  # beyond the headroom of types chosen from the photograph
    np.save("x.npy", x)
    result = CliRunner().invoke(cli, [*words, "--input", "x.npy", "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    first = report["clipping"][0]
    assert report["calibration"] == {
        "source": "a stand-in photograph",
        "frames": 32,
        "given": 32,
        "stand_in": True,
        "chooses_types": True,
    }
    assert (first["name"], first["part"], first["values"], first["own"]) == ("x", "input", x.size, False)
    assert first["clipped"] == outside(x, first["type"])
    assert first["share"] == pytest.approx(first["clipped"] / x.size, abs=1e-6)
    high = parse_type(first["type"])
    assert isinstance(high, FixedType)
    assert first["furthest"] == x.max() - high.max_code * high.resolution
    assert [one["name"] for one in report["clipping"][1:]] == [layer["name"] for layer in report["layers"]]
    assert [
        one for one in report["warnings"] if one.startswith(f"input x: {first['share']:.1%} of 28,800 values")
    ]
    for page in ("report.md", "report.html"):
        text = (folder / "b" / page).read_text()
        assert "a stand-in photograph: 32 frames" in text and f"{first['share']:.2%}" in text, page


def conv_and_sigmoid() -> Any:
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3), torch.nn.SiLU())


@pytest.mark.parametrize("style", ["dataflow", "tasks"])
def test_what_layers_clip_is_counted_before_it_is_clipped(style: str, tmp_path: Path) -> None:
    """conv1's sums in float64, where they are exact; silu of what conv1 gives, in PyTorch."""
    net = conv_and_sigmoid().double()
    x = np.random.default_rng(2).normal(0, 2, (5, 2, 6, 7))
    precision = {"default": "fixed<10,5>", "0": {"output": "fixed<8,2>"}, "1": {"output": "ufixed<6,1>"}}
    names = [layer.name for layer in hlsgen.from_torch(net, (2, 6, 7), precision="fixed<16,6>").graph.layers]
    precision = dict(zip(["default", *names], precision.values(), strict=True))
    design = hlsgen.from_torch(net, (2, 6, 7), precision=precision, style=style, board="zcu102")
    np.save(tmp_path / "x.npy", x)
    report = build(design, tmp_path / "b", input_file=tmp_path / "x.npy", csim=False).report
    found = {one["name"]: one for one in report["clipping"]}
    conv, silu = design.graph.layers
    codes = np.floor(x * 32 + 0.5) / 32
    with torch.no_grad():
        weights = torch.from_numpy(conv.weight_type.decode(conv.weights))  # type: ignore[attr-defined]
        bias = torch.from_numpy(conv.bias_type.decode(conv.bias))  # type: ignore[attr-defined]
        sums = torch.nn.functional.conv2d(torch.from_numpy(codes), weights, bias)
        limited = (torch.floor(sums * 64 + 0.5) / 64).clamp(-2, 127 / 64)
        after = torch.nn.functional.silu(limited)
    assert (
        found[conv.name]["type"] == "fixed<8,2,rnd,sat>" and found[silu.name]["type"] == "ufixed<6,1,rnd,sat>"
    )
    assert found[conv.name]["clipped"] == outside(sums.numpy(), "fixed<8,2>") > 10
    assert found[silu.name]["clipped"] == outside(after.numpy(), "ufixed<6,1>") > 10
    assert found[conv.name]["values"] == found[silu.name]["values"] == sums.numel()
    assert sum(one.startswith((f"{conv.name}: ", f"{silu.name}: ")) for one in report["warnings"]) == 2


def test_types_that_hold_what_they_are_given_are_quiet() -> None:
    """Without calibration data the types are fixed<16,6>; a value of 40 is beyond them."""
    design = hlsgen.from_torch(conv_and_sigmoid(), (2, 6, 7))
    x = np.random.default_rng(2).uniform(-1, 1, (5, 2, 6, 7))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        design.golden(x)
        design.golden(x[0])
    with pytest.warns(hlsgen.ClippingWarning, match="input .* by up to 8.*A type with more integer bits"):
        design.golden(np.where(x > 0.9, 40.0, x))


def test_a_step_beyond_the_range_is_no_harm() -> None:
    """1.0 in ufixed<8,0> is off by less than a grey level of an image."""
    design = hlsgen.from_torch(
        conv_and_sigmoid(), (2, 6, 7), precision={"default": "fixed<16,6>", "input": "ufixed<8,0,rnd,sat>"}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        design.golden(np.ones((2, 6, 7)))


def quantised(given: bool) -> hlsgen.Design:
    """A network that brings its types: an input, and a quantiser of 4 bits."""
    source = Tensor(shape=(1, 4, 4), type=FixedType(8, 1, True, Rounding.RND, Overflow.SAT))
    cast = Cast(
        name="quantiser",
        source=source,
        result_type=FixedType(4, 0, True, Rounding.RND_CONV, Overflow.SAT),
    )
    options = Options(board="zcu102", clock_mhz=None, batch=4, constraints=None, style="dataflow")
    graph = Graph.chain("own", source, (cast,))
    graph = replace(graph, inputs=(replace(graph.inputs[0], own=not given),))
    return hlsgen.Design(
        from_fixed(graph, options, "test", given_types=frozenset({"input"} if given else ()))
    )


def test_quantisers_of_the_model_itself_clip_as_they_are_meant_to(tmp_path: Path) -> None:
    x = np.random.default_rng(0).uniform(-2, 2, (3, 1, 4, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quantised(given=False).golden(x)
    with pytest.warns(hlsgen.ClippingWarning) as caught:
        quantised(given=True).golden(x)
    assert "input input" in str(caught[0].message) and "quantiser" not in str(caught[0].message)
    np.save(tmp_path / "x.npy", x)
    report = build(quantised(given=False), tmp_path / "b", input_file=tmp_path / "x.npy", csim=False).report
    assert report["warnings"] == [] and report["calibration"] is None
    assert [(one["name"], one["own"], one["clipped"] > 0) for one in report["clipping"]] == [
        ("input", True, True),
        ("quantiser", True, True),
    ]


def test_a_wide_table_counts_what_its_function_is() -> None:
    """Of straight pieces, in a type that does not saturate itself."""
    source = Tensor(shape=(1, 1, 4096), type=FixedType(14, 3))
    layer = Table(name="exp", source=source, function="exp", result_type=FixedType(12, 4))
    codes = np.arange(-(1 << 13), 1 << 13).reshape(-1, 1, 1, 4096)
    with counting_overflow() as found:
        layer.golden(codes)
    (counted,) = found.values()
    values = np.floor(np.exp(codes / 2.0**11) * 256) / 256
    assert counted.outside == int((values >= 8).sum()) and counted.values == codes.size


def test_a_build_from_python_on_stand_in_frames_warns(tmp_path: Path) -> None:
    graph = residual_network()
    frames = np.random.default_rng(0).normal(0, 1, (4, *graph.inputs[0].shape))
    from hlsgen.loading.from_graph import from_graph

    options = Options(
        board="zcu102",
        clock_mhz=None,
        batch=4,
        constraints=None,
        style="dataflow",
        calibration=frames,
        stand_in=True,
    )
    with pytest.warns(hlsgen.CalibrationWarning, match="not from frames of your own") as caught:
        Design(from_graph(graph, options, "test")).build(tmp_path / "b", csim=False, frames=1)
    assert caught[0].filename == __file__
