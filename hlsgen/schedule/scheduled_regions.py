"""What a function is made of in hardware: pipelines, and what runs one state after the other around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from hlsgen.schedule.groups import Graph, Merges
from hlsgen.schedule.ir import Function, Local, Module, Place
from hlsgen.schedule.iteration import Region
from hlsgen.schedule.languages import INCLUDE
from hlsgen.schedule.memories import Memories
from hlsgen.schedule.modulo import Schedule
from hlsgen.schedule.nests import FlatNests
from hlsgen.schedule.operation import Operation
from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.sites import Sites

if TYPE_CHECKING:
    from hlsgen.schedule.region import RegionBuilder

STATEMENT_LINES = 2
"""Lines above a `bind_op` in which the statement of its variable stands."""
_NUMBERS = frozenset(path.name for path in INCLUDE.glob("ap_*.h"))
"""Headers of number types: an operation of theirs stands where their operator does."""
_THROUGH = frozenset({"sext", "zext", "trunc", "add", "sub", "mul", "shl", "or", "freeze"})


@dataclass(frozen=True, kw_only=True)
class ScheduledRegion:
    """The operations of one region: an iteration of a pipeline, or of a loop that is none, without the loops
    within; or a function without its loops.
    """

    region: Region
    graph: Graph
    """The region's nodes, with their operations."""
    merges: Merges
    schedule: Schedule
    pipelined: bool
    """Whether iterations overlap, at the schedule's interval; if not, it is one state for each cycle."""
    place: Place | None
    unread: frozenset[int] = frozenset()
    """Nodes that nothing reads but addresses."""
    begun_with: frozenset[str] = frozenset()
    """Values that static variables begin with: their memories and registers have them from the start."""
    in_fabric: frozenset[int] = frozenset()
    """Nodes that a pragma keeps out of DSPs."""

    def operation(self, index: int) -> Operation | None:
        """The operation of a node, a product at the widths before extensions; None: wires."""
        return None if self.region.nodes[index].operation is None else self.graph.operation(index)


@dataclass(frozen=True, kw_only=True)
class FunctionRegions:
    """A function that is left when all that can be is inlined, with its memories."""

    function: Function
    module: Module
    memories: Memories
    sites: Sites
    nests: FlatNests
    parts: tuple[ScheduledRegion, ...]
    escaping: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """By the number of a part: values that another part reads."""
    counters: frozenset[str] = frozenset()
    """Registers that a constant is added to in each iteration of their loops."""


def function_regions(
    builder: RegionBuilder, module: Module, sites: Sites, parts: Sequence[ScheduledRegion]
) -> FunctionRegions:
    """The parts with what each leaves to others."""
    function = builder.function
    home = {name: at for at, part in enumerate(parts) for name in part.region.names}
    blocks = {block: at for at, part in enumerate(parts) for block in part.region.blocks}
    only = builder.address_parts
    # the localised variables' own loads have no place in the source
    begun_with = frozenset(
        one.name for _, one in function.instructions() if one.opcode == "load" and one.place < 0
    )
    bound = [
        one.pragma
        for one in sites.variables
        if one.pragma.name == "bind_op" and one.pragma.texts.get("impl", "").lower() == "fabric"
    ]
    escaping: dict[int, set[str]] = {}
    for block, one in function.instructions():
        reader = blocks.get(block.name, -1)
        for operand in one.operands:
            if isinstance(operand, Local) and home.get(operand.name, reader) != reader:
                escaping.setdefault(home[operand.name], set()).add(operand.name)
    return FunctionRegions(
        function=function,
        module=module,
        memories=builder.memories,
        sites=sites,
        nests=builder.nests,
        parts=tuple(
            replace(
                part,
                unread=_unread(part, only),
                begun_with=begun_with,
                in_fabric=_in_fabric(part, module, bound),
            )
            for part in parts
        ),
        escaping={at: frozenset(names) for at, names in escaping.items()},
        counters=frozenset(builder.ranges.counters),
    )


def _unread(part: ScheduledRegion, only: frozenset[str]) -> frozenset[int]:
    """The nodes of values that only addresses are made of, and that stand for no address themselves."""
    found: set[int] = set()
    for node in reversed(part.region.nodes):
        name = node.instruction.name if node.instruction is not None else ""
        if name in only and found.issuperset(part.graph.readers[node.index]):
            found.add(node.index)
    return frozenset(found)


def address_only(function: Function) -> frozenset[str]:
    """The values that only addresses are made of: what they take is that of the addresses."""
    users: dict[str, list[tuple[str, str]]] = {}
    for _, one in function.instructions():
        for operand in one.operands:
            if isinstance(operand, Local):
                users.setdefault(operand.name, []).append((one.opcode, one.name))
    found: set[str] = set()
    order = [one for _, one in function.instructions() if one.name]
    changed = True
    while changed:
        changed = False
        for one in reversed(order):
            if one.name in found or one.opcode not in _THROUGH or one.name not in users:
                continue
            if all(
                opcode == "getelementptr" or (opcode in _THROUGH and name in found)
                for opcode, name in users[one.name]
            ):
                found.add(one.name)
                changed = True
    return frozenset(found)


def _in_fabric(part: ScheduledRegion, module: Module, bound: Sequence[Pragma]) -> frozenset[int]:
    """The nodes that those pragmas are about: operations of the statement above one."""
    lines = {
        (PurePath(one.file).name, one.line - above, one.texts.get("op", "").lower())
        for one in dict.fromkeys(bound)
        for above in range(1, STATEMENT_LINES + 1)
    }
    found = set()
    for node in part.region.nodes if lines else ():
        place = module.places.get(node.instruction.place) if node.instruction is not None else None
        while place is not None and PurePath(place.file).name in _NUMBERS:
            place = place.inlined_at
        if place is None or node.operation is None:
            continue
        if (PurePath(place.file).name, place.line, node.operation.kind) in lines:
            found.add(node.index)
    return frozenset(found)
