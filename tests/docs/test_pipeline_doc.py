"""docs/pipeline.md: its commands and snippets run; its options are the command's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hlsgen.cli.pipeline import pipeline
from tests.support.command_line import run
from tests.support.documents import blocks, document, rows, ticked
from tests.support.places import ROOT

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

DOC = document("pipeline.md")
COMMANDS = [line.split() for block in blocks(DOC, "console") for line in block.splitlines()]
SNIPPETS = blocks(DOC, "python")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("pipeline")
    (place / "designs").symlink_to(ROOT / "designs")
    np.save(place / "x.npy", np.random.default_rng(0).uniform(0, 0.9, (8, 1, 8, 8)))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        yield place


def test_options_are_the_commands_own() -> None:
    told = {word.split()[0] for row in rows(DOC) for word in ticked(row[0]) if word.startswith("--")}
    known = {name for option in pipeline.params for name in option.opts if name.startswith("--")}
    assert told and told <= known
    others = {"--board", "--clock", "--precision", "--terms", "--json", "--input", "--results", "--output"}
    assert known - told == others | {"--verbose", "--quiet"}


def test_commands(folder: Path) -> None:
    """One after the other: the second takes what the first wrote."""
    for command in COMMANDS:
        done = run(*command[1:])
        assert done.exit_code == 0, done.output
    assert np.load(folder / "y.npy").shape == (8, 10)


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_snippets(folder: Path, snippet: str) -> None:
    exec(compile(snippet, "docs/pipeline.md", "exec"), {})
