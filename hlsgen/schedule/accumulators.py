"""Sums of floats that begin with zero: up to 2020.2 the tool takes an accumulator (`facc`), fed each cycle.

UG1399 names the operation (config_op facc: inferred by itself, or not). Reports of 2020.2 have it in all nine
loops of four repositories that add to a sum which is zero at first and which nothing else reads within the
loop, at II 1 (zynq: 5 and 6 stages, zynquplus: 3); a sum that begins with another value, or anew within the
loop, has an adder and its II. No report from 2021.1 on names one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.ir import Function, Instruction, Local, Operand
from hlsgen.schedule.ir_tokens import FLOAT_ZERO
from hlsgen.schedule.iteration import Carried, Region

WIDTH = 32


def accumulated(
    region: Region, function: Function, loop: Loop, around: Sequence[Loop]
) -> Collection[Carried]:
    """The edges between iterations that an accumulator takes in itself.

    around: the loops that are flattened with the loop, the nearest first.
    """
    readers: dict[int, list[int]] = {}
    for node in region.nodes:
        for before in node.after:
            readers.setdefault(before, []).append(node.index)
    found = []
    for edge in region.carried:
        total, phi = region.nodes[edge.source], region.nodes[edge.target]
        if edge.through != "register" or total.operation is None or phi.instruction is None:
            continue
        alone = readers.get(phi.index) == [total.index] and not readers.get(total.index)
        is_sum = total.operation.kind == "fadd" and total.operation.result == WIDTH
        if alone and is_sum and _begins_with_zero(function, phi.instruction, [loop, *around]):
            found.append(edge)
    return found


def _begins_with_zero(function: Function, phi: Instruction, loops: Sequence[Loop]) -> bool:
    """Whether what a loop carries is zero before the outermost of a nest, and goes on through it."""
    first = _from_outside(phi, loops[0])
    if len(loops) == 1:
        return first == FLOAT_ZERO
    outer = next(
        (
            one
            for one in function.blocks[loops[1].header].instructions
            if one.opcode == "phi" and first == Local(one.name)
        ),
        None,
    )
    return outer is not None and _begins_with_zero(function, outer, loops[1:])


def _from_outside(phi: Instruction, loop: Loop) -> Operand | None:
    """The value with which a loop begins what it carries; None if there are several."""
    values = {
        value for value, label in zip(phi.operands, phi.labels, strict=True) if label not in loop.blocks
    }
    return values.pop() if len(values) == 1 else None
