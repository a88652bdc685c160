"""Bounds that a loop works out in its condition, moved in front of it before it is unrolled by a factor.

`for (i = 0; i < (n / 16) * 16; i++)` divides in every iteration, as Clang writes it. LLVM knows that its
iterations are a multiple of sixteen only once the division stands in front of the loop: sixteen copies have
one end then, and neighbouring words of an AXI port are one wide word (the vector addition of Xilinx' XACC
tutorial: mrmstudio/XACC_2022, 2021.1, II 1).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hlsgen.schedule.control_flow import Loop, loops_of
from hlsgen.schedule.ir import Constant, Function, Instruction, Local, Module
from hlsgen.schedule.nests import COMPUTED

_DEFINE = re.compile(r'^define .*?@("[^"]+"|[-\w$.]+)\(')
_LABEL = re.compile(r'^("[^"]+"|[-\w$.]+):')
_NAMED = re.compile(r'^  %("[^"]+"|[-\w$.]+) = ')
_GOES = re.compile(r'^  br label %("[^"]+"|[-\w$.]+)')
_DIVIDES = ("sdiv", "udiv", "srem", "urem")


def with_bounds_in_front(text: str, module: Module, unrolled: Mapping[int, int]) -> str:
    """The module's text with what the headers of partly unrolled loops compute of values that are known
    before them, in the blocks in front. unrolled: factors by the loops' nodes."""
    moves = {name: dict(_moves(function, unrolled)) for name, function in module.functions.items()}
    if not any(moves.values()):
        return text
    lines: list[str] = []
    fronts: dict[str, str] = {}
    begun = 0
    for line in [*text.splitlines(), ""]:
        if starts := _DEFINE.match(line):
            fronts, begun = moves.get(starts[1].strip('"'), {}), len(lines)
        lines.append(line)
        if line == "}" and fronts:
            lines[begun:] = _moved(lines[begun:], fronts)
            fronts = {}
    return "\n".join(lines)


def _moved(lines: list[str], fronts: Mapping[str, str]) -> list[str]:
    """A function's lines with instructions moved to the ends of blocks. fronts: the block of each."""
    waiting: dict[str, list[str]] = {}
    for line in lines:
        named = _NAMED.match(line)
        if named and named[1].strip('"') in fronts:
            waiting.setdefault(fronts[named[1].strip('"')], []).append(line)
    taken = {line for found in waiting.values() for line in found}
    found, block = [], ""
    for line in lines:
        if begins := _LABEL.match(line):
            block = begins[1].strip('"')
        if _GOES.match(line):
            found += waiting.pop(block, [])
        if line not in taken:
            found.append(line)
    return found if not waiting else lines


def _moves(function: Function, unrolled: Mapping[int, int]) -> Iterator[tuple[str, str]]:
    """The instructions that move, in their order, with the blocks that they move to."""
    for loop in loops_of(function):
        front = _front(function, loop) if unrolled.get(loop.node, 0) > 1 else None
        if front is None:
            continue
        made = {one.name for name in loop.blocks for one in function.blocks[name].instructions if one.name}
        for one in function.blocks[loop.header].instructions:
            if one.opcode in COMPUTED and _is_known(one, made):
                made.discard(one.name)
                yield one.name, front


def _front(function: Function, loop: Loop) -> str | None:
    """The only block in front of a loop, if it leads nowhere else."""
    before = [
        name
        for name, block in function.blocks.items()
        if name not in loop.blocks and loop.header in block.successors
    ]
    if len(before) != 1 or len(set(function.blocks[before[0]].successors)) != 1:
        return None
    return before[0]


def _is_known(one: Instruction, made: set[str]) -> bool:
    """Whether an instruction reads nothing that the loop makes, and divides by constants alone."""
    if any(isinstance(operand, Local) and operand.name in made for operand in one.operands):
        return False
    return one.opcode not in _DIVIDES or isinstance(one.operands[1], Constant)
