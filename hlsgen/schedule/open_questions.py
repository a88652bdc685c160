"""What keeps an II above what is asked for, and cannot be told from the code: the II is open then.

Of public reports that were held against such reasons few had the II that they would give (docs/schedule.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hlsgen.schedule.accesses import PortUse
from hlsgen.schedule.iteration import Carried, Node, Region
from hlsgen.schedule.memories import Where

SEVERAL = 2
"""Words of one array and direction from which on the tool may join them."""


def is_guessed(nodes: Sequence[Node], edge: Carried) -> bool:
    """Whether a dependence hangs on two different indices of counters, which the tool may tell apart where it
    is not told here. Of indices that are read from memory (a histogram) it knows no more."""
    both = [nodes[one].access for one in (edge.source, edge.target)]
    places = [one.where for one in both if one is not None and one.where is not None]
    if not edge.assumed or len(places) < len(both):
        return False
    return places[0] != places[1] and not any(_is_data(nodes, place) for place in places)


def _is_data(nodes: Sequence[Node], place: Where) -> bool:
    """Whether an index is computed from what was read in the iteration."""
    names = {name for form in place.word for name, _ in form.terms}
    waiting = [one.index for one in nodes if one.instruction is not None and one.instruction.name in names]
    seen: set[int] = set()
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        if nodes[at].access is not None:
            return True
        waiting += nodes[at].after
    return False


def says_guessed(edge: Carried | None, least: int) -> Iterator[str]:
    """That an II hangs on such a dependence. least: the II without."""
    if edge is not None:
        where = edge.through
        yield f"the II is {least} or more: whether {where} is read where it was written cannot be told"


def says_joined(region: Region, uses: Sequence[PortUse], target: int, widest: int) -> Iterator[str]:
    """Of AXI ports that keep the II up by several words of one array, which the tool may join to wide ones.

    widest: the bytes that it joins, 0 where it joins none.
    """
    for use in uses:
        if not (widest and use.memory.bundle and use.interval > target):
            continue
        for memory, accesses in region.accesses.items():
            counts = [sum(one.writes is way for one in accesses) for way in (False, True)]
            if memory.bundle == use.memory.bundle and max(counts) >= SEVERAL:
                yield f"{max(counts)} words of {memory.name} by an AXI port, which the tool may join"
