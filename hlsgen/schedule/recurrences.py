"""Which operations of an iteration wait for what they did some iterations before, and which for nothing."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from hlsgen.schedule.iteration import Carried, Region
from hlsgen.schedule.operation import DIVISIONS

_STAY = frozenset(["phi", "register_read", "register_write"])


def waiting_for_themselves(region: Region, carried: Iterable[Carried]) -> set[int]:
    """The nodes that wait for themselves, by way of those edges between iterations."""
    edges = [(one, node.index) for node in region.nodes for one in node.after]
    edges += [(one, node.index) for node in region.nodes for one, _ in node.behind]
    edges += [(one.source, one.target) for one in carried]
    own = {first for first, second in edges if first == second}
    size = len(region.nodes)
    if not edges:
        return set()
    first, second = np.array(edges).T
    graph = sparse.coo_array((np.ones(len(edges), np.int8), (first, second)), shape=(size, size))
    _, which = csgraph.connected_components(graph, connection="strong")
    several = np.bincount(which)[which] > 1
    return own | set(np.nonzero(several)[0].tolist())


def known_before(region: Region) -> set[int]:
    """The nodes whose values no iteration changes: the tool computes them before the loop (LLVM's LICM).

    So are what registers hold that no iteration writes, as members of a struct: LLVM sees that only once it
    is taken apart. Divisions stay where they are, as they may stand under a condition, but for those of the
    block that the loop begins with, as a bound n / m of its counter (shinepsunny/SpectralBlaze, 2022.2: a
    depth of 4).
    """
    found: set[int] = set()
    carried = {edge.target for edge in region.carried}
    unwritten_registers = {
        access.node
        for memory, accesses in region.accesses.items()
        if memory.storage == "register" and not any(one.writes for one in accesses)
        for access in accesses
    }
    first = region.blocks[0] if region.blocks else ""
    for node in region.nodes:
        operation = node.operation
        divides = operation is not None and operation.kind in DIVISIONS
        stays = operation is not None and operation.kind in _STAY or (divides and node.block != first)
        stays = (stays or node.access is not None) and node.index not in unwritten_registers
        unwritten = node.instruction is None or node.index in region.counting
        varies = stays or unwritten or node.index in carried
        if not varies and not node.behind and found.issuperset(node.after):
            found.add(node.index)
    return found
