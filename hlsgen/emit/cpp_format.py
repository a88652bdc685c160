"""Emitted C++ as clang-format would leave it where only the values are known: the templates place names and
numbers of any length, so here lines are broken and the comments behind them aligned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

MOST_COLUMNS = 120
CONTINUED = "\\"
"""What ends the lines of a pragma but the last."""
FARTHEST = 80
"""The column of a bracket up to which lines are aligned with it; else they are indented by four."""
_COMMENTED = re.compile(r"(?P<code>(?! *(?://|#)).*?\S) {2,}(?P<comment>// .*)")
_COMMENT = re.compile(r"(?P<start> *//\s*)(?P<words>.*)")
_OPERATORS = {", ": 2, " && ": 4, " || ": 4, " ? ": 1, " : ": 1}
"""The operators at which a line may be broken, and behind how many of their characters."""
_HEADER = re.compile(r" *(?:else )?(?:if|for|while) \(")
_VALUE = re.compile(r" *(?:return |[^=]* = )")


def formatted(text: str) -> str:
    """`text` with lines of at most 120 columns, where they can be broken. Pragmas stay as they are."""
    narrow = [part for line in text.split("\n") for part in _comment_apart(line)]
    lines = list(_aligned(narrow))
    before = ["", *lines]
    return "\n".join(
        part
        for last, line in zip(before, lines, strict=False)
        for part in ([line] if CONTINUED in (last[-1:], line[-1:]) else _broken(line))
    )


def _comment_apart(line: str) -> Iterator[str]:
    """A comment that would reach beyond the last column stands above its line."""
    found = _COMMENTED.fullmatch(line)
    if found and len(line) > MOST_COLUMNS:
        indent = " " * (len(line) - len(line.lstrip()))
        yield indent + found["comment"]
        yield found["code"]
    else:
        yield line


def _aligned(lines: list[str]) -> Iterator[str]:
    """The comments behind lines that follow each other begin in one column."""
    matches = ((line, _COMMENTED.fullmatch(line)) for line in lines)
    for commented, run in groupby(matches, key=lambda one: one[1] is not None):
        pairs = list(run)
        width = max(len(found["code"]) if found else 0 for _, found in pairs)
        fits = all(found is None or width + 2 + len(found["comment"]) <= MOST_COLUMNS for _, found in pairs)
        for line, found in pairs:
            yield f"{found['code']:{width}}  {found['comment']}" if commented and found and fits else line


def _broken(line: str) -> Iterator[str]:
    """A line in as many as it takes, the later ones aligned with what they continue."""
    if line.lstrip().startswith("//"):
        yield from _wrapped(line)
        return
    first = line.count("(") >= line.count(")")  # else what it continues is a line of the template
    while len(line) > MOST_COLUMNS and not line.startswith("#"):
        place = _break(line, first)
        if place is None:
            break
        at, indent = place
        yield line[:at].rstrip()
        line = " " * indent + line[at:]
        first = False
    yield line


def _wrapped(line: str) -> Iterator[str]:
    """A comment of its own, broken between words."""
    while len(line) > MOST_COLUMNS:
        found = _COMMENT.fullmatch(line)
        at = line.rfind(" ", 0, MOST_COLUMNS + 1)
        if found is None or at < found.end("start"):
            break
        yield line[:at]
        line = found["start"] + line[at + 1 :]
    yield line


def _break(line: str, first: bool) -> tuple[int, int] | None:
    """Where a line that is too long goes on in the next one, and that one's indent: within as few brackets as
    can be, as late as can be. first: no continuation itself. None: there is no such place.
    """
    margin = len(line) - len(line.lstrip())
    header = _HEADER.match(line)
    if header and (end := _end_of_brackets(line, header.end() - 1)) < len(line) - len(" {"):
        return end + 1, margin + 4
    start = line[: MOST_COLUMNS + 1]  # a line of weights may have a hundred thousand columns
    value = _VALUE.match(start)
    outside = value.end() if first and value else margin
    places = [
        (depth, -at, outside if column is None else column)
        for at, depth, column, operator in _places(start)
        if at <= MOST_COLUMNS + 1 and (depth or operator != ", " or not first)
    ]
    if not places:
        return (value.end(), margin + 4) if first and value else None
    _, at, column = min(places)
    if column > FARTHEST and line[column - 1] in "([{":
        return column, margin + 4
    return -at, min(column, FARTHEST)


def _end_of_brackets(line: str, start: int) -> int:
    """The place behind the bracket that closes the one at `start`."""
    depth = 0
    for at in range(start, len(line)):
        depth += (line[at] == "(") - (line[at] == ")")
        if not depth:
            return at + 1
    return len(line)


def _places(line: str) -> Iterator[tuple[int, int, int | None, str]]:
    """(where it may go on, brackets that it stands in, the column to align with, the operator).

    The column is that behind the last bracket, or that of the question. Arguments of templates stay together.
    """
    opened: list[int] = []
    question: int | None = None
    quoted = False
    for at, char in enumerate(line):
        if char == '"' and line[at - 1] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif char in "([{" or (
            char == "<" and line[at - 1] not in " <" and line[at + 1 : at + 2] not in ("", " ", "<", "=")
        ):
            opened.append(at + 1)
        elif opened and (char in ")]}" or (char == ">" and line[opened[-1] - 1] == "<")):
            opened.pop()
        for operator, length in _OPERATORS.items():
            if line.startswith(operator, at) and not (opened and line[opened[-1] - 1] == "<"):
                column = opened[-1] if opened else None
                question = at + 1 if operator == " ? " else question
                yield at + length, len(opened), question if operator == " : " else column, operator
