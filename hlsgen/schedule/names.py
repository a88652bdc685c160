"""Names of variables as the source has them, from those that C++ and LLVM make of them."""

from __future__ import annotations

import re

_ADDED = re.compile(r"(?:\.(?:static|i|addr|sroa(?:\.\w+)*|\d+))+$")
"""What inlining and hlsgen's own passes add."""
_LAST = re.compile(r"(\d+)([A-Za-z_]\w*)")


def variable_name(name: str) -> str:
    """The name in the source: `counts` of `_ZZ11static_histE6counts.static` and of `counts.i.i`."""
    name = _ADDED.sub("", name)
    if not name.startswith("_Z"):
        return name
    found = ""
    at = 2
    while at < len(name):
        part = _LAST.match(name, at)
        if part is None:
            at += 1
            continue
        length = int(part[1])
        found = name[part.end(1) : part.end(1) + length]
        at = part.end(1) + length
    return found or name
