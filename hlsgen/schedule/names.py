"""Names of variables as the source has them, from those that C++ and LLVM make of them."""

from __future__ import annotations

import re

_ADDED = re.compile(r"(?:\.(?:static|i|addr|sroa(?:\.\w+)*|\d+))+$")
"""What inlining and hlsgen's own passes add."""
_LAST = re.compile(r"(\d+)([A-Za-z_]\w*)")
_EXTENT = re.compile(r"A\d+_")
"""Of an array among a function's parameters: no length of a name."""


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
        extent = _EXTENT.match(name, at)
        part = _LAST.match(name, at) if extent is None else None
        if part is None:
            at = at + 1 if extent is None else extent.end()
            continue
        length = int(part[1])
        found = name[part.end(1) : part.end(1) + length]
        at = part.end(1) + length
    return found or name
