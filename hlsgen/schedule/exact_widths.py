"""The text of a module as Clang writes it -> the same without what hides widths or only costs time."""

from __future__ import annotations

import re

_MACHINE = re.compile(
    r' "(?:target-features|target-cpu|tune-cpu|stack-protector-buffer-size|min-legal-vector-width)"="[^"]*"'
)
_NATIVE_WIDTHS = re.compile(r'^(target datalayout = "[^"\n]*?)-n8:16:32:64', re.MULTILINE)


def with_exact_widths(module: str) -> str:
    """Without the machine's native integers, to which an optimiser would widen others, and its processor."""
    return _MACHINE.sub("", _NATIVE_WIDTHS.sub(r"\1", module, count=1))
