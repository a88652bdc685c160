"""Names of variables and functions as the source has them, from those that C++ and LLVM make of them."""

from __future__ import annotations

import re

_ADDED = re.compile(r"(?:\.(?:static|rom|i|addr|sroa(?:\.\w+)*|\d+))+$")
"""What inlining and hlsgen's own passes add."""
_INLINED_AT = re.compile(r"\.i\d*(?=\.|$)")
"""What each call adds to the names of the variables of what it calls."""
_NAME = re.compile(r"L?(\d+)(?=[A-Za-z_])")
_NUMBER = re.compile(r"A\d+_|L[a-z]n?\d+E")
"""The extent of an array among a function's parameters, the value of a template's argument: no lengths of
names."""
_VALUE = re.compile(r"n?\d+E")
"""Of a template's argument whose type has a name, behind that."""


_LENGTH = re.compile(r"\d+")
_NESTED = re.compile(r"_ZNK?(?P<standard>St)?")
_VERSION = "__1"
"""The namespace within std that a library keeps its releases apart by."""


def function_name(name: str) -> str:
    """The name in the source: `pe::add` of `_ZN2pe3addE6ap_intILi11EE`, without what it is given."""
    nested = _NESTED.match(name)
    at = nested.end() if nested is not None else 2
    parts = ["std"] if nested is not None and nested["standard"] else []
    while name.startswith("_Z") and (found := _LENGTH.match(name, at)):
        at = found.end() + int(found[0])
        parts += [part for part in (name[found.end() : at],) if part != _VERSION]
        if nested is None:
            break
    return "::".join(parts) or name


def calls_around(name: str) -> int:
    """How many calls within each other a variable was inlined at."""
    return len(_INLINED_AT.findall(name))


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
