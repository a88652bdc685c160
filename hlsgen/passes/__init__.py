"""Graph -> graph, one file each; they run in this order, and `verify` after each of them.

    BUILT_PASSES                      what a frontend has built
    integer_graph, INTEGER_PASSES     floating point with quantisers in between: a quantised ONNX model
    FLOAT_PASSES, even_signs, then choose_types   floating point without: see quantising/search_types.py
    FIXED_PASSES                      whatever has types, by whichever way
    override_types                    the user's types in a network that brings its own

`integer_graph` takes, besides the graph, what only the frontend knows; quantisers, scaled and requantise are
parts of it. `rewriting` is what passes share that join two layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hlsgen.base.errors import DesignError
from hlsgen.model.ir import Graph, verify
from hlsgen.passes.drop_unread import drop_unread
from hlsgen.passes.fold_affine import fold_affine
from hlsgen.passes.fuse_cast import fuse_cast
from hlsgen.passes.fuse_clamp import fuse_clamp
from hlsgen.passes.reorder_inputs import reorder_inputs
from hlsgen.passes.round_once import round_once
from hlsgen.passes.size_accumulators import size_accumulators
from hlsgen.passes.skip_flatten import skip_flatten

Pass = Callable[[Graph], Graph]

BUILT_PASSES: tuple[Pass, ...] = (drop_unread, reorder_inputs)
INTEGER_PASSES: tuple[Pass, ...] = (fuse_clamp, fuse_cast, round_once)
FLOAT_PASSES: tuple[Pass, ...] = (fold_affine, fuse_clamp, skip_flatten)
FIXED_PASSES: tuple[Pass, ...] = (fuse_clamp, fuse_cast, size_accumulators, skip_flatten)


def run_passes(graph: Graph, passes: Iterable[Pass] = FIXED_PASSES) -> Graph:
    """The graph after `passes`. Raises DesignError with the rules it breaks."""
    _check(graph)
    for one in passes:
        graph = one(graph)
        _check(graph)
    return graph


def _check(graph: Graph) -> None:
    problems = verify(graph)
    if problems:
        raise DesignError(problems)
