"""docs/quantise.md: its command and its snippet run, its table is what they find."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from hlsgen.widths.search import BUDGETS_DB, BUILT, REFINED, WIDTHS
from tests.support.command_line import run
from tests.support.documents import blocks, document, rows
from tests.support.places import ROOT

pytest.importorskip("torch", reason="torch is not installed")

DOC = document("quantise.md")
(COMMAND,) = [line.split() for block in blocks(DOC, "console") for line in block.splitlines()]
(SNIPPET,) = blocks(DOC, "python")
MODELLED = 0.1
"""How far a modelled figure may move before the page is to be written anew."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "designs").symlink_to(ROOT / "designs")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_stated_of_the_search() -> None:
    assert f"`--widths {','.join(map(str, WIDTHS))}`" in DOC
    assert (BUDGETS_DB[0], BUDGETS_DB[-1], BUDGETS_DB[1] - BUDGETS_DB[0]) == (-2, 58, 4) and (
        BUILT,
        REFINED,
    ) == (3, 3)
    assert "4 dB apart from -2 to 58" in DOC and "three more are tried" in DOC


def test_the_command_finds_the_table(folder: Path) -> None:
    result = run(*COMMAND[1:], "--json")
    assert result.exit_code == 0, result.output
    found: Any = json.loads(result.stdout)
    stated = {row[0].removeprefix("chosen: "): row for row in list(rows(DOC.split("\n\n")[3]))[1:]}
    for one in [found["chosen"], found["own"], *found["uniform"]]:
        row = stated.pop(one["name"])
        assert row[2:4] == [f"{one['metric']:.2%}", f"{one['metric_held_out']:.2%}"]
        if row[4] == "none fits":
            assert one["price"] is None and one["hardware"]["refusal"]
            continue
        lut, dsp = (float(cell.replace(",", "")) for cell in row[4:6])
        assert one["hardware"]["lut"] == pytest.approx(lut, rel=MODELLED)
        assert one["hardware"]["dsp"] == pytest.approx(dsp, rel=MODELLED)
        assert 100 * one["price"] == pytest.approx(float(row[6].rstrip("%")), rel=MODELLED)
    assert not stated
    assert found["chosen"]["gap"] == 0
    assert [text[:15] for text in found["warnings"]] == ["on the 116 held"]  # as the page says
    layers = yaml.safe_load((folder / "quantised.yaml").read_text())["precision"]["layers"]
    text = ", ".join(f"{name} {one['weights']} and {one['output']}" for name, one in layers.items())
    assert re.search(rf"widths\n{text} \(weights and results\)", DOC)
    assert (folder / "front.svg").exists()


def test_the_snippet(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(SNIPPET, names)
    assert "'conv1 weights': 6" in capsys.readouterr().out
    assert names["project_ready"].graph.layers[0].weight_type.width == 6
