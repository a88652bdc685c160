"""Labels of loops, read from the source beside them."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from hlsgen.schedule.ir import Place

_LABELLED = re.compile(r"(?:^|[;{}\s])([A-Za-z_]\w*)\s*:(?!:)\s*(?:for|while|do)\b")
_ALONE = re.compile(r"(?:^|[;{}\s])([A-Za-z_]\w*)\s*:(?!:)\s*(?://.*)?$")
_NO_LABELS = frozenset(["default", "public", "private", "protected"])
MAX_BYTES = 4 << 20


def label_of(place: Place | None) -> str:
    """The label of the loop at a place; empty if it has none, or the file cannot be read."""
    if place is None:
        return ""
    lines = _lines(place.file)
    if not 0 < place.line <= len(lines):
        return ""
    found = _LABELLED.search(lines[place.line - 1])
    if found is None and place.line > 1:
        found = _ALONE.search(lines[place.line - 2])
    return found[1] if found and found[1] not in _NO_LABELS else ""


@lru_cache(maxsize=256)
def _lines(file: str) -> list[str]:
    path = Path(file)
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return []
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
