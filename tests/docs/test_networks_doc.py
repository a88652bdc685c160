"""docs/networks.md: its snippets and commands run, its excerpt of a report is what its design gives."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from hlsgen.cli.commands import cli
from tests.support.documents import assert_constants_are_as_stated, blocks, document, files, rows
from tests.support.places import ROOT

torch = pytest.importorskip("torch", reason="torch is not installed")

DOC = document("networks.md")
FILES = files(DOC)
SNIPPETS = [block for block in blocks(DOC, "python") if block not in FILES.values()]
COMMANDS = [line.split("#")[0].split() for block in blocks(DOC, "console") for line in block.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder as the document takes it for granted, the current one and on the path of modules."""
    place = tmp_path_factory.mktemp("networks")
    for name, text in FILES.items():
        (place / name).write_text(text, encoding="utf-8")
    (place / "designs").symlink_to(ROOT / "designs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.syspath_prepend(str(place))
        yield place
        sys.modules.pop("net", None)


@pytest.fixture(scope="module")
def names(folder: Path) -> dict[str, Any]:
    """What the snippets so far have named."""
    return {}


def test_the_document_has_what_is_tested_here() -> None:
    assert list(FILES) == ["net.py", "small.yaml"]
    assert len(SNIPPETS) == 5
    assert [command[:2] for command in COMMANDS] == [
        ["hlsgen", "import"],
        ["hlsgen", "check"],
        ["hlsgen", "estimate"],
        ["hlsgen", "build"],
        ["hlsgen", "estimate"],
    ]


def test_from_torch_to_csim(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    exec(SNIPPETS[0], names)
    report = names["project"].report
    interval, rate = capsys.readouterr().out.split()
    assert int(interval) == report["total"]["interval_cycles"]
    assert float(rate) == report["performance"]["frames_per_s"]
    assert names["y"].shape == (16, 10)
    with torch.no_grad():
        wanted = names["make_net"]().eval()(torch.from_numpy(names["x"]).float()).numpy()
    assert np.sqrt(np.mean((names["y"] - wanted) ** 2) / np.mean(wanted**2)) < 0.05


@pytest.mark.filterwarnings("ignore")
def test_other_frameworks(names: dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for package in ("onnx", "qkeras", "tensorflow", "tf_keras"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    from tests.support.frontends.onnx_models import model, node, onnx

    weights = {"w": np.ones((4, 1, 3, 3), np.float32), "m": np.ones((144, 3), np.float32)}
    nodes = [node("Conv", "x w", "c"), node("Relu", "c", "r"), node("Flatten", "r", "f")]
    onnx.save(model([*nodes, node("MatMul", "f m", "y")], {"x": ("N", 1, 8, 8)}, weights), "net.onnx")
    names.setdefault("x", np.zeros((16, 1, 8, 8)))
    exec("import hlsgen\n" + SNIPPETS[1], names)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("ufixed<15,5")  # raider's quantized_relu(15,5), taken into its convolution
    assert second == "['conv2d', 'dense']"


def test_precision(names: dict[str, Any], folder: Path) -> None:
    """As the table says it, of the six designs."""
    from net import make_net

    x = np.random.default_rng(0).uniform(-1, 1, (16, 1, 8, 8))
    kept: dict[str, Any] = {"make_net": make_net, "x": x}
    import hlsgen

    designs: list[Any] = []
    made = hlsgen.from_torch
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hlsgen.api.from_model.from_torch", lambda *a, **k: designs.append(made(*a, **k)))
        exec("import hlsgen\n" + SNIPPETS[2], kept)
    auto, eight, by_layer, plain, floats, mixed = (
        {layer.name: layer for layer in design.graph.layers} for design in designs
    )
    assert {eight[name].output_type.width for name in ("conv1", "conv2", "relu_2", "fc")} == {8}
    assert {one.weight_type.width for one in eight.values() if hasattr(one, "weight_type")} == {8}
    assert not eight["conv1"].output_type.signed and eight["fc"].output_type.signed
    assert [
        (by_layer[name].weight_type.width, by_layer[name].result_type.width) for name in ("conv1", "conv2")
    ] == [
        (4, 8),
        (4, 4),
    ]
    assert list(auto) == list(plain) == ["conv1", "conv2", "add", "relu_2", "pool", "fc"]
    assert all(layer.result_type.width <= 16 for name, layer in auto.items() if name in ("conv1", "fc"))
    assert str(plain["conv1"].result_type) == "fixed<16,6,rnd,sat>"
    assert str(plain["conv1"].weight_type).startswith("fixed<16,")
    assert plain["add"].result_type == plain["add"].exact_type  # only a ReLU reads it
    assert {str(layer.output_type) for layer in floats.values()} == {"float32"}
    assert str(mixed["conv1"].weight_type) == "fixed<8,1>"
    assert str(mixed["fc"].result_type) == "fixed<16,6,rnd,sat>"
    assert str(designs[5].graph.input.type) == "fixed<8,1,rnd,sat>"


def test_what_auto_reaches(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from net import make_net

    x = np.random.default_rng(0).uniform(-1, 1, (16, 1, 8, 8))
    exec("import hlsgen\n" + SNIPPETS[3], {"net": make_net(), "shape": (1, 8, 8), "x": x})
    frames, decibels, agreement = capsys.readouterr().out.split()
    assert (int(frames), float(agreement)) == (8, 1.0)
    assert float(decibels) >= 40


def test_channels_are_balanced(folder: Path) -> None:
    """Of a network whose channels are even, it may change nothing; what it gains is tested beside it."""
    from net import make_net

    x = np.random.default_rng(0).uniform(-1, 1, (16, 1, 8, 8))
    names: dict[str, Any] = {"net": make_net(), "shape": (1, 8, 8), "x": x}
    exec("import hlsgen\n" + SNIPPETS[4], names)
    assert names["design"].given.precision.balance
    with torch.no_grad():
        wanted = make_net().eval()(torch.from_numpy(x).float()).numpy()
    assert np.sqrt(np.mean((names["design"].golden(x) - wanted) ** 2) / np.mean(wanted**2)) < 0.1


def test_commands_and_the_excerpt_of_the_report(folder: Path) -> None:
    for command in COMMANDS:
        done = CliRunner().invoke(cli, command[1:])
        assert done.exit_code == 0, f"{command}: {done.output}"
    report = json.loads((folder / "build" / "small" / "report.json").read_text(encoding="utf-8"))
    parts = DOC[DOC.index("| stage | kind |") :].split("\n\n")
    assert list(rows(parts[0]))[1:] == [
        [
            f"`{layer['name']}`",
            layer["kind"],
            " x ".join(map(str, layer["shape"])),
            layer["type"],
            " / ".join(str(layer["folding"][key]) for key in ("px", "pe", "simd")),
            f"{layer['interval_cycles']:,}",
        ]
        for layer in report["layers"]
    ]
    assert list(rows(parts[1]))[1:] == [
        [f"`{fifo['name']}`", str(fifo["depth"]), str(fifo["least_depth"])]
        for fifo in report["fifos"]
        if fifo["depth"] > 2
    ]
    assert parts[2] in (folder / "build" / "small" / "report.md").read_text(encoding="utf-8")
    assert (folder / "net.yaml").exists()
    assert {path.name for path in (folder / "build" / "small").iterdir()} >= {"src", "tb", "vitis"}


def test_constants() -> None:
    assert_constants_are_as_stated(DOC)
