"""Pointers that are one of several: words of DDR, or of arrays on the chip.

float *from = a, *to = b;
for (...) { step(from, to); swap(from, to); }      words of AXI ports, whichever array it is
x = ping ? A[i] : B[i];                            a word of each array, one of which is chosen

Reports of 2020.2 count words of ports as those of the port (a read and a write of a part of one word: II 15).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hlsgen.schedule.ir import Instruction, Local, Operand
from hlsgen.schedule.linear import Address, Addresses, Linear
from hlsgen.schedule.memories import Intervals, Memories, Memory, unknown_memory
from hlsgen.schedule.pointers import variables_of

MOST_WAYS = 16
"""Arrays that a pointer is one of; of more it is taken as an array of its own."""


def memory_at(
    address: Address, definitions: Mapping[str, Instruction], memories: Memories, interval: Intervals
) -> Memory:
    """The memory that an address falls into; one that only the address tells of where none is known."""
    found = memories.find(address, interval)
    return found or _chosen_port(address, definitions, memories) or unknown_memory(address)


def ways_of(
    address: Address, addresses: Addresses, memories: Memories
) -> tuple[list[Address], frozenset[str]]:
    """The addresses that one is, by choices, which are named, where each is of an array on the chip: an
    access of it is one of each. Else the address itself, as where arrays are swapped from iteration to
    iteration."""
    alone = [address], frozenset[str]()
    found: dict[Address, None] = {}
    named: frozenset[str] = frozenset()
    waiting: list[tuple[Operand, Linear, frozenset[str]]] = [(address.base, address.offset, named)]
    while waiting:
        operand, offset, seen = waiting.pop()
        start = addresses.of(operand)
        if start is None or start.base.name in seen or len(found) == MOST_WAYS:
            return alone
        start = replace(start, offset=start.offset + offset)
        chosen = addresses.definitions.get(start.base.name) if isinstance(start.base, Local) else None
        if chosen is not None and chosen.opcode in ("phi", "select"):
            seen, named = seen | {chosen.name}, named | {chosen.name}
            pointers = chosen.operands[chosen.opcode == "select" :]
            waiting += [(one, start.offset, seen) for one in reversed(pointers)]
            continue
        arrays = memories.by_base.get(start.base, [])
        if not arrays or any(one.bundle for one in arrays):
            return alone
        found[start] = None
    return list(found), named


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
