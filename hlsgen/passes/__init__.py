"""Graph -> Graph, one file each; they run in this order, and `verify` after each of them.

FLOAT_PASSES on a network in floating point, then choose_types, then FIXED_PASSES on what has types: see
search_types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hlsgen.base.errors import DesignError
from hlsgen.model.ir import Graph, verify
from hlsgen.passes.fold_affine import fold_affine
from hlsgen.passes.fuse_cast import fuse_cast
from hlsgen.passes.fuse_clamp import fuse_clamp
from hlsgen.passes.size_accumulators import size_accumulators
from hlsgen.passes.skip_flatten import skip_flatten

Pass = Callable[[Graph], Graph]

FLOAT_PASSES: tuple[Pass, ...] = (fold_affine, fuse_clamp, skip_flatten)
FIXED_PASSES: tuple[Pass, ...] = (fuse_clamp, fuse_cast, size_accumulators, skip_flatten)


def run_passes(graph: Graph, passes: Iterable[Pass] = FIXED_PASSES) -> Graph:
    """`graph` after `passes`. Raises DesignError with the rules it breaks."""
    _check(graph)
    for one in passes:
        graph = one(graph)
        _check(graph)
    return graph


def _check(graph: Graph) -> None:
    problems = verify(graph)
    if problems:
        raise DesignError(problems)
