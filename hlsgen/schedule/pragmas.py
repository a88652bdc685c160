"""A pragma of the source, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Pragma:
    """One `#pragma HLS` of a translation unit.

    `options` names those with integer values, in the order in which its mark carries them; `texts` holds the others.
    """

    index: int
    name: str
    words: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    variable: str = ""
    file: str = ""
    line: int = 0
