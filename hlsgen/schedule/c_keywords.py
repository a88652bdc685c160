"""Names of C that are keywords of C++, as which C is compiled here: `uint32_t new`."""

from __future__ import annotations

import re
from pathlib import Path

_WORDS = (
    "new|delete|class|this|template|typename|private|public|protected|operator|namespace|using|virtual|friend"
    "|explicit|mutable|export|try|catch|throw|typeid|decltype|constexpr|nullptr|noexcept"
)
_KEYWORD = re.compile(rf'"(?:\\.|[^"\\\n])*"|\b({_WORDS})\b')
_MARKER = re.compile(r'#\s+\d+\s+"([^"]*)"([\s\d]*)')
_SYSTEM = "3"
"""Among the flags of a line marker: the file is one of the system's."""


def without_keywords(text: str, ours: Path) -> str:
    """Preprocessed C with such names changed, where the files of the user have them; ours: the folder of
    headers that are C++."""
    lines, own = text.split("\n"), True
    for at, line in enumerate(lines):
        marker = _MARKER.match(line)
        if marker is not None:
            own = _SYSTEM not in marker[2].split() and not marker[1].startswith(("<", str(ours)))
        elif own and not line.startswith("#"):
            lines[at] = _KEYWORD.sub(lambda found: f"{found[1]}_in_c" if found[1] else found[0], line)
    return "\n".join(lines)
