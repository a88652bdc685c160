"""Constant indices under a condition that a counter has that value: words that the counter chooses as well.

for (i = 7; i >= 0; i--)
    if (i == 0) taps[0] = x;       taps[i], which no other iteration writes
    else taps[i] = taps[i - 1];

So FIR filters are written; to LLVM the counter is the constant there. No iteration waits for such a word, as
the vendor's tool knows: II 1 in GoodKook/ETRI-0.5um-CMOS-MPW-Std-Cell-DK FIR8.cpp:51 (2025.1), in
xz-bruh-bwe/EE_278 and level2fast/wes237c-hardware-for-embedded-systems (2023.1), and by its latency in
aubaez/WES237C_Fall24 (2022.2). In 2021.1 it does not: II 2 between the two writes in
henrikhestnes/CSE237C-Validation-and-Testing-of-Embedded-Systems and kmaddoxUCSD/WES237C_Fall21.
"""

from __future__ import annotations

from hlsgen.schedule.ir import Constant, Function, Instruction, IntType
from hlsgen.schedule.iteration import Region
from hlsgen.schedule.linear import Addresses, Linear
from hlsgen.schedule.memories import Memory
from hlsgen.schedule.releases import release_of

TELLS_EQUAL = (2022, 2)
"""From when on the tool is known to see it; of the releases after 2021.1 and before it no report tells."""


def tells_equal(version: str) -> bool:
    """Whether a release knows which counter a constant index is."""
    return release_of(version) >= TELLS_EQUAL


def with_counter(
    offset: Linear,
    memory: Memory,
    bits: int,
    block: str,
    region: Region,
    function: Function,
    addresses: Addresses,
) -> Linear:
    """The offset of a write of `bits` bits, by the counter that has its index's value in a block.

    It stays as it is for memories of several banks, whose constant indices tell the bank.
    """
    compared = _equality(block, region, function, addresses)
    if compared is None or offset.terms or memory.bundle or any(one.split for one in memory.dimensions):
        return offset
    type_ = compared.types[0]
    counter, value = (addresses.form(one, type_) for one in compared.operands)
    moves = len(counter.terms) == 1 and counter.terms[0][0] in addresses.ranges.counters
    size = memory.element_bytes or bits // 8
    if not moves or value.terms or not size or offset.constant != value.constant * size:
        return offset
    return counter.times(size)


def _equality(block: str, region: Region, function: Function, addresses: Addresses) -> Instruction | None:
    """The comparison with a constant that holds in a block: that of the only branch that leads to it."""
    before = [name for name in region.blocks if block in region.successors.get(name, ())]
    if len(before) != 1:
        return None
    branch, ways = function.blocks[before[0]].instructions[-1], function.blocks[before[0]].successors
    if branch.opcode != "br" or len(set(ways)) != 2:
        return None
    compared = addresses.definitions.get(getattr(branch.operands[0], "name", ""))
    if compared is None or compared.opcode != "icmp" or not isinstance(compared.operands[1], Constant):
        return None
    holds = {"eq": ways[0], "ne": ways[1]}.get(compared.predicate)
    return compared if holds == block and isinstance(compared.types[0], IntType) else None
