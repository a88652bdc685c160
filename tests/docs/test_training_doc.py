"""docs/training.md: its recipe and its snippet run, its table is what the command finds."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hlsgen.training.recipe import BATCH, EPOCHS, LEARNING_RATE, SEED
from tests.support.command_line import run
from tests.support.documents import blocks, document, rows
from tests.support.frontends.keras_models import WARNINGS, packages
from tests.support.places import ROOT

pytest.importorskip("brevitas", reason="brevitas is not installed: pip install 'hlsgen[train]'")
pytest.importorskip("sklearn", reason="scikit-learn, which has the frames of digits, is not installed")

from hlsgen.training.train import MOST_TRAINED  # noqa: E402

pytestmark = WARNINGS
DOC = document("training.md")
COMMAND, OF_KERAS = [line.split() for block in blocks(DOC, "console") for line in block.splitlines()]
RECIPE, SNIPPET = blocks(DOC, "python")
TABLE, TABLE_OF_KERAS = [
    list(rows(part))[1:] for part in DOC.split("\n\n") if part.startswith("| | weights") and "top-1" in part
]
ANOTHER_MACHINE = 2.0
"""Points by which weights that another processor has trained may differ."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "designs").symlink_to(ROOT / "designs")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_defaults_are_those_that_are_stated() -> None:
    assert f"| `epochs`, `batch` | {EPOCHS}, {BATCH} |" in DOC and f"| `seed` | {SEED} |" in DOC
    assert f"| `learning_rate` | {LEARNING_RATE:g} |" in DOC and f"`--trained {MOST_TRAINED}`" in DOC


def test_the_command_finds_the_table(folder: Path) -> None:
    """One of its rows: each network is trained by itself."""
    agree(run(*COMMAND[1:], "--trained", "1", "--json"), TABLE, 1)
    assert (folder / "trained.pt").exists() and "<svg" in (folder / "front.svg").read_text()


def test_the_command_for_keras_finds_its_table(folder: Path) -> None:
    """The last of its rows."""
    packages()
    pytest.importorskip("keras", minversion="3", reason="keras 3 is not installed")
    agree(run(*OF_KERAS[1:], "--trained", "1", "--json"), TABLE_OF_KERAS, 1)
    assert (folder / "trained.keras").exists()


def agree(result: Any, table: list[list[str]], count: int) -> None:
    assert result.exit_code == 0, result.output
    found: Any = json.loads(result.stdout)["trained"]
    stated = {row[0].removeprefix("chosen: "): row for row in table}
    assert len(found["rows"]) == count
    for one in found["rows"]:
        row = stated[one["name"]]
        before, after = (one[when] for when in ("before", "after"))
        for cell, name in ((row[2], "metric"), (row[3], "metric_held_out")):
            was, became = (float(number) for number in re.findall(r"[\d.]+", cell))
            assert 100 * before[name] == pytest.approx(was, abs=0.01)
            assert 100 * after[name] == pytest.approx(became, abs=ANOTHER_MACHINE)
        assert after["hardware"]["lut"] == pytest.approx(float(row[4].replace(",", "")), rel=0.1)


def test_the_snippet_with_the_least_recipe(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    import sys

    sys.path.insert(0, str(ROOT / "designs/digits"))
    try:
        from train import split
    finally:
        sys.path.remove(str(ROOT / "designs/digits"))
    x, _, y, _ = split()
    np.save("train_images.npy", x.numpy())
    np.save("train_labels.npy", y.numpy())
    Path("recipe.py").write_text("epochs = 3\n" + RECIPE)
    exec(SNIPPET, names)
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert names["state"].keys() >= {"conv1.weight", "bn1.bias", "fc.bias"}
    assert inspect.ismodule(names["hlsgen"])
