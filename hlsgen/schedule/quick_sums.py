"""Floating-point adders in recurrences: the tool takes one of logic alone, of fewer cycles, where it helps.

In public reports of 2023.2 (xcu280, 3.33 ns) 81 pipelines whose only adder sums up what the iteration before
has left have one without DSPs, of 4 cycles, and II 4; where no recurrence holds it the same source has adders
with DSPs, of 6 cycles. A pipeline of 2022.2 has the quick one where II 4 is asked for, and II 7 where 1 is.
Pipelines that nobody asked for keep the usual adder (polybench in UCLA-VAST/Stream-HLS: 7 and 8).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from hlsgen.schedule.delays import Delays
from hlsgen.schedule.iteration import Region
from hlsgen.schedule.operation import Timing


def with_quick_sums(
    region: Region, timings: Sequence[Timing | None], delays: Delays
) -> list[Timing | None] | None:
    """The timings with quick adders in recurrences; None where there is none that could be quicker."""
    sums = {
        node.index: quick
        for node in region.nodes
        if node.operation is not None
        and timings[node.index] is not None
        and (quick := delays.quick_sum(node.operation)) is not None
    }
    if not sums:
        return None
    held = sums.keys() & _in_recurrences(region)
    return [sums[at] if at in held else timing for at, timing in enumerate(timings)] if held else None


def _in_recurrences(region: Region) -> set[int]:
    """The nodes that wait for themselves, some iterations before."""
    edges = [(one, node.index) for node in region.nodes for one in node.after]
    edges += [(one, node.index) for node in region.nodes for one, _ in node.behind]
    edges += [(one.source, one.target) for one in region.carried]
    own = {first for first, second in edges if first == second}
    size = len(region.nodes)
    if not edges:
        return set()
    first, second = np.array(edges).T
    graph = sparse.coo_array((np.ones(len(edges), np.int8), (first, second)), shape=(size, size))
    _, which = csgraph.connected_components(graph, connection="strong")
    several = np.bincount(which)[which] > 1
    return own | set(np.nonzero(several)[0].tolist())
