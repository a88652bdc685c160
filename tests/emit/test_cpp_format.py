"""Lines of emitted C++ that only names and numbers make too long, and the comments behind lines."""

from __future__ import annotations

import re

import pytest

from hlsgen.emit.cpp_format import MOST_COLUMNS, formatted
from tests.support.places import ROOT

LONG = "a_name_of_thirty_characters_ab"


def test_comments_of_lines_that_follow_each_other_are_aligned() -> None:
    assert formatted("int a = 1;  // one\nint bcd = 22;  // two\nint e;\nint f;  // three") == (
        "int a = 1;     // one\nint bcd = 22;  // two\nint e;\nint f;  // three"
    )


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (f"void f(int {LONG}, int {LONG}, int {LONG}, int b) {{", [0, 7]),
        (f"    const bool x = {LONG} && {LONG} && {LONG} && {LONG};", [4, 19]),
        (f"    int x = {LONG}_is_set ? g({LONG}, 1) : h({LONG}, 2, 3, 4, 5, 6);", [4, 50]),
        (f'    if ({LONG} < 0 && {LONG}) tb::fail("{LONG}, and ((( so on");', [4, 8]),
        (f"    std::vector<{LONG}, 12> {LONG} = of<{LONG}, 1, 2, 3>(one_argument);", [4, 8]),
        (f"int {LONG} = 1;  // {' '.join([LONG] * 3)}", [0, 0]),
        (f"    // {' '.join([LONG] * 4)}", [4, 4]),
    ],
)
def test_a_long_line_is_broken(line: str, wanted: list[int]) -> None:
    assert len(line) > MOST_COLUMNS
    lines = formatted(line).split("\n")
    assert [len(one) - len(one.lstrip()) for one in lines] == wanted
    assert max(map(len, lines)) <= MOST_COLUMNS
    words = re.compile(r"[\s/]+")
    assert sorted(words.sub(" ", " ".join(lines)).split()) == sorted(words.sub(" ", line).split())


@pytest.mark.parametrize(
    "line",
    [
        f"#pragma HLS interface m_axi port={LONG} offset=slave bundle={LONG} depth=1, more={LONG}",
        f"{LONG}{LONG}{LONG}{LONG}{LONG}",
        f'    print("{LONG}, {LONG}, {LONG}, {LONG}");',
    ],
)
def test_what_cannot_be_broken_stays(line: str) -> None:
    assert formatted(line) == line


def test_the_longest_line_of_weights() -> None:
    """65,536 codes in one word: with work for each break that grows with the line it would take minutes."""
    row = ", ".join(str(number % 200 - 100) for number in range(65536))
    lines = formatted(f"    {{{row}}},").split("\n")
    assert max(map(len, lines)) <= MOST_COLUMNS
    assert " ".join(line.strip() for line in lines) == f"{{{row}}},"


def test_headers_that_are_emitted_as_they_stand_have_no_long_lines() -> None:
    headers = sorted((ROOT / "templates" / "hls").rglob("*.h"))
    assert len(headers) >= 12
    for header in headers:
        lines = header.read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if len(line) > MOST_COLUMNS and not line.startswith("#pragma")] == []


def test_lines_of_a_pragma_stay_together() -> None:
    """A lone backslash on a line of its own would end the pragma on the line before."""
    clause = "    out([" + "a" * 101 + "]results, \\"
    text = f"#pragma oss task device(fpga) \\\n{clause}\n{clause[:-1]}more)\nvoid f();"
    assert max(map(len, text.split("\n"))) > 110 and formatted(text) == text
