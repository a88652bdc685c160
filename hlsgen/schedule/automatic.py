"""Loops that the vendor's compiler unrolls though no pragma asks for it, so that their parents are pipelined.

- From 2021.2 on all within the innermost loops that have more iterations than 64 (config_compile's
  pipeline_loops), with those of the loops within them, if none of these has more; not
  where nothing stands but one loop.
- Before, and where no loop has as many: a nest of at most 64 in which nothing stands but its innermost loop,
  if it stands beside other statements in a loop. One level only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.declared_memories import memories_of
from hlsgen.schedule.hoisting import reads_in_front
from hlsgen.schedule.ir import Constant, Function, Instruction, Local, Module, Place
from hlsgen.schedule.languages import INCLUDE
from hlsgen.schedule.linear import Addresses
from hlsgen.schedule.memories import Memories
from hlsgen.schedule.nests import addresses_in, is_perfect
from hlsgen.schedule.pointers import base_of
from hlsgen.schedule.ranges import Ranges
from hlsgen.schedule.releases import release_of
from hlsgen.schedule.sites import VARIABLE, Sites
from hlsgen.schedule.source_functions import calls_of

MOST_TRIPS = 64
COUNTS_NESTS = (2021, 2)
SMALL = 80
"""Instructions of a function, before loops are unrolled, up to which it is inlined early: load64 has 13 here,
functions that multiply a window of 3 by 3 have 46 to 72 (ssramsanjeev/CNN_HLS, 2025.1: II 1 of fifteen loops
that call them)."""


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
        return (
            loop.node >= 0
            and loop.node not in self.named
            and loop.header in self.trips
            and self.trips[loop.header] <= MOST_TRIPS
            and len(loop.leaving(self.function)) == 1
        )

    def is_small(self, loop: Loop, *, with_ports: bool) -> bool:
        """Whether a perfect nest has few iterations, and no AXI port in it but `with_ports` (up to 2021.1;
        shahzaib3120/KalmanFiltering-FPGA, 2022.2: four writes of a port in four iterations, II 5 with one
        beside them)."""
        total, inner = 1, [loop]
        while inner:
            if len(inner) > 1 or not self.is_free(inner[0]):
                return False
            loop = inner[0]
            total *= self.trips[loop.header]
            inner = list(self.inner(loop))
            if inner and not is_perfect(self.function, loop, inner):
                return False
        return total <= MOST_TRIPS and (with_ports or not self._uses_ports(loop))

    def total(self, loop: Loop) -> int | None:
        """The iterations of a loop and all within it; None where one of them is not to be unrolled.

        Words of AXI ports are no hindrance: searsm8/AIEplace, 2022.2, II 8 of eight reads; myselfGokul-1111/
        PYNQ, 2025.2, II 27; Team-Diseno-de-Alto-Nivel/mp6160-dfs dfs_accel.cpp:465, 2024.1, II 16.
        """
        if not self.is_free(loop):
            return None
        inner = [self.total(one) for one in self.inner(loop)]
        if any(one is None for one in inner):
            return None
        return self.trips[loop.header] * max(1, sum(one or 0 for one in inner))

    def has_copies(self, loop: Loop) -> bool:
        """Whether a loop is unrolled by a factor, so that what stands in it stands there several times
        (xz-bruh-bwe/EE_278, 2023.1: two inner loops of five iterations are unrolled, II 40 of ten sums)."""
        return self.unrolled.get(loop.node, 1) > 1

    def is_perfect(self, parent: Loop, inner: Sequence[Loop]) -> bool:
        """Whether nothing stands in a loop but one other."""
        return is_perfect(self.function, parent, inner)

    def stays_perfect(self, parent: Loop, inner: Sequence[Loop]) -> bool:
        """Whether that is so to the tool: nothing is read in front of the inner loop."""
        return (
            self.is_perfect(parent, inner)
            and not self.splits_arrays(parent, inner)
            and not reads_in_front(
                self.function,
                parent,
                inner[0],
                self.addresses,
                self.ports,
                {one.header for one in _with_inner(inner[0]) if self.unrolled.get(one.node) == 0},
            )
        )

    def splits_arrays(self, parent: Loop, inner: Sequence[Loop]) -> bool:
        """Whether a pragma about an array stands in a loop beside those within it: to the tool's decision it
        is a statement."""
        own = parent.blocks.difference(*(one.blocks for one in inner))
        return any(one.callee == VARIABLE for name in own for one in self.function.blocks[name].instructions)

    def unroll(self, loops: Iterable[Loop]) -> None:
        """Unroll loops with all within them."""
        for loop in loops:
            for one in _with_inner(loop):
                self.unrolled[one.node] = 0

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
        calls, or whether the inner one works on registers alone (a function that turns bits around), or the
        function that is called is a small one, which the tool inlines before it decides.

        What assigns an object stands where it is assigned, also to a word of a stream (`operator=` of the
        windows of Manwlis/ES-FL, 2022.1: the loop over pixels is the pipeline).
        """
        inner, outer = self.module.loop_places.get(loop.node), self.module.loop_places.get(parent.node)
        if inner is None or outer is None:
            return False
        instructions = (one for name in loop.blocks for one in self.function.blocks[name].instructions)
        if not any(addresses_in(one) or one.opcode == "call" for one in instructions):
            return True
        while (inner.function, inner.calls) != (outer.function, outer.calls):
            if inner.inlined_at is None or not (_is_of_a_class(inner) or self.is_inlined_small(inner)):
                return False
            inner = inner.inlined_at
        return True

    def is_inlined_small(self, place: Place) -> bool:
        """Whether a place is in a call of few instructions, as load64 and store64 of Keccak, whose loops of
        eight bytes are unrolled in the loops that call them (anuj-singh-thakur/Crypto-Sign-Synth, 2022.2:
        four loops with II 4)."""
        return 0 < self.sizes_of_calls[place.function, place.calls] <= SMALL

    @cached_property
    def sizes_of_calls(self) -> Counter[tuple[str, tuple[tuple[str, int], ...]]]:
        """How many instructions stand in each call that was inlined, and in what it calls itself."""
        found: Counter[tuple[str, tuple[tuple[str, int], ...]]] = Counter()
        for _, one in self.function.instructions():
            if not one.callee.startswith(("llvm.dbg", "__hls_")):
                for place in calls_of(self.module.places.get(one.place)):
                    found[place.function, place.calls] += 1
        return found

    @cached_property
    def definitions(self) -> dict[str, Instruction]:
        """The function's instructions by the names of their results."""
        return {one.name: one for _, one in self.function.instructions() if one.name}

    @cached_property
    def addresses(self) -> Addresses:
        """The addresses that its instructions compute."""
        return Addresses(self.definitions, Ranges(self.function, (), self.loops))

    @cached_property
    def ports(self) -> set[str]:
        """The arguments that are AXI ports."""
        return {
            base.name
            for base, memories in self.memories.by_base.items()
            if any(memory.bundle for memory in memories)
        }

    def _uses_ports(self, loop: Loop) -> bool:
        """Whether a loop reads or writes an AXI port."""
        for name in loop.blocks:
            for one in self.function.blocks[name].instructions:
                if one.callee.startswith("__hls_maxi"):
                    return True
                for address in addresses_in(one):
                    base, _ = base_of(address, self.definitions)
                    if isinstance(base, Local) and base.name in self.ports:
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


def unroll_by_itself(nests: Nests, version: str, *, for_pipelines: bool = True) -> None:
    """Unroll what the tool unrolls without a pragma. for_pipelines: also what it does so that it can pipeline
    what is around (pipeline_loops 0 forbids both)."""
    _unroll_elements(nests)
    if not for_pipelines:
        return
    counts = release_of(version) >= COUNTS_NESTS
    if counts:
        _unroll_below_large(nests)
    is_one = nests.stays_perfect if counts else nests.is_perfect
    chosen: list[Loop] = []
    for parent in nests.loops:
        left = list(nests.inner(parent))
        if (
            left
            and nests.unrolled.get(parent.node) != 0
            and (nests.has_copies(parent) or not is_one(parent, left))
            and nests.may_be_pipelined(parent)
            and all(nests.is_small(one, with_ports=counts) and nests.together(one, parent) for one in left)
        ):
            chosen += left
    nests.unroll(chosen)


def _unroll_elements(nests: Nests) -> None:
    """The loops that construct the elements of a small array are no loops of the source."""
    for loop in nests.loops:
        trips = _elements(loop, nests)
        if loop.node >= 0 and trips is not None and trips <= MOST_TRIPS:
            nests.unrolled[loop.node] = 0


def _is_of_a_class(place: Place) -> bool:
    """Whether a place is in an operator, or in what the vendor's headers define."""
    return place.function.startswith("operator") or place.file.startswith(f"{INCLUDE}/")


_OVER_ARRAY = re.compile(r"array(?:init|ctor)\.")
_DONE = re.compile(r"array(?:init|ctor)\.done")


def _elements(loop: Loop, nests: Nests) -> int | None:
    """The elements of the array that a loop of Clang's own constructs; None of any other loop."""
    if not _OVER_ARRAY.match(loop.header):
        return None
    for one in nests.function.blocks[loop.header].instructions:
        if one.opcode == "icmp" and _DONE.match(one.name) and isinstance(one.operands[1], Local):
            end = nests.definitions.get(one.operands[1].name)
            last = end.operands[-1] if end is not None and end.opcode == "getelementptr" else None
            return last.value if isinstance(last, Constant) else None
    return None


def _unroll_below_large(nests: Nests) -> None:
    """Unroll all within the innermost loops that have more iterations, with those within them, than 64."""
    for parent in sorted(nests.loops, key=lambda one: len(one.blocks)):
        left = list(nests.inner(parent))
        if not left or nests.unrolled.get(parent.node) == 0 or not nests.may_be_pipelined(parent):
            continue
        if nests.stays_perfect(parent, left):
            continue  # flattened, and nothing is unrolled
        totals = [nests.total(one) if nests.together(one, parent) else None for one in left]
        own = nests.trips.get(parent.header, MOST_TRIPS + 1) * sum(total or 0 for total in totals)
        if own > MOST_TRIPS and all(total is not None and total <= MOST_TRIPS for total in totals):
            nests.unroll(left)
            nests.named.add(parent.node)  # it is pipelined, and not unrolled for the sake of one around it


def _with_inner(loop: Loop) -> Iterator[Loop]:
    yield loop
    for one in loop.inner:
        yield from _with_inner(one)
