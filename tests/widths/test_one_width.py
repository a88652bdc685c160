"""Processors that layers share, and tasks: every pair of widths is tried apart, and none is faster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.widths.front_file import write_picture
from tests.support.command_line import run

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn
NET = """import torch
from torch import nn


def make_net():
    torch.manual_seed(3)
    return nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Conv2d(6, 4, 2), nn.Flatten(), nn.Linear(36, 4))
"""
FILE = """name: small
board: zcu102
style: {style}
model: {{torch: "net.py:make_net"}}
input: {{shape: [1, 6, 6], type: "fixed<8,3,rnd,sat>", samples: calibration.npy}}
precision: 16
accuracy: {{frames: x.npy, labels: y.npy}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("one_width")
    (place / "net.py").write_text(NET)
    for style in ("shared", "tasks"):
        (place / f"{style}.yaml").write_text(FILE.format(style=style))
    names: dict[str, Any] = {}
    exec(NET, names)
    generator = np.random.default_rng(0)
    x = generator.normal(0, 1, (160, 1, 6, 6))
    np.save(place / "calibration.npy", generator.normal(0, 1, (32, 1, 6, 6)))
    np.save(place / "x.npy", x)
    with torch.no_grad():
        np.save(place / "y.npy", names["make_net"]()(torch.from_numpy(x).float()).numpy().argmax(1))
    return place


@pytest.mark.parametrize(("style", "widths"), [("shared", (4, 8)), ("tasks", (4, 8, 16))])
def test_no_pair_that_keeps_the_metric_is_faster(folder: Path, style: str, widths: tuple[int, ...]) -> None:
    found = hlsgen.quantise(hlsgen.load(folder / f"{style}.yaml"), widths=widths, uniform=(8,), loss=0.1)
    x, y = np.load(folder / "x.npy"), np.load(folder / "y.npy")
    keeping = []
    for default in widths:
        for weights in widths:
            precision = {"default": default, "weights": weights, "input": "fixed<8,3,rnd,sat>"}
            made: Any = hlsgen.load(folder / f"{style}.yaml", precision=precision)
            right = made.golden(x).argmax(1) == y
            groups = [np.delete(right[::2], np.arange(one, 80, 10)).mean() for one in range(10)]
            error = np.std(groups) * 3
            if 1 - right[::2].mean() + 1.5 * error <= 0.1 + 1e-12:
                keeping.append((made.estimate().frames_per_s, default, weights, right[1::2].mean()))
    best = max(keeping)
    chosen = found.chosen
    assert chosen.hardware.frames_per_s == pytest.approx(best[0])
    assert chosen.price == pytest.approx(1e6 / best[0])
    same = [one for one in keeping if one[0] == best[0]]
    assert chosen.held_out in [pytest.approx(one[3]) for one in same]
    assert found.interval == 0 and found.own.name == "own: int16"
    assert found.runs <= 2 * len(widths) - 1


def test_the_command_writes_what_it_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    words = ["quantise", "tasks.yaml", "--widths", "8,16", "--loss", "0.1"]
    result = run(*words, "-o", "chosen.yaml", "--force", "--plot", "front.svg")
    assert result.exit_code == 0, result.output
    assert (
        "frames/s" in result.stdout and "the fastest on AMD ZCU102, all instances together" in result.stdout
    )
    chosen: Any = hlsgen.load("chosen.yaml")
    said = json.loads(run(*words, "--json").stdout)
    assert said["interval_cycles"] is None
    assert chosen.estimate().frames_per_s == pytest.approx(
        said["chosen"]["hardware"]["frames_per_s"], rel=1e-3
    )
    x, y = np.load("x.npy"), np.load("y.npy")
    assert np.mean(chosen.golden(x)[1::2].argmax(1) == y[1::2]) == said["chosen"]["metric_held_out"]
    assert "time of a frame" in Path("front.svg").read_text() or Path("front.svg").stat().st_size > 1000


def test_nothing_that_keeps_is_said(folder: Path, tmp_path: Path) -> None:
    design = hlsgen.load(folder / "tasks.yaml")
    with pytest.raises(DesignError, match="no widths keep top-1"):
        hlsgen.quantise(design, widths=(2,), uniform=(), loss=0.0)
    found = hlsgen.quantise(design, widths=(8,), uniform=(8,), loss=0.3)
    write_picture(found, tmp_path / "front.png")
    assert "8 bits" in repr(found)
