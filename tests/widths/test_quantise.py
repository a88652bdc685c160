"""hlsgen quantise: its measurements against designs made apart, held-out frames that choose nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError
from hlsgen.base.progress import silent
from hlsgen.loading.from_graph import calibrated
from hlsgen.quantising.value_ranges import ValueRanges
from hlsgen.widths.front_file import write_picture
from hlsgen.widths.layer_costs import layer_costs, price, prices_of
from hlsgen.widths.sensitivity import sensitivity
from hlsgen.widths.tensors import Typing, variables
from tests.support.command_line import failure, run

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn
NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3)
        self.pool = nn.MaxPool2d(2)
        self.conv2 = nn.Conv2d(6, 4, 2)
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        return self.fc(torch.relu(self.conv2(x)).flatten(1))


def make_net():
    torch.manual_seed(3)
    return Net()
"""
FILE = """name: small
board: zcu102
model: {torch: "net.py:make_net"}
input: {shape: [1, 6, 6], type: "fixed<8,3,rnd,sat>", samples: calibration.npy}
precision: 8
accuracy: {frames: x.npy, labels: y.npy}
"""
WIDTHS = (3, 5, 8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("quantise")
    (place / "net.py").write_text(NET)
    (place / "small.yaml").write_text(FILE)
    names: dict[str, Any] = {}
    exec(NET, names)
    generator = np.random.default_rng(0)
    x = generator.normal(0, 1, (160, 1, 6, 6))
    np.save(place / "calibration.npy", generator.normal(0, 1, (32, 1, 6, 6)))
    np.save(place / "x.npy", x)
    with torch.no_grad():
        np.save(place / "y.npy", names["make_net"]()(torch.from_numpy(x).float()).numpy().argmax(1))
    return place


@pytest.fixture(scope="module")
def design(folder: Path) -> Any:
    return hlsgen.load(folder / "small.yaml")


@pytest.fixture(scope="module")
def found(design: Any) -> Any:
    return hlsgen.quantise(design, widths=WIDTHS, uniform=(8, 5, 3), loss=0.05)


def typing_of(design: Any) -> Typing:
    style = design.given
    reached = calibrated(style)
    ranges = ValueRanges(reached, style.precision.headroom)
    return Typing(reference=reached.graph, own=style.precision, ranges=ranges, any_weights=frozenset())


def test_tensors_of_their_own_width(design: Any) -> None:
    """Not the pool, which has its source's, nor the input, whose type the design says."""
    names = ["conv1 weights", "conv1", "conv2 weights", "conv2", "fc weights", "fc"]
    assert [str(one) for one in variables(typing_of(design))] == names
    free = hlsgen.from_torch(nn.Conv2d(1, 2, 3).eval(), (1, 6, 6), calibration=np.ones((16, 1, 6, 6)))
    assert [one.part for one in variables(typing_of(free))] == ["input", "weights", "output"]


def test_noise_is_that_of_a_design_with_the_tensor_alone_narrowed(design: Any, folder: Path) -> None:
    typing, x = typing_of(design), np.load(folder / "x.npy")[:20]
    known = variables(typing)
    names: dict[str, Any] = {}
    exec(NET, names)
    with torch.no_grad():
        wanted = names["make_net"]()(torch.from_numpy(x).float()).double().numpy()
    noise = sensitivity(typing, {"x": x}, [wanted], known, WIDTHS, silent)

    def measured(layers: dict[str, Any]) -> float:
        made = hlsgen.load(folder / "small.yaml", precision={"default": 16, "layers": layers})
        return float(np.mean((made.golden(x) - wanted) ** 2) / np.var(wanted))

    base = measured({})
    for one in known:
        for index, bits in enumerate(WIDTHS[:2]):
            apart = measured({one.name: {one.part: bits}}) - base
            assert noise[one][index] == pytest.approx(apart, rel=0.01, abs=1e-6)
        assert list(noise[one]) == sorted(noise[one], reverse=True)


def test_layers_cost_no_more_than_the_kernel_that_is_made_of_them(design: Any, found: Any) -> None:
    """Converters, ports and FIFOs come on top; wider tensors never cost less."""
    typing = typing_of(design)
    prices = prices_of(design.board, "all")
    costs = layer_costs(design.given, typing, variables(typing), WIDTHS, found.interval, prices, silent)
    assert [one.name for one in costs] == [layer.name for layer in design.graph.layers]
    for bits, even in zip((8, 5, 3), found.uniform, strict=True):
        index = WIDTHS.index(bits)
        rows = [min(index, one.prices.shape[0] - 1) for one in costs]
        columns = [min(index, one.prices.shape[1] - 1) for one in costs]
        total = sum(one.prices[row, column] for one, row, column in zip(costs, rows, columns, strict=True))
        assert 0 < total <= even.price * 1.05
    conv2 = next(one for one in costs if one.name == "conv2")
    assert conv2.prices.shape == (3, 3) and conv2.prices[0, 0] < conv2.prices[2, 2]


def test_what_is_found_keeps_the_metric_with_the_least_hardware(
    design: Any, found: Any, folder: Path
) -> None:
    x, y = np.load(folder / "x.npy"), np.load(folder / "y.npy")
    assert found.floating == (1.0, 1.0) and found.asked == pytest.approx(0.95)
    assert (found.frames, found.held_out) == (80, 80)
    every = [*found.front, *found.uniform, found.chosen]
    for one in every:
        answers = one.design.golden(x).argmax(1) == y
        assert one.metric == pytest.approx(np.mean(answers[::2]))
        assert one.held_out == pytest.approx(np.mean(answers[1::2]))
    keeping = [one for one in every if one.loss.lost + 1.5 * one.loss.error <= 0.05 + 1e-12]
    assert found.chosen in keeping and not found.warnings
    assert found.chosen.price == min(one.price for one in keeping)
    assert found.chosen.price <= found.uniform[0].price and found.uniform[0].metric >= found.asked
    prices, metrics = [one.price for one in found.front], [one.metric for one in found.front]
    assert prices == sorted(prices) and metrics == sorted(set(metrics))
    used = found.chosen.hardware
    assert found.chosen.price == pytest.approx(price_of(found, used))
    assert found.as_json()["chosen"]["gap"] in (None, 0.0)
    # the design's own types are 8 bits for all
    assert found.own.name == "own: int8"
    assert (found.own.metric, found.own.price) == (found.uniform[0].metric, found.uniform[0].price)


def price_of(found: Any, used: Any) -> float:
    """The sum of the board's shares of one instance as fast as was asked for, estimated apart."""
    alone = found.chosen.design
    constraints = replace(alone.given.constraints, instances=1, target_interval=found.interval)
    estimate = Design(replace(alone.given, constraints=constraints)).estimate()
    assert (estimate.used.lut, estimate.used.dsp) == (used.lut, used.dsp)
    assert estimate.interval_cycles <= found.interval
    return price(estimate.used, prices_of(alone.board, "all"))


def test_held_out_labels_choose_nothing(design: Any, found: Any, folder: Path) -> None:
    """With wrong labels on every frame that is held out the very same widths are found."""
    y = np.load(folder / "y.npy")
    y[1::2] = (y[1::2] + 1) % 4
    again = hlsgen.quantise(design, folder / "x.npy", y, widths=WIDTHS, uniform=(8, 5, 3), loss=0.05)
    assert again.chosen.widths == found.chosen.widths
    assert again.chosen.metric == found.chosen.metric and again.chosen.held_out < 0.5


def test_held_out_frames_that_lose_more_are_said(design: Any, folder: Path) -> None:
    """A metric that on the others is 1 of outputs in floating point alone: what was found is no promise."""

    def odd(outputs: Any, labels: Any) -> float:
        exact = bool(np.any(outputs * 2.0**30 % 1))
        return float(exact) if labels[0] >= 10 else float(np.mean(outputs.argmax(1) == labels))

    y = np.load(folder / "y.npy")
    y[1::2] += 10
    found = hlsgen.quantise(design, labels=y, metric=odd, widths=(3, 5), uniform=(), loss=0.3)
    assert found.floating == (1.0, 1.0) and found.chosen.held_out == 0
    (warning,) = found.warnings
    assert "on the 80 held-out frames the chosen widths lose 1, more than the 0.3 that were" in warning
    assert found.as_json()["warnings"] == [warning]


def test_where_nothing_is_sure_the_nearest_is_chosen(design: Any, found: Any) -> None:
    """Ten standard errors exceed the loss allowed: what keeps it is chosen, and the command says so."""
    again = hlsgen.quantise(design, widths=(3, 5), uniform=(5, 3), loss=0.15, sigma=10)
    every = [*again.front, *again.uniform]
    assert not any(one.loss.lost + 10 * one.loss.error <= 0.15 for one in every)
    able = [one for one in every if one.loss.lost <= 0.15 + 1e-12]
    assert again.chosen in able and again.chosen.price > 0
    nearest = min(one.loss.lost + 10 * one.loss.error for one in able)
    assert again.chosen.loss.lost + 10 * again.chosen.loss.error == nearest
    assert any("10 standard errors to spare on 80 frames" in one for one in again.warnings)
    barely = hlsgen.quantise(design, widths=WIDTHS, uniform=(8, 5, 3), loss=0.05, sigma=0)
    assert barely.chosen.price <= found.chosen.price


def test_without_labels_the_answers_of_floating_point_are_kept(folder: Path) -> None:
    design = hlsgen.load(folder / "small.yaml")
    x = np.load(folder / "x.npy")
    found = hlsgen.quantise(design, x, widths=(1, 4, 8), uniform=(8,), loss=0.1, least="dsp")
    assert found.metric.name == "as in float" and found.floating == (1.0, 1.0)
    assert found.chosen.hardware.dsp <= found.uniform[0].hardware.dsp


# ---------------------------------------------------------------- files and the command


def test_the_command_writes_what_it_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "out").mkdir()
    words = ["quantise", "small.yaml", "--widths", "3,5,8", "--loss", "0.05"]
    files = ["-o", "out/chosen.yaml", "--front", "out/front", "--plot", "out/front.svg"]
    result = run(*words, *files, "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    x = np.load("x.npy")
    y = np.load("y.npy")
    chosen = hlsgen.load("out/chosen.yaml")
    assert np.mean(chosen.golden(x)[::2].argmax(1) == y[::2]) == pytest.approx(said["chosen"]["metric"])  # type: ignore[call-overload]
    table = hlsgen.accuracy(chosen, precisions=[], hardware=False)
    assert table.frames == 160 and table.metric is not None
    front = sorted((folder / "out/front").iterdir())
    assert len(front) == len(said["front"])
    for path, one in zip(front, said["front"], strict=True):
        answers = hlsgen.load(path).golden(x).argmax(1) == y  # type: ignore[union-attr]
        assert np.mean(answers[1::2]) == pytest.approx(one["metric_held_out"])
    assert "<svg" in (folder / "out/front.svg").read_text()
    text = run(*words).stdout
    assert "chosen: conv1 weights" in text and "held out" in text and "8 bits" in text


def test_the_same_picture_again(found: Any, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg", "a.png"):
        write_picture(found, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_what_is_refused(design: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.load(folder / "x.npy")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"least": "luts"}, "least is 'luts'"),
        ({"widths": (0, 4)}, "widths are"),
        ({"widths": ()}, "widths are"),
        ({"widths": (4, 32)}, "widths are"),
        ({"loss": -0.1}, "loss is -0.1"),
        ({"sigma": -1}, "sigma is -1"),
        ({"sigma": float("nan")}, "sigma is nan"),
        ({"frames": 12}, "frames are left to choose"),
        ({"widths": (2,), "uniform": (), "loss": 0.0}, "no widths keep top-1"),
    ]
    for words, said in wrong:
        with pytest.raises(DesignError, match=said):
            hlsgen.quantise(design, **words)
    net, options = nn.Conv2d(1, 2, 3).eval(), {"calibration": x, "style": "tasks", "board": "zcu102"}
    half = hlsgen.from_torch(net, (1, 6, 6), precision="half", **options)
    with pytest.raises(DesignError, match="that is to be fixed point, which this is not"):
        hlsgen.quantise(half, x)
    tasks = hlsgen.from_torch(net, (1, 6, 6), precision=8, **options)
    with pytest.raises(DesignError, match="least is 'dsp', and shared processors and tasks have"):
        hlsgen.quantise(tasks, x, least="dsp")
    monkeypatch.chdir(folder)
    (folder / "tmp").mkdir()
    assert "no .svg or .png file" in failure(1, "quantise", "small.yaml", "--plot", "front.gif")
    assert "is no list such as 4,6,8" in failure(2, "quantise", "small.yaml", "--widths", "4;6")
