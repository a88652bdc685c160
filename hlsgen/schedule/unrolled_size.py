"""How large a part of a kernel becomes once its loops are unrolled, known before it is: unrolled code of many
millions of instructions would take hours and all of the memory."""

from __future__ import annotations

from hlsgen.schedule.control_flow import loops_of, reverse_postorder
from hlsgen.schedule.ir import Function, Module
from hlsgen.schedule.plan import LoopPlan
from hlsgen.schedule.ranges import Ranges

MOST_INSTRUCTIONS = 1_000_000
"""Those that are scheduled: 656,000, of which folding leaves 264,000, take two minutes and 1.1 GB."""


def unrolled_instructions(module: Module, plan: LoopPlan) -> int:
    """The instructions of a module after unrolling, before anything is folded; a loop of which the iterations
    are not known counts once."""
    return sum(_of_function(one, module, plan) for one in module.functions.values() if one.blocks)


def says_size(name: str, instructions: int) -> str:
    """How large a part becomes."""
    return f"{name}: some {instructions:,} instructions once loops are unrolled as the vendor's tool would"


def says_too_large(name: str, instructions: int) -> str:
    """That a part is not scheduled for its size; empty if it is."""
    if instructions <= MOST_INSTRUCTIONS:
        return ""
    return (
        f"{says_size(name, instructions)}, "
        f"and of more than {MOST_INSTRUCTIONS:,} nothing is said; unroll less"
    )


def _of_function(function: Function, module: Module, plan: LoopPlan) -> int:
    loops = loops_of(function)
    entry = next(iter(function.blocks))
    order = reverse_postorder(entry, {name: block.successors for name, block in function.blocks.items()})
    trips = Ranges(function, order, loops, module.variables).trips
    copies = dict.fromkeys(function.blocks, 1)
    for loop in loops:
        factor = plan.unrolled.get(loop.node, 1)
        iterations = trips.get(loop.header) or 1
        for name in loop.blocks:
            copies[name] *= min(factor or iterations, iterations)
    return sum(len(block.instructions) * copies[name] for name, block in function.blocks.items())
