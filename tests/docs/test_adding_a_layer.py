"""docs/adding-a-layer.md: the files it shows, put where they belong, are a working kind of layer."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jinja2
import numpy as np
import pytest

import hlsgen
import hlsgen.layers
import tests.layers
from hlsgen.emit.dataflow import kernel_files
from hlsgen.emit.environment import environment
from hlsgen.emit.plan import KernelNames
from hlsgen.layers.base import Layer
from hlsgen.targets.board import load_board
from tests.support.documents import document, files
from tests.support.layers.emitted import emitted_examples, files_of, pipeline_of_examples, unshown_templates
from tests.support.places import ROOT

FILES = files(document("adding-a-layer.md"))
"""What the document shows, by path."""
LAYER, TEMPLATE, TEST, FRONTEND, ONNX = (
    "hlsgen/layers/square.py",
    "templates/hls/stages/square.h.j2",
    "tests/layers/test_square.py",
    "hlsgen/frontends/torch/arithmetic.py",
    "hlsgen/frontends/onnx/elementwise.py",
)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The three files in a folder that the packages and the templates' loader look into as well."""
    for path in (LAYER, TEMPLATE, TEST):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(FILES[path], encoding="utf-8")
    for package in (hlsgen.layers, tests.layers):
        folder = str(tmp_path / package.__name__.replace(".", "/"))
        monkeypatch.setattr(package, "__path__", [*package.__path__, folder])
    loader = environment().loader
    assert loader is not None
    besides = jinja2.FileSystemLoader(tmp_path / "templates")
    monkeypatch.setattr(environment(), "loader", jinja2.ChoiceLoader([loader, besides]))
    monkeypatch.setattr(Layer, "kinds", dict(Layer.kinds))
    assert environment().cache is not None
    environment().cache.clear()
    yield tmp_path
    for name in ("hlsgen.layers.square", "tests.layers.test_square"):
        sys.modules.pop(name, None)
    environment().cache.clear()


def shown_tests() -> dict[str, Callable[..., None]]:
    module: ModuleType = importlib.import_module("tests.layers.test_square")
    return {name: test for name, test in vars(module).items() if name.startswith("test_")}


def run(test: Callable[..., None], **fixtures: Any) -> None:
    """As pytest calls it."""
    wanted = inspect.signature(test).parameters
    test(**{name: fixture for name, fixture in fixtures.items() if name in wanted})


def test_the_document_shows_three_files_and_entries() -> None:
    assert list(FILES) == [LAYER, TEMPLATE, TEST, FRONTEND, ONNX]
    root = ROOT
    assert not any((root / path).exists() for path in (LAYER, TEMPLATE, TEST)), "the example is real by now"
    assert (root / FRONTEND).exists() and (root / ONNX).exists()


def test_its_tests_pass(written: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Golden, C-simulation in every folding and in random ones, and the fault that it must find."""
    shown = shown_tests()
    assert len(shown) == FILES[TEST].count("\ndef test_") == 6
    for name, test in shown.items():
        run(test, tmp_path=tmp_path_factory.mktemp(name), tmp_path_factory=tmp_path_factory)
    assert "square" in Layer.kinds


def test_its_text_is_one_of_the_goldens(written: Path) -> None:
    """The document's layer is found in its test; without it its template would have none."""
    examples = emitted_examples()
    assert unshown_templates(examples) == set()
    square = examples.pop("square")
    assert unshown_templates(examples) == {"hls/stages/square.h.j2"}
    made = pipeline_of_examples({"square": square})
    files = kernel_files(made, KernelNames(kernel="examples", source="test.yaml"), load_board("u200"))
    (header,) = files_of("square", files, made).values()
    assert "the square of each value." in header
    assert all(before in header for before, _ in square.mutants)


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ("cast(frames * frames, exact)", "cast(frames * 2, exact)", "test_golden_is_the_square"),
        ("2 * type_.fraction", "type_.fraction", "test_the_natural_type_is_exact_and_no_wider"),
    ],
)
def test_its_tests_can_fail(
    written: Path,
    tmp_path_factory: pytest.TempPathFactory,
    before: str,
    after: str,
    name: str,
) -> None:
    """It is the document's layer that is tested. (A fault in the emitted C++ the document plants itself.)"""
    text = (written / LAYER).read_text(encoding="utf-8")
    assert before in text
    (written / LAYER).write_text(text.replace(before, after), encoding="utf-8")
    with pytest.raises(AssertionError):
        run(shown_tests()[name], tmp_path=tmp_path_factory.mktemp(name), tmp_path_factory=tmp_path_factory)


def test_a_torch_model_uses_it(written: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The entry of the frontend's table is all that is missing: from nn.Module to C-simulation and report."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from hlsgen.frontends.torch import arithmetic as torch_arithmetic
    from hlsgen.frontends.torch import call as torch_call
    from hlsgen.frontends.torch import to_graph  # which fills the table, so before it is patched

    class Energy(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.conv = torch.nn.Conv2d(1, 4, 3, padding=1)

        def forward(self, x: Any) -> Any:
            return self.conv(x).square().mean((2, 3))

    entries = {name: entry for name, entry in torch_call.CONVERTERS.items() if name != "square"}
    monkeypatch.setattr(torch_call, "CONVERTERS", entries)
    monkeypatch.setattr(to_graph, "CONVERTERS", entries)
    exec(FILES[FRONTEND], dict(vars(torch_arithmetic)))
    x = np.random.default_rng(0).normal(0, 1, (4, 1, 6, 8))
    design = hlsgen.from_torch(Energy(), (1, 6, 8), calibration=x, batch=4)
    assert [layer.kind for layer in design.graph.layers] == ["conv2d", "square", "global_pool"]
    project = design.build(tmp_path / "build")
    assert project.report["csim"]["verdict"] == "equal"
    assert [layer["kind"] for layer in project.report["layers"]] == ["conv2d", "square", "global_pool"]
    assert "square = x * x;" in (tmp_path / "build" / "src" / "square.h").read_text(encoding="utf-8")
    y = project.golden(x)
    with torch.no_grad():
        wanted = Energy()(torch.from_numpy(x).float()).numpy()
    assert np.abs(y - wanted).max() < 0.02 * wanted.max()


STEP = 0.0217
"""Of the model's input: no power of two."""


def quantised_model(step_after: float | None) -> Any:
    """A QONNX model: its input in 8 bits, squares, and 8 bits again or not; then the mean of all pixels."""
    from tests.support.frontends.onnx_networks import Net

    net = Net((4, 6, 8))
    y = net.add("Pow", f"{net.quant('x', np.float32(STEP))} {net.constant(2.0)}")
    if step_after:
        y = net.quant(y, np.float32(step_after), signed=0)
    return net.qonnx(net.add("GlobalAveragePool", y), (4, 1, 1))


@pytest.mark.parametrize(
    ("step_after", "before", "kinds", "simulated"),
    [
        # the scale's square stays beside the codes, up to the quantiser or to the port
        (0.031, None, ["square", "affine", "global_pool"], True),
        (None, None, ["square", "global_pool"], False),
        (0.0625, None, ["square", "affine", "global_pool"], False),
        # without `degrees` the value is made first; the quantiser's type is the layer's own
        (0.0625, "    degrees = (2,)\n", ["affine", "square", "global_pool"], True),
    ],
)
def test_a_quantised_onnx_model_uses_it(
    written: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    step_after: float | None,
    before: str | None,
    kinds: list[str],
    simulated: bool,
) -> None:
    """No case for the kind anywhere: from a QONNX model to golden, equal to the model in float64, and to
    C-simulation where the layers come in another order.
    """
    pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
    from hlsgen.frontends.onnx import elementwise as onnx_elementwise
    from hlsgen.frontends.onnx import to_graph as onnx
    from tests.support.frontends.onnx_networks import exact

    if before is not None:
        text = (written / LAYER).read_text(encoding="utf-8")
        assert before in text
        (written / LAYER).write_text(text.replace(before, ""), encoding="utf-8")
    monkeypatch.setattr(onnx_elementwise, "ELEMENTWISE", dict(onnx_elementwise.ELEMENTWISE))
    shown = dict(vars(onnx_elementwise))
    exec(FILES[ONNX], shown)
    monkeypatch.setitem(onnx.OPERATIONS, "Pow", shown["ELEMENTWISE"]["Pow"])
    model = quantised_model(step_after)
    design = hlsgen.from_onnx(model, batch=4)
    assert [layer.kind for layer in design.graph.layers] == kinds
    if simulated:
        project = design.build(tmp_path / "build")
        assert project.report["csim"]["verdict"] == "equal"
    x = np.random.default_rng(0).normal(0, 1, (8, 4, 6, 8))
    wanted = exact(model, x)
    # half a step of the mean's 8 further fraction bits
    resolution = 2.0**-9 * max(step_after or 0.0, STEP**2)
    assert np.abs(design.golden(x) - wanted).max() <= resolution
