"""What functions do with their parameters: read or write them, as far as their bodies tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Flag

from hlsgen.lint.macros import split
from hlsgen.lint.program import Names
from hlsgen.lint.structure import Function, Module, Variable

MAX_CALLS = 20
"""Functions that an argument is followed through."""
BUDGET = 1_000_000
"""Characters that are looked at one by one; a file that needs more is left undecided."""
MAX_SPAN = 2000
"""Characters of a call or a subscript."""


class Access(Flag):
    """What a function does with an argument; NONE: that is not known."""

    NONE = 0
    READS = 1
    WRITES = 2


_COPIES = frozenset(("memcpy", "memmove"))
"""Functions of the C library that write what their first argument leads to, and read the second's."""
_READING = re.compile(r"\s*(?:(?:\.|->)\s*(?:read|empty|size)|>>)")
_WRITING = re.compile(r"\s*(?:(?:\.|->)\s*(?:write|full)|<<|(?:[-+*/%|&^]|<<|>>)?=(?!=)|\+\+|--)")
_CALLED = re.compile(r"([A-Za-z_][\w:]*)\s*$")


@dataclass(kw_only=True, eq=False)
class ArgumentAccess:
    """What functions do with their parameters, found once."""

    names: Names
    known: dict[tuple[Function, int], Access] = field(default_factory=dict)
    budget: int = BUDGET

    def of(self, name: str, count: int, position: int, depth: int = 0) -> Access:
        """What the function of `count` parameters does with the one at `position`."""
        if name.rpartition("::")[2] in _COPIES and position < 2:
            return Access.READS if position else Access.WRITES
        found = self.names.body_of(name, count)
        if found is None or depth > MAX_CALLS:
            return Access.NONE
        module, function = found
        key = (function, position)
        if key not in self.known:
            self.known[key] = Access.NONE  # while it is looked for: a function that calls itself
            parameter = function.parameters[position]
            if parameter.name:
                self.known[key] = self._in_body(module, function, parameter, depth)
        return self.known[key]

    def _in_body(self, module: Module, function: Function, parameter: Variable, depth: int) -> Access:
        if parameter.constant and not parameter.is_stream:
            return Access.READS
        assert function.body is not None
        node = function.body.node
        code = module.source.code[node.start_byte : node.end_byte].decode(errors="replace")
        access = Access.NONE
        mentioned = False
        for match in re.finditer(rf"\b{re.escape(parameter.name)}\b", code):
            if self.budget <= 0:
                return Access.NONE
            mentioned = True
            behind = self._behind_subscripts(code, match.end())
            if _READING.match(code, behind):
                access |= Access.READS
            elif _WRITING.match(code, behind) or code[: match.start()].endswith(("++", "--")):
                access |= Access.WRITES
            else:
                access |= self._handed_on(code, match, parameter.name, depth)
        if access is Access.NONE and mentioned and not parameter.is_stream:
            return Access.READS
        # an array is its writer's, whatever that reads of it
        return Access.WRITES if Access.WRITES in access and not parameter.is_stream else access

    def _behind_subscripts(self, code: str, at: int) -> int:
        while at < len(code) and code[at : at + 20].lstrip()[:1] == "[":
            stop = self._closing(code, code.index("[", at))
            if stop is None:
                break
            at = stop + 1
        return at

    def _closing(self, code: str, at: int) -> int | None:
        depth = 0
        for stop in range(at, min(len(code), at + MAX_SPAN)):
            self.budget -= 1
            depth += (code[stop] in "([") - (code[stop] in ")]")
            if depth == 0:
                return stop
        return None

    def _handed_on(self, code: str, match: re.Match[str], name: str, depth: int) -> Access:
        """What the function does that the parameter is an argument of."""
        for opening in self._openings(code, match.start()):
            called = _called(code[max(0, opening - MAX_SPAN) : opening])
            stop = self._closing(code, opening)
            if called is None or stop is None:
                continue
            arguments = split(code[opening + 1 : stop])
            at = next((i for i, one in enumerate(arguments) if re.match(rf"[&*\s]*{name}\b", one)), None)
            return Access.NONE if at is None else self.of(called, len(arguments), at, depth + 1)
        return Access.NONE

    def _openings(self, code: str, start: int) -> Iterator[int]:
        """The nearest opening bracket around a place in its statement."""
        depth = 0
        for at in range(start - 1, max(-1, start - MAX_SPAN), -1):
            self.budget -= 1
            if code[at] in ";{}":
                return
            if code[at] == "(" and depth == 0:
                yield at
                return
            depth += (code[at] in ")]") - (code[at] in "([")


def _called(before: str) -> str | None:
    """The name of the function that is called behind a text: f, a::f, f<1, 2>."""
    before = before.rstrip()
    if before.endswith(">"):
        depth = 0
        for at in range(len(before) - 1, -1, -1):
            depth += (before[at] == ">") - (before[at] == "<")
            if depth == 0:
                before = before[:at]
                break
    match = _CALLED.search(before[-200:])
    return match.group(1) if match else None
