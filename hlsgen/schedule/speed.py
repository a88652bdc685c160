"""Which library of delays a part has: the vendor's own word for its family, and its speed grade."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, order=True)
class Speed:
    """Parts that have the same delays."""

    family: str
    """The vendor's tool's own word: virtexuplus, zynquplus, kintexuplus, virtexu, kintexu, zynq, artix7,
    kintex7, virtex7, versal.
    """
    grade: int
    """1 (slow) to 3 (fast). Letters behind it (-2L-e, -2LV-c, -2MP) change no delay in the reports."""


FAMILIES = (
    # XC is commercial, XA automotive, XQ defence grade
    (r"x[caq]zu\d", "zynquplus"),
    (r"x[caq]k2[46]", "zynquplus"),
    (r"xcu30\b", "zynquplus"),
    (r"xcu\d", "virtexuplus"),
    (r"x[caq]vu\d+p", "virtexuplus"),
    (r"x[caq][ka]u\d+p", "kintexuplus"),
    (r"x[caq]ku\d", "kintexu"),
    (r"x[caq]vu\d", "virtexu"),
    (r"x[caq]7z", "zynq"),
    (r"x[caq]7[as]", "artix7"),
    (r"x[caq]7k", "kintex7"),
    (r"x[caq]7v", "virtex7"),
    (r"x[caq]v[cmehpr]\d|xcv80", "versal"),
    # a family in place of a part, as the vendor's set_part takes it
    (r"versal", "versal"),
    *(
        (rf"{family}$", family)
        for family in ("zynquplus", "virtexuplus", "kintexuplus", "virtexu", "kintexu")
        + ("zynq", "artix7", "kintex7", "virtex7")
    ),
)
"""Names of parts and their families, in the order in which they are looked at."""
UNKNOWN = "zynquplus"
"""Family whose delays stand for those of a part that is not known: the slower one of UltraScale+."""
SLOW_BY_DEFAULT = ("zynq", "artix7", "kintex7", "virtex7")
"""Families whose boards mostly have grade 1; other parts whose name has no grade count as grade 2."""


def speed_of(part: str) -> Speed:
    """The speed of a part such as xcu200-fsgd2104-2-e, xc7z020clg400-1 or xczu7ev (its commonest grade)."""
    name = part.lower()
    family = next((word for pattern, word in FAMILIES if re.match(pattern, name)), UNKNOWN)
    found = re.search(r"-([123])[a-z]*(?:-|$)", name)
    grade = int(found[1]) if found else 1 if family in SLOW_BY_DEFAULT else 2
    return Speed(family=family, grade=grade)


def is_known(part: str) -> bool:
    """Whether the part's name tells its family."""
    return any(re.match(pattern, part.lower()) for pattern, _ in FAMILIES)
