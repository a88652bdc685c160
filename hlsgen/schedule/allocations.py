"""`allocation` pragmas: no more cores of an operation, or instances of a function, than that, so that a
pipeline waits for them. A function of which there may be so many stays one: it is not inlined."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.ir import Module, Place
from hlsgen.schedule.iteration import Region
from hlsgen.schedule.operation import moves_bits
from hlsgen.schedule.sites import Sites
from hlsgen.schedule.source_functions import calls_of

_KINDS = {"fexp": "exp", "dexp": "exp", "flog": "log", "dlog": "log", "fsqrt": "sqrt", "dsqrt": "sqrt"} | {
    f"{precision}{kind}": f"f{kind}" for precision in "hd" for kind in ("add", "sub", "mul", "div")
}
"""Names of operations in pragmas, where they are not those of operations here."""


@dataclass(frozen=True, kw_only=True)
class LimitedUse:
    """How often an iteration has what a pragma limits."""

    what: str
    count: int
    limit: int

    @property
    def interval(self) -> int:
        """The least II that it allows."""
        return -(-self.count // self.limit)


def limited_uses(region: Region, sites: Sites, module: Module) -> Iterator[LimitedUse]:
    """Of each operation and function that a pragma within the region's loop, or one around it, limits; of a
    function that is pipelined as a whole those of its own.
    """
    operations, functions = _limits(region, sites, module)
    for kind, limit in operations.items():
        written = (node.operation for node in region.nodes if node.instruction is not None)
        count = sum(one is not None and one.kind == kind for one in written)
        yield LimitedUse(what=f"operations {kind}", count=count, limit=limit)
    for name, limit in functions.items():
        yield LimitedUse(what=f"calls of {name}", count=_calls(name, region, module), limit=limit)


def has_cores_of_its_own(kind: str, region: Region, sites: Sites, module: Module) -> bool:
    """Whether a pragma counts the cores of an operation, which then is no part of another's.

    Of 4,719 products in the reports of three networks from hls4ml, whose functions all have such a pragma,
    none is merged with the sum that reads it.
    """
    return kind in _limits(region, sites, module)[0]


def _limits(region: Region, sites: Sites, module: Module) -> tuple[Mapping[str, int], Mapping[str, int]]:
    operations: dict[str, int] = {}
    functions: dict[str, int] = {}
    nodes = list(_names(region.loop, module))
    around = set() if region.loop is None else _functions_around(region.loop, module)
    for site in sites.plain:
        limit = site.values.get("limit", 0)
        of_whole = region.loop is None and site.loop < 0 and site.function == region.function
        if site.pragma.name != "allocation" or limit <= 0 or not (site.loop in nodes or of_whole):
            continue
        if site.loop in nodes[1:] and site.callee and site.callee not in around:
            continue  # of a function that a loop around calls beside this one
        of_function = "function" in (*site.pragma.words, site.pragma.texts.get("type", ""))
        for name in site.pragma.texts.get("instances", "").split(","):
            name = name.strip()
            found = functions if of_function else operations
            name = name if of_function else _KINDS.get(name.lower(), name.lower())
            found[name] = min(limit, found.get(name, limit))
    return operations, functions


def _functions_around(loop: Loop, module: Module) -> set[str]:
    """The functions of the source that a loop stands in, with those that call them."""
    return {place.function for place in calls_of(module.loop_places.get(loop.node))}


def _calls(name: str, region: Region, module: Module) -> int:
    """How often an iteration calls a function: of each call that was inlined, how many copies unrolling made
    of most of its operations."""
    copies: dict[Place, Tally[tuple[int, str]]] = {}
    for node in region.nodes:
        one = node.instruction
        if one is None or node.operation is None or moves_bits(node.operation):
            continue
        for place in calls_of(module.places.get(one.place)):
            if place.function == name and place.inlined_at is not None:
                copies.setdefault(place.inlined_at, Tally())[one.place, one.opcode] += 1
                break
    return sum(Tally(tally.values()).most_common(1)[0][0] for tally in copies.values())


def _names(loop: Loop | None, module: Module) -> Iterator[int]:
    """The nodes that a loop, and those around it, had before unrolling, as far as they had any."""
    while loop is not None:
        if loop.node in module.loop_names:
            yield module.loop_names[loop.node]
        loop = loop.parent
