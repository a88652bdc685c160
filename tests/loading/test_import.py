"""hlsgen import: what a model holds, and a design file that builds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.cli.commands import cli
from hlsgen.designfile.json_schemas import design_json_schema
from hlsgen.loading.importing import framework_of

pytest.importorskip("torch", reason="torch is not installed")

NET = """
from torch import nn


def make_net():
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32, 3))
"""


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["import", *words], standalone_mode=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "net.py").write_text(NET)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_design_file_that_builds(folder: Path) -> None:
    (folder / "sub").mkdir()
    result = run("net.py:make_net", "--shape", "1,6,6", "-o", "sub/net.yaml", "--board", "zcu102")
    assert result.exception is None, result.output
    assert "3 layers" in result.output or "4 layers" in result.output
    design = hlsgen.load(folder / "sub" / "net.yaml")
    assert (design.name, design.board.name) == ("net", "zcu102")
    assert design.graph.outputs[0].shape == (3,)


def test_an_editor_finds_the_schema(folder: Path) -> None:
    run("net.py:make_net", "--shape", "1,6,6")
    first = (folder / "net.yaml").read_text().splitlines()[0]
    key, _, name = first.removeprefix("# ").partition("=")
    assert key == "yaml-language-server: $schema"
    assert json.loads((folder / name).read_text()) == design_json_schema()


PAIR = """
from torch import nn


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 2), nn.Linear(4, 2)

    def forward(self, x, y):
        return self.first(x) + self.second(y)
"""


def test_several_inputs(folder: Path) -> None:
    (folder / "pair.py").write_text(PAIR)
    result = run("pair.py:Pair", "--shape", "3", "--shape", "4")
    assert result.exception is None, result.output
    design = hlsgen.load(folder / "pair.yaml")
    assert [port.shape for port in design.graph.inputs] == [(3,), (4,)]


def test_an_input_that_a_quantised_model_computes_with_first(folder: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
    from tests.frontends.test_onnx_inputs import PIXELS, first_layers

    onnx.save(first_layers(2), folder / "tfc.onnx")
    assert "reads the input x of the quantised model as it is" in run("tfc.onnx").output
    result = run("tfc.onnx", "--input-type", PIXELS)
    assert result.exception is None, result.output
    assert str(hlsgen.load(folder / "tfc.yaml").graph.inputs[0].tensor.type) == "ufixed<8,0,rnd,wrap>"


def test_json(folder: Path) -> None:
    result = run("net.py:make_net", "--shape", "1,6,6", "--json")
    document = json.loads(result.output)
    assert document["framework"] == "torch" and document["design"] == "net.yaml"
    assert document["layers"][0]["macs"] == 2 * 16 * 9


def test_an_existing_file_is_kept(folder: Path) -> None:
    (folder / "net.yaml").write_text("mine")
    result = run("net.py:make_net", "--shape", "1,6,6")
    assert isinstance(result.exception, SystemExit) and result.exception.code == 4
    assert "net.yaml is there already\nfix: another -o, or --force" in result.output
    assert (folder / "net.yaml").read_text() == "mine"
    assert run("net.py:make_net", "--shape", "1,6,6", "--force").exception is None


def test_force_replaces_a_design_and_no_model(folder: Path) -> None:
    before = (folder / "net.py").read_text()
    result = run("net.py:make_net", "--shape", "1,6,6", "-o", "net.py", "--force")
    assert isinstance(result.exception, SystemExit) and result.exception.code == 4
    assert "net.py is there already, and no YAML file by its name; nothing was changed" in result.output
    assert (folder / "net.py").read_text() == before


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["net.py:make_net"], 1, "does not say what it takes\nfix: --shape 3,32,32"),
        (["net.txt"], 1, "net.txt is no model that hlsgen knows"),
        (["net.pt"], 1, "net.pt holds weights, or a module without its Python"),
        (["none.onnx"], 1, "none.onnx"),
        (["net.py:make_net", "--shape", "1,6,6", "--board", "u201"], 1, "u201"),
        (["net.onnx", "--weights", "net.pt"], 1, "leave --weights out"),
        (["net.h5", "--shape", "1,6,6"], 1, "leave --shape out"),
        (["net.py:make_net", "--input-type", "fixed<8,1>"], 1, "leave --input-type out"),
        (["net.onnx", "--input-type", "fixed<8"], 1, "precision: `input` must be a number type"),
    ],
)
def test_mistakes(folder: Path, words: list[str], code: int, message: str) -> None:
    result = run(*words)
    assert isinstance(result.exception, SystemExit) and result.exception.code == code, result.output
    assert message in result.output


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("net.onnx", "hlsgen import net.onnx, which writes"),
        ("net.keras", "hlsgen import net.keras, which writes"),
        ("net.py", "hlsgen import net.py:make_net, which writes"),
        ("net.pth", "hlsgen import net.py:make_net --weights net.pth --shape C,H,W, which writes"),
    ],
)
def test_a_model_in_place_of_a_design(folder: Path, name: str, fix: str) -> None:
    for command in ("build", "check", "estimate"):
        result = CliRunner().invoke(cli, [command, name])
        assert result.exit_code == 1 and f"{name} is no design" in result.output
        assert fix in result.output


def test_a_shape_that_is_none(folder: Path) -> None:
    result = CliRunner().invoke(cli, ["import", "net.py:make_net", "--shape", "a,b"])
    assert result.exit_code == 2
    assert "--shape takes sizes such as 3,32,32" in result.output


def test_frameworks_by_ending() -> None:
    assert framework_of("a/b.py:f") == "torch"
    assert framework_of("a/b.onnx") == "onnx"
    assert framework_of("a/b.h5") == framework_of("b.keras") == "qkeras"
    with pytest.raises(DesignError):
        framework_of("a/b.py")
