"""Accesses of memories, streams and ports: what orders them, what they share, which iterations they tie
together."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import gcd
from typing import TYPE_CHECKING

from hlsgen.schedule.ir import Constant, Instruction, Local
from hlsgen.schedule.linear import Addresses, Linear
from hlsgen.schedule.memories import ANY_BANK, BLOCK, COMPLETE, Memory, Where
from hlsgen.schedule.ranges import Counter
from hlsgen.schedule.same_banks import SameBanks

if TYPE_CHECKING:
    from hlsgen.schedule.iteration import Region

_CALLS = {
    "__hls_stream_read": "fifo_read",
    "__hls_stream_read_nb": "fifo_read",
    "__hls_stream_write": "fifo_write",
    "__hls_stream_write_nb": "fifo_write",
    "__hls_stream_empty": "fifo_state",
    "__hls_stream_full": "fifo_state",
    "__hls_stream_size": "fifo_state",
    "__hls_maxi_read_request": "axi_read_request",
    "__hls_maxi_read": "axi_read",
    "__hls_maxi_write_request": "axi_write_request",
    "__hls_maxi_write": "axi_write",
    "__hls_maxi_write_response": "axi_write_response",
    "__hls_shift": "shift_register",
    "__hls_shift_read": "shift_register",
}
TAKES_A_WORD = frozenset({"fifo_write", "axi_write", "shift_register"})
"""Kinds whose second operand, if it is an address, is that of the word that they take."""


@dataclass(slots=True, eq=False)
class Access:
    """One access in an iteration: of a memory (`where`), or of a stream or port (`where` is None)."""

    node: int
    where: Where | None
    writes: bool
    block: str
    instruction: Instruction
    value: int = -1
    """The node that gives what was read to its users, where a choice may stand behind the read."""
    chooser: int = -1
    """The node that chooses among the words of banks that were read; -1: the bank is known."""
    alike: Mapping[str, str] = field(default_factory=dict)
    """Of values in the address of a read the first that is computed as they are: copies under branches."""
    rings: Mapping[str, tuple[Linear, int]] = field(default_factory=dict)
    """Of values in the address those that go round in a power of two, with what they are the remainder of."""


def stream_of(call: Instruction, addresses: Addresses) -> tuple[str, str, int] | None:
    """What a call does to a stream, burst port or shift register: the kind of operation, which of them, the
    bits of its word."""
    kind = _CALLS.get(call.callee)
    if kind is None:
        return None
    address = addresses.of(call.operands[0])
    which = "?"
    if address is not None:
        terms = "".join(f"+{name}" for name, _ in address.offset.terms)
        which = f"{address.base.name}+{address.offset.constant}{terms}"
    bits = 0
    carrier: Instruction | None = call
    if kind in TAKES_A_WORD and call.callee != "__hls_shift_read":
        slot = call.operands[1]
        carrier = addresses.definitions.get(slot.name) if isinstance(slot, Local) else None
    if carrier is not None and carrier.operands and isinstance(carrier.operands[-1], Constant):
        bits = carrier.operands[-1].value or 0
    return kind, which, bits


class Paths:
    """Which blocks of a region come after which, without going around."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.rank = {name: at for at, name in enumerate(region.blocks)}
        self.reach: dict[str, int] = {}
        for name in reversed(region.blocks):
            bits = 0
            for one in region.successors.get(name, ()):
                bits |= self.reach[one] | 1 << self.rank[one]
            self.reach[name] = bits

    def follows(self, first: str, second: str) -> bool:
        """Whether `second` is `first` or comes after it on some way."""
        return first == second or bool(self.reach[first] >> self.rank[second] & 1)

    def most(self, weights: Mapping[str, int]) -> int:
        """The greatest sum of the blocks' weights on any way through the region."""
        names = sorted(
            (name for name in weights if name in self.rank), key=self.rank.__getitem__, reverse=True
        )
        if len(names) == 1:
            return weights[names[0]]
        best: list[tuple[int, int]] = []
        for name in names:
            reach = self.reach[name]
            after = max((most for rank, most in best if reach >> rank & 1), default=0)
            best.append((self.rank[name], weights[name] + after))
        return max((most for _, most in best), default=0)


def same_bank(first: Where, second: Where) -> bool:
    """Whether two accesses of a memory may fall into one bank."""
    return all(
        one == other or ANY_BANK in (one, other) for one, other in zip(first.banks, second.banks, strict=True)
    )


def same_word(first: Where, second: Where) -> bool | None:
    """Whether two accesses of one iteration fall on the same word; None if that is not known."""
    if not same_bank(first, second):
        return False
    if first.exact != second.exact:
        return None
    unknown = not (first.exact and second.exact) or ANY_BANK in first.banks + second.banks
    for one, other in zip(first.word, second.word, strict=True):
        if one.terms != other.terms:
            unknown = True
        elif one.constant != other.constant:
            return False
    return None if unknown else True


def ordered(accesses: Sequence[Access], paths: Paths) -> Iterator[tuple[int, int, int | None]]:
    """Pairs of nodes of one iteration whose order must hold, with the cycles between their starts.

    None instead of cycles: the second takes the value that the first puts into a register.
    """
    near = SameBanks(accesses)
    for at, second in enumerate(accesses):
        for place in near.of(at):
            if place >= at:
                break
            first = accesses[place]
            if not (first.writes or second.writes) or not paths.follows(first.block, second.block):
                continue
            if first.where is None or second.where is None:
                yield first.node, second.node, 1
                continue
            same = same_word(first.where, second.where)
            if same is False:
                continue
            memory = first.where.memory
            if memory.storage == "register":
                yield first.node, second.node, None if first.writes and not second.writes else 0
            elif not first.writes:
                yield first.node, second.node, 0
            else:
                yield first.node, second.node, 1


@dataclass(frozen=True, slots=True)
class Dependence:
    """What a later iteration's access has to do with an earlier one's: how many iterations lie between."""

    distance: int
    assumed: bool


def carried(
    first: Access, second: Access, counters: Mapping[str, Counter], inside: Collection[str]
) -> Dependence | None:
    """Whether `second`, in a later iteration, may fall on the word of `first`; the least distance.

    `counters` are the loop's own, `inside` names all values that an iteration computes anew.
    """
    if first.where is None or second.where is None or not same_bank(first.where, second.where):
        return None
    if first.where.exact != second.where.exact:
        return Dependence(1, assumed=True)
    distance: int | None = None
    assumed = not (first.where.exact and second.where.exact)
    for one, other in zip(first.where.word, second.where.word, strict=True):
        found = _distance(one, other, counters, inside)
        rounds = _round(unwound(one, first), unwound(other, second), counters) if found is None else None
        if found is False or rounds is False:
            return None
        if rounds is not None:
            distance, assumed = max(distance or 1, rounds), True
        elif found is None:
            assumed = True
        elif found is not True:
            if distance is not None and distance != found:
                return None
            distance = found
    if ANY_BANK in first.where.banks + second.where.banks:
        assumed = True
    return Dependence(distance or 1, assumed)


def _round(
    first: tuple[Linear, int], second: tuple[Linear, int], counters: Mapping[str, Counter]
) -> int | bool | None:
    """As `_distance`, of indices that go round (sums[i % 4])."""
    (one, modulus), (other, its) = first, second
    if not modulus or modulus != its or one.terms != other.terms or not one.terms:
        return None
    if any(name not in counters for name, _ in one.terms):
        return None
    steps = sum(factor * counters[name].step for name, factor in one.terms)
    gap = one.constant - other.constant
    common = gcd(steps, modulus)
    if gap % common:
        return False
    turns = modulus // common
    return gap // common * pow(steps // common, -1, turns) % turns or turns


def _distance(
    first: Linear, second: Linear, counters: Mapping[str, Counter], inside: Collection[str]
) -> int | bool | None:
    """Iterations after which `second` equals `first`: True for every one, False for none, None if unknown."""
    own, others = [], []
    for form in (first, second):
        mine = {name: factor for name, factor in form.terms if name in counters}
        own.append(mine)
        others.append({name: factor for name, factor in form.terms if name not in mine})
    if own[0] != own[1] or others[0] != others[1]:
        return None
    if any(name in inside for name in others[0]):
        return None
    steps = sum(factor * counters[name].step for name, factor in own[0].items())
    gap = first.constant - second.constant
    if steps == 0:
        return gap == 0
    return gap // steps if gap % steps == 0 and gap // steps > 0 else False


MOST_COPIES = 17
"""Read ports of the core RAM_1WnR, which a local array gets that no pipeline writes more than once an
iteration and one reads more often than two ports allow."""
ANY_NUMBER = 1 << 30
"""Reads of a table of constants (ROM): reports show no limit."""


@dataclass(frozen=True, kw_only=True)
class PortUse:
    """What one iteration asks of one bank: reads, writes and both on the busiest way through it."""

    memory: Memory
    banks: tuple[int, ...]
    reads: int
    writes: int
    together: int
    runtime: bool
    """Whether some of the accesses may fall into any bank."""
    replicated: bool = False
    """Whether the tool may keep copies of it, each with a port to read."""
    neighbours: bool = False
    """Whether words of an AXI port lie side by side that the tool may take for a wide one."""

    @property
    def ports(self) -> tuple[int, int, int]:
        """Reads, writes and both that a bank allows in a cycle."""
        if self.memory.constant and not self.memory.kind:
            return ANY_NUMBER, 0, ANY_NUMBER
        if self.replicated:
            return MOST_COPIES, 1, MOST_COPIES + 1
        return self.memory.ports

    @property
    def interval(self) -> int:
        """The least II that the bank's ports allow."""
        reads, writes, both = self.ports
        return max(-(-self.reads // reads), -(-self.writes // max(1, writes)), -(-self.together // both), 1)


def port_uses(accesses: Mapping[Memory, Sequence[Access]], region: Region) -> list[PortUse]:
    """The use of every bank that the region's iterations touch, the busiest of each memory first."""
    paths = Paths(region)
    found: list[PortUse] = []
    bundles: dict[str, list[tuple[Memory, Sequence[Access]]]] = {}
    for memory, all_of_it in accesses.items():
        if memory.bundle:
            bundles.setdefault(memory.bundle, []).append((memory, all_of_it))
        if memory.storage in ("register", "axi"):
            continue
        uses = [_use(memory, banks, all_of_it, paths) for banks in _banks_of(all_of_it)]
        found += sorted(uses, key=lambda use: (-use.interval, -use.together, use.banks))
    uses = [_bundle_use(name, members, paths) for name, members in bundles.items()]
    return found + [replace(use, neighbours=use.memory.name in region.neighbours) for use in uses]


def _bundle_use(name: str, members: Sequence[tuple[Memory, Sequence[Access]]], paths: Paths) -> PortUse:
    """The use of an AXI port, which carries one read and one write a cycle for all arguments of its
    bundle."""
    reads: dict[str, int] = {}
    writes: dict[str, int] = {}
    for memory, accesses in members:
        for weights, wanted in ((reads, False), (writes, True)):
            for block, count in _weights(memory, [one for one in accesses if one.writes == wanted]).items():
                weights[block] = weights.get(block, 0) + count
    most = paths.most(reads), paths.most(writes)
    memory = replace(members[0][0], name=name)
    return PortUse(memory=memory, banks=(), reads=most[0], writes=most[1], together=max(most), runtime=False)


def _banks_of(accesses: Sequence[Access]) -> list[tuple[int, ...]]:
    banks = dict.fromkeys(one.where.banks for one in accesses if one.where is not None)
    certain = [one for one in banks if ANY_BANK not in one]
    return certain or list(banks)


def _use(memory: Memory, banks: tuple[int, ...], accesses: Sequence[Access], paths: Paths) -> PortUse:
    here = [
        one
        for one in accesses
        if one.where is not None
        and all(
            mine in (ANY_BANK, its) or its == ANY_BANK
            for mine, its in zip(one.where.banks, banks, strict=True)
        )
    ]
    here = _at_once(memory, here, paths)
    reads = _weights(memory, _read_once([one for one in here if not one.writes], accesses))
    writes = _weights(memory, [one for one in here if one.writes])
    both = {block: reads.get(block, 0) + writes.get(block, 0) for block in {**reads, **writes}}
    most_writes = paths.most(writes)
    return PortUse(
        memory=memory,
        banks=banks,
        reads=paths.most(reads),
        writes=most_writes,
        together=paths.most(both),
        runtime=any(one.where is not None and one.where.runtime_banks for one in here),
        replicated=memory.may_have_copies and most_writes <= 1,
    )


def _at_once(memory: Memory, accesses: Sequence[Access], paths: Paths) -> list[Access]:
    """Of accesses whose bank is chosen at run time those that may fall into one bank together.

    a[13 * i], a[13 * i + 1], ... of an array that is split cyclically: the vendor's compiler has one choice
    of all their banks, by the index that they share.
    """
    kept: list[Access] = []
    groups: dict[object, dict[object, list[Access]]] = {}
    for one in accesses:
        shared, apart = _shared(memory, one)
        if apart is None:
            kept.append(one)
        else:
            groups.setdefault(shared, {}).setdefault(apart, []).append(one)
    for classes in groups.values():
        sizes = [(paths.most(_weights(memory, some)), some) for some in classes.values()]
        kept += max(sizes, key=lambda pair: pair[0])[1]
    return kept


def _shared(memory: Memory, access: Access) -> tuple[object, object]:
    """The index that an access's bank is chosen by, and how far from it the bank is; None if that is not
    known."""
    where = access.where
    if where is None or not where.exact or ANY_BANK not in where.banks:
        return None, None
    split = [(at, one) for at, one in enumerate(memory.dimensions) if not one.reshaped]
    shared: list[object] = []
    apart: list[int] = []
    for (at, dimension), bank in zip(split, where.banks, strict=False):
        form = _unwound(where.word[at], access, dimension.banks)
        terms = tuple(sorted((access.alike.get(name, name), factor) for name, factor in form.terms))
        if bank != ANY_BANK:
            shared.append(bank)
        elif dimension.split == BLOCK:
            size = dimension.block
            shared.append((terms, form.constant % size))
            apart.append(form.constant // size)
        else:
            shared.append(terms)
            apart.append(form.constant % dimension.banks)
    return tuple(shared), tuple(apart) if apart else None


def unwound(index: Linear, access: Access) -> tuple[Linear, int]:
    """Of an index that goes round what it is the remainder of, and the power of two that it is divided by;
    any other as it is, and 0."""
    name = index.terms[0][0] if len(index.terms) == 1 and index.terms[0][1] == 1 else ""
    inner, modulus = access.rings.get(name, (Linear(0), 0))
    return (inner + Linear(index.constant), modulus) if modulus else (index, 0)


def _unwound(index: Linear, access: Access, banks: int) -> Linear:
    """An index that is as far from others as their banks are: of one that goes round what it is the remainder
    of (basmundhopk/FX-Correlator, 2023.2: three reads and a write of rows of one port each, which two bits
    count, have II 1)."""
    inner, modulus = unwound(index, access)
    return inner if modulus and modulus % banks == 0 else index


def _read_once(reads: Sequence[Access], accesses: Sequence[Access]) -> list[Access]:
    """Reads without those of a word that was read before, under whichever branch, and not written in between:
    the tool reads ahead of branches, and once (hijoouzc/UpConv_Block_HLS, 2024.2: 16 branches, II 1)."""
    written = sorted(one.node for one in accesses if one.writes)
    seen: set[object] = set()
    kept = []
    for one in sorted(reads, key=lambda one: one.node):
        key = (_place_in_bank(one), bisect(written, one.node))
        if key not in seen:
            kept.append(one)
        seen.add(key)
    return kept


def _place_in_bank(read: Access) -> object:
    """What of a read the banks see: where the index of a dimension that is split wholly stays run-time, every
    bank is read at the address that the other indices give, and a choice takes one of the words. So reads
    that differ in such an index alone are one (onioncc/GNN_Acc, 2020.2: nine of table[f(i)][j] and three of
    another have II 1)."""
    where = read.where
    if where is None or not where.exact or not where.runtime_banks:
        return where
    split = [at for at, one in enumerate(where.memory.dimensions) if not one.reshaped]
    chosen = {
        at
        for at, bank in zip(split, where.banks, strict=False)
        if bank == ANY_BANK and where.memory.dimensions[at].split == COMPLETE
    }
    return where.banks, tuple(None if at in chosen else form for at, form in enumerate(where.word))


def _weights(memory: Memory, accesses: Sequence[Access]) -> dict[str, int]:
    """Accesses by block; those of one word of a reshaped array, and equal reads, are one."""
    seen: dict[tuple[str, object], None] = {}
    first: dict[object, str] = {}
    for one in accesses:
        assert one.where is not None
        words = one.where.word
        word = (
            tuple(
                form
                for dimension, form in zip(memory.dimensions, words, strict=False)
                if not (dimension.reshaped and dimension.split == "complete")
            )
            + words[len(memory.dimensions) :]
        )
        together = memory.has_parts
        if together and memory.dimensions:
            # one word, whichever of its parts are looked at, or written by a mask, in which branch
            block = first.setdefault((one.writes, word), one.block)
        else:
            block = one.block
        seen[block, word if memory.dimensions and (together or not one.writes) else one.node] = None
    weights: dict[str, int] = {}
    for block, _ in seen:
        weights[block] = weights.get(block, 0) + 1
    return weights
