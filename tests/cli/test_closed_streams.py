"""Standard streams that are closed, full, or read only in part: no traceback, and the right exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.small_design import DESIGN

COMMAND = f'"{sys.executable}" -c "from hlsgen.cli.commands import main; main()"'
FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.yaml").write_text(DESIGN)
    return tmp_path


def shell(folder: Path, words: str, redirected: str) -> tuple[int, str]:
    """hlsgen's exit code, and all that it still printed."""
    done = subprocess.run(
        ["bash", "-c", f"{COMMAND} {words} {redirected}; exit ${{PIPESTATUS[0]}}"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("redirected", "codes"),
    [
        (">&-", {"boards": 0, "check missing.yaml": 1}),
        ("2>&-", {"check missing.yaml": 1, "check": 2}),
        (">&- 2>&-", {"boards": 0, "check missing.yaml": 1, "check": 2}),
        ("<&- >&- 2>&-", {"boards": 0}),
    ],
)
def test_closed_streams_count_as_dev_null(folder: Path, redirected: str, codes: dict[str, int]) -> None:
    for words, code in codes.items():
        assert shell(folder, words, redirected)[0] == code, words


@FULL
def test_a_full_disk_is_an_output_error(folder: Path) -> None:
    for words in ("--help", "--version", "estimate small.yaml", "boards --json"):
        code, said = shell(folder, words, ">/dev/full")
        assert code == 4 and "error: No space left on device" in said, words
    assert shell(folder, "boards", ">/dev/full 2>/dev/full")[0] == 4


@FULL
def test_messages_that_cannot_be_written_leave_the_exit_code(folder: Path) -> None:
    for words, code in (("check small.yaml", 0), ("check missing.yaml", 1), ("nothing", 2)):
        assert shell(folder, words, "2>/dev/full")[0] == code, words


def test_a_reader_that_ends_is_no_error(folder: Path) -> None:
    for words in ("--help", "estimate small.yaml", "schema"):
        assert shell(folder, words, "| true") == (0, ""), words


def test_nothing_is_printed_into_files_of_a_build(folder: Path) -> None:
    """With standard output closed, the next file that is opened would be it."""
    code, _ = shell(folder, "build small.yaml --no-csim", "<&- >&- 2>&-")
    assert code == 0
    closed = {path: path.read_bytes() for path in (folder / "build").rglob("*") if path.is_file()}
    code, _ = shell(folder, "build small.yaml --no-csim", "")
    assert code == 0 and closed
    assert {path: path.read_bytes() for path in closed} == closed
