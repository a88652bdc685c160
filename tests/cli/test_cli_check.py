"""hlsgen check and hlsgen estimate, which write nothing; what every command says of a wrong design."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hlsgen.targets.board import list_boards
from tests.support.command_line import document, failure, run, text, working_folder
from tests.support.small_design import DESIGN

ON_DESIGNS = ["build", "check", "csim", "estimate", "explore"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return working_folder(tmp_path, monkeypatch)


def test_check() -> None:
    assert text("check", "small.yaml") == "small.yaml: ok; 1 instance fits AMD ZCU102\n"
    assert document("check", "small.yaml") == {"design": "small", "board": "zcu102", "verdict": "ok"}
    assert sorted(os.listdir()) == ["small.yaml", "tmp", "wrong.yaml"]


def test_estimate_writes_nothing() -> None:
    said = text("estimate", "small.yaml")
    assert "modelled" in said
    assert "small on zcu102 at 200 MHz" in said
    assert document("estimate", "small.yaml")["total"]["instances"] == 1
    assert sorted(os.listdir()) == ["small.yaml", "tmp", "wrong.yaml"]


def test_fifos_of_what_has_none_are_refused() -> None:
    said = failure(1, "estimate", "small.yaml", "--fifos")
    assert "only a network of style dataflow has FIFOs to search" in said


def test_another_board() -> None:
    assert document("estimate", "small.yaml", "--board", "u200")["board"] == "u200"


def test_a_board_file_is_relative_to_the_working_folder(folder: Path) -> None:
    (board,) = [one for one in list_boards() if one.name == "zcu102"]
    mine = replace_name(board.model_dump(mode="json"), "mine")
    (folder / "mine.yaml").write_text(json.dumps(mine))
    (folder / "designs").mkdir()
    (folder / "designs" / "small.yaml").write_text(DESIGN)
    assert document("check", "designs/small.yaml", "--board", "mine.yaml")["board"] == "mine"


def replace_name(board: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in {**board, "name": name}.items() if value is not None}


def test_an_unknown_board() -> None:
    said = failure(1, "check", "small.yaml", "--board", "u2000")
    assert 'no board is called "u2000"' in said
    assert "did you mean 'u200'?" in said
    assert "does not exist" in failure(1, "check", "small.yaml", "--board", "nowhere.yaml")


def test_a_board_that_is_too_small() -> None:
    Path("small.yaml").write_text(DESIGN.replace("instances: 1,", "instances: 1024,"))
    assert "instances: 1024 do not fit AMD ZCU102" in failure(1, "check", "small.yaml")


@pytest.mark.parametrize("command", ON_DESIGNS)
def test_a_wrong_design_is_exit_code_1_with_all_mistakes(command: str) -> None:
    said = failure(1, command, "wrong.yaml")
    assert said.count("error:") == 3
    for place in ("wrong.yaml:8:46:", "wrong.yaml:8:55:", "wrong.yaml:9:12:"):
        assert place in said
    problems = json.loads(run(command, "wrong.yaml", "--json").stdout)["error"]
    assert [(one["file"], one["line"], one["column"]) for one in problems] == [
        ("wrong.yaml", 8, 46),
        ("wrong.yaml", 8, 55),
        ("wrong.yaml", 9, 12),
    ]
    assert not Path("build").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "design.yaml does not exist"),
        (b"", "is empty"),
        (bytes(range(256)), "is not UTF-8 text"),
        (b"\x00\x01\x02", "control character"),
        (b"name: [", "is not YAML"),
        (b"x" * (1 << 21), "is larger than"),
        (b"name: ../../etc\n", "C++ identifier"),
        (b'name: "a; system(1)"\n', "C++ identifier"),
    ],
)
def test_files_that_are_no_designs(content: bytes | None, message: str) -> None:
    if content is not None:
        Path("design.yaml").write_bytes(content)
    for command in ON_DESIGNS:
        assert message in failure(1, command, "design.yaml")


def test_a_folder_or_a_pipe_is_no_design() -> None:
    os.mkfifo("pipe")
    assert "is a folder" in failure(1, "check", "tmp")
    assert "is not a regular file" in failure(1, "check", "pipe")
