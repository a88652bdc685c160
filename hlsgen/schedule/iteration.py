"""One iteration of a pipelined loop, as data: its operations, and what waits for what."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from hlsgen.schedule.accesses import Access
from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.ir import Instruction
from hlsgen.schedule.memories import Memory
from hlsgen.schedule.operation import Operation


@dataclass(slots=True, eq=False)
class Node:
    """One operation of an iteration.

    `after` are the nodes whose results it waits for; `behind` those that it only must not start before,
    with the cycles between.
    """

    index: int
    operation: Operation | None
    instruction: Instruction | None
    block: str
    after: list[int] = field(default_factory=list)
    behind: list[tuple[int, int]] = field(default_factory=list)
    access: Access | None = None


@dataclass(frozen=True, slots=True)
class Carried:
    """`target`, `distance` iterations later, waits for `source`.

    `through` says by what: "register", or the name of a memory; `assumed` if nothing shows that it is so,
    but the vendor's compiler cannot rule it out either. `cycles` from the start of the source to that of
    the target; None: the source's result is needed, and `late` says how many cycles behind the one in which
    it is there the target may start: 0 where a register is read in the cycle in which it is written.
    `begins`: the target is what an iteration begins with, and cannot start later. `is_port`: the source is an
    answer that an AXI port gives.
    """

    source: int
    target: int
    distance: int
    through: str
    assumed: bool = False
    cycles: int | None = None
    late: int = 1
    begins: bool = False
    is_port: bool = False


@dataclass(slots=True, eq=False)
class Region:
    """The operations of an iteration, in an order in which each stands behind those it waits for."""

    function: str
    loop: Loop | None
    nodes: list[Node]
    carried: list[Carried]
    rolled: list[Loop]
    """Inner loops that were not unrolled: their operations are not part of it."""
    calls: set[str]
    """Functions that it calls and that nothing is known of."""
    blocks: list[str]
    successors: dict[str, list[str]]
    accesses: dict[Memory, list[Access]] = field(default_factory=dict)
    streams: dict[str, list[Access]] = field(default_factory=dict)
    """By the stream or port and the kind of operation, as `in+0.fifo_read`."""
    counting: set[int] = field(default_factory=set)
    """Nodes that count over the nest that became one loop with this."""
    chosen: set[int] = field(default_factory=set)
    """Those of them that give the counters' values, which later cycles may read."""
    neighbours: set[str] = field(default_factory=set)
    """AXI ports with words side by side that the tool may take for a wide one, and is not taken to."""
    names: set[str] = field(default_factory=set)
    """Every value that an iteration computes anew."""
    library: dict[int, str] = field(default_factory=dict)
    """Functions of the vendor's library by their nodes: they take a value each cycle, after some cycles of
    which nothing is known."""


def drop_unread(region: Region, names: Collection[str]) -> None:
    """Take from nodes the operations of values that nothing reads here.

    names: the values that only addresses are made of: what these take is that of the accesses.
    """
    readers = Tally(index for node in region.nodes for index in node.after)
    readers.update(index for node in region.nodes for index, _ in node.behind)
    readers.update(index for edge in region.carried for index in (edge.source, edge.target))
    for node in reversed(region.nodes):
        name = node.instruction.name if node.instruction is not None else ""
        if name in names and node.access is None and not readers[node.index]:
            readers.subtract(node.after)
            node.operation, node.after = None, []


def readers_of(nodes: Sequence[Node], index: int) -> list[int]:
    """The nodes that take a node's value, through wires."""
    found: list[int] = []
    waiting = [index]
    for node in nodes[index + 1 :]:
        if any(one in waiting for one in node.after):
            (waiting if node.operation is None else found).append(node.index)
    return found
