"""Names of variables as the source has them, from those that C++ and LLVM make of them."""

from __future__ import annotations

import re

_ADDED = re.compile(r"(?:\.(?:static|i|addr|sroa(?:\.\w+)*|\d+))+$")
"""What inlining and hlsgen's own passes add."""
_NAME = re.compile(r"L?(\d+)(?=[A-Za-z_])")
_NUMBER = re.compile(r"A\d+_|L[a-z]n?\d+E")
"""The extent of an array among a function's parameters, the value of a template's argument: no lengths of
names."""
_VALUE = re.compile(r"n?\d+E")
"""Of a template's argument whose type has a name, behind that."""


def variable_name(name: str) -> str:
    """The name in the source: `counts` of `_ZZ11static_histE6counts.static` and of `counts.i.i`.

    In C a static variable of a function is `static_hist.counts`.
    """
    name = _ADDED.sub("", name)
    if not name.startswith("_Z"):
        return name.rpartition(".")[2] or name
    found = ""
    at = 2
    while at < len(name):
        number, part = _NUMBER.match(name, at), _NAME.match(name, at)
        if number is not None or part is None:
            at = at + 1 if number is None else number.end()
            continue
        end = part.end() + int(part[1])
        value = _VALUE.match(name, end) if name[at] == "L" else None
        if value is None:
            found = name[part.end() : end]
        at = end if value is None else value.end()
    return found or name
