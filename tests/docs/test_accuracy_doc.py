"""docs/accuracy.md: its snippets and commands run, its tables are what hlsgen measures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hlsgen.designfile.model_schema import AccuracySection
from tests.support.command_line import run
from tests.support.documents import blocks, document, files, rows
from tests.support.places import ROOT

pytest.importorskip("torch", reason="torch is not installed")

DOC = document("accuracy.md")
FILES = files(DOC)
COMMANDS = [line.split("#")[0].split() for block in blocks(DOC, "console") for line in block.splitlines()]
SNIPPETS = [block for block in blocks(DOC, "python") if block not in FILES.values()]
MODELLED = 0.1
"""How far a modelled figure may move before the page is to be written anew."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("accuracy")
    for name, text in FILES.items():
        (place / name).write_text(text, encoding="utf-8")
    (place / "designs").symlink_to(ROOT / "designs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        yield place


def test_the_document_has_what_is_tested_here() -> None:
    assert list(FILES) == ["metric.py"] and len(SNIPPETS) == 1
    assert [command[:3] for command in COMMANDS] == [["hlsgen", "accuracy", "designs/digits.yaml"]] * 2
    (keys,) = blocks(DOC, "yaml")
    assert all(f"{key}:" in keys for key in AccuracySection.model_fields)


def table(number: int) -> list[list[str]]:
    """The rows of a table of figures, without its head."""
    tables = [part for part in DOC.split("\n\n") if part.startswith("| number types |")]
    return list(rows(tables[number]))[1:]


def measured(*words: str) -> list[dict[str, Any]]:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)["rows"]
    return found


def near(text: str, value: float) -> bool:
    return float(text.replace(",", "")) == pytest.approx(value, rel=MODELLED)


def test_digits(folder: Path) -> None:
    found = measured(*COMMANDS[0][1:])
    for stated, row in zip(table(0), found, strict=True):
        assert stated[:2] == [row["name"], f"{row['metric']:.2%}"]
        if row["name"] == "float":
            continue
        assert stated[2:4] == [f"{row['agreement']:.1%}", f"{row['output_db']:.1f}"]
        hardware = row["hardware"]
        assert near(stated[4], hardware["frames_per_s"])
        assert near(stated[5], hardware["lut"]) and near(stated[6], hardware["dsp"])


def test_raider(folder: Path) -> None:
    found = measured("accuracy", "designs/raider_plain.yaml", "--precisions", "16,6,5,4,3", "--no-hardware")
    shown = [
        [row["name"], f"{row['metric']:.4f}", "" if row["agreement"] is None else f"{row['agreement']:.1%}"]
        for row in found
    ]
    assert [stated[:3] for stated in table(1)] == shown


def test_the_other_command_and_the_snippet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(*COMMANDS[1][1:])
    assert result.exit_code == 0, result.output
    assert "metric worst" in result.stdout
    names: dict[str, Any] = {}
    exec(SNIPPETS[0], names)
    said = capsys.readouterr().out
    assert said.splitlines()[-4].startswith("float 0.991")
    assert [row.name for row in names["table"].rows][2] == "8 bits"
