"""Amounts of memory as users write them: 400MB, 1.5 GiB, or a number of bytes."""

from __future__ import annotations

import re

from hlsgen.base.errors import DesignError, Problem

UNITS = {
    "": 1, "B": 1,
    "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40,
}  # fmt: skip
"""Bytes by unit, in capitals."""


def bytes_of(text: str | int) -> int:
    """The number of bytes that `text` says. Raises DesignError: it says none, or none above 0."""
    if isinstance(text, int) and not isinstance(text, bool):
        number, unit = float(text), ""
    else:
        found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{0,9})?)\s*([KMGT]?(?:I?B)?)\s*", str(text), re.IGNORECASE)
        if found is None or found[2].upper() not in UNITS:
            raise _refused(text)
        number, unit = float(found[1]), found[2].upper()
    count = int(number * UNITS[unit])
    if count <= 0:
        raise _refused(text)
    return count


def size_text(count: float) -> str:
    """Bytes for a person: 412.3 MB."""
    for unit in ("TB", "GB", "MB", "KB"):
        if abs(count) >= UNITS[unit]:
            return f"{count / UNITS[unit]:.1f} {unit}"
    return f"{count:.0f} B"


def _refused(text: object) -> DesignError:
    return DesignError(
        Problem(
            message=f"{text!r} is no amount of memory", fix="such as 400MB, 1.5GB, 512MiB or bytes: 400000000"
        )
    )
