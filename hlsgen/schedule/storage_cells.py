"""What csynth counts for arrays, FIFOs and ports: the memories themselves, and the multiplexers of those that
reach them from several places.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from hlsgen.cost.resources import Resources
from hlsgen.schedule.accesses import Access
from hlsgen.schedule.areas import Areas
from hlsgen.schedule.ir import Global, Local, PointerType, bits_of
from hlsgen.schedule.memories import ANY_BANK, Memory
from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.scheduled_regions import FunctionRegions

MOST_BANKS = 1 << 16
"""An array of more banks is one whose extent is not known."""
POINTER_BITS, WORD_BITS = 64, 32
FIFO_DEPTH = 2
"""Words of a stream that no pragma tells of."""


@dataclass(kw_only=True)
class _Use:
    """How the parts reach one bank of an array."""

    pipelines: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Reads and writes of an iteration, by part."""
    reads: int = 0
    """Of what is no pipeline."""
    writes: int = 0
    together: int = 0
    """The most accesses at once."""

    @property
    def readers(self) -> int:
        return sum(reads > 0 for reads, _ in self.pipelines.values()) + self.reads

    @property
    def writers(self) -> int:
        return sum(writes > 0 for _, writes in self.pipelines.values()) + self.writes


def arrays(
    parts: FunctionRegions, left_out: Sequence[Collection[int]], areas: Areas
) -> tuple[dict[str, Resources], Resources]:
    """The memories and registers of the arrays that are reached, by name, and the multiplexers in front of
    them."""
    memories: dict[str, Resources] = {}
    muxes = Resources()
    for memory, uses in _uses(parts, left_out).items():
        if memory.bundle or memory.banks >= MOST_BANKS:
            continue
        register = memory.storage == "register"
        own = not memory.argument and (isinstance(memory.base, Global) or _is_alloca(memory, parts))
        if own:
            name = f"{memory.base.name}+{memory.start}"
            memories[name] = _registers(memory, uses) if register else _blocks(memory, uses, areas)
        for use in uses.values():
            muxes += _register_muxes(use, areas) if register else _port_muxes(use, areas)
    return memories, muxes


def _is_alloca(memory: Memory, parts: FunctionRegions) -> bool:
    arguments = {name for name, _ in parts.function.arguments}
    return isinstance(memory.base, Local) and memory.base.name not in arguments


def _uses(
    parts: FunctionRegions, left_out: Sequence[Collection[int]]
) -> dict[Memory, dict[tuple[int, ...], _Use]]:
    """By array and bank. An access whose bank is chosen when it runs reaches all banks that others name."""
    found: dict[Memory, dict[tuple[int, ...], _Use]] = {}
    for number, part in enumerate(parts.parts):
        for memory, accesses in part.region.accesses.items():
            counted = [
                one for one in accesses if one.node not in left_out[number] and one.instruction.place >= 0
            ]  # without a place: the values that a static variable begins with, which its memory has
            reached = _Reached(counted)
            for bank in _banks(memory, counted):
                here = reached.of(bank)
                reads, writes = _words(here)
                use = found.setdefault(memory, {}).setdefault(bank, _Use())
                if part.pipelined:
                    use.pipelines[number] = (reads, writes)
                    use.together = max(use.together, -(-(reads + writes) // part.schedule.interval))
                else:
                    use.reads += reads
                    use.writes += writes
                    cycles = Counter(part.schedule.starts[one.node][0] for one in here)
                    use.together = max([use.together, *cycles.values()])
    return found


class _Reached:
    """Accesses by the bank that they reach: a kernel can have thousands of both."""

    def __init__(self, accesses: Sequence[Access]) -> None:
        self._named: dict[tuple[int, ...], list[Access]] = {}
        self._chosen: dict[tuple[int, ...], list[Access]] = {}
        """Those whose bank is chosen when it runs, so that they reach several."""
        for one in accesses:
            if one.where is not None:
                found = self._chosen if one.where.runtime_banks else self._named
                found.setdefault(one.where.banks, []).append(one)

    def of(self, bank: tuple[int, ...]) -> list[Access]:
        """The accesses that reach a bank."""
        here = list(self._named.get(bank, ()))
        for banks, accesses in self._chosen.items():
            if all(number in (other, ANY_BANK) for number, other in zip(banks, bank, strict=True)):
                here += accesses
        return here


def _banks(memory: Memory, accesses: Sequence[Access]) -> set[tuple[int, ...]]:
    """The banks that some access reaches."""
    if any(one.where is not None and one.where.runtime_banks for one in accesses):
        return _all_banks(memory, accesses)
    return {one.where.banks for one in accesses if one.where is not None}


def _words(accesses: Sequence[Access]) -> tuple[int, int]:
    """The words that accesses of a bank read and write; parts of a word are read and written at once."""
    words = {(one.writes, one.where.word if one.where is not None else ()) for one in accesses}
    writes = sum(written for written, _ in words)
    return len(words) - writes, writes


def _all_banks(memory: Memory, accesses: Sequence[Access]) -> set[tuple[int, ...]]:
    """Every bank that an access whose bank is chosen when it runs may reach."""
    found: set[tuple[int, ...]] = set()
    split = [dimension.banks for dimension in memory.dimensions if not dimension.reshaped]
    for one in accesses:
        if one.where is None:
            continue
        banks: list[tuple[int, ...]] = [()]
        for at, bank in enumerate(one.where.banks):
            extent = split[at] if at < len(split) else 1
            chosen = range(extent) if bank == ANY_BANK else (bank,)
            banks = [(*before, number) for before in banks for number in chosen][:MOST_BANKS]
        found.update(banks)
    return found


def _registers(memory: Memory, uses: Mapping[tuple[int, ...], _Use]) -> Resources:
    # what nothing reads is not there
    kept = sum(use.writers > 0 and use.readers > 0 for use in uses.values())
    fields = len({bank[-1] for bank in uses}) if uses and not memory.aggregated else 1
    return Resources(ff=memory.word_bits * max(1, memory.depth) * kept // max(1, fields))


def _blocks(memory: Memory, uses: Mapping[tuple[int, ...], _Use], areas: Areas) -> Resources:
    total = Resources()
    depth, bits = max(1, memory.depth), memory.word_bits
    fields = len({bank[-1] for bank in uses}) if uses and not memory.aggregated else 1
    bits = -(-bits // fields)
    for use in uses.values():
        storage = memory.storage if memory.implementation else areas.chosen_storage(depth, bits)
        copies = use.together if use.together > 2 and storage != "lutram" else 1
        total += areas.array(depth, bits, storage, min(2, max(1, use.together))).times(copies)
    return total


def _register_muxes(use: _Use, areas: Areas) -> Resources:
    return areas.mux(use.writers) if use.writers > 1 else Resources()


def _port_muxes(use: _Use, areas: Areas) -> Resources:
    """Address, enable, write enable and data of the ports."""
    total = Resources()
    ports = min(2, max(1, use.together))
    inside = [(reads, writes) for reads, writes in use.pipelines.values()]
    for reads, writes in inside:
        each = -(-(reads + writes) // ports)
        if each > 1:
            total += areas.mux(each + 1).times(ports)
        if writes > 1:
            total += areas.mux(-(-writes // ports) + 1).times(min(ports, writes))
    once = use.reads + use.writes
    users = len(inside) + -(-once // ports)
    if users > 1:
        total += areas.mux(users + 1).times(ports)
    if inside or once:
        total += areas.mux(len(inside) + bool(once) + 1).times(ports)
    if use.writers:
        total += areas.mux(min(use.writers, len(inside) + 1) + 1)
    if use.writers > 1:
        total += areas.mux(use.writers + 1)
    return total


def fifos(parts: FunctionRegions, left_out: Sequence[Collection[int]]) -> dict[str, tuple[int, int]]:
    """Words and bits of the streams between processes, by name, at the depths that pragmas give them."""
    depths = {
        site.base.name: site.values["depth"]
        for site in parts.sites.variables
        if site.pragma.name == "stream" and "depth" in site.values
    }
    arguments = {name for name, _ in parts.function.arguments}
    found: dict[str, tuple[int, int]] = {}
    for number, part in enumerate(parts.parts):
        for name, accesses in part.region.streams.items():
            which, _, kind = name.rpartition(".")
            base = which.split("+", 1)[0]
            if not kind.startswith("fifo") or base in arguments:
                continue
            for one in accesses:
                operation = part.region.nodes[one.node].operation
                bits = max(operation.widths, default=0) if operation is not None else 0
                if bits and one.node not in left_out[number]:
                    depth, before = found.get(which, (depths.get(base, FIFO_DEPTH), 0))
                    found[which] = depth, max(before, bits)
    return found


def host_arguments(parts: FunctionRegions, pragmas: Sequence[Pragma]) -> tuple[list[int], list[int]]:
    """The bits of the arguments that a host gives by AXI-lite: those that a pragma or a port says so of, and
    the other scalars, which are so in the flow of kernels."""
    lite = [one for one in pragmas if one.name == "interface" and _is_lite(one)]
    named = {re.sub(r"\W.*", "", name.strip()) for one in lite for name in one.variable.split(",")}
    axi = {
        base.name
        for base, known in parts.memories.by_base.items()
        if isinstance(base, Local) and any(memory.bundle for memory in known)
    }
    told: list[int] = []
    others: list[int] = []
    for name, type_ in parts.function.arguments:
        if isinstance(type_, PointerType):
            told += [POINTER_BITS] if name in axi else []
        else:
            (told if name.split(".")[0] in named else others).append(max(WORD_BITS, bits_of(type_)))
    return told, others


def has_lite_port(pragmas: Sequence[Pragma]) -> bool:
    """Whether the source asks for an AXI-lite port."""
    return any(one.name == "interface" and _is_lite(one) for one in pragmas)


def bundles(parts: FunctionRegions) -> dict[str, int]:
    """The AXI ports with the bits of their words: of pointers, and burst ports, which are read as streams."""
    found: dict[str, int] = {}
    ports_of = {
        base.name: known[0].bundle or base.name for base, known in parts.memories.by_base.items() if known
    }
    for part in parts.parts:
        reached = [(memory.bundle, one) for memory, all_ in part.region.accesses.items() for one in all_]
        for name, accesses in part.region.streams.items():
            if name.rpartition(".")[2].startswith("axi"):
                base = name.split("+", 1)[0]
                reached += [(ports_of.get(base, base), one) for one in accesses]
        for bundle, one in reached:
            operation = part.region.nodes[one.node].operation
            if bundle and operation is not None:
                bits = max((*operation.widths, operation.result))
                found[bundle] = max(found.get(bundle, 0), bits)
    return found


def _is_lite(pragma: Pragma) -> bool:
    return "s_axilite" in pragma.words or pragma.texts.get("mode", "") == "s_axilite"
