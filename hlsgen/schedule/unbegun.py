"""Registers that inlining invents: variables of a process, which the loops that call it seem to carry.

A process that is called in a loop declares variables without a value. Inlined, they are variables of the
loop's function, and what the process leaves in them one iteration is there in the next, for all that LLVM
knows. The vendor's compiler builds the process as a module, which keeps nothing between its calls.
"""

from __future__ import annotations

from hlsgen.schedule.ir import Constant, Function, Instruction, Local
from hlsgen.schedule.scheduled_regions import FunctionRegions, ScheduledRegion
from hlsgen.schedule.shared import Source, process_of


def unbegun(one: FunctionRegions, source: Source) -> frozenset[str]:
    """The values at the heads of loops outside of all processes that nothing gives a first value."""
    if not source.dataflow:
        return frozenset()
    outside = [part for part in one.parts if part.region.loop is not None and not process_of(part, source)]
    found: set[str] = set()
    before = -1
    while before != len(found):
        before = len(found)
        for part in outside:
            found.update(
                phi.name
                for phi in _phis(one.function, part)
                if phi.name not in found and not begins(phi, part, found)
            )
    return frozenset(found)


def begins(phi: Instruction, part: ScheduledRegion, without: frozenset[str] | set[str]) -> bool:
    """Whether a register of a loop has a first value. without: the names of values that are none."""
    loop = part.region.loop
    if phi.opcode != "phi":
        return True
    first = [
        value
        for value, label in zip(phi.operands, phi.labels, strict=True)
        if loop is None or label not in loop.blocks
    ]
    return not all(
        value.value is None
        if isinstance(value, Constant)
        else isinstance(value, Local) and value.name in without
        for value in first
    )


def _phis(function: Function, part: ScheduledRegion) -> list[Instruction]:
    loop = part.region.loop
    return (
        []
        if loop is None
        else [one for one in function.blocks[loop.header].instructions if one.opcode == "phi"]
    )
