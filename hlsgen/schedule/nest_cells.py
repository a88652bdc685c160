"""What counting over a nest takes that the vendor's compiler makes one loop of."""

from __future__ import annotations

from hlsgen.cost.resources import Resources
from hlsgen.schedule.areas import Areas
from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.operation import Operation
from hlsgen.schedule.parts import FunctionParts, Part

COUNTING = frozenset({"phi", "icmp", "add", "sub"})


def flattened(parts: FunctionParts) -> frozenset[int]:
    """The numbers of the parts that are loops around a pipeline and nothing else."""
    loops: list[Loop] = [
        one.region.loop for one in parts.parts if one.region.loop is not None and one.pipelined
    ]
    numbers = {id(one.region.loop): at for at, one in enumerate(parts.parts)}
    found: set[int] = set()
    for pipeline in loops:
        above = pipeline.parent
        while above is not None and len(above.inner) == 1 and id(above) in numbers:
            number = numbers[id(above)]
            if not _only_counts(parts.parts[number]):
                break
            found.add(number)
            above = above.parent
    return frozenset(found)


def _only_counts(part: Part) -> bool:
    region = part.region
    kinds = {node.operation.kind for node in region.nodes if node.operation is not None}
    return kinds <= COUNTING and not region.accesses and not region.streams and not region.calls


def counter_bits(part: Part) -> int:
    """Bits of the counters of a loop."""
    return sum(
        node.operation.result
        for node in part.region.nodes
        if node.operation is not None and node.operation.kind == "phi"
    )


def flattening(part: Part, areas: Areas) -> Resources:
    """What it takes to count over two loops as one: a counter of both, and choices of either's next value."""
    bits = counter_bits(part)
    choice = Operation(kind="select", widths=(bits, bits), result=bits)
    both = 2 * bits
    count = Operation(kind="add", widths=(both, both), result=both)
    compare = Operation(kind="icmp", widths=(both, both), result=1)
    return areas.operation(choice).times(2) + areas.operation(count) + areas.operation(compare) + areas.mux(2)
