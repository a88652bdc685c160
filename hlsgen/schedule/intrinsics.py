"""Functions that LLVM knows, and the library of C: which operations they are made of."""

from __future__ import annotations

import re

SATURATING = {"uadd": "add", "sadd": "add", "usub": "sub", "ssub": "sub"}
EXTREMES = {
    **dict.fromkeys(("smax", "smin", "umax", "umin"), "icmp"),
    **dict.fromkeys(("maxnum", "minnum", "maximum", "minimum", "maximumnum", "minimumnum"), "fcmp"),
}
"""Comparisons with a choice behind them, by what compares."""
COUNTS = frozenset(["ctlz", "cttz", "ctpop", "scmp", "ucmp", "is"])
"""Counts of bits, comparisons with three results, and tests of what a floating-point number is (is.fpclass):
as deep as a comparison and a choice."""
_MATHS = "sqrt exp log sin cos tan tanh pow atan2 fmod"
MATHS = {name + end: name for name in _MATHS.split() for end in ("", "f")}
_OF_LIBRARY = re.compile(r"_ZN3hls\d+fixed_(?P<name>[a-z]\w*?\d*)I")


def library_function(name: str) -> str:
    """What a function of the vendor's library for fixed-point numbers is called there; empty of any other.

    They are pipelines of their own that take a value each cycle: of 13 loops of public reports with one all
    have the II that they have without (2022.2, 2023.1).
    """
    found = _OF_LIBRARY.match(name)
    return f"hls::{found['name']}" if found else ""
