"""docs/profile.md: its snippets run, and give what their comments say."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hlsgen.cli.commands import cli
from tests.support.documents import assert_constants_are_as_stated, blocks, document, files

pytest.importorskip("torch", reason="torch is not installed")

DOC = document("profile.md")
FILES = files(DOC)
SNIPPETS = [block for block in blocks(DOC, "python") if block not in FILES.values()]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What the snippets so far have named, in a folder as the document takes it for granted."""
    place = tmp_path_factory.mktemp("profile")
    for name, text in FILES.items():
        (place / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.syspath_prepend(str(place))
        yield {"place": Path(place)}
        sys.modules.pop("net", None)


def test_trace(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    exec(SNIPPETS[0], names)
    shapes, note, wrong, error = capsys.readouterr().out.splitlines()
    for said in (shapes, note):
        assert f"# {said}" in SNIPPETS[0]
    assert wrong.startswith("conv2 PyTorch")
    assert float(error.split()[0]) < 20


def test_profile(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    exec(SNIPPETS[1], names)
    worst, advice, decibels, tensor = capsys.readouterr().out.splitlines()
    assert worst == "conv2 rounding"
    assert advice.startswith("conv2: ") and "precision: {layers: {conv2: " in advice
    before, after = map(int, decibels.split())
    assert after > before + 10
    assert tensor.startswith("fixed<4,2,rnd,sat> 0.0 ")


def test_commands(names: dict[str, Any]) -> None:
    commands = [line.split("#")[0].split() for block in blocks(DOC, "console") for line in block.splitlines()]
    assert [command[1] for command in commands] == ["profile", "trace", "trace"]
    for command in commands:
        done = CliRunner().invoke(cli, command[1:])
        assert done.exit_code == 0, f"{command}: {done.output}"
    written = {path.name for path in (names["place"] / "build" / "numbers").iterdir()}
    assert written == {"profile.html", "profile.json", "trace.html", "trace.json", "trace.npz"}


def test_constants() -> None:
    assert_constants_are_as_stated(DOC)
