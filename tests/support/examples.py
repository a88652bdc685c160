"""How many examples are drawn where each of them is a compilation."""

from __future__ import annotations

import os


def compiled(count: int) -> int:
    """`count`, or HLSGEN_EXAMPLES times as many: the suite has to end, a night has not."""
    return count * int(os.environ.get("HLSGEN_EXAMPLES", "1"))
