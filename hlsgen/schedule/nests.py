"""Nests of loops in which nothing stands but the innermost: the vendor's compiler makes one loop of them.

The bounds of all loops but the outermost have to be constants (UG1399, `loop_flatten`: perfect nests, and
semi-perfect ones, whose outermost bound may vary).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.ir import Function, Instruction, Operand


def is_perfect(function: Function, parent: Loop, inner: Sequence[Loop]) -> bool:
    """Whether a loop does nothing but run one inner loop. `inner`: those that are left within it."""
    if len(inner) != 1:
        return False
    own = parent.blocks - inner[0].blocks
    return not any(
        addresses_in(one)
        or (one.opcode == "call" and not one.callee.startswith(("llvm.", "__hls_mark", "__hls_keep")))
        for name in own
        for one in function.blocks[name].instructions
    )


def addresses_in(one: Instruction) -> tuple[Operand, ...]:
    """The addresses that an instruction reads or writes: objects are copied as blocks of bytes."""
    if one.opcode in ("load", "store"):
        return one.operands[-1:]
    if one.callee.startswith(("llvm.memcpy", "llvm.memmove")):
        return one.operands[:2]
    return one.operands[:1] if one.callee.startswith("llvm.memset") else ()


def flattened(function: Function, loop: Loop, trips: Mapping[str, int]) -> list[Loop]:
    """The loops around one that become one loop with it, the nearest first.

    trips: the iterations of loops with constant bounds, by their headers.
    """
    found: list[Loop] = []
    while (
        loop.parent is not None
        and loop.header in trips
        and is_perfect(function, loop.parent, loop.parent.inner)
    ):
        loop = loop.parent
        found.append(loop)
    return found
