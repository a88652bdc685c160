"""The benchmark's modelled half, its JSON and its figure. What it measures is not a test's business."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
SMALL = ("conv", "zcu102")
"""The design and board that are modelled in the least time."""


@pytest.fixture
def conv(monkeypatch: pytest.MonkeyPatch) -> Any:
    """benchmarks/conv.py as a module, found as when it is run."""
    monkeypatch.syspath_prepend(FOLDER)
    import conv

    return conv


@pytest.fixture
def measured(conv: Any) -> Any:
    """Invented findings, one of them missing."""

    def found(what: str, value: float, **detail: float | str) -> Any:
        return conv.Measurement(what=what, value=value, unit="", seconds=1.0, frames=2, detail=detail)

    return conv.Measured(
        naive=found("naive", 2.0),
        pytorch=found("PyTorch", 50.0, torch="2.0+cpu", threads=2),
        fast=found("fast", 400e6, **{"compile CPU s": 2.0}),
        reference=found("reference", 50e6, **{"compile CPU s": 6.0}),
        hls4ml=conv.Missing(what="hls4ml", reason="g++ failed:\n/usr/share/a.h:3: no and/or"),
    )


@pytest.mark.parametrize(
    ("design", "board", "gops"),
    [
        ("conv", "u200", 500),
        ("conv_fixed16", "u200", 2000),
        ("conv_int8", "u200", 4000),
        ("conv", "zcu102", 200),
        ("conv_fixed16", "zcu102", 700),
        ("conv_int8", "zcu102", 1400),
    ],
)
def test_model_reaches_target(
    conv: Any, monkeypatch: pytest.MonkeyPatch, design: str, board: str, gops: float
) -> None:
    """At 300 MHz, within every SLR, with a proven bank map; and no process is started for it."""
    monkeypatch.setattr(subprocess, "Popen", None)
    row = conv.modelled(design, board)
    assert conv.TARGETS[design, board] == gops
    assert row.clock_mhz == 300
    assert row.gops >= gops and row.batch_gops >= gops and row.reached
    assert row.proven
    assert row.within and sum(region.instances for region in row.regions) == row.instances
    if (design, board) == ("conv", "u200"):
        assert row.resources.bram18 < 3378


def test_published(conv: Any) -> None:
    assert conv.PUBLISHED.gflops_at_most == 54
    assert conv.PUBLISHED.resources.lut == int(0.2835 * 1_182_240)


@pytest.mark.parametrize(("change", "reached"), [({}, True), ({"bram18": 3378}, False)])
def test_more_memory_than_published_is_not_reached(conv: Any, change: dict[str, int], reached: bool) -> None:
    row = replace(conv.modelled(*SMALL), board="u200")
    assert replace(row, resources=replace(row.resources, **change)).reached is reached


@pytest.mark.parametrize("change", [{"gops": 199.0}, {"batch_gops": 199.0}])
def test_slow_is_not_reached(conv: Any, change: dict[str, float]) -> None:
    assert not replace(conv.modelled(*SMALL), **change).reached


def test_overfull_slr_is_not_within(conv: Any) -> None:
    row = conv.modelled(*SMALL)
    (region,) = row.regions
    over = replace(region, used=replace(region.used, ff=region.usable.ff + 1))
    assert region.within and row.within
    assert not over.within and not replace(row, regions=(over,)).within


def test_json(conv: Any, measured: Any) -> None:
    models = [conv.modelled(*SMALL)]
    text = json.dumps(conv.document(models, measured), allow_nan=False)
    report = json.loads(text)
    assert set(report) == {"layer", "hlsgen", "published", "modelled", "machine", "measured"}
    assert report["layer"]["macs"] == 16 * 62 * 62 * 16 * 9
    assert report["published"]["kind"] == "published"
    (row,) = report["modelled"]
    assert row["kind"] == "modelled" and row["reached"] and row["within"] and row["proven"]
    assert row["regions"][0]["used"]["dsp"] == row["resources"]["dsp"]
    assert set(report["machine"]) == {"cpu", "architecture", "cores", "compiler", "python", "system"}
    found = report["measured"]
    assert [found[name]["kind"] for name in ("naive", "pytorch", "fast", "reference")] == ["measured"] * 4
    assert found["hls4ml"] == {"kind": "missing", "what": "hls4ml", "reason": "g++ failed: a.h:3: no and/or"}
    assert found["ratios"]["fast headers to reference headers"] == 8
    assert found["ratios"]["fast headers to hls4ml"] is None
    assert found["targets"]["csim reached"] and found["targets"]["compile reached"]
    assert str(FOLDER.parent) not in text and sys.prefix not in text


def test_json_without_measurements(conv: Any) -> None:
    assert set(conv.document([conv.modelled(*SMALL)], None)) == {"layer", "hlsgen", "published", "modelled"}


def test_tables_say_what_is_missing(conv: Any, measured: Any) -> None:
    console = Console(width=160, record=True, file=io.StringIO())
    models = [conv.modelled(*SMALL)]
    for table in (
        conv.modelled_table(models),
        conv.region_table(models),
        *conv.measured_tables(measured),
    ):
        console.print(table)
    text = console.export_text()
    assert "hls4ml: not measured: g++ failed" in text
    assert "3,378" in text and "modelled" in text.lower() and "never the FPGA's" in text


def test_figure_labels_every_bar(conv: Any, measured: Any, tmp_path: Path) -> None:
    """Matplotlib writes each text of an SVG as a comment too."""
    rows = conv.figure_rows([conv.modelled(*SMALL)], measured)
    assert [row.source.split()[0] for row in rows] == ["measured"] * 2 + ["published"] * 2 + ["modelled"]
    png, svg = conv.peers.figure_3_8(rows, tmp_path / "figure", note="measured here: a CPU")
    assert png.read_bytes().startswith(b"\x89PNG")
    text = svg.read_text(encoding="utf-8")
    values = ["2", "50", "0.0222", "≤ 54", f"{rows[-1].gflops:,.0f}"]
    for row, value in zip(rows, values, strict=True):
        assert f"<!-- {value}  {row.source} -->" in text
        assert f"<!-- {row.label} -->" in text
    assert "measured here: a CPU" in text
    assert text.count("<!-- measured here -->") == 1  # the legend


def test_missing_has_no_bar(conv: Any, measured: Any) -> None:
    rows = conv.figure_rows([], replace(measured, pytorch=measured.hls4ml))
    assert [row.source for row in rows] == ["measured here", "published (D4.8)", "published (D4.8)"]
