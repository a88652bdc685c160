"""Pointers that are one of several arguments which lead to DDR: those of a swap, or what a `switch` chooses.

float *from = a, *to = b;
for (...) { step(from, to); swap(from, to); }      words of AXI ports, whichever array it is

Reports of 2020.2 count such words as those of the port (a read and a write of a part of one word: II 15).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hlsgen.schedule.ir import Instruction
from hlsgen.schedule.linear import Address
from hlsgen.schedule.memories import Intervals, Memories, Memory, unknown_memory
from hlsgen.schedule.pointers import variables_of


def memory_at(
    address: Address, definitions: Mapping[str, Instruction], memories: Memories, interval: Intervals
) -> Memory:
    """The memory that an address falls into; one that only the address tells of where none is known."""
    found = memories.find(address, interval)
    return found or _chosen_port(address, definitions, memories) or unknown_memory(address)


def _chosen_port(
    address: Address, definitions: Mapping[str, Instruction], memories: Memories
) -> Memory | None:
    """The words that a choice of pointers leads to where all are of AXI ports; of several ports one that
    stands for each of them."""
    chosen = definitions.get(address.base.name)
    if chosen is None or chosen.opcode not in ("phi", "select"):
        return None
    found = [memories.by_base.get(one, []) for one in variables_of(chosen, definitions)]
    if not found or not all(len(arrays) == 1 and arrays[0].bundle for arrays in found):
        return None
    arrays = sorted((one for (one,) in found), key=lambda one: one.name)
    bundle = " ".join(sorted({one.bundle for one in arrays}))
    return replace(arrays[0], base=address.base, bundle=bundle)
