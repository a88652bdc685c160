"""Writes under a condition that the same iteration overwrites in any case: the vendor's compiler has taken
them out (public reports of 2023.2).

if (k == 0) c[i] = 0;      no access of the memory: what the read below gives is 0 or the word
c[i] = c[i] + x;
"""

from __future__ import annotations

from collections.abc import Sequence

from hlsgen.schedule.accesses import Access, Paths, same_word
from hlsgen.schedule.ir import Function
from hlsgen.schedule.iteration import Region
from hlsgen.schedule.linear import Addresses


def written_bases(region: Region, function: Function, addresses: Addresses) -> set[str]:
    """The bases of the memories that the region writes."""
    stores = (
        one.operands[1]
        for name in region.blocks
        for one in function.blocks[name].instructions
        if one.opcode == "store"
    )
    found = (addresses.of(pointer) for pointer in stores)
    return {address.base.name for address in found if address is not None}


def drop_overwritten(region: Region, function: Function) -> None:
    """Take such writes from the accesses of memories on the chip; reads behind wait for what they write."""
    paths = Paths(region)
    for memory, accesses in region.accesses.items():
        if memory.storage in ("register", "axi"):
            continue
        for write in [one for one in accesses if one.writes]:
            at = accesses.index(write)
            between = _overwritten_by(region, function, paths, write, accesses[at + 1 :])
            if between is None:
                continue
            accesses.remove(write)
            node = region.nodes[write.node]
            node.operation, node.access = None, None
            for read in between:
                value = region.nodes[read.value]
                value.after = [*value.after, write.node]


def _overwritten_by(
    region: Region, function: Function, paths: Paths, write: Access, later: Sequence[Access]
) -> list[Access] | None:
    """The reads of the written word before another write always overwrites it; None if none does, or a read
    between may be of the word without being known to be."""
    between: list[Access] = []
    for one in later:
        if write.where is None or one.where is None or not paths.follows(write.block, one.block):
            continue
        same = same_word(write.where, one.where)
        if same is None:
            return None
        if (
            same
            and one.writes
            and one.block != write.block
            and _always_follows(region, function, write.block, one.block)
        ):
            return between
        if same and one.writes:
            return None
        if same and one.value != one.node:
            between.append(one)
        elif same:
            return None
    return None


def _always_follows(region: Region, function: Function, first: str, second: str) -> bool:
    """Whether every way from a block to the end of the iteration passes another."""
    waiting, seen = [first], {first}
    while waiting:
        name = waiting.pop()
        if name == second:
            continue
        followers = region.successors.get(name, [])
        leaves = any(one not in region.successors for one in function.blocks[name].successors)
        if leaves or not followers:
            return False
        waiting += [one for one in followers if one not in seen]
        seen.update(followers)
    return True
