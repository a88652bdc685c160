"""The first extents of array parameters, which C++ forgets and the vendor's compiler does not."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property

from hlsgen.schedule.plain_code import plain_code

_BRACE = re.compile(r"[{}]")
_BEFORE_BODY = re.compile(r"\)(?:\s|const|noexcept|override|final)*$")
_QUALIFIERS = re.compile(r"^(?:\s*\b(?:static|const|restrict|volatile)\b)*")
"""Of an array parameter of C: `int x[static 8]`."""
_TAIL = 200
"""How far before a brace the end of a parameter list is looked for."""
_CONTROL = re.compile(r"\b(?:for|while|if|switch|catch|constexpr)\s*$")


@dataclass(frozen=True)
class Parameters:
    """Those of the functions in preprocessed C++."""

    text: str = field(repr=False)

    def extent(self, name: str, offset: int) -> str:
        """The first extent of the array parameter of that name of a function around an offset, as C++.

        Empty if it has none: a pointer, another type, or no parameter.
        """
        for opening in reversed(self._around(offset)):
            before = self._plain[max(0, opening - _TAIL) : opening]
            end = _BEFORE_BODY.search(before)
            if end is None:
                continue
            close = opening - len(before) + end.start()
            begin = self._opened(close)
            if _CONTROL.search(self._plain, max(0, begin - _TAIL), begin):
                continue
            found = re.search(
                rf"(?<![\w.]){re.escape(name)}\s*\[([^\[\]]+)\]", self._plain[begin + 1 : close]
            )
            return _QUALIFIERS.sub("", found[1]).strip() if found else ""
        return ""

    @cached_property
    def _plain(self) -> str:
        return plain_code(self.text)

    @cached_property
    def _chains(self) -> list[tuple[int, tuple[int, ...]]]:
        """Behind each brace, the braces that are open there."""
        found: list[tuple[int, tuple[int, ...]]] = []
        opened: tuple[int, ...] = ()
        for brace in _BRACE.finditer(self._plain):
            opened = (*opened, brace.start()) if brace[0] == "{" else opened[:-1]
            found.append((brace.end(), opened))
        return found

    def _around(self, offset: int) -> tuple[int, ...]:
        at = bisect_left(self._chains, offset + 1, key=lambda chain: chain[0])
        return self._chains[at - 1][1] if at else ()

    def _opened(self, at: int) -> int:
        """The bracket that the one at `at` closes; 0 if none does."""
        depth = 0
        while at > 0:
            depth += (self._plain[at] == ")") - (self._plain[at] == "(")
            if depth == 0:
                return at
            at -= 1
        return 0
