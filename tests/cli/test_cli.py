"""The command line as a whole: help, usage, what needs no design, and the program itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from hlsgen.base import output
from hlsgen.base.version import VERSION
from hlsgen.cli.commands import cli
from hlsgen.designfile.json_schemas import design_json_schema
from hlsgen.targets.board import board_json_schema, list_boards, load_board
from tests.support.command_line import document, failure, run, text, working_folder

COMMANDS = sorted(cli.commands)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return working_folder(tmp_path, monkeypatch)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(command: str) -> None:
    for option in ("--help", "-h"):
        said = text(command, option)
        assert said.startswith("Usage: ")
        for parameter in cli.commands[command].params:
            if isinstance(parameter, click.Option):
                assert parameter.opts[0] in said
                assert parameter.help


def test_help_names_every_command() -> None:
    said = text("--help")
    assert all(command in said for command in COMMANDS)
    assert COMMANDS == [
        "accuracy",
        "boards",
        "build",
        "calibrate",
        "cedr",
        "check",
        "compare",
        "csim",
        "estimate",
        "explore",
        "import",
        "lint",
        "partition",
        "pipeline",
        "profile",
        "program",
        "quantise",
        "report",
        "schedule",
        "schema",
        "simulate",
        "starpu",
        "sweep",
        "synth",
        "trace",
    ]


def test_version() -> None:
    assert text("--version") == f"hlsgen, version {VERSION}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["build"], "Missing argument 'DESIGN'"),
        (["build", "small.yaml", "--nonsense"], "No such option"),
        (["build", "small.yaml", "two.yaml"], "unexpected extra argument"),
        (["build", "small.yaml", "--frames", "0"], "0 is not in the range"),
        (["build", "small.yaml", "--frames", "many"], "'many' is not a valid integer"),
        (["csim", "small.yaml", "--headers", "vendor"], "'vendor' is not one of"),
        (["check", "small.yaml", "-o", "x"], "No such option"),
        (["estimate"], "Missing argument 'DESIGN'"),
        (["boards", "small.yaml"], "unexpected extra argument"),
        (["sythesise", "small.yaml"], "No such command 'sythesise'"),
    ],
)
def test_wrong_usage_is_exit_code_2(words: list[str], message: str) -> None:
    assert message in failure(2, *words)
    assert not Path("build").exists()


def test_an_option_without_its_value_is_exit_code_2() -> None:
    result = run("build", "small.yaml", "-o")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "requires an argument" in result.stderr


def test_without_a_command_the_help_is_shown() -> None:
    result = run()
    assert result.exit_code == 2
    assert "Commands:" in result.output


def test_boards() -> None:
    said = text("boards")
    known = document("boards")["boards"]
    assert [board["name"] for board in known] == [board.name for board in list_boards()]
    assert all(board["name"] in said for board in known)


def test_a_template_of_a_board_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text("boards", "--template"))
    assert load_board(file).name == "my_board"
    result = run("boards", "--template", "--json")
    assert result.exit_code == 2 and "leave --json out" in result.stderr


def test_schemas_are_those_of_a_design_file_and_of_a_board_file() -> None:
    assert json.loads(text("schema")) == json.loads(text("schema", "design")) == design_json_schema()
    assert json.loads(text("schema", "board")) == board_json_schema()


# ---------------------------------------------------------------- the program itself


def program(*words: str, **keys: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", "from hlsgen.cli.commands import main; main()", *words]
    return subprocess.run(command, text=True, check=False, stderr=subprocess.PIPE, **keys)


def test_the_program_ends_with_the_exit_codes() -> None:
    for code, words in ((0, ["check", "small.yaml"]), (1, ["check", "wrong.yaml"]), (2, ["check"])):
        assert program(*words, stdout=subprocess.DEVNULL).returncode == code


def test_standard_output_that_is_full() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    for words in (["boards"], ["boards", "--json"], ["schema"]):
        with open("/dev/full", "w") as full:
            done = program(*words, stdout=full)
        assert done.returncode == 4
        assert "error: No space left on device" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = program("boards", "--json", stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_help_does_not_wait_for_numpy() -> None:
    code = "import sys; sys.argv = ['hlsgen', '--help']\nfrom hlsgen.cli.commands import main\n"
    code += "try: main()\nexcept SystemExit: sys.exit('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False)
    assert done.returncode == 0


def test_a_path_that_is_no_unicode(folder: Path) -> None:
    target = os.fsencode(folder) + b"/b\xff"
    command = [sys.executable, "-c", "from hlsgen.cli.commands import main; main()"]
    done = subprocess.run(
        [*command, "build", "small.yaml", "--no-csim", b"-o", target], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert os.path.isfile(target + b"/" + output.MARK.encode())
