"""docs/partition.md: its files, commands and snippets run; its table of keys is the devices file's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hlsgen.partitioning.device_file import ALLOWED
from tests.support.command_line import run
from tests.support.documents import blocks, document, files, rows, ticked
from tests.support.places import ROOT

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

DOC = document("partition.md")
FILES = files(DOC)
COMMANDS = [line.split() for block in blocks(DOC, "console") for line in block.splitlines()]
SNIPPETS = blocks(DOC, "python")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("partition")
    for name, text in FILES.items():
        (place / name).write_text(text, encoding="utf-8")
    (place / "designs").symlink_to(ROOT / "designs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        yield place


def test_keys_are_those_of_the_file() -> None:
    told = {
        row[0]: {key for key in ticked(row[1]) if key.isidentifier()}
        for row in rows(DOC)
        if row[0] in ALLOWED
    }
    values = {"auto", "onnxruntime", "torch", "dataflow", "shared"}
    assert {kind: keys - values for kind, keys in told.items()} == {k: set(v) for k, v in ALLOWED.items()}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands(folder: Path, command: list[str]) -> None:
    done = run(*command[1:])
    assert done.exit_code == 0, done.output
    assert "frames/s" in done.stdout and "measured" in done.stdout and "modelled" in done.stdout
    if "--plot" in command:
        assert (folder / "parts.svg").exists()


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_snippets(folder: Path, snippet: str) -> None:
    exec(compile(snippet, "docs/partition.md", "exec"), {})
