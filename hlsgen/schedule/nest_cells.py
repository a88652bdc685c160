"""What counting over a nest takes that the vendor's compiler makes one loop of."""

from __future__ import annotations

from hlsgen.cost.resources import Resources
from hlsgen.schedule.areas import Areas
from hlsgen.schedule.operation import Operation
from hlsgen.schedule.scheduled_regions import FunctionRegions, ScheduledRegion


def flattened(parts: FunctionRegions) -> frozenset[int]:
    """The numbers of the parts that are loops around a pipeline and become one loop with it."""
    loops = {id(one.region.loop): at for at, one in enumerate(parts.parts)}
    return frozenset(
        loops[id(above)]
        for one in parts.parts
        if one.pipelined
        for above in parts.nests.around(one.region.loop)
        if id(above) in loops
    )


def counter_bits(parts: FunctionRegions, part: ScheduledRegion) -> int:
    """Bits of the counters of a loop: what else it carries (sums) the inner loop carries too."""
    return sum(
        node.operation.result
        for node in part.region.nodes
        if node.operation is not None
        and node.operation.kind == "phi"
        and node.instruction is not None
        and node.instruction.name in parts.counters
    )


def ending(part: ScheduledRegion) -> set[int]:
    """The nodes that end a loop around others: where it is one loop with them, a count of both does."""
    return {
        node.index
        for node in part.region.nodes
        if node.operation is not None and node.operation.kind == "icmp"
    }


def flattening(bits: int, areas: Areas) -> Resources:
    """What it takes to count over two loops as one, the outer with counters of so many bits: a counter of
    both, and choices of either's next value."""
    if not bits:
        return Resources()
    choice = Operation(kind="select", widths=(bits, bits), result=bits)
    both = 2 * bits
    count = Operation(kind="add", widths=(both, both), result=both)
    compare = Operation(kind="icmp", widths=(both, both), result=1)
    return areas.operation(choice).times(2) + areas.operation(count) + areas.operation(compare) + areas.mux(2)
