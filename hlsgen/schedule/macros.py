"""Macros in the values of pragmas, which a preprocessor leaves as they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from hlsgen.schedule.pragmas import closed, split_list

_NAME = re.compile(r"[A-Za-z_]\w*")
MAX_DEPTH = 32
"""The most rounds of replacing; a macro that names itself ends there."""


@dataclass(kw_only=True)
class Macros:
    """The macros that are defined at a place: bodies, with the names of parameters, None of a plain one."""

    _known: dict[str, tuple[list[str] | None, str]] = field(default_factory=dict)

    def define(self, name: str, parameters: str | None, body: str) -> None:
        """parameters: as written, in parentheses; None of a macro without."""
        names = None
        if parameters is not None:
            names = [one.strip() for one in parameters[1:-1].split(",") if one.strip()]
        self._known[name] = (names, body.strip())

    def undefine(self, name: str) -> None:
        self._known.pop(name, None)

    def expanded(self, text: str) -> str:
        """`text` with macros replaced, those in what replaces them too."""
        for _ in range(MAX_DEPTH):
            more = self._once(text)
            if more == text:
                break
            text = more
        return text

    def _once(self, text: str) -> str:
        out: list[str] = []
        done = 0
        for found in _NAME.finditer(text):
            if found.start() < done or found[0] not in self._known:
                continue
            parameters, body = self._known[found[0]]
            end = found.end()
            if parameters is not None:
                opening = re.compile(r"\s*\(").match(text, end)
                if opening is None:
                    continue
                end = closed(text, opening.end() - 1)
                arguments = [one.strip() for one in split_list(text[opening.end() : end - 1])]
                body = _NAME.sub(_words(dict(zip(parameters, arguments, strict=False))), body)
            out += [text[done : found.start()], body]
            done = end
        return "".join((*out, text[done:]))


def _words(new: dict[str, str]) -> Callable[[re.Match[str]], str]:
    """What a name becomes."""
    return lambda name: new.get(name[0], name[0])
