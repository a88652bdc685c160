"""Requests of AXI ports that plain pointers read and write: each access asks for its word and waits, unless
the tool joins those of a whole loop to a burst, which is asked for before the loop and answered after it.

It joins them where one iteration's words lie one behind the other, the next iteration goes on where it ended,
over all loops that became one; where they stand under no condition, in a loop whose iterations are known when
it begins; with no other words of the port in that direction, and no access of the array in the other
(reports: "Stride is incompatible", "is in the conditional branch", "Could not analyze pattern", "multiple
potential reads to the same bundle", "is clobbered"). Neighbouring words of one iteration have one request.

Of a nest that became one loop, bursts of its inner loops alone are asked for within it. Up to 2022.1 the
remainder of the iterations' count tells where one begins, a division where that is no power of two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.ir import Constant, Function, Instruction, Local, Operand
from hlsgen.schedule.iteration import Region
from hlsgen.schedule.linear import Linear
from hlsgen.schedule.memories import Memory
from hlsgen.schedule.nests import flattened
from hlsgen.schedule.operation import Operation
from hlsgen.schedule.ranges import Ranges

ADDRESS_BITS = 64
DIVIDES = (2022, 1)
"""The last release in whose reports a remainder tells where bursts begin."""
_COUNTS = frozenset({"add", "sub", "zext", "sext", "trunc", "icmp", "and", "or", "xor", "select", "freeze"})


def divides(version: str) -> bool:
    """Whether that release counts where bursts begin by a remainder."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2]) <= DIVIDES


@dataclass(slots=True, eq=False)
class _Word:
    """One access of a port, with the nodes of its request, of itself and of a write's answer (else -1)."""

    memory: Memory
    offset: Linear
    bytes: int
    block: str
    writes: bool
    begins: int
    """The node that tells whether a burst begins with it."""
    request: int
    access: int = -1
    answer: int = -1

    @property
    def start(self) -> tuple[str, tuple[tuple[str, int], ...]]:
        """What words have in common that lie a constant number of bytes apart."""
        return self.memory.base.name, self.offset.terms


Chain = list[_Word]
"""Words of one iteration, each behind the one before it: they have one request."""


class PortRequests:
    """The requests of one region's accesses to AXI ports.

    add: makes a node of an operation and the nodes that it waits for.
    """

    def __init__(self, add: Callable[[Operation | None, Sequence[int]], int], *, divides: bool) -> None:
        """divides: whether that release counts where bursts begin by a remainder."""
        self._add, self._divides = add, divides
        self._words: list[_Word] = []

    def ask(
        self, memory: Memory, offset: Linear, bits: int, block: str, after: Sequence[int], *, writes: bool
    ) -> int:
        """The node of the request of a word of so many bits; `after` what its address and itself wait for."""
        width = Operation(kind="add", widths=(ADDRESS_BITS, ADDRESS_BITS), result=ADDRESS_BITS)
        address = self._add(width, after) if offset.terms else None
        kind = "axi_write_request" if writes else "axi_read_request"
        begins = self._add(None, [self._add(None, [])])
        waits = [*after, begins, *([] if address is None else [address])]
        request = self._add(Operation(kind=kind, widths=(bits,), result=0), waits)
        length = 1 << max(0, (max(1, bits) - 1).bit_length() - 3)
        self._words.append(_Word(memory, offset, length, block, writes, begins, request))
        return request

    def answer(self, access: int) -> None:
        """The node of the word that was asked for last; what is written is answered."""
        word = self._words[-1]
        word.access = access
        if word.writes:
            word.answer = self._add(Operation(kind="axi_write_response", widths=(1,), result=1), [access])

    def settle(self, region: Region, function: Function, ranges: Ranges, always: set[str]) -> None:
        """Take the requests from the region that bursts do without, and let those of one port follow one
        another. always: the blocks that each iteration runs.
        """
        loop = region.loop
        ports: dict[tuple[str, bool], list[_Word]] = {}
        for word in self._words:
            ports.setdefault((word.memory.bundle, word.writes), []).append(word)
        nest = _Nest(function, ranges, [] if loop is None else [loop, *flattened(function, loop)])
        for (bundle, writes), words in ports.items():
            chains = list(_chains(words))
            others = {word.memory.base.name for word in ports.get((bundle, not writes), ())}
            covered = nest.covered_by(chains[0], always, others) if len(chains) == 1 else 0
            for chain in chains:
                _join(region, chain, whole=covered > 0 and covered == len(nest.loops))
            if self._divides:
                _divide(region, chains[0][0], nest.iterations(covered), nest.iterations(len(nest.loops)))
            _in_turn(region, chains)


def _chains(words: Sequence[_Word]) -> Iterator[Chain]:
    chain: Chain = []
    for word in words:
        if chain and not _follows(chain[-1], word):
            yield chain
            chain = []
        chain.append(word)
    if chain:
        yield chain


def _follows(first: _Word, second: _Word) -> bool:
    gap = second.offset.constant - first.offset.constant
    return first.start == second.start and first.block == second.block and gap == first.bytes


def _join(region: Region, chain: Chain, *, whole: bool) -> None:
    """One request for a chain, and one answer to its last word; none at all if it is part of a burst over
    the whole loop."""
    for at, word in enumerate(chain):
        request = region.nodes[word.request]
        if whole or at:
            request.operation = None
        if not whole and at:
            request.after = [chain[0].request]
        if word.answer >= 0 and (whole or at + 1 < len(chain)):
            region.nodes[word.answer].operation, region.nodes[word.answer].after = None, []


def _divide(region: Region, word: _Word, part: int, whole: int) -> None:
    """Let a request wait until it is known whether a burst of `part` of the `whole` iterations begins."""
    if not 1 < part < whole or not part & (part - 1):
        return
    begins, bits = region.nodes[word.begins], whole.bit_length()
    begins.operation = Operation(kind="icmp", widths=(bits, bits), result=1, constants=1)
    rest = region.nodes[begins.after[0]]
    rest.operation = Operation(kind="urem", widths=(bits, bits), result=bits, constants=1)


def _in_turn(region: Region, chains: Sequence[Chain]) -> None:
    """Words of a port one behind the other in each direction, requests to write behind the words before."""
    for chain in chains:
        for first, second in zip(chain, chain[1:], strict=False):
            region.nodes[second.access].behind.append((first.access, 1))
    for earlier, later in zip(chains, chains[1:], strict=False):
        writes = earlier[-1].writes
        ahead = (earlier[-1].access, 1) if writes else (earlier[0].request, len(earlier))
        region.nodes[later[0].request].behind.append(ahead)


@dataclass(frozen=True)
class _Nest:
    """A loop with those that became one with it, the innermost first."""

    function: Function
    ranges: Ranges
    loops: Sequence[Loop]

    def covered_by(self, chain: Chain, always: set[str], others: set[str]) -> int:
        """Over how many of the loops, the innermost first, the chains of all iterations are one burst.
        others: arrays that the port is used for in the other direction."""
        word = chain[0]
        if word.block not in always or word.memory.base.name in others or not self._counts():
            return 0
        moves, expected, covered = dict(word.offset.terms), word.bytes * len(chain), 0
        for loop in self.loops:
            counters = [name for name in self._phis(loop) if name in self.ranges.counters]
            step = sum(moves.pop(name, 0) * self.ranges.counters[name].step for name in counters)
            if step != expected:
                break
            covered += 1
            expected *= self.ranges.trips.get(loop.header) or 0
        outside = {name for loop in self.loops[covered:] for name in self._phis(loop)}
        return covered if set(moves).isdisjoint(self._inside() - outside) else 0

    def iterations(self, count: int) -> int:
        """The iterations of so many of the loops; 0 if they are not known."""
        return prod(self.ranges.trips.get(loop.header) or 0 for loop in self.loops[:count])

    def _phis(self, loop: Loop) -> list[str]:
        return [one.name for one in self.function.blocks[loop.header].instructions if one.opcode == "phi"]

    def _inside(self) -> set[str]:
        blocks = self.loops[-1].blocks if self.loops else ()
        return {one.name for name in blocks for one in self.function.blocks[name].instructions if one.name}

    def _counts(self) -> bool:
        """Whether the innermost loop ends at one place, after iterations that are known when it begins."""
        if not self.loops:
            return False
        loop = self.loops[0]
        if self.ranges.trips.get(loop.header) is not None:
            return True
        blocks = [self.function.blocks[name] for name in loop.blocks]
        inside = {one.name: one for block in blocks for one in block.instructions if one.name}
        ends = [block for block in blocks if any(one not in loop.blocks for one in block.successors)]
        return len(ends) == 1 and self._computable(ends[0].instructions[-1].operands[:1], inside)

    def _computable(self, operands: Sequence[Operand], inside: Mapping[str, Instruction]) -> bool:
        """Whether values hang on counters and on what is known before the loop alone."""
        for one in operands:
            if isinstance(one, Constant) or not isinstance(one, Local) or one.name not in inside:
                continue
            made = inside[one.name]
            if one.name in self.ranges.counters:
                continue
            if made.opcode not in _COUNTS or not self._computable(made.operands, inside):
                return False
        return True
