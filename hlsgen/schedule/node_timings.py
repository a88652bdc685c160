"""How long the nodes of a region take, with those merged that the tool builds as one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from hlsgen.schedule import groups as grouping
from hlsgen.schedule.allocations import has_cores_of_its_own
from hlsgen.schedule.delays import Delays
from hlsgen.schedule.groups import SUMS, Graph, Merges, charged, merges_of
from hlsgen.schedule.ir import Module
from hlsgen.schedule.iteration import Node, Region
from hlsgen.schedule.modulo import Scheduler
from hlsgen.schedule.operation import Operation, Timing
from hlsgen.schedule.recurrences import known_before
from hlsgen.schedule.sites import Sites


@dataclass(frozen=True)
class NodeTimings:
    """each: the timing of each node, None of what takes no time. graph, merges: what the tool merges."""

    each: list[Timing | None]
    graph: Graph
    merges: Merges


def node_timings(region: Region, delays: Delays, sites: Sites, module: Module) -> NodeTimings:
    """The timings of a region's nodes. Operations of which nothing is known become calls of it."""
    known: dict[Operation, Timing] = {}

    def timing(operation: Operation) -> Timing:
        if operation not in known:
            known[operation] = delays.timing(operation)
        return known[operation]

    _leave_unknown(region, timing)
    nodes = region.nodes
    alone = [None if node.operation is None else timing(node.operation) for node in nodes]
    starts = Scheduler(region, alone, delays.budget_ns).once().starts
    graph = Graph(
        nodes=[
            grouping.Node(operation=node.operation, operands=tuple(node.after), outside=_outside(node))
            for node in nodes
        ]
    )

    def together(first: int, second: int) -> bool:
        if starts[first][0] != starts[second][0]:
            return False
        one, other = nodes[first].operation, nodes[second].operation
        if one is None or other is None or one.kind not in SUMS or other.kind not in SUMS:
            return True
        return one.result == other.result  # an extension in between keeps sums apart

    alone_products = has_cores_of_its_own("mul", region, sites, module)
    merges = merges_of(graph, delays, together, products_alone=alone_products)
    merged = charged(graph, delays, merges)
    before = known_before(region) if region.loop is not None else set()
    each = [
        None if node.operation is None or node.index in before else one
        for node, one in zip(nodes, merged, strict=True)
    ]
    return NodeTimings(each, graph, merges)


def _leave_unknown(region: Region, timing: Callable[[Operation], Timing]) -> None:
    for node in region.nodes:
        if node.operation is None:
            continue
        found = False
        with suppress(KeyError):
            found = bool(timing(node.operation))
        if not found:
            region.calls.add(node.operation.kind)
            node.operation = None


def _outside(node: Node) -> int:
    """Words that a node reads and that no node of the region makes."""
    if node.operation is None:
        return 0
    return max(0, len(node.operation.widths) - node.operation.constants - len(node.after))
