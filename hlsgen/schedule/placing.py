"""Where in preprocessed C++ a directive's pragma would stand.

"fir"            the first statement of the function's body
"fir/taps"       that of the body of the loop, or the block, with the label
"fir" line       behind the variable's declaration; where nothing declares it there, as "fir"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from hlsgen.schedule.directives import Directive
from hlsgen.schedule.plain_code import plain_code
from hlsgen.schedule.pragmas import closed

_LINE = re.compile(r'^[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)[ \t]+"((?:\\.|[^"\\])*)"([ \t\d]*)$', re.MULTILINE)
_BODY = re.compile(
    r"\s*(?:(?:const|noexcept|override|final|volatile|&&?|->[\w\s:<>,*&]+?)\s*)*(?::(?!:)[^;{}]*)?\{"
)
_LABELS = re.compile(r"\s*(?:[A-Za-z_]\w*\s*:(?!:)\s*)*")
_LOOP = re.compile(r"(for|while|do)\b")
_BY_LINE = re.compile(r"VITIS_LOOP_(\d+)_\d+")
_SYSTEM_HEADER = "3"
_NOT_TYPES = frozenset(["return", "delete", "throw", "goto", "else", "case", "new", "typedef", "using", "do"])
_DECLARED = re.compile(
    r"\s*(?:[A-Za-z_]\w*\s*:(?!:)\s*)?"
    r"(?P<first>[A-Za-z_]\w*)(?:\s*::\s*\w+)*(?:\s*<[^;{}]*>)?[\s*&]+"
    r"(?:[A-Za-z_]\w*(?:\s*::\s*\w+)*(?:\s*<[^;{}]*>)?[\s*&]+){0,5}(?:[^;{}()]*,[\s*&]*)?"
)
_AFTER_NAME = re.compile(r"\s*[\[;=,{(]")


@dataclass(frozen=True, kw_only=True)
class Spot:
    """Where a pragma goes: an offset, and whether what follows is a body without braces."""

    offset: int
    unbraced: bool = False


@dataclass(frozen=True)
class _Region:
    """A body: where it begins (behind its brace, if it has one) and ends; of a function, its parameters."""

    start: Spot
    end: int
    parameters: str = ""


@dataclass(frozen=True)
class PlacedCode:
    """Preprocessed C++ in which places are looked for; functions of system headers are none."""

    text: str = field(repr=False)

    @cached_property
    def _plain(self) -> str:
        return plain_code(self.text)

    @cached_property
    def _markers(self) -> list[tuple[int, int, bool]]:
        """Where lines are numbered anew: the offset, the number, and whether a system header follows."""
        found = _LINE.finditer(self.text)
        return [(one.end() + 1, int(one[1]), _SYSTEM_HEADER in one[3].split()) for one in found]

    def spots(self, directive: Directive) -> tuple[list[Spot], str]:
        """Where the directive's pragma would stand in this code, or why nowhere."""
        function, *labels = directive.place.strip("/").split("/")
        regions = list(self._functions(function))
        if not regions:
            return [], f"the files define no function {function}"
        for label in labels:
            regions = [inner for region in regions for inner in self._labelled(region, label)]
        if not regions:
            return [], f"{function} has no loop {'/'.join(labels)}"
        return [spot for region in regions for spot in self._for_variable(region, directive.variable)], ""

    def _line(self, offset: int) -> tuple[int, bool]:
        """The number of the line at an offset, and whether it is one of a system header."""
        begin, number, system = 0, 1, False
        for marker in self._markers:
            if marker[0] > offset:
                break
            begin, number, system = marker
        return number + self.text.count("\n", begin, offset), system

    def _functions(self, name: str) -> Iterator[_Region]:
        """The bodies of the functions of a name, which may be qualified."""
        *outer, own = (part for part in re.sub(r"<.*?>|\(.*", "", name).split("::") if part)
        for found in re.finditer(rf"(?<![\w.~]){re.escape(own)}\s*(?:<[^;{{}}()]*>)?\s*\(", self._plain):
            end = closed(self._plain, found.end() - 1)
            body = _BODY.match(self._plain, end)
            if body is None or self._line(found.start())[1] or not self._is_in(outer, found.start()):
                continue
            parameters = self._plain[found.end() : end - 1]
            yield _Region(Spot(offset=body.end()), closed(self._plain, body.end() - 1) - 1, parameters)

    def _is_in(self, outer: Sequence[str], offset: int) -> bool:
        """Whether a function's name is qualified by these, or stands in the bodies of these."""
        before = re.sub(r"<[^<>;{}]*>|\s", "", self._plain[max(0, offset - 200) : offset])
        if not outer or before.endswith("".join(f"{part}::" for part in outer)):
            return True
        heads = re.finditer(
            rf"\b(?:class|struct|namespace)\s+{re.escape(outer[-1])}\b[^;{{}}]*\{{", self._plain[:offset]
        )
        return any(closed(self._plain, one.end() - 1) > offset for one in heads)

    def _labelled(self, region: _Region, label: str) -> Iterator[_Region]:
        """The bodies of the loops and blocks in a region with a label, written or made of a line's number."""
        start, end = region.start.offset, region.end
        own = re.compile(rf"(?<![\w:?]){re.escape(label)}\s*:(?!:)")
        starts = [found.end() for found in own.finditer(self._plain, start, end)]
        line = _BY_LINE.fullmatch(label)
        if line and not starts:
            loops = re.finditer(r"\b(?:for|while|do)\b", self._plain[start:end])
            starts = [
                start + one.start() for one in loops if self._line(start + one.start())[0] == int(line[1])
            ]
        for at in starts:
            labels = _LABELS.match(self._plain, at)
            found = self._body(labels.end() if labels else at)
            if found is not None:
                yield found

    def _body(self, at: int) -> _Region | None:
        """The body of the loop or block that begins at `at`; None if neither does."""
        loop = _LOOP.match(self._plain, at)
        if loop and loop[1] != "do":
            opening = self._plain.find("(", loop.end())
            at = closed(self._plain, opening) if opening >= 0 else at
        elif loop:
            at = loop.end()
        while self._plain[at : at + 1].isspace():
            at += 1
        if self._plain[at : at + 1] == "{":
            return _Region(Spot(offset=at + 1), closed(self._plain, at) - 1)
        if not loop:
            return None
        return _Region(Spot(offset=at, unbraced=True), self._end_of_statement(at))

    def _end_of_statement(self, at: int) -> int:
        """Behind the semicolon or block that ends the statement at `at`."""
        while at < len(self._plain):
            sign = self._plain[at]
            if sign == ";":
                return at + 1
            if sign in "([{":
                at = closed(self._plain, at)
                if sign == "{" and not re.match(r"\s*(?:else|while)\b", self._plain[at : at + 40]):
                    return at
            else:
                at += 1
        return at

    def _for_variable(self, region: _Region, variable: str) -> Iterator[Spot]:
        """Behind the declarations of a variable in a region; its start where nothing declares it there."""
        name = re.match(r"[A-Za-z_]\w*", variable)
        if name is None or re.search(rf"\b{name[0]}\b", region.parameters):
            yield region.start
            return
        ends = list(self._declarations(region, name[0]))
        yield from [Spot(offset=end) for end in ends] or [region.start]

    def _declarations(self, region: _Region, name: str) -> Iterator[int]:
        start, end = region.start.offset, region.end
        for found in re.compile(rf"(?<![\w.>]){name}\b").finditer(self._plain, start, end):
            begin = max(self._plain.rfind(sign, 0, found.start()) for sign in ";{}") + 1
            head = _DECLARED.fullmatch(self._plain, max(start, begin), found.start())
            if head and head["first"] not in _NOT_TYPES and _AFTER_NAME.match(self._plain, found.end()):
                yield self._end_of_declaration(found.end())

    def _end_of_declaration(self, at: int) -> int:
        while at < len(self._plain) and self._plain[at] != ";":
            at = closed(self._plain, at) if self._plain[at] in "([{" else at + 1
        return at + 1
