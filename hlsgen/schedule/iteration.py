"""One iteration of a pipelined loop, as data: its operations, and what waits for what."""

from __future__ import annotations

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
    """

    source: int
    target: int
    distance: int
    through: str
    assumed: bool = False
    cycles: int | None = None
    late: int = 1


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
    names: set[str] = field(default_factory=set)
    """Every value that an iteration computes anew."""
