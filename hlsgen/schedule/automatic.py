"""Loops that the vendor's compiler unrolls though no pragma asks for it, so that their parents are pipelined.

- A nest of at most 64 iterations in which nothing stands but its innermost loop is unrolled, where it stands
  beside other statements in a loop: that is pipelined (config_compile's pipeline_loops). One level only.
- From 2021.2 on a loop whose counter is an index into a dimension that a pragma splits wholly, likewise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hlsgen.schedule.control_flow import Loop, reverse_postorder
from hlsgen.schedule.ir import Constant, Function, Instruction, Local, Module, Place
from hlsgen.schedule.linear import Addresses
from hlsgen.schedule.memories import COMPLETE, Memories, locate, memories_of
from hlsgen.schedule.nests import is_perfect
from hlsgen.schedule.pointers import base_of
from hlsgen.schedule.ranges import Ranges
from hlsgen.schedule.sites import Sites

MOST_TRIPS = 64
UNROLLS_FOR_PARTITIONS = (2021, 2)


@dataclass(frozen=True, kw_only=True)
class Nests:
    """The loops of a function with what is asked of them, by their nodes.

    unrolled: by which factor, 0: wholly. named: a pragma is about them. settled: whether they are
    pipelined is said already.
    """

    module: Module
    function: Function
    loops: list[Loop]
    trips: Mapping[str, int]
    memories: Memories
    unrolled: dict[int, int]
    named: set[int]
    settled: set[int]

    def inner(self, loop: Loop) -> Iterator[Loop]:
        """The loops within one, without those that vanish."""
        for one in loop.inner:
            if self.unrolled.get(one.node) == 0:
                yield from self.inner(one)
            else:
                yield one

    def is_free(self, loop: Loop) -> bool:
        """Whether nothing is asked of a loop, and it ends at one place after a known number of iterations."""
        exits = [
            name
            for name in loop.blocks
            if any(one not in loop.blocks for one in self.function.blocks[name].successors)
        ]
        return (
            loop.node >= 0
            and loop.node not in self.named
            and loop.header in self.trips
            and self.trips[loop.header] <= MOST_TRIPS
            and len(exits) == 1
        )

    def is_small(self, loop: Loop) -> bool:
        """Whether a perfect nest has few iterations, and no AXI port in it."""
        total, inner = 1, [loop]
        while inner:
            if len(inner) > 1 or not self.is_free(inner[0]):
                return False
            loop = inner[0]
            total *= self.trips[loop.header]
            inner = list(self.inner(loop))
            if inner and not is_perfect(self.function, loop, inner):
                return False
        return total <= MOST_TRIPS and not self._uses_ports(loop)

    def may_be_pipelined(self, parent: Loop) -> bool:
        """Whether a loop may be pipelined for the sake of those within it."""
        above: Loop | None = parent
        while above is not None:
            if above.node in self.settled:
                return False
            above = above.parent
        return True

    def together(self, loop: Loop, parent: Loop) -> bool:
        """Whether two loops stand in one function of the source, and not one in a function that the other
        calls."""
        inner, outer = self.module.loop_places.get(loop.node), self.module.loop_places.get(parent.node)
        if inner is None or outer is None:
            return False
        return (inner.function, _calls(inner)) == (outer.function, _calls(outer))

    def _uses_ports(self, loop: Loop) -> bool:
        """Whether a loop reads or writes an AXI port."""
        ports = {
            base.name
            for base, memories in self.memories.by_base.items()
            if any(memory.bundle for memory in memories)
        }
        definitions = _definitions(self.function)
        for name in loop.blocks:
            for one in self.function.blocks[name].instructions:
                if one.callee.startswith("__hls_maxi"):
                    return True
                if one.opcode in ("load", "store"):
                    base, _ = base_of(one.operands[-1], definitions)
                    if isinstance(base, Local) and base.name in ports:
                        return True
        return False


def nests_of(
    module: Module,
    function: Function,
    loops: list[Loop],
    trips: Mapping[str, int],
    sites: Sites,
    bundle: str,
    *,
    unrolled: dict[int, int],
    named: set[int],
    settled: set[int],
) -> Nests:
    """The nests of a function. unrolled, named, settled: by the loops' nodes; `unrolled` grows."""
    memories = memories_of(module, function, sites, bundle)
    return Nests(
        module=module,
        function=function,
        loops=loops,
        trips=trips,
        memories=memories,
        unrolled=unrolled,
        named=named,
        settled=settled,
    )


def unroll_by_itself(nests: Nests, version: str) -> None:
    """Unroll what the tool unrolls without a pragma."""
    _unroll_elements(nests)
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:2])
    if numbers >= UNROLLS_FOR_PARTITIONS:
        _unroll_for_partitions(nests)
    chosen: list[Loop] = []
    for parent in nests.loops:
        left = list(nests.inner(parent))
        if (
            left
            and nests.unrolled.get(parent.node) != 0
            and not is_perfect(nests.function, parent, left)
            and nests.may_be_pipelined(parent)
            and all(nests.is_small(one) and nests.together(one, parent) for one in left)
        ):
            chosen += left
    for loop in chosen:
        for one in _with_inner(loop):
            nests.unrolled[one.node] = 0


def _unroll_elements(nests: Nests) -> None:
    """The loops that construct the elements of a small array are no loops of the source."""
    for loop in nests.loops:
        trips = _elements(loop, nests.function)
        if loop.node >= 0 and trips is not None and trips <= MOST_TRIPS:
            nests.unrolled[loop.node] = 0


_OVER_ARRAY = re.compile(r"array(?:init|ctor)\.")
_DONE = re.compile(r"array(?:init|ctor)\.done")


def _elements(loop: Loop, function: Function) -> int | None:
    """The elements of the array that a loop of Clang's own constructs; None of any other loop."""
    if not _OVER_ARRAY.match(loop.header):
        return None
    definitions = _definitions(function)
    for one in function.blocks[loop.header].instructions:
        if one.opcode == "icmp" and _DONE.match(one.name) and isinstance(one.operands[1], Local):
            end = definitions.get(one.operands[1].name)
            last = end.operands[-1] if end is not None and end.opcode == "getelementptr" else None
            return last.value if isinstance(last, Constant) else None
    return None


def _unroll_for_partitions(nests: Nests) -> None:
    """Unroll the loops whose counters are indices into dimensions that are split wholly, from within."""
    if not any(
        dimension.split == COMPLETE and not dimension.reshaped and memory.marked
        for memories in nests.memories.by_base.values()
        for memory in memories
        for dimension in memory.dimensions
    ):
        return
    function = nests.function
    entry = next(iter(function.blocks))
    order = reverse_postorder(entry, {name: block.successors for name, block in function.blocks.items()})
    addresses = Addresses(_definitions(function), Ranges(function, order, nests.loops))
    for loop in sorted(nests.loops, key=lambda one: len(one.blocks)):
        if (
            loop.parent is not None
            and nests.unrolled.get(loop.node) != 0
            and list(nests.inner(loop.parent)) == [loop]
            and not list(nests.inner(loop))
            and nests.is_free(loop)
            and nests.may_be_pipelined(loop.parent)
            and nests.together(loop, loop.parent)
            and _indexes_split(loop, nests, addresses)
        ):
            nests.unrolled[loop.node] = 0


def _indexes_split(loop: Loop, nests: Nests, addresses: Addresses) -> bool:
    counters = {one.name for one in nests.function.blocks[loop.header].instructions if one.opcode == "phi"}
    for name in loop.blocks:
        for one in nests.function.blocks[name].instructions:
            if one.opcode not in ("load", "store"):
                continue
            address = addresses.of(one.operands[-1])
            memory = nests.memories.find(address, addresses.interval) if address else None
            if address is None or memory is None or not memory.marked:
                continue
            words = locate(memory, address.offset, addresses.interval, addresses.residue).word
            for dimension, word in zip(memory.dimensions, words, strict=False):
                split = dimension.split == COMPLETE and not dimension.reshaped
                if split and any(term in counters for term, _ in word.terms):
                    return True
    return False


def _with_inner(loop: Loop) -> Iterator[Loop]:
    yield loop
    for one in loop.inner:
        yield from _with_inner(one)


def _definitions(function: Function) -> dict[str, Instruction]:
    return {one.name: one for _, one in function.instructions() if one.name}


def _calls(place: Place) -> tuple[tuple[str, int], ...]:
    """The calls that a place was inlined at."""
    found = []
    above = place.inlined_at
    while above is not None:
        found.append((above.file, above.line))
        above = above.inlined_at
    return tuple(found)
