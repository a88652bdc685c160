"""What a `fix:` says to write is written: then the design is right, or its error is another one."""

from __future__ import annotations

from pathlib import Path

import pytest

import hlsgen
from hlsgen.base.errors import DesignError, Problem
from tests.support.fixes import edits

ERRORS = Path(__file__).parent / "errors"


def problems_of(path: Path, text: str, *, checked: bool) -> tuple[list[Problem], bool]:
    """What is wrong, and whether only a check of the hardware says so. checked: look for that too."""
    path.write_text(text, encoding="utf-8")
    try:
        design = hlsgen.load(path)
    except DesignError as error:
        return error.problems, False
    try:
        if checked:
            design.check()
    except DesignError as error:
        return error.problems, True
    return [], False


def same(one: Problem, other: Problem) -> bool:
    line = None if one.place is None else one.place.line
    return (one.message, line) == (other.message, None if other.place is None else other.place.line)


def applied(folder: Path, name: str) -> list[str]:
    """Each edit that was made; asserts that none of them leads back to its own error."""
    path = folder / name
    text = path.read_text(encoding="utf-8")
    made = []
    problems, of_hardware = problems_of(path, text, checked=True)
    for problem in problems:
        for what, after in edits(text, problem):
            found, _ = problems_of(path, after, checked=of_hardware)
            assert after != text, f"{problem.message}\nfix: {problem.fix}: {what} changes nothing"
            assert not any(same(one, problem) for one in found), (
                f"{problem.message}\nfix: {problem.fix}\n{what}:\n{after}"
            )
            made.append(f"{name}: {what}")
    return made


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fixes")
    for path in ERRORS.iterdir():
        if path.is_file() and path.suffix != ".expect":
            (folder / path.name).write_bytes(path.read_bytes())
    return folder


def test_fixes_of_wrong_designs_work(copies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(copies)
    made: list[str] = []
    faults: list[str] = []
    for path in sorted(ERRORS.glob("*.yaml")):
        try:
            made += applied(copies, path.name)
        except AssertionError as error:
            faults.append(f"{path.name}: {error}")
    assert not faults, "\n\n".join(faults)
    assert len(made) > 120
