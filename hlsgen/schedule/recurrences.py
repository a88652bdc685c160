"""Which operations of an iteration wait for what they did some iterations before."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from hlsgen.schedule.iteration import Carried, Region


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
