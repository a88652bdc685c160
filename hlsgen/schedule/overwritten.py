"""Writes under a condition that the same iteration overwrites in any case: the vendor's compiler has taken
them out (public reports of 2023.2).

if (k == 0) c[i] = 0;      no access of the memory: what the read below gives is 0 or the word
c[i] = c[i] + x;
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hlsgen.schedule.accesses import Access, same_word
from hlsgen.schedule.chosen_memories import ways_of
from hlsgen.schedule.ir import Function
from hlsgen.schedule.iteration import Region
from hlsgen.schedule.pointers import base_of
from hlsgen.schedule.statics import is_state

if TYPE_CHECKING:
    from hlsgen.schedule.region import RegionBuilder


def written_bases(region: Region, builder: RegionBuilder) -> set[str]:
    """The bases of the memories that the region writes."""
    stores = (
        one.operands[1]
        for name in region.blocks
        for one in builder.function.blocks[name].instructions
        if one.opcode == "store"
    )
    found = (builder.addresses.of(pointer) for pointer in stores)
    return {
        way.base.name
        for address in found
        if address is not None
        for way in ways_of(address, builder.addresses, builder.memories)[0]
    }


def bases_written(function: Function) -> set[str]:
    """The variables that a function's stores and copies lead to."""
    definitions = {one.name: one for _, one in function.instructions() if one.name}
    pointers = (
        one.operands[one.opcode == "store"]
        for _, one in function.instructions()
        if one.opcode == "store" or (one.callee.startswith("llvm.mem") and not is_state(one.operands[1]))
    )
    found = (base_of(pointer, definitions)[0] for pointer in pointers)
    return {base.name for base in found if base is not None}


def drop_overwritten(region: Region, function: Function) -> None:
    """Take such writes from the accesses of memories on the chip; reads behind wait for what they write."""
    for memory, accesses in region.accesses.items():
        if memory.storage in ("register", "axi") or memory.has_parts:
            continue
        by_block: dict[str, list[Access]] = {}
        for one in accesses:
            by_block.setdefault(one.block, []).append(one)
        for write in [one for one in accesses if one.writes]:
            between = _read_before(region, function, by_block, write)
            if between is None:
                continue
            accesses.remove(write)
            by_block[write.block].remove(write)
            node = region.nodes[write.node]
            node.operation, node.access = None, None
            for read in between:
                value = region.nodes[read.value]
                value.after = [*value.after, write.node]


def _read_before(
    region: Region, function: Function, by_block: Mapping[str, Sequence[Access]], write: Access
) -> list[Access] | None:
    """The reads of the written word before it is overwritten, whichever way the iteration takes; None if on
    some way it is not, or a read between may be of the word without being known to be."""
    between: list[Access] = []
    own = by_block[write.block]
    waiting = [(write.block, own[own.index(write) + 1 :])]
    seen: set[str] = set()
    while waiting:
        name, later = waiting.pop()
        reads, ends = _until_overwritten(region, write, later)
        if reads is None:
            return None
        between += reads
        if ends:
            continue
        followers = region.successors.get(name, [])
        leaves = any(one not in region.successors for one in function.blocks[name].successors)
        if leaves or not followers:
            return None
        waiting += [(one, by_block.get(one, ())) for one in followers if one not in seen]
        seen.update(followers)
    return between


def _until_overwritten(
    region: Region, write: Access, later: Sequence[Access]
) -> tuple[list[Access] | None, bool]:
    """The reads of the word among later accesses of one block, and whether one of these overwrites it."""
    reads: list[Access] = []
    for one in later:
        if write.where is None or one.where is None:
            return None, False
        same = same_word(write.where, one.where)
        if one.writes and same:
            return reads, _is_as_wide(region, write, one)
        if not one.writes and same is not False:
            if not same or one.value == one.node:
                return None, False
            reads.append(one)
    return reads, False


def _is_as_wide(region: Region, write: Access, other: Access) -> bool:
    """Whether another write of the word has all of its bits."""
    mine, its = region.nodes[write.node].operation, region.nodes[other.node].operation
    return mine is not None and its is not None and its.widths[0] >= mine.widths[0]
