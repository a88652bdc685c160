"""Counters that index an array in each iteration: they stay below its extent, and wrap nowhere.

    unsigned char count = 0;
    for (...) words[count++] = x;                short words[48]

By its type the count might come back to 0, and two iterations write the same word; before that it would have
been beyond the array. (caps-tum/ATOMFLOW sortLatticeByRow.cpp:1716, 2024.2: II 1 of two such writes.)
"""

from __future__ import annotations

from collections.abc import Mapping

from hlsgen.schedule.control_flow import Loop, is_passed_by
from hlsgen.schedule.ir import Function, Instruction, IntType, Local, bytes_of
from hlsgen.schedule.pointers import base_of


def extent_indexed_by(
    phi: Instruction, step: int, loop: Loop, function: Function, definitions: Mapping[str, Instruction]
) -> int | None:
    """How many values a rising counter without sign may have within an iteration, by what it indexes; None
    where nothing that it indexes is too small for all values of its type."""
    if step <= 0 or not isinstance(phi.type, IntType):
        return None
    extents = [
        extent
        for name in loop.blocks
        for one in function.blocks[name].instructions
        if one.opcode == "getelementptr" and (extent := _extent(one, phi, definitions)) is not None
        if not is_passed_by(loop, name, function)
    ]
    least = min(extents, default=None)
    return None if least is None or least + step > 1 << phi.type.bits else least


def _extent(one: Instruction, phi: Instruction, definitions: Mapping[str, Instruction]) -> int | None:
    """Elements that a variable has room for, of which an address takes that of the counter."""
    index = one.operands[-1]
    widened = definitions.get(index.name) if isinstance(index, Local) else None
    if widened is None or widened.opcode != "zext" or widened.operands[0] != Local(phi.name):
        return None
    base, _ = base_of(one.operands[0], definitions)
    variable = definitions.get(base.name) if isinstance(base, Local) else None
    if variable is None or variable.opcode != "alloca" or variable.source is None:
        return None
    if len(one.operands) != 2 or one.source is None:
        return None
    return bytes_of(variable.source) // max(1, bytes_of(one.source))
