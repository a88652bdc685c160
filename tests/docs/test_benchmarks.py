"""The benchmarks' modelled half, JSON, tables and figure. How fast anything is, is not a test's business."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from tests.support.places import ROOT

FOLDER = ROOT / "benchmarks"
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
    png, svg = conv.figure_3_8(rows, tmp_path / "figure", note="measured here: a CPU")
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


NET = """
import torch


def make_net():
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1)]
    return torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(4, 3))
"""
DESIGN = """
name: tiny
board: zcu102
batch: 4
model: {torch: "net.py:make_net"}
input: {shape: [1, 6, 6], samples: random}
precision: auto
"""


@pytest.fixture
def networks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """benchmarks/networks.py as a module, found as when it is run."""
    monkeypatch.syspath_prepend(FOLDER)
    import networks

    return networks


@pytest.fixture
def hls4ml_networks(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(FOLDER)
    import hls4ml_networks

    return hls4ml_networks


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A design file of a network whose C-simulation is soon compiled."""
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    (tmp_path / "tiny.yaml").write_text(DESIGN, encoding="utf-8")
    return tmp_path / "tiny.yaml"


def shown(networks: Any, *findings: Any) -> str:
    console = Console(width=160, record=True, file=io.StringIO())
    networks.report(findings, console)
    return console.export_text()


def test_network_is_measured(networks: Any, tiny: Path) -> None:
    """hlsgen alone, with the least effort: hls4ml's findings are invented."""
    pytest.importorskip("torch", reason="torch is not installed")
    found = networks.measure(tiny, networks.Effort(macs=1, repeats=1, peer_macs=0))
    macs = 4 * 36 * 9 + 3 * 4
    assert (found.modelled.macs, found.modelled.board, found.modelled.batch) == (macs, "zcu102", 4)
    assert found.modelled.frames_per_s > 0 and found.modelled.interval_cycles > 0
    assert min(vars(found.built).values()) > 0
    run = found.simulated
    assert run.compiler.runs == 1 and run.compiler.cpu_s > 0 and run.compiler.peak_mb > 10
    assert min(run.core_rate, run.kernel_rate, run.all_rate, run.csim_mb) > 0 and run.frames == 1
    assert run.checked > 0
    assert found.memory_mb == max(found.built.python_mb, run.compiler.peak_mb, run.csim_mb)
    entry = json.loads(json.dumps(networks.document([found]), allow_nan=False))["networks"][0]
    assert entry["modelled"]["kind"] == "modelled" and entry["built"]["kind"] == "measured"
    assert entry["hls4ml"] == {"kind": "missing", "what": "hls4ml", "reason": "left out"}
    assert entry["ratios"]["M MAC/s a core, hlsgen to hls4ml"] is None
    assert set(entry["met"]) == {target.what for target in networks.TARGETS}

    peer = networks.Hls4mlNetwork(
        version="1.3.0",
        respelled="AvgPool2d for AdaptiveAvgPool2d",
        convert_s=0.5,
        compiler=replace(run.compiler, cpu_s=2 * run.compiler.cpu_s),
        rate=run.core_rate / 8,
        reason="predict: /usr/share/a.h: Assertion `no' failed",
    )
    full = replace(found, hls4ml=peer)
    by = networks.ratios(full)
    assert by["M MAC/s a core, hlsgen to hls4ml"] == 8 and by["compile CPU s, hls4ml to hlsgen"] == 2
    text = shown(networks, full)
    assert "tried with AvgPool2d for AdaptiveAvgPool2d" in text
    assert "not measured further: predict: a.h: Assertion `no' failed" in text
    assert "never the FPGA's" in text and "Modelled" in text and "met" in text


def test_network_that_cannot_be_built_is_missing(networks: Any, tiny: Path) -> None:
    tiny.write_text("model: [", encoding="utf-8")
    found = networks.measure(tiny, networks.Effort(macs=1, repeats=1, peer_macs=1))
    for one in (found.modelled, found.built, found.simulated):
        assert isinstance(one, networks.Missing) and "tiny.yaml" in one.reason
    entry = networks.document([found])["networks"][0]
    assert {entry[key]["kind"] for key in ("modelled", "built", "simulated", "hls4ml")} == {"missing"}
    assert set(entry["met"].values()) == {None}
    assert "hlsgen on tiny: not measured: " in shown(networks, found)


def test_targets_apply_to_their_networks(networks: Any) -> None:
    nothing = networks.Missing(what="hlsgen", reason="invented")
    built = networks.Built(framework_s=1, load_s=1, build_s=11, build_cpu_s=9, python_mb=500)
    found = networks.Finding(
        name="resnet18", modelled=nothing, built=built, simulated=nothing, hls4ml=nothing
    )
    (target,) = [one for one in networks.TARGETS if one.what == "build s"]
    assert target.met(found) is False and target.met(replace(found, built=replace(built, build_s=9.0)))
    assert target.met(replace(found, name="vgg_cifar")) is None


def test_metered_program(hls4ml_networks: Any, tmp_path: Path) -> None:
    """Its arguments, output and status are the program's; every run is counted."""
    metered = hls4ml_networks.Metered(sys.executable, tmp_path, "metered")
    uses = [metered.use]
    code = "import sys; data = bytearray(60_000_000); print(sys.argv[1]); sys.exit(3)"
    for _ in range(2):
        command = [metered.script, "-c", code, "a b"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (3, "a b\n")
        uses.append(metered.use)
    assert uses[0] is None and uses[1].runs == 1 and uses[2].runs == 2
    assert 60 < uses[2].peak_mb < 120 and 0 < uses[2].least_cpu_s < uses[2].cpu_s


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("print('far'); raise Exception('no layer\\nof this name')", "no layer"),
        ("def f(): raise KeyError\ntry: f()\nexcept KeyError: f()", "KeyError"),
        ("import sys; print('that was it'); sys.exit(1)", " -c ended with status 1: that was it"),
    ],
)
def test_why_a_program_failed(hls4ml_networks: Any, tmp_path: Path, code: str, said: str) -> None:
    """What an exception says, in its first line; else the status and the last line of the output."""
    with pytest.raises(hls4ml_networks.Failed) as failure:
        hls4ml_networks.run([sys.executable, "-c", code], tmp_path, 60.0)
    assert str(failure.value).removeprefix(Path(sys.executable).name) == said


def test_equal_modules_that_hls4ml_knows(hls4ml_networks: Any, tiny: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    module = hls4ml_networks.torch_form(tiny)
    x = np.random.default_rng(0).normal(size=(2, 1, 6, 6)).astype(np.float32)
    with torch.inference_mode():
        before = module(torch.from_numpy(x))
        assert hls4ml_networks.respelled(module, x) == "AvgPool2d for AdaptiveAvgPool2d"
        torch.testing.assert_close(module(torch.from_numpy(x)), before)


def test_raider_in_pytorch_is_the_qkeras_network(hls4ml_networks: Any) -> None:
    """Up to the rounding of QKeras' activations, on the test events."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("h5py", reason="h5py is not installed")
    folder = FOLDER.parent / "designs" / "raider"
    x = np.load(folder / "test_images.npy").astype(np.float32).reshape(-1, 1, 16, 16)
    module = hls4ml_networks.torch_form(folder.parent / "raider.yaml")
    with torch.inference_mode():
        classes = module(torch.from_numpy(x)).numpy().argmax(axis=1)
    right = classes == np.load(folder / "test_events.npz")["labels"]
    stated = json.loads((folder / "accuracy.json").read_text())["test_events"]["qkeras"]["accuracy"]
    assert right.mean() == pytest.approx(stated, abs=0.002)


# ---------------------------------------------------------------- auto


@pytest.fixture
def auto(monkeypatch: pytest.MonkeyPatch) -> Any:
    """benchmarks/auto.py as a module, found as when it is run."""
    pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.syspath_prepend(FOLDER)
    import auto

    return auto


def test_frames_that_judge_auto_are_others_than_those_that_chose(auto: Any) -> None:
    made = [auto.crops(4, seed) for seed in (auto.STATISTICS, auto.CALIBRATION, auto.UNSEEN)]
    assert all(one.shape == (4, *auto.SHAPE) and one.dtype == np.float32 for one in made)
    assert len({frame.tobytes() for one in made for frame in one}) == 12
    assert np.array_equal(auto.crops(4, auto.UNSEEN), made[2])


def test_nearness_of_scores(auto: Any) -> None:
    wanted = np.array([[1.0, 0.0], [0.0, 1.0], [0.51, 0.5], [-1.0, 1.0]])
    found = auto._nearness(wanted + np.array([[0.0, 0.0], [0.0, 0.0], [-0.2, 0.2], [0.0, 0.0]]), wanted)
    assert (found["agreeing"], found["tied"]) == (3, 1)
    assert found["snr_db"] == pytest.approx(10 * np.log10(np.var(wanted) / 0.01))


def test_auto_beside_a_fixed_type(
    auto: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from torch import nn

    def small() -> nn.Module:
        layers = [nn.Conv2d(3, 4, 5, 4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)]
        return nn.Sequential(*layers)

    monkeypatch.setattr(auto, "NETWORKS", {"small": small})
    file = tmp_path / "found" / "auto.json"
    auto.main(["--json", str(file), "--frames", "8", "small"])
    printed = capsys.readouterr().out
    report = json.loads(file.read_text(encoding="utf-8"))
    assert [(row["network"], row["types"]) for row in report["rows"]] == [
        ("small", "auto"),
        ("small", "fixed<16,6>"),
    ]
    chosen, given = report["rows"]
    assert chosen["snr_db"] > 25 and chosen["target_db"] is not None and given["target_db"] is None
    assert given["tensor_bits"] == 16 > chosen["tensor_bits"]
    frames = [row["frames_per_s"] / row["lut"] for row in report["rows"]]
    assert frames[0] > frames[1] > 0
    assert "small" in printed and "8 of 8" in printed
