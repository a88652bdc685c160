"""Arrays that the vendor's compiler takes apart because each index is known.

A dimension whose index is a constant wherever the array is read or written is no dimension: its parts become
variables of their own, registers where that holds of all dimensions. Logs of all releases from 2020.2 on say
`Partitioning array 'hash_table' in dimension 1 automatically` or `Partitioning array 'temp' automatically`;
of statics too, never of what is an argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hlsgen.schedule.copied_words import MOST_WORDS
from hlsgen.schedule.ir import Constant, Function, Global, Instruction, Local, bytes_of
from hlsgen.schedule.linear import Addresses
from hlsgen.schedule.memories import COMPLETE, Memories, Memory, Where, locate
from hlsgen.schedule.nests import addresses_in
from hlsgen.schedule.statics import is_state

_COPIES = ("llvm.memcpy", "llvm.memmove")
_SAYS_NOTHING = ("__hls_mark", "__hls_keep", "llvm.lifetime", "llvm.dbg")


def split_constant_dimensions(function: Function, memories: Memories, addresses: Addresses) -> None:
    """Split the dimensions of a function's own arrays that only constants index."""
    found: dict[Memory, list[Where]] = {}
    unknown: set[Local | Global] = set()
    for _, one in function.instructions():
        unknown |= set(_unknown(one, memories, addresses))
        for operand in addresses_in(one):
            address = addresses.of(operand)
            memory = memories.find(address, addresses.interval) if address is not None else None
            if address is not None and memory is not None:
                where = locate(memory, address.offset, addresses.interval, addresses.residue)
                found.setdefault(memory, []).append(where)
                if _bytes(one) > memory.element_bytes:
                    unknown.add(memory.base)
    for memory, accesses in found.items():
        own = isinstance(memory.base, Local) and not (memory.argument or memory.bundle or memory.has_parts)
        if own and memory.base not in unknown and all(where.exact for where in accesses):
            memories.replace(memory, _split(memory, accesses))


def _is_unrolled_copy(one: Instruction, memories: Memories, addresses: Addresses) -> bool:
    """Whether a copy is a loop over a few whole words: unrolled, each has an address of its own."""
    length = one.operands[2]
    found = [addresses.of(operand) for operand in one.operands[:2]]
    sizes = {_word_bytes(memories.find(each, addresses.interval)) for each in found if each is not None}
    if len(sizes) != 1 or None in found or not isinstance(length, Constant) or not length.value:
        return False
    size = sizes.pop()
    return bool(size) and not length.value % size and length.value // size <= MOST_WORDS


def _word_bytes(memory: Memory | None) -> int:
    """Of an array whose words lie one behind the other; 0 of anything else."""
    if memory is None or not memory.dimensions or memory.has_parts:
        return 0
    return memory.element_bytes if memory.dimensions[-1].stride == memory.element_bytes else 0


def _unknown(one: Instruction, memories: Memories, addresses: Addresses) -> Iterator[Local | Global]:
    """The variables of which an instruction takes more than a word that is known."""
    if one.opcode in ("load", "getelementptr") or one.callee.startswith(_SAYS_NOTHING):
        return
    if one.callee.startswith("llvm.memcpy") and is_state(one.operands[1]):
        return  # what a static holds at first
    if one.callee.startswith(_COPIES) and _is_unrolled_copy(one, memories, addresses):
        return
    for operand in one.operands[:1] if one.opcode == "store" else one.operands:  # of a store its value
        address = addresses.of(operand)
        if address is not None:
            yield address.base


def _bytes(one: Instruction) -> int:
    """The bytes that an instruction reads or writes at one address; 0 of a copy."""
    if one.opcode == "load":
        return bytes_of(one.type)
    return bytes_of(one.types[0]) if one.opcode == "store" else 0


def _split(memory: Memory, accesses: list[Where]) -> Memory:
    dimensions = tuple(
        replace(dimension, split=COMPLETE)
        if not dimension.split
        and dimension.extent > 1
        and not any(where.word[at].terms for where in accesses)
        else dimension
        for at, dimension in enumerate(memory.dimensions)
    )
    return replace(memory, dimensions=dimensions)
