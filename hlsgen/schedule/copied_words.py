"""How many words a copy of memory is: one structure, or as many as the smaller elements that it goes by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlsgen.schedule.ir import Instruction
from hlsgen.schedule.linear import Address
from hlsgen.schedule.pointers import is_word_of_call

if TYPE_CHECKING:
    from hlsgen.schedule.region import RegionBuilder


MOST_WORDS = 64
"""Of a copy that is unrolled: of more the tool makes a loop of its own, which no pipeline is around."""


def words_of_copy(copy: Instruction, length: int, builder: RegionBuilder) -> int:
    """In how many words a `memcpy` of so many bytes is done: where it leads from or to an array of smaller
    elements, the tool makes a loop of it, which a pipeline around it unrolls. Of more than `MOST_WORDS`, and
    of a `memset`, one, as of a structure.
    """
    if ".memset" in copy.callee:
        return 1
    addresses = [builder.addresses.of(pointer) for pointer in copy.operands[:2]]
    sizes = {_element_bytes(address, builder) for address in addresses if address is not None} - {0}
    least = min(sizes, default=length)
    return length // least if not length % least and length // least <= MOST_WORDS else 1


def _element_bytes(address: Address, builder: RegionBuilder) -> int:
    """Of the array that an address is in; 0 where it is in none, or nothing is known of it."""
    if is_word_of_call(address.base, builder.definitions):
        return 0
    memory = builder.memories.find(address, builder.addresses.interval)
    return 0 if memory is None or not memory.dimensions or memory.aggregated else memory.element_bytes
