"""The rules of the OmpSs-2@FPGA compiler: each is broken in a file of its own, tests/ompss/rules/RULE.cpp."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hlsgen.ompss import clauses
from hlsgen.ompss.clauses import check_ompss
from tests.support.places import TESTS

FOLDER = TESTS / "ompss" / "rules"
FILES = sorted(path.stem for path in FOLDER.glob("*.cpp"))
NOTHING = "nothing"
"""The file in which nothing is wrong."""


def expected(text: str) -> list[tuple[int, str]]:
    """(line, message) of the comments that begin with EXPECT."""
    lines = enumerate(text.splitlines(), start=1)
    return [(number, line.split("// EXPECT ", 1)[1]) for number, line in lines if "// EXPECT " in line]


@pytest.mark.parametrize("name", FILES)
def test_each_rule(name: str) -> None:
    text = (FOLDER / f"{name}.cpp").read_text()
    found = check_ompss(text)
    assert [(one.line, one.message) for one in found] == expected(text)
    assert {one.rule for one in found} == (set() if name == NOTHING else {name})
    for one in found:
        assert one.fix and one.message[-1] != " " and one.column >= 1


def test_every_rule_has_a_file() -> None:
    source = Path(clauses.__file__).read_text()
    rules = set(re.findall(r'_Found\(\s*[^"]*?"([\w-]+)"', source))
    assert rules == set(FILES) - {NOTHING}


def test_places() -> None:
    found = check_ompss("int a;\n  #pragma oss task device(fpga) \\\n     onto(1)\nvoid f() {}\n")
    assert [(one.line, one.column) for one in found] == [(3, 6)]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends(newline: str) -> None:
    text = (FOLDER / "const.cpp").read_text().replace("\n", newline)
    assert [one.rule for one in check_ompss(text)] == ["const"]


def test_broken_files_end() -> None:
    """Text from outside: whatever it is, an answer comes."""
    text = (FOLDER / f"{NOTHING}.cpp").read_text() + (FOLDER / "const.cpp").read_text()
    for end in range(0, len(text), 7):
        check_ompss(text[:end])
        check_ompss(text[end:])
