"""Functions that LLVM knows, and the library of C: which operations they are made of."""

from __future__ import annotations

SATURATING = {"uadd": "add", "sadd": "add", "usub": "sub", "ssub": "sub"}
EXTREMES = {
    **dict.fromkeys(("smax", "smin", "umax", "umin"), "icmp"),
    **dict.fromkeys(("maxnum", "minnum", "maximum", "minimum", "maximumnum", "minimumnum"), "fcmp"),
}
"""Comparisons with a choice behind them, by what compares."""
COUNTS = frozenset(["ctlz", "cttz", "ctpop", "scmp", "ucmp"])
"""Counts of bits, and comparisons with three results: as deep as a comparison and a choice."""
_MATHS = "sqrt exp log sin cos tan tanh pow atan2 fmod"
MATHS = {name + end: name for name in _MATHS.split() for end in ("", "f")}
