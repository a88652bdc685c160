"""Requests of AXI ports that plain pointers read and write: each access asks for its word and waits, unless
the tool joins those of a whole loop to a burst, which is asked for before the loop and answered after it.

It joins them where one iteration's words lie one behind the other, the next iteration goes on where it ended,
over all loops that became one; where they stand under no condition, in a loop whose iterations are known when
it begins; with no other words of the port in that direction, and no access of the array in the other
(reports: "Stride is incompatible", "is in the conditional branch", "Could not analyze pattern", "multiple
potential reads to the same bundle", "is clobbered"), and from 2021.1 on never volatile ones. Neighbouring
words of one iteration have one request.

Of a nest that became one loop, bursts of its inner loops alone are asked for within it. Up to 2022.1 the
remainder of the iterations' count tells where one begins, a division where that is no power of two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod

from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.ir import Constant, Function, Instruction, Local, Operand
from hlsgen.schedule.iteration import Carried, Region
from hlsgen.schedule.linear import Addresses, Linear
from hlsgen.schedule.memories import Memory
from hlsgen.schedule.operation import Operation
from hlsgen.schedule.ranges import Ranges
from hlsgen.schedule.releases import release_of

ADDRESS_BITS = 64
DIVIDES = (2022, 1)
"""The last release in whose reports a remainder tells where bursts begin."""
JOINS_VOLATILE = (2020, 2)
"""The last release whose logs tell of bursts of volatile words (Deep-In-Sight/getphasemap2: `volatile
uint16 *`, "burst reads of length 384 and bit width 32", II 1 of two neighbours)."""
WIDEST = 64
"""Bytes of the widest word that the tool makes of neighbouring ones (max_widen_bitwidth, 512 in the flow of
kernels, where arrays begin at such words; 0 in the flow of IP)."""
_COUNTS = frozenset({"add", "sub", "zext", "sext", "trunc", "icmp", "and", "or", "xor", "select", "freeze"})


@dataclass(frozen=True, kw_only=True)
class PortRules:
    """What a release and a flow of the tool do with accesses to AXI ports."""

    divides: bool = False
    """Whether it counts where bursts begin by a remainder."""
    widest: int = 0
    """Bytes that neighbouring words of an iteration are joined to at the most."""
    joins_volatile: bool = False
    """Whether volatile words are joined as others are."""

    def keeps_apart(self, flags: Collection[str]) -> bool:
        """Whether an access with such flags is joined to no other."""
        return "volatile" in flags and not self.joins_volatile


AS_IP = PortRules()


def port_rules(version: str, *, kernel_flow: bool, widest_bits: int | None = None) -> PortRules:
    """The rules of a release, in the flow of kernels or of IP. widest_bits: where a project says it."""
    release = release_of(version)
    return PortRules(
        divides=release <= DIVIDES,
        widest=(WIDEST if kernel_flow else 0) if widest_bits is None else widest_bits // 8,
        joins_volatile=release <= JOINS_VOLATILE,
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """A word of so many bits that a port is asked for. place: of the access in the source, -1 if unknown.
    alone: it is volatile, and joined to no other. copied: by a `memcpy`, which is done where it stands."""

    memory: Memory
    offset: Linear
    bits: int
    block: str
    writes: bool
    place: int
    alone: bool
    copied: bool = False


@dataclass(slots=True, eq=False)
class _Word:
    """One access of a port, with the nodes of its request, of itself and of a write's answer (else -1)."""

    asked: Asked
    address: int
    begins: int
    """The node that tells whether a burst begins with it."""
    request: int
    access: int = -1
    answer: int = -1
    is_struct: bool = False
    """Whether it stands for all members of a struct, which are one word of the port."""

    @property
    def bytes(self) -> int:
        """The bytes from it to the next."""
        if self.is_struct:
            return self.asked.memory.element_bytes
        size, bits = self.asked.memory.element_bytes, self.asked.bits
        return size if 4 * size < bits <= 8 * size else 1 << max(0, (max(1, bits) - 1).bit_length() - 3)

    @property
    def struct(self) -> tuple[object, ...] | None:
        """Which struct it is a member of; None if that is not known, or it is none."""
        offset, size = self.asked.offset, self.asked.memory.element_bytes
        if size <= self.bytes or any(factor % size for _, factor in offset.terms):
            return None
        return self.asked.memory, offset.terms, offset.constant // size, self.asked.block

    @property
    def start(self) -> tuple[str, tuple[tuple[str, int], ...]]:
        """What words have in common that lie a constant number of bytes apart."""
        return self.asked.memory.base.name, self.asked.offset.terms


Chain = list[_Word]
"""Words of one iteration, each behind the one before it: they have one request."""


class PortRequests:
    """The requests of one region's accesses to AXI ports.

    add: makes a node of an operation and the nodes that it waits for.
    """

    def __init__(self, add: Callable[[Operation | None, Sequence[int]], int], rules: PortRules) -> None:
        self._add, self._rules = add, rules
        self._words: list[_Word] = []

    def ask(self, asked: Asked, after: Sequence[int]) -> int:
        """The node of the request of a word; `after` what its address and itself wait for."""
        width = Operation(kind="add", widths=(ADDRESS_BITS, ADDRESS_BITS), result=ADDRESS_BITS)
        address = self._add(width if asked.offset.terms else None, after)
        kind = "axi_write_request" if asked.writes else "axi_read_request"
        begins = self._add(None, [self._add(None, [])])
        request = Operation(kind=kind, widths=(asked.bits,), result=0, latency=asked.memory.latency)
        self._words.append(_Word(asked, address, begins, self._add(request, [address, begins])))
        return self._words[-1].request

    def answer(self, access: int) -> None:
        """The node of the word that was asked for last; what is written is answered."""
        word = self._words[-1]
        word.access, latency = access, word.asked.memory.latency
        if word.asked.writes:
            word.answer = self._add(
                Operation(kind="axi_write_response", widths=(1,), result=1, latency=latency), [access]
            )

    def settle(
        self,
        region: Region,
        function: Function,
        addresses: Addresses,
        loops: Sequence[Loop],
        always: set[str],
    ) -> None:
        """Take the requests from the region that bursts do without, and let those of one port follow one
        another. loops: the region's and those that became one with it. always: the blocks that each iteration
        runs.
        """
        nest = _Nest(function, addresses.ranges, loops)
        ports: dict[tuple[str, bool], list[_Word]] = {}
        written = {word.asked.memory.base.name for word in self._words if word.asked.writes}
        times = Counter((word.asked.memory.base.name, word.asked.place) for word in self._words)
        for word in self._words:
            # words of a loop that is unrolled are asked for before it is, in its burst
            one = times[word.asked.memory.base.name, word.asked.place] == 1 or word.asked.place < 0
            before = one and nest.reads_before(word.asked, always, written)
            if region.nodes[word.access].operation is None or before:
                _drop(region, word)
                for index in (word.request, word.address):
                    region.nodes[index].operation = None
            else:
                ports.setdefault((word.asked.memory.bundle, word.asked.writes), []).append(word)
        for (bundle, writes), words in ports.items():
            chains = list(_chains(list(_whole_structs(region, words))))
            others = {word.asked.memory.base.name for word in ports.get((bundle, not writes), ())}
            covered = nest.covered_by(chains[0], always, others) if len(chains) == 1 else 0
            for chain in chains:
                _join(region, chain, whole=covered > 0 and covered == len(nest.loops))
            if self._rules.divides:
                _divide(region, chains[0][0], nest.iterations(covered), nest.iterations(len(nest.loops)))
            if covered:
                chains = [_widened(region, chains[0], addresses, self._rules.widest)]
            if len(chains) == 1 and _may_be_wide(chains[0], self._rules.widest):
                region.neighbours.add(bundle)
            _in_turn(region, chains)


def _drop(region: Region, word: _Word) -> None:
    """Take an access from the region; its request stays."""
    node = region.nodes[word.access]
    if node.access is not None:
        region.accesses[word.asked.memory].remove(node.access)
    node.operation, node.access = None, None


def _whole_structs(region: Region, words: Sequence[_Word]) -> Iterator[_Word]:
    """The words of a port, one in place of the members of a struct: the tool aggregates what an AXI port
    carries."""
    for struct, members in groupby(words, key=lambda word: word.struct):
        found = list(members)
        if struct is None:
            yield from found
            continue
        kept = _one(region, found)
        kept.is_struct = True
        for word in found:
            if word is not kept:
                for index in (word.request, word.address, word.answer):
                    if index >= 0:
                        region.nodes[index].operation, region.nodes[index].after = None, []
        yield kept


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
    one, other = first.asked, second.asked
    gap = other.offset.constant - one.offset.constant
    together = first.start == second.start and one.block == other.block
    return together and gap == first.bytes and not (one.alone or other.alone)


def _join(region: Region, chain: Chain, *, whole: bool) -> None:
    """One request for a chain, and one answer to its last word; none at all if it is part of a burst over
    the whole loop."""
    for at, word in enumerate(chain):
        request = region.nodes[word.request]
        if whole or at:
            request.operation = region.nodes[word.address].operation = None
        if not whole and at:
            request.after = [chain[0].request]
        if word.answer >= 0 and (whole or at + 1 < len(chain)):
            region.nodes[word.answer].operation, region.nodes[word.answer].after = None, []


def _widened(region: Region, chain: Chain, addresses: Addresses, widest: int) -> Chain:
    """A chain with its words joined to wide ones, as far as they lie: the first of those that are read, the
    last of those that are written, when all are there. widest: where no pragma says it."""
    size = len(chain) * chain[0].bytes
    width = min(size, _widest(chain, widest))
    if width & (width - 1) or size % max(1, width) or not _begins_at(width, chain[0].asked.offset, addresses):
        return chain
    together = max(1, width // chain[0].bytes)
    return [_one(region, chain[at : at + together]) for at in range(0, len(chain), together)]


def _widest(chain: Chain, widest: int) -> int:
    """Bytes of the widest word that the tool makes of a chain's. widest: where no pragma says it."""
    told = chain[0].asked.memory.widest
    return widest if told is None else told // 8


def _may_be_wide(chain: Chain, widest: int) -> bool:
    """Whether some words of a port's only chain may come to be a wide one where another release sees more of
    it: of an odd number of words no wide ones are made, and of several places of a port no bursts."""
    return len(chain) % 2 == 0 and _widest(chain, widest) >= 2 * chain[0].bytes and not chain[0].asked.alone


def _begins_at(width: int, offset: Linear, addresses: Addresses) -> bool:
    """Whether a word begins at a multiple of a width: its address says so (`db[x / 128 * 128 + i]`:
    hash-func/Staged_LSH, 2020.2: II 1 of four words), or does but for where counters start."""
    if addresses.residue(offset, max(1, width)) == 0:
        return True
    steps = {name: one.step for name, one in addresses.ranges.counters.items()}
    starts = (offset.constant, *(factor * steps.get(name, 1) for name, factor in offset.terms))
    return not any(start % max(1, width) for start in starts)


def _one(region: Region, words: Chain) -> _Word:
    """One access in place of several."""
    kept = words[-1] if words[0].asked.writes else words[0]
    for word in words:
        if word is kept:
            continue
        _drop(region, word)
        if word.asked.writes:
            region.nodes[kept.access].after.append(word.access)
        else:
            region.nodes[word.access].after = [kept.access]
    return kept


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
        writes = earlier[-1].asked.writes
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
        word = chain[0].asked
        if word.alone or word.block not in always or word.memory.base.name in others:
            return 0
        if not self._counts():
            return 0
        moves, expected, covered = dict(word.offset.terms), chain[0].bytes * len(chain), 0
        for loop in self.loops:
            counters = [name for name in self._phis(loop) if name in self.ranges.counters]
            step = sum(moves.pop(name, 0) * self.ranges.counters[name].step for name in counters)
            if step != expected:
                break
            covered += 1
            trips = self.ranges.trips.get(loop.header)
            if trips is None:
                break
            expected *= trips
        outside = {name for loop in self.loops[covered:] for name in self._phis(loop)}
        return covered if set(moves).isdisjoint(self._inside() - outside) else 0

    def reads_before(self, asked: Asked, always: set[str], written: set[str]) -> bool:
        """Whether a word is the same in all iterations, and read before the first."""
        if asked.writes or asked.alone or asked.copied:
            return False
        if asked.block not in always or asked.memory.base.name in written:
            return False
        return bool(self.loops) and set(dict(asked.offset.terms)).isdisjoint(self._inside())

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


def wait_for_answers(region: Region, promised: Collection[Memory]) -> None:
    """Let the reads of an array by an AXI port wait for the answers to the writes of the iteration before.

    The tool joins neither to a burst where an iteration does both, and in reports of one design asks for no
    word before the last answer is there, though the addresses differ ("between bus response operation on port
    and bus request operation"). promised: memories that a dependence pragma is about.
    """
    answers: dict[str, int] = {}
    for node in region.nodes:
        if node.operation is not None and node.operation.kind == "axi_write_response" and node.after:
            access = region.nodes[node.after[0]].access
            if access is not None and access.where is not None and access.where.memory not in promised:
                answers[access.where.memory.base.name] = node.index
    for node in region.nodes:
        access = node.access
        if access is None or access.writes or access.where is None or node.operation is None:
            continue
        answer = answers.get(access.where.memory.base.name)
        for one in node.after if answer is not None else ():
            operation = region.nodes[one].operation
            if answer is not None and operation is not None and operation.kind == "axi_read_request":
                name = access.where.memory.name
                region.carried.append(Carried(answer, one, 1, name, late=0, is_port=True))
