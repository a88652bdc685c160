"""Words that are written in front of a loop, on every way to it: their value is known when it begins.

LLVM then takes a read of such a word in the loop from a register (GVN's elimination of redundant loads), also
where the read stands under a condition, while the write stays in the memory.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from hlsgen.schedule.control_flow import Loop, predecessors_of
from hlsgen.schedule.ir import Function, Global, Instruction, Local
from hlsgen.schedule.iteration import Region
from hlsgen.schedule.linear import Address, Addresses
from hlsgen.schedule.nests import addresses_in

if TYPE_CHECKING:
    from hlsgen.schedule.region import RegionBuilder

DEEPEST = 8
"""Blocks in front of a loop that are looked at on one way."""
Known = AbstractSet[Address]
_HARMLESS = re.compile(r"llvm\.(?!mem)|__hls_(?:mark|keep)")
"""Calls that write no memory."""


def written_in_front(builder: RegionBuilder, region: Region, loop: Loop) -> set[int]:
    """The nodes of a loop's accesses of words that every way to it has written, without a write of another
    word of the same array, or a call, behind that may be of the same word.
    """
    function, addresses = builder.function, builder.addresses
    successors = {name: block.successors for name, block in function.blocks.items()}
    search = _Search(function, addresses, predecessors_of(list(function.blocks), successors))
    known = search.at_begin_of(loop.header, loop.blocks, DEEPEST)
    return {
        one.node
        for accesses in region.accesses.values()
        for one in accesses
        for pointer in addresses_in(one.instruction)[-1:]
        if known and addresses.of(pointer) in known
    }


class _Search:
    def __init__(self, function: Function, addresses: Addresses, before: dict[str, list[str]]) -> None:
        self.function, self.addresses, self.before = function, addresses, before

    def at_begin_of(self, name: str, without: AbstractSet[str], deeper: int) -> Known:
        """What is known where a block begins. without: blocks from which no way is followed back."""
        ways = [one for one in self.before[name] if one not in without]
        if not ways or not deeper:
            return frozenset()
        return frozenset.intersection(
            *(frozenset(self._at_end_of(one, {*without, name}, deeper - 1)) for one in ways)
        )

    def _at_end_of(self, name: str, without: AbstractSet[str], deeper: int) -> Known:
        known: set[Address] = set()
        touched: set[Local | Global] = set()
        for one in reversed(self.function.blocks[name].instructions):
            if one.opcode == "call" and not _HARMLESS.match(one.callee):
                return known
            address = self._written(one)
            if address is not None and address.base not in touched:
                known.add(address)
            if address is not None:
                touched.add(address.base)
            elif one.opcode == "store":
                return known
        above = self.at_begin_of(name, without, deeper)
        return known | {one for one in above if one.base not in touched}

    def _written(self, one: Instruction) -> Address | None:
        return self.addresses.of(one.operands[1]) if one.opcode == "store" else None
