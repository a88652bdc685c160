"""Graph -> Graph, one file each. They run in this order, and `verify` after each of them."""

from __future__ import annotations

from collections.abc import Callable

from hlsgen.errors import DesignError
from hlsgen.ir import Graph, verify
from hlsgen.passes.size_accumulators import size_accumulators

PASSES: tuple[Callable[[Graph], Graph], ...] = (size_accumulators,)


def run_passes(graph: Graph) -> Graph:
    """`graph` after all passes. Raises DesignError with the rules it breaks."""
    _check(graph)
    for one in PASSES:
        graph = one(graph)
        _check(graph)
    return graph


def _check(graph: Graph) -> None:
    problems = verify(graph)
    if problems:
        raise DesignError(problems)
