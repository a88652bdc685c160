"""Arrays that the vendor's compiler takes apart because each index is known.

A dimension whose index is a constant wherever the array is read or written is no dimension: its parts become
variables of their own, registers where that holds of all dimensions. Logs of all releases from 2020.2 on say
`Partitioning array 'hash_table' in dimension 1 automatically` or `Partitioning array 'temp' automatically`;
of statics too, never of what is an argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hlsgen.schedule.ir import Function, Global, Instruction, Local, Operand, bytes_of
from hlsgen.schedule.linear import Addresses
from hlsgen.schedule.memories import COMPLETE, Memories, Memory, Where, locate
from hlsgen.schedule.nests import addresses_in
from hlsgen.schedule.statics import STATE

_SAYS_NOTHING = ("__hls_mark", "__hls_keep", "llvm.lifetime", "llvm.dbg")


def split_constant_dimensions(function: Function, memories: Memories, addresses: Addresses) -> None:
    """Split the dimensions of a function's own arrays that only constants index."""
    found: dict[Memory, list[Where]] = {}
    unknown: set[Local | Global] = set()
    for _, one in function.instructions():
        unknown |= set(_unknown(one, addresses))
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


def _unknown(one: Instruction, addresses: Addresses) -> Iterator[Local | Global]:
    """The variables of which an instruction takes more than a word that is known."""
    if one.opcode in ("load", "getelementptr") or one.callee.startswith(_SAYS_NOTHING):
        return
    if one.callee.startswith("llvm.memcpy") and _is_state(one.operands[1]):
        return  # what a static holds at first
    for operand in one.operands[:1] if one.opcode == "store" else one.operands:  # of a store its value
        address = addresses.of(operand)
        if address is not None:
            yield address.base


def _bytes(one: Instruction) -> int:
    """The bytes that an instruction reads or writes at one address; 0 of a copy."""
    if one.opcode == "load":
        return bytes_of(one.type)
    return bytes_of(one.types[0]) if one.opcode == "store" else 0


def _is_state(operand: Operand) -> bool:
    return isinstance(operand, Global) and operand.name.strip('"').startswith(STATE)


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
