"""The command line in a test: a working folder of its own, and what a command says there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hlsgen.cli.commands import cli
from tests.support.small_design import DESIGN

WRONG = DESIGN.replace("pe: 1, simd: 1", "pe: 3, simd: 5") + "interface: stream\n"


def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a right design and a wrong one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "small.yaml").write_text(DESIGN)
    (tmp_path / "wrong.yaml").write_text(WRONG)
    return tmp_path


def run(*words: str) -> Result:
    """`hlsgen` in this process. An exception that it does not handle fails the test."""
    result = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert "Traceback" not in result.output
    return result


def text(*words: str) -> str:
    """What a command prints that has to succeed."""
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def document(*words: str) -> Any:
    """The one JSON document that a command prints that has to succeed."""
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return json.loads(result.stdout)


def failure(code: int, *words: str) -> str:
    """What a command says that has to end with `code`: the same in text and as one JSON document."""
    result = run(*words)
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    with_json = run(*words, "--json")
    assert with_json.exit_code == code
    said = json.loads(with_json.stdout)
    assert said["exit_code"] == code
    assert said["error"]
    for problem in said["error"]:
        assert problem["message"] in result.stderr
        assert problem.get("fix", "") in result.stderr
    assert os.listdir("tmp") == []
    return result.stderr
