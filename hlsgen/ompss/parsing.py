"""Reads the OmpSs directives of a C or C++ file, and the functions that they stand before.

No compiler: text is split into directives, function heads and bodies by brackets. Macros are not expanded.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+oss\b((?:\\\n|[^\n])*)", re.MULTILINE)
_OTHER_LINE = re.compile(r"\s*#(?:\\\n|[^\n])*\n")
_WORD = re.compile(r"\s*(\w+)\s*")
_HEAD = re.compile(r"\s*((?:[\w:<>,*&\s]|\[\[.*?\]\])*?)\b(\w+)\s*(?=\()")
_DEFINITION = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_STATEMENTS = frozenset({"if", "for", "while", "switch", "return", "do", "else", "sizeof", "catch"})
_SPECIFIERS = frozenset({"const", "volatile", "struct", "unsigned", "signed", "long", "short", "restrict"})


@dataclass(frozen=True, kw_only=True)
class Clause:
    """`at`: where it begins in the text. argument: what stands in its brackets; None if it has none."""

    name: str
    argument: str | None
    at: int


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """`type`: what stands before the name, and what stands behind it, as written."""

    name: str
    type: str
    at: int


@dataclass(frozen=True, kw_only=True)
class Function:
    """body: its text with the braces, or None if it is only declared."""

    name: str
    parameters: tuple[Parameter, ...]
    body: str | None
    at: int
    body_at: int


@dataclass(frozen=True, kw_only=True)
class Directive:
    """`#pragma oss NAME clauses`. inside: within a function. function: that it stands before, if it does."""

    name: str
    clauses: tuple[Clause, ...]
    at: int
    inside: bool
    function: Function | None

    def named(self, *names: str) -> list[Clause]:
        return [clause for clause in self.clauses if clause.name in names]

    def argument(self, name: str) -> str | None:
        """The argument of the first clause of this name; None: there is none."""
        return next((clause.argument for clause in self.named(name)), None)


def plain(text: str) -> str:
    """The text with comments and what strings hold blanked out, every other character at its place."""
    return _NOISE.sub(_blank, text)


def _blank(noise: re.Match[str]) -> str:
    """Blanks of the same length; of a string its quotes stay."""
    text = noise.group()
    blank = re.sub(r"[^\n]", " ", text)
    return text[0] + blank[1:-1] + text[-1] if text[0] in "\"'" else blank


def directives(text: str) -> list[Directive]:
    """Every `#pragma oss` of a text that `plain` gave."""
    found = []
    for pragma in _PRAGMA.finditer(text):
        start, end = pragma.span(1)
        word = _WORD.match(text, start, end)
        if word is None:
            continue
        inside = _depth(text, pragma.start()) > 0
        found.append(
            Directive(
                name=word.group(1),
                clauses=tuple(_clauses(text, word.end(), end)),
                at=text.index("#", pragma.start()),
                inside=inside,
                function=None if inside else _function(text, end),
            )
        )
    return found


def definitions(text: str) -> tuple[set[str], dict[str, int]]:
    """Names of the functions with a body, and of those that are only declared with their places."""
    with_body: set[str] = set()
    without: dict[str, int] = {}
    for found in _DEFINITION.finditer(text):
        if found.group(1) in _STATEMENTS or _depth(text, found.start()) > 0:
            continue
        close = closing(text, found.end() - 1)
        after = re.match(r"\s*(?:const|noexcept)?\s*([{;])", text[close:]) if close else None
        if after is None or _on_directive(text, found.start()):
            continue
        if after.group(1) == "{":
            with_body.add(found.group(1))
        else:
            without.setdefault(found.group(1), found.start())
    return with_body, without


def items(argument: str) -> Iterator[tuple[str, int]]:
    """The parts of a list, separated by commas outside all brackets, and where each begins in it."""
    depth, begin = 0, 0
    for at, char in enumerate(argument + ","):
        if char in "([{<":
            depth += 1
        elif char in ")]}>":
            depth -= 1
        elif char == "," and depth <= 0:
            part = argument[begin:at]
            if part.strip():
                yield part.strip(), begin + len(part) - len(part.lstrip())
            begin = at + 1


def closing(text: str, at: int) -> int:
    """The place behind the bracket that closes the one at `at`; 0: none does."""
    return _pairs(text).get(at, 0)


@lru_cache(maxsize=8)
def _pairs(text: str) -> dict[int, int]:
    """The place behind each bracket's partner, by the bracket's; a bracket of another kind closes nothing."""
    partner = {")": "(", "}": "{", "]": "["}
    open_: dict[str, list[int]] = {"(": [], "{": [], "[": []}
    found = {}
    for bracket in re.finditer(r"[(){}\[\]]", text):
        if bracket.group() in open_:
            open_[bracket.group()].append(bracket.start())
        elif open_[partner[bracket.group()]]:
            found[open_[partner[bracket.group()]].pop()] = bracket.end()
    return found


def _on_directive(text: str, at: int) -> bool:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line.lstrip().startswith("#") or text[: at - len(line)].endswith("\\\n")


def _depth(text: str, at: int) -> int:
    """Braces that are open at `at`, those of namespaces and `extern "C"` not counted."""
    places, depths = _braces(text)
    return depths[bisect_left(places, at)]


@lru_cache(maxsize=2)
def _braces(text: str) -> tuple[list[int], list[int]]:
    """Where braces stand, and how many are open before each and behind the last."""
    stack: list[bool] = []
    places, depths, depth = [], [0], 0
    for brace in re.finditer(r"[{}]", text):
        if brace.group() == "{":
            before = text[max(0, brace.start() - 200) : brace.start()].rstrip()
            stack.append(re.search(r'(?:\bnamespace(?:\s+[\w:]+)?|\bextern\s*" *")$', before) is None)
            depth += stack[-1]
        elif stack:
            depth -= stack.pop()
        places.append(brace.start())
        depths.append(depth)
    return places, depths


def _clauses(text: str, at: int, end: int) -> Iterator[Clause]:
    while True:
        word = re.compile(r"(?:\s|\\\n|,)*(\w+)(?:[ \t]|\\\n)*").match(text, at, end)
        if word is None:
            return
        at, argument = word.end(), None
        if at < end and text[at] == "(":
            close = closing(text, at) or end
            argument, at = text[at + 1 : close - 1].replace("\\\n", "  "), close
        yield Clause(name=word.group(1), argument=argument, at=word.start(1))


def _function(text: str, at: int) -> Function | None:
    """The function that is declared or defined at `at`, other directives skipped."""
    at += 1
    while (line := _OTHER_LINE.match(text, at)) is not None:
        at = line.end()
    head = _HEAD.match(text, at)
    if head is None or not head.group(1).strip():
        return None
    open_ = head.end()
    close = closing(text, open_)
    after = re.match(r"\s*([{;])", text[close:]) if close else None
    if after is None:
        return None
    body_at = close + after.start(1)
    body = text[body_at : closing(text, body_at) or len(text)] if after.group(1) == "{" else None
    parameters = [_parameter(part, open_ + 1 + begin) for part, begin in items(text[open_ + 1 : close - 1])]
    return Function(
        name=head.group(2),
        parameters=tuple(one for one in parameters if one is not None),
        body=body,
        at=head.start(2),
        body_at=body_at,
    )


def _parameter(text: str, at: int) -> Parameter | None:
    """`const int *x`, `int x[N]`, `int (*x)[N]`; None: it has no name."""
    pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)", text)
    if pointer is not None:
        return Parameter(name=pointer.group(1), type=text.replace(pointer.group(1), "", 1), at=at)
    head = text.split("[", 1)[0]
    words = re.findall(r"\w+", re.sub(r"<[^<>]*>", "", head))
    named = len(words) > 1 and words[-1] not in _SPECIFIERS
    if not named:
        return None
    begin = head.rindex(words[-1])
    return Parameter(name=words[-1], type=head[:begin].strip() + text[len(head) :], at=at + begin)
