"""What a shell completes: read as the shells' own scripts read it, by click's protocol."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hlsgen.cli.commands import cli
from hlsgen.cli.completion import BoardName
from hlsgen.targets.board import list_boards


def completed(words: str, folder: Path, shell: str = "bash") -> list[str]:
    """What is offered for the last word."""
    environment = {
        **os.environ,
        "_HLSGEN_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - (not words.endswith(" "))),
    }
    script = "import sys; sys.argv[0] = 'hlsgen'; from hlsgen.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=folder, capture_output=True, text=True
    )
    assert ran.stderr == ""
    return [line.partition(",")[2] for line in ran.stdout.splitlines()]


def test_boards(tmp_path: Path) -> None:
    (tmp_path / "zcu102_of_mine.yaml").write_text("")
    assert completed("hlsgen build net.yaml --board ", tmp_path) == [
        *(board.name for board in list_boards()),
        "zcu102_of_mine.yaml",
    ]
    assert completed("hlsgen explore net.yaml --board zcu102", tmp_path) == ["zcu102", "zcu102_of_mine.yaml"]


def test_commands_and_options(tmp_path: Path) -> None:
    assert completed("hlsgen est", tmp_path) == ["estimate"]
    assert completed("hlsgen build --ju", tmp_path) == ["--junit"]


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_every_option_for_a_board_completes(command: str) -> None:
    for option in cli.commands[command].params:
        if "--board" in option.opts:
            assert isinstance(option.type, BoardName)
