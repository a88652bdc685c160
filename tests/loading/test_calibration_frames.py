"""Which of the given frames choose number types, judge them, and are simulated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import hlsgen
from hlsgen.model.samples import spread

torch = pytest.importorskip("torch", reason="torch is not installed")

NET = """
import torch

def make():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                               torch.nn.Linear(64, 3)).eval()
"""


def sorted_frames(count: int = 500) -> Any:
    """Sorted by loudness, as a file sorted by daylight is: the last frames are 30 times as loud."""
    rng = np.random.default_rng(0)
    loudness = np.geomspace(0.1, 3.0, count)[:, None, None, None]
    return (rng.uniform(-1, 1, (count, 1, 6, 6)) * loudness).astype(np.float32)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(NET)
    np.save(tmp_path / "x.npy", sorted_frames())
    data = {
        "name": "net",
        "board": "zcu102",
        "model": {"torch": "net.py:make"},
        "input": {"shape": [1, 6, 6], "samples": "x.npy"},
    }
    (tmp_path / "net.yaml").write_text(yaml.safe_dump(data))
    return tmp_path


def test_a_sorted_file_loses_nothing_on_the_command_line(written: Path) -> None:
    """The first 32 frames of it have a thirtieth of its range."""
    design = hlsgen.load(written / "net.yaml")
    x = sorted_frames()[1::2]
    with torch.no_grad():
        made: dict[str, Any] = {}
        exec(NET, made)
        wanted = made["make"]()(torch.from_numpy(x)).numpy()
    noise = np.square(design.golden(x) - wanted).sum()
    assert 10 * np.log10(np.square(wanted).sum() / noise) > 25
    calibration = design.calibration
    assert calibration is not None and str(calibration).endswith("x.npy: 500 frames")
    assert 200 < len(calibration.of_ranges) < 300


def test_python_and_the_command_line_choose_the_same(written: Path) -> None:
    made: dict[str, Any] = {}
    exec(NET, made)
    here = hlsgen.from_torch(
        made["make"](), (1, 6, 6), calibration=sorted_frames(), precision="auto", board="zcu102", batch=64
    )
    there = hlsgen.load(written / "net.yaml", precision="auto")
    for mine, other in zip(here.graph.layers, there.graph.layers, strict=True):
        assert mine.output_type == other.output_type
    x = sorted_frames(20)
    np.testing.assert_array_equal(here.golden(x), there.golden(x))


def test_simulated_frames_are_spread_over_those_that_chose_no_range(written: Path) -> None:
    style: Any = hlsgen.load(written / "net.yaml").given
    x = sorted_frames()
    (simulated,) = style.sampled(16).values.values()
    numbers = [int(np.flatnonzero((x == frame).all(axis=(1, 2, 3)))[0]) for frame in simulated]
    assert len(set(numbers)) == 16 and not set(numbers) & style.calibration.of_ranges
    assert numbers == sorted(numbers) and numbers[0] < 60 and numbers[-1] > 440


def test_a_sample_within_the_budget_is_spread_and_said(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hlsgen.quantising.float_run.MOST_FRAMES", 64)
    calibration = hlsgen.load(written / "net.yaml").calibration
    assert calibration is not None and str(calibration).endswith("x.npy: 64 of 500 frames, spread")
    assert len(calibration.of_ranges) == 32 and max(calibration.of_ranges) > 400


@pytest.mark.parametrize(("total", "count"), [(10, 20), (500, 64), (1000, 7), (64, 64), (3, 1)])
def test_a_spread_takes_one_frame_of_each_part(total: int, count: int) -> None:
    found = spread(total, count)
    assert len(found) == len(set(found)) == min(total, count) and found == sorted(found)
    for part, index in enumerate(found):
        assert part * total // len(found) <= index < (part + 1) * total // len(found)


def test_a_spread_follows_no_turns_of_classes() -> None:
    """Of a file whose ten classes take turns every tenth frame would be of one class."""
    assert len({index % 10 for index in spread(1280, 128)}) == 10
