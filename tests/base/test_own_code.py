"""Python files of the user's own are run as they stand, and nothing is written beside them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from hlsgen.base.own_code import importable, imported


@pytest.fixture(autouse=True)
def keeps_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def run(folder: Path, text: str) -> int:
    """What a version of a file says that is as old as the others."""
    path = folder / "mine.py"
    path.write_text(text)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    with importable(folder):
        answer: int = imported(path).answer()
    return answer


def test_another_version_of_the_same_second_and_size_is_run(tmp_path: Path) -> None:
    assert run(tmp_path, "def answer():\n    return 1\n") == 1
    assert run(tmp_path, "def answer():\n    return 2\n") == 2


def test_bytecode_that_is_there_is_not_run_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text("def answer():\n    return 1\n")
    os.utime(tmp_path / "mine.py", (1_700_000_000, 1_700_000_000))
    monkeypatch.syspath_prepend(str(tmp_path))
    import mine  # type: ignore[import-not-found]

    assert mine.answer() == 1 and list((tmp_path / "__pycache__").iterdir())
    assert run(tmp_path, "def answer():\n    return 2\n") == 2


def test_nothing_is_left_beside_the_files(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("number = 3\n")
    assert run(tmp_path, "import beside\ndef answer():\n    return beside.number\n") == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beside.py", "mine.py"]
    assert not sys.dont_write_bytecode and "beside" not in sys.modules
