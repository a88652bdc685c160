"""docs/cedr.md: its design gives what the page prints, and the files are those it lists."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from hlsgen.emit.cedr_layers import CONV_LIMIT, FLOAT_LIMIT, MOST_BITS
from tests.support.command_line import run, text, working_folder
from tests.support.documents import blocks, document, rows, ticked
from tests.support.places import ROOT

DOC = document("cedr.md")
(DESIGN,) = blocks(DOC, "yaml")
(PRINTED,) = re.findall(r"^```\n(conv1: .*?)^```", DOC, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    working_folder(tmp_path, monkeypatch)
    shutil.copytree(ROOT / "designs/digits", tmp_path / "digits")
    (tmp_path / "digits.yaml").write_text(DESIGN)
    return tmp_path


def test_the_design_gives_what_is_printed(folder: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    said = text("cedr", "digits.yaml", "--frames", "8")
    assert said.startswith(PRINTED), said
    files = {path.name for path in (folder / "build/digits_cedr/cedr").iterdir()}
    listed = {name.replace("NAME", "digits").rstrip("/") for row in rows(DOC) for name in ticked(row[0])}
    assert files == {name for name in listed if not name.startswith("DASH")}
    found = json.loads(run("cedr", "digits.yaml", "--frames", "2", "--no-run", "--json").stdout)
    assert sum(found["calls"].values()) == 1601
    assert "digits 1,601" in DOC
    assert (found["on_cpu"], found["verdict"]) == (["pool1", "pool2"], "skipped")


@pytest.mark.parametrize("change", ["style: dataflow", "precision: float32"])
def test_other_styles_and_types_are_written(folder: Path, change: str) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    before = "style: tasks" if change.startswith("style") else "precision: auto"
    (folder / "digits.yaml").write_text(DESIGN.replace(before, change).replace(', type: "ufixed<8,0>"', ""))
    found = json.loads(run("cedr", "digits.yaml", "--frames", "2", "--no-run", "--json").stdout)
    assert set(found["calls"]) == {"conv1", "conv2", "fc"}


def test_the_limits_are_those_of_the_code() -> None:
    assert f"beyond {CONV_LIMIT:,}" in DOC and f"beyond 2^{FLOAT_LIMIT.bit_length() - 1}" in DOC
    assert f"more than {MOST_BITS} bits" in DOC
