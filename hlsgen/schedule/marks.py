"""Preprocessed C++ with a call of a marker in the place of every `#pragma HLS`; no other line moves.

    for (int i = 0; i < N; ++i) {
    #pragma HLS pipeline II=2              ::hls_marks::here(3, (2));
    #pragma HLS dependence variable=a      ::hls_marks::variable(4, a);
    #pragma HLS array_partition variable=p ::hls_marks::parameter<(N)>(5, p);   of a parameter p[N]

The calls are those of include/hlsgen_marks.h, in C those of hlsgen_marks_of_c.h.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from hlsgen.schedule.directives import Directive, Unplaced
from hlsgen.schedule.macros import Macros
from hlsgen.schedule.parameters import Parameters
from hlsgen.schedule.placing import PlacedCode, Spot
from hlsgen.schedule.pragmas import ParsedPragma, Pragma, parse_pragma

_DIRECTIVE = re.compile(
    r'^[ \t]*#[ \t]*(?:(?:line[ \t]+)?(?P<line>\d+)[ \t]+"(?P<file>(?:\\.|[^"\\])*)"[^\n]*'
    r"|define[ \t]+(?P<macro>\w+)(?P<parameters>\([^)\n]*\))?(?P<body>[^\n]*)"
    r"|undef[ \t]+(?P<undefined>\w+)[^\n]*"
    r"|pragma[ \t]+(?:HLS|hls|Hls|AP|ap)[ \t]+(?P<pragma>[^\n]*))$",
    re.MULTILINE,
)
_BLANK = re.compile(r"(?:\s|^[ \t]*#[^\n]*$)*", re.MULTILINE)
_CONTROL = frozenset(("for", "while", "if", "switch", "constexpr", "catch"))
_NAME = re.compile(r"[A-Za-z_]\w*")
_UNBRACED = frozenset(("else", "do"))


@dataclass(frozen=True, kw_only=True)
class Marked:
    """C++ with marks. places: for each mark, its index, by the file and line that a compiler names.

    unplaced: the directives that count for nothing in this code.
    """

    text: str
    pragmas: tuple[Pragma, ...]
    unplaced: tuple[Unplaced, ...] = ()
    places: dict[tuple[str, int], list[int]] = field(repr=False)


def mark(
    text: str,
    *,
    first: int = 0,
    without: frozenset[int] = frozenset(),
    directives: Sequence[Directive] = (),
    is_c: bool = False,
) -> Marked:
    """Preprocessed C++ (clang's -E -dD) with its pragmas as calls, and without its macros.

    first: the index of the first pragma. without: indices of pragmas that get no mark. directives: become
    pragmas behind those of the text. is_c: it is C.
    """
    return _Marker(text=text, first=first, without=without, is_c=is_c).marked(directives)


@dataclass(kw_only=True)
class _Marker:
    text: str
    first: int
    without: frozenset[int]
    is_c: bool
    pragmas: list[Pragma] = field(default_factory=list)
    places: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    macros: Macros = field(default_factory=Macros)
    edits: list[tuple[int, int, str]] = field(default_factory=list)
    """Beginning and end of what is replaced, and by what."""
    lines: list[tuple[int, str, int]] = field(default_factory=list)
    """Where lines are numbered anew: the offset, the file and the number."""

    @cached_property
    def _ends(self) -> list[int]:
        return [match.end() for match in re.finditer("\n", self.text)]

    def _lines_before(self, place: int) -> int:
        return bisect_right(self._ends, place)

    def marked(self, directives: Sequence[Directive]) -> Marked:
        for match in _DIRECTIVE.finditer(self.text):
            if match["line"]:
                file = match["file"].replace("\\\\", "\\")
                self.lines.append((match.end() + 1, file, int(match["line"])))
                continue
            self.edits.append((match.start(), match.end(), ""))
            if match["macro"]:
                self.macros.define(match["macro"], match["parameters"], match["body"])
            elif match["undefined"]:
                self.macros.undefine(match["undefined"])
            else:
                self._mark(match)
        unplaced = tuple(self._directed(directives)) if directives else ()
        return Marked(text=self._edited(), pragmas=tuple(self.pragmas), unplaced=unplaced, places=self.places)

    def _place(self, offset: int) -> tuple[str, int]:
        """The file and the number of the line at an offset."""
        at = bisect_right(self.lines, offset, key=lambda line: line[0])
        begin, file, number = self.lines[at - 1] if at else (0, "", 1)
        return file, number + self._lines_before(offset) - self._lines_before(begin)

    def _directed(self, directives: Sequence[Directive]) -> Iterator[Unplaced]:
        """Mark directives where their pragmas would stand; those that have no place."""
        code = PlacedCode(self.text)
        for directive in directives:
            spots, why = code.spots(directive) if not directive.trouble else ([], directive.trouble)
            for spot in spots:
                self._direct(directive, spot)
            if not spots:
                yield Unplaced(directive=directive, why=why)

    def _direct(self, directive: Directive, spot: Spot) -> None:
        parsed = parse_pragma(directive.text)
        index = self._added(parsed, self._place(spot.offset), directive.text, directive.origin)
        if index not in self.without:
            self._call(index, parsed, spot.offset, unbraced=spot.unbraced)

    def _edited(self) -> str:
        out: list[str] = []
        done = 0
        for start, end, new in sorted(self.edits, key=lambda edit: edit[0]):
            out += [self.text[done:start], new]
            done = max(done, end)
        return "".join((*out, self.text[done:]))

    def _mark(self, match: re.Match[str]) -> None:
        parsed = parse_pragma(match["pragma"], self.macros.expanded)
        index = self._added(parsed, self._place(match.start()), match["pragma"].strip())
        if index in self.without:
            return
        before = _before(self.text, match.start())
        place = match.start()
        if before is Position.DECLARATOR:
            blank = _BLANK.match(self.text, match.end())
            brace = blank.end() if blank else place
            place = brace + 1 if self.text[brace : brace + 1] == "{" else place
        self._call(index, parsed, place, unbraced=before is Position.UNBRACED)

    def _added(self, parsed: ParsedPragma, place: tuple[str, int], text: str, origin: str = "") -> int:
        """The index of one more pragma."""
        file, line = place
        index = self.first + len(self.pragmas)
        self.pragmas.append(
            Pragma(
                index=index,
                name=parsed.name,
                words=parsed.words,
                options=parsed.options,
                texts=parsed.texts,
                variable=",".join(parsed.variables),
                file=file,
                line=line,
                text=text,
                origin=origin,
            )
        )
        self.places.setdefault(place, []).append(index)
        return index

    def _call(self, index: int, parsed: ParsedPragma, offset: int, *, unbraced: bool) -> None:
        call = ", ".join(self._calls(index, parsed, offset))
        # where it is a body, the else is this if's, so that one behind the statement stays the other if's
        self.edits.append((offset, offset, f"if (({call}), 0) ; else " if unbraced else f" {call};"))

    def _calls(self, index: int, parsed: ParsedPragma, offset: int) -> Iterator[str]:
        values = "".join(f", {'(long)' if self.is_c else ''}({value})" for value in parsed.values)
        if not parsed.variables:
            yield f"{'__hls_mark' if self.is_c else '::hls_marks::here'}({index}{values})"
        for variable in parsed.variables:
            extent = self._parameters.extent(variable, offset) if _NAME.fullmatch(variable) else ""
            if self.is_c:
                mark = f"__hls_marked_parameter(({extent}), " if extent else "__hls_marked("
            else:
                mark = f"::hls_marks::parameter<({extent})>(" if extent else "::hls_marks::variable("
            yield f"{mark}{index}, {variable}{values})"

    @cached_property
    def _parameters(self) -> Parameters:
        return Parameters(self.text)


class Position(StrEnum):
    """What a pragma follows: a statement, a header whose body is one statement, a function's declarator."""

    STATEMENT = "statement"
    UNBRACED = "unbraced"
    DECLARATOR = "declarator"


def _before(text: str, place: int) -> Position:
    """What stands before a pragma, which begins at `place`."""
    at = _last_token(text, place)
    if at < 0:
        return Position.STATEMENT
    if text[at] == ")":
        opening = _opened(text, at)
        word = _word_ending(text, _last_token(text, opening))
        return Position.UNBRACED if word in _CONTROL else Position.DECLARATOR
    word = _word_ending(text, at)
    if word in _UNBRACED:
        return Position.UNBRACED
    return Position.DECLARATOR if word in ("const", "noexcept", "override", "final") else Position.STATEMENT


def _last_token(text: str, place: int) -> int:
    """The last character before `place` that is neither blank nor in a directive; -1 if none."""
    while place > 0:
        begin = text.rfind("\n", 0, place) + 1
        line = text[begin:place]
        if not line.lstrip().startswith("#"):
            stripped = line.rstrip()
            if stripped:
                return begin + len(stripped) - 1
        place = begin - 1
    return -1


def _opened(text: str, at: int) -> int:
    """The bracket that the one at `at` closes; 0 if none does."""
    depth = 0
    while at > 0:
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return at
        at -= 1
    return 0


def _word_ending(text: str, at: int) -> str:
    end = at + 1
    while at >= 0 and (text[at].isalnum() or text[at] == "_"):
        at -= 1
    return text[at + 1 : end]
