"""Preprocessed C++ as brackets and names: without literals and the preprocessor's lines."""

from __future__ import annotations

import re

_HIDDEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#[^\n]*', re.MULTILINE)


def plain_code(text: str) -> str:
    """The text with blanks in place of literals and directives; nothing else moves."""
    return _HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
