"""hlsgen accuracy: measured against PyTorch and NumPy written apart, its hardware against `estimate`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.widths.by_precision import MOST_ELEMENTS
from tests.support.command_line import failure, run
from tests.support.places import ROOT

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn
DESIGNS = ROOT / "designs"
DIGITS, RAIDER = DESIGNS / "digits.yaml", DESIGNS / "raider_plain.yaml"
X, Y = np.load(DESIGNS / "digits/test_images.npy"), np.load(DESIGNS / "digits/test_labels.npy")


def small(precision: Any = "auto", frames: int = 32, **options: Any) -> tuple[Any, Any, Any, Any]:
    """A network, its design, frames that chose no types, and labels that are mostly its answers."""
    torch.manual_seed(1)
    net = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(96, 4)).eval()
    generator = np.random.default_rng(0)
    calibration, x = generator.normal(0, 1, (32, 1, 6, 6)), generator.normal(0, 1, (frames, 1, 6, 6))
    design = hlsgen.from_torch(net, (1, 6, 6), calibration=calibration, precision=precision, **options)
    with torch.no_grad():
        scores = net(torch.from_numpy(x).float()).numpy()
    labels = scores.argmax(1)
    labels[::7] = (labels[::7] + 1) % 4
    return net, design, x, labels


def test_digits_as_its_training_has_measured_them() -> None:
    """accuracy.json is train.py's, of PyTorch."""
    table = hlsgen.accuracy(hlsgen.load(DIGITS), precisions=[8, 4], hardware=False)
    stated = json.loads((DESIGNS / "digits/accuracy.json").read_text())
    assert table.frames == stated["test_frames"]
    assert table.rows[0].metric == pytest.approx(stated["test_accuracy"])
    for row, precision in zip(table.rows[1:], (None, 8, 4), strict=True):
        found = hlsgen.load(DIGITS, precision=precision).golden(X).argmax(1)  # type: ignore[union-attr]
        assert row.metric == pytest.approx(np.mean(found == Y))
    assert [row.name for row in table.rows] == ["float", "own: auto", "8 bits", "4 bits"]
    assert table.rows[3].metric < table.rows[2].metric  # type: ignore[operator]
    assert table.rows[0].hardware is None and table.rows[1].hardware is None


def test_raider_by_its_own_metric() -> None:
    """In floating point the trained weights are QKeras' own prediction: accuracy.json has its purities."""
    table = hlsgen.accuracy(hlsgen.load(RAIDER), precisions=[16], hardware=False)
    stated = json.loads((DESIGNS / "raider/accuracy.json").read_text())["test_events"]["qkeras"]
    worst = min(*stated["efficiency"], *stated["purity"])
    assert [round(row.metric, 4) for row in table.rows if row.name != "own: int8"] == [worst, worst]  # type: ignore[arg-type]
    assert table.metric is not None and table.metric.name == "worst_efficiency_or_purity"
    assert table.as_json()["rows"][0]["metric_at_least"] is None


@pytest.mark.filterwarnings("ignore")
def test_every_row_is_what_its_design_gives() -> None:
    """Golden, agreement, decibels and hardware as of a design of its own with that precision."""
    net, design, x, labels = small()
    table = hlsgen.accuracy(
        design, x, labels, precisions=[16, 5, "fixed<12,5>", {"default": 8, "weights": 3}]
    )
    with torch.no_grad():
        scores = net(torch.from_numpy(x).float()).double().numpy()
    assert table.rows[0].metric == pytest.approx(np.mean(scores.argmax(1) == labels))
    precisions: list[Any] = ["auto", 16, 5, "fixed<12,5>", {"default": 8, "weights": 3}]
    for row, precision in zip(table.rows[1:], precisions, strict=True):
        _, alone, _, _ = small(precision)
        got = alone.golden(x)
        assert row.metric == pytest.approx(np.mean(got.argmax(1) == labels))
        assert row.agreement == pytest.approx(np.mean(got.argmax(1) == scores.argmax(1)))
        noise = np.mean((got - scores) ** 2)
        assert row.output_db == pytest.approx(10 * np.log10(np.var(scores) / noise), abs=0.1)
        found = alone.estimate()
        assert row.hardware is not None and row.hardware.refusal == ""
        assert row.hardware.frames_per_s == pytest.approx(found.frames_per_s, abs=1e-3)
        assert (row.hardware.lut, row.hardware.dsp) == (found.used.lut, found.used.dsp)
    assert len({row.hardware.lut for row in table.rows[1:] if row.hardware}) > 1


def test_the_designs_own_input_and_sums_are_kept_and_no_row_is_twice() -> None:
    precision = {"default": 8, "input": "fixed<6,3,rnd,sat>", "accumulator": "exact"}
    _, design, x, labels = small(precision)
    table = hlsgen.accuracy(design, x, labels, precisions=[8, 4, "int4"], hardware=False)
    assert [row.name for row in table.rows] == ["float", "own: int8", "4 bits"]
    alone = small({**precision, "default": 4})[1]
    assert table.rows[2].metric == pytest.approx(np.mean(alone.golden(x).argmax(1) == labels))


@pytest.mark.filterwarnings("ignore")
def test_frames_in_parts_are_the_same_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    _, design, x, labels = small()
    whole = hlsgen.accuracy(design, 3 * x, labels, precisions=[3], hardware=False)
    monkeypatch.setattr("hlsgen.widths.by_precision.MOST_ELEMENTS", 1500)
    parts = hlsgen.accuracy(design, 3 * x, labels, precisions=[3], hardware=False)
    assert MOST_ELEMENTS > 1500 and whole.as_json() == parts.as_json()
    assert any(row.signs for row in parts.rows)


# ---------------------------------------------------------------- warning signs


def test_what_is_clipped_is_said() -> None:
    """The shares of the input, which NumPy counts, and of the layer behind it."""
    _, design, x, labels = small()
    calm, loud = (hlsgen.accuracy(design, k * x, labels, precisions=[], hardware=False) for k in (1, 20))
    assert calm.rows[1].signs == () and calm.signs == []
    port, layer = design.graph.inputs[0], design.graph.layers[0]
    type_ = port.tensor.type
    step = type_.resolution
    codes = np.floor(20 * x / step + 0.5)
    share = np.mean((codes > type_.max_code) | (codes < type_.min_code))
    assert f"input {port.name}: {share:.1%} clipped" in loud.rows[1].signs
    assert any(sign.startswith(f"{layer.name}: ") for sign in loud.rows[1].signs)
    assert f"own: auto: input {port.name}: {share:.1%} clipped" in loud.signs


def test_dead_layers_and_one_answer_for_all() -> None:
    """Weights of 2 bits of which all but the outliers become 0: what they feed is dead."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(64, 3)).eval()
    generator = np.random.default_rng(0)
    x = generator.normal(0, 1, (16, 1, 6, 6))
    with torch.no_grad():
        net[0].weight[1] *= 1e-3  # against the others, below the last bit
        net[0].bias.zero_()
    names = [one.name for one in hlsgen.from_torch(net, (1, 6, 6), calibration=x, precision=8).graph.layers]
    design = hlsgen.from_torch(
        net, (1, 6, 6), calibration=x, precision={"default": 16, names[0]: {"weights": 4}}
    )
    table = hlsgen.accuracy(design, x, precisions=[], hardware=False)
    assert table.metric is None and table.rows[0].metric is None
    assert f"{names[0]}: 1 of 4 channels give one value for every frame" in table.rows[1].signs
    wide = {"default": 16, names[0]: {"output": "fixed<4,12>"}}
    design = hlsgen.from_torch(net, (1, 6, 6), calibration=x, precision=wide)
    signs = hlsgen.accuracy(design, x, precisions=[], hardware=False).rows[1].signs
    assert f"{names[0]} is dead: it gives 0 for every frame" in signs
    assert any(sign.startswith("every frame gets the answer") for sign in signs)
    assert hlsgen.accuracy(design, x, precisions=[16], hardware=False).rows[2].signs == ()


def test_hardware_that_does_not_fit_is_a_row_all_the_same() -> None:
    from hlsgen.designfile.constraints import NetworkConstraints

    # 64 copies in four cycles a frame are more than the board has, whatever the width
    constraints = NetworkConstraints(instances=64, target_interval=36)
    _, design, x, labels = small(8, board="zcu102", constraints=constraints)
    (row,) = [
        one for one in hlsgen.accuracy(design, x, labels, precisions=[]).rows if one.name == "own: int8"
    ]
    assert row.hardware is not None and row.hardware.refusal
    assert row.metric is not None
    assert row.as_json()["hardware"] == {"refusal": row.hardware.refusal}


# ---------------------------------------------------------------- design files and commands


def accuracy_of(*words: str) -> Any:
    result = run("accuracy", *words, "--no-hardware", "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout), result.stderr


def test_the_command_and_a_designs_own_keys(tmp_path: Path) -> None:
    data = yaml.safe_load(DIGITS.read_text())
    folder = DESIGNS / "digits"
    data["model"] = {"torch": f"{folder}/digits.py:make_net", "weights": f"{folder}/digits.pt"}
    data["input"]["samples"] = f"{folder}/test_images.npy"
    np.save(tmp_path / "x.npy", X[200:300])
    np.save(tmp_path / "y.npy", Y[200:300])
    (tmp_path / "metric.py").write_text(
        "def errors(outputs, labels):\n    return -sum(outputs.argmax(1) != labels)\n"
    )
    data["accuracy"] = {"frames": "x.npy", "labels": "y.npy", "metric": "metric.py:errors"}
    path = tmp_path / "digits.yaml"
    path.write_text(yaml.safe_dump(data))
    found, said = accuracy_of(str(path), "--precisions", "4")
    assert (found["frames"], found["metric"], len(found["rows"])) == (100, "errors", 3)
    wrong = np.sum(hlsgen.load(path, precision=4).golden(X[200:300]).argmax(1) != Y[200:300])  # type: ignore[union-attr]
    assert found["rows"][2]["metric"] == -wrong < 0
    assert f"running {tmp_path}/metric.py, your own code, for errors()" in said
    words = ("--input", str(folder / "test_images.npy"), "--labels", str(folder / "test_labels.npy"))
    del data["accuracy"]["metric"]
    path.write_text(yaml.safe_dump(data))
    found, said = accuracy_of(str(path), *words, "--frames", "50", "--precisions", "none")
    assert (found["frames"], found["metric"], len(found["rows"])) == (50, "top-1", 2)
    assert found["calibration_frames"] >= 32 and "metric.py" not in said
    # the first labels are not of other frames
    found, _ = accuracy_of(str(path), *words[:2], "--precisions", "none")
    assert found["metric"] is None and found["rows"][0]["metric"] is None
    text = run("accuracy", str(path), "--precisions", "3").stdout
    assert "frames/s" in text and "3 bits" in text and "measured; hardware on zcu102" in text


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tmp").mkdir()
    digits = str(DIGITS)
    np.save("few.npy", Y[:9])
    np.save("objects.npy", np.array([{}], object), allow_pickle=True)
    np.savez("many.npz", y=Y)
    (tmp_path / "cut.npy").write_bytes((DESIGNS / "digits/test_labels.npy").read_bytes()[:300])
    (tmp_path / "metric.py").write_text("def f(o, y):\n    return 1 / 0\n")
    design = hlsgen.load(digits)
    given: list[tuple[dict[str, Any], str]] = [
        ({"labels": "few.npy"}, "there are 9 labels for 450 frames"),
        ({"labels": "none.npy"}, "labels cannot be read: none.npy"),
        ({"labels": Path("objects.npy")}, "labels cannot be read"),
        ({"labels": "cut.npy"}, "labels cannot be read"),
        ({"labels": "many.npz"}, "labels"),
        ({"metric": "metric.py"}, "the metric is 'metric.py'"),
        ({"x": "few.npy"}, "samples"),
        ({"precisions": [0]}, "must be a width of 1 to 64 bits, not 0"),
    ]
    for words, said in given:
        with pytest.raises(DesignError, match=re.escape(said)):
            hlsgen.accuracy(design, hardware=False, **words)
    said = failure(1, "accuracy", digits, "--no-hardware", "--metric", "metric.py:f")
    assert "f() of metric.py fails: ZeroDivisionError" in said
    assert "is no list" in failure(2, "accuracy", digits, "--precisions", "[")
    said = failure(1, "accuracy", str(DESIGNS / "conv.yaml"))
    assert "is a single layer, whose results are no answers" in said


def test_networks_without_calibration_frames() -> None:
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(32, 3)).eval()
    design = hlsgen.from_torch(net, (1, 6, 6), precision="fixed<16,6>")
    x = np.random.default_rng(0).normal(0, 1, (8, 1, 6, 6))
    with pytest.raises(DesignError, match="there are no frames to judge answers on"):
        hlsgen.accuracy(design)
    with pytest.raises(DesignError, match="no calibration frames to choose number types from"):
        hlsgen.accuracy(design, x)
    assert len(hlsgen.accuracy(design, x, precisions=[], hardware=False).rows) == 2
    for wrong in (x[:, :, :5], x[0], np.full_like(x, np.nan), x[:0], "text", [["a"]]):
        with pytest.raises(DesignError):
            hlsgen.accuracy(design, wrong, precisions=[], hardware=False)


def test_an_explored_design_still_names_its_frames(tmp_path: Path) -> None:
    target = tmp_path / "best.yaml"
    result = run("explore", str(DIGITS), "-o", str(target), "--target-fps", "100000")
    assert result.exit_code == 0, result.output
    found, _ = accuracy_of(str(target), "--precisions", "none")
    assert found["frames"] == 450 and found["metric"] == "top-1"
