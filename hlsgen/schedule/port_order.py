"""How deep an iteration is whose accesses wait for the ports of a bank: with an II above 1 the tool spreads
them over its cycles, with no more copies of a table than that II needs.

Akylon/ltc_acceleration, 2022.2: an II of 10 that was asked for is kept where 17 reads of a table have two
ports in the RTL, and 64 reads seven, with iterations of 13 and 14 cycles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hlsgen.schedule.accesses import Access, Paths, PortUse
from hlsgen.schedule.iteration import Region
from hlsgen.schedule.memories import ANY_BANK, Where
from hlsgen.schedule.modulo import Schedule, Scheduler
from hlsgen.schedule.operation import Timing


def in_turn(
    region: Region,
    uses: Sequence[PortUse],
    timings: Sequence[Timing | None],
    budget_ns: float,
    found: Schedule,
) -> Schedule:
    """The schedule at the same interval, with no more accesses of a bank in a cycle than it has ports.

    The one that was found where that interval is too short for it.
    """
    behind: dict[int, list[tuple[int, int]]] = {}
    for use in uses:
        ports = _fewest_ports(use, found.interval)
        if found.interval > 1 and use.together > ports:
            for first, second in _waiting(region, use, ports):
                behind.setdefault(second, []).append((first, 1))
    if not behind:
        return found
    nodes = [
        replace(node, behind=[*node.behind, *behind[node.index]]) if node.index in behind else node
        for node in region.nodes
    ]
    spread = Scheduler(replace(region, nodes=nodes), timings, budget_ns).at(found.interval)
    return spread or found


def _fewest_ports(use: PortUse, interval: int) -> int:
    """The ports that a bank has at an II: those of its memory, of copies no more than are needed."""
    return min(use.ports[2], max(use.memory.ports[2], -(-use.together // interval)))


def _waiting(region: Region, use: PortUse, ports: int) -> Iterator[tuple[int, int]]:
    """Accesses of a bank with those that take their ports a cycle later, in the order of the code."""
    paths = Paths(region)
    mine: dict[object, Access] = {}
    for one in region.accesses.get(use.memory, ()):
        if one.where is not None and _is_of(one.where, use.banks):
            mine.setdefault(one.node if one.writes else (one.block, one.where.word), one)
    turns = sorted(mine.values(), key=lambda one: one.node)
    for first, second in zip(turns, turns[ports:], strict=False):
        if paths.follows(first.block, second.block):
            yield first.node, second.node


def _is_of(where: Where, banks: tuple[int, ...]) -> bool:
    pairs = zip(where.banks, banks, strict=False)
    return all(ANY_BANK in (one, other) or one == other for one, other in pairs)
