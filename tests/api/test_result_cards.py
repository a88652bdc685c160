"""What notebooks show of results: profiles, traces, accuracy, widths, partitions, pipelines, programs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hlsgen
from hlsgen.api.design import Design
from hlsgen.partitioning.device_file import DeviceEntry, DeviceFile
from hlsgen.pipelining.split import split
from hlsgen.report.notebook import MOST_ROWS
from tests.support.cards import assert_small_and_whole

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

SHAPE = (2, 8, 8)
EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def design() -> Design:
    torch.manual_seed(3)
    nn = torch.nn
    module = nn.Sequential(
        nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 5)
    ).eval()
    x = np.random.default_rng(1).normal(size=(32, *SHAPE))
    return hlsgen.from_torch(module, SHAPE, name="net", calibration=x, precision=6, board="zcu102")


@pytest.fixture(scope="module")
def frames() -> np.ndarray:
    return np.random.default_rng(2).normal(size=(48, *SHAPE))


def shown(thing: object) -> str:
    """The words of the card, which is one small element."""
    html = thing._repr_html_()
    return assert_small_and_whole(html).words


def test_a_profile(design: Design, frames: np.ndarray) -> None:
    profile = design.profile(frames)
    words = shown(profile)
    assert profile.worst is not None and profile.worst.name in words
    for sentence in profile.verdict():
        assert sentence in words
    for title in ("Which layer ruins it", "Layer by layer", "The ranges of all"):
        assert title in words
    assert "modelled" not in words, "all of it is measured"


def test_a_trace(design: Design, frames: np.ndarray) -> None:
    trace = design.trace(frames[:4])
    words = shown(trace)
    compared = [one for one in trace.layers if one.error is not None]
    right = sum(not one.error.is_wrong for one in compared if one.error is not None)
    assert f"{right} of {len(compared)} layers" in words
    for layer in trace.layers:
        assert layer.name in words
    named = replace(trace, layers=(replace(trace.layers[0], name=EVIL), *trace.layers[1:]))
    assert EVIL in shown(named), "a name from outside is text"


def test_accuracy_and_widths(design: Design, frames: np.ndarray) -> None:
    labels = design.golden(frames).reshape(len(frames), -1).argmax(1)
    table = hlsgen.accuracy(design, frames, labels, precisions=[4, 8])
    words = shown(table)
    assert table.headline in words
    for row in table.rows:
        for cell in row.cells(table.metric):
            assert cell in words
    found = hlsgen.quantise(design, frames, labels, widths=(4, 8), uniform=(8,), loss=0.5, sigma=0)
    words = shown(found)
    assert found.metric.text(found.chosen.held_out) in words and "floating point" in words
    assert f"{found.chosen.hardware.lut:,}" in words
    table_of_widths = " ".join(words.split())
    assert len(found.chosen.widths) <= MOST_ROWS
    for name, bits in found.chosen.widths.items():
        assert f"{name} {bits}" in table_of_widths


def test_a_partition(design: Design, tmp_path: Path) -> None:
    times = tmp_path / "times.json"
    seconds = {layer.name: 1e-5 for layer in design.graph.layers}
    times.write_text(json.dumps({"machine": "a machine of this test", "layers": seconds}))
    devices = {
        "host": DeviceEntry(kind="cpu", times=str(times)),
        "card": DeviceEntry(kind="fpga", style="dataflow"),
    }
    found = hlsgen.partition(design, DeviceFile(devices=devices))
    words = shown(found)
    assert "host" in words and "card" in words
    assert "CPU times are measured, FPGA times modelled" in words
    for cells in (*found.task_cells, *found.device_cells):
        for cell in cells:
            assert cell in words
    for bound in found.found.binds[:3]:
        assert bound in words


def test_a_pipeline(design: Design) -> None:
    pipeline = split(design, parts=2)
    words = shown(pipeline)
    for part in pipeline.parts.values():
        assert part.name in words and part.about in words
    ends = [end for part in pipeline.parts.values() for end in part.inputs]
    assert len(ends) == 2
    for end in (*ends, *pipeline.results):
        assert end.source is not None
        assert f"{end.source.owner}: {end.source.name}" in words and f"{end.owner}: {end.name}" in words
    # what is not connected yet is said
    pipeline.results[0].source = None
    assert "nothing yet" in shown(pipeline)
