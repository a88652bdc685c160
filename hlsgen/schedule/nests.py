"""Nests of loops in which nothing stands but the innermost: the vendor's compiler makes one loop of them."""

from __future__ import annotations

from collections.abc import Sequence

from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.ir import Function


def is_perfect(function: Function, parent: Loop, inner: Sequence[Loop]) -> bool:
    """Whether a loop does nothing but run one inner loop. `inner`: those that are left within it."""
    if len(inner) != 1:
        return False
    own = parent.blocks - inner[0].blocks
    return not any(
        one.opcode in ("store", "load")
        or (one.opcode == "call" and not one.callee.startswith(("llvm.", "__hls_mark", "__hls_keep")))
        for name in own
        for one in function.blocks[name].instructions
    )


def flattened(function: Function, loop: Loop) -> list[Loop]:
    """The loops around one that become one loop with it, the nearest first."""
    found: list[Loop] = []
    while loop.parent is not None and is_perfect(function, loop.parent, loop.parent.inner):
        loop = loop.parent
        found.append(loop)
    return found
