"""A choice of options as the kernel that they make, with converters and FIFOs, and what each layer owes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import layer_resources, total_resources
from hlsgen.designfile.constraints import InterfaceConstraints
from hlsgen.explore.options import Option, Vector, vector
from hlsgen.hardware.pipeline import Pipeline, pipeline_of
from hlsgen.hardware.ports import interfaces_of
from hlsgen.model.ir import Graph
from hlsgen.search.streaming import check_blocks
from hlsgen.targets.board import Board
from hlsgen.timing.fifos import fifo_depths, run_unbounded


@dataclass(frozen=True, kw_only=True, eq=False)
class Kernel:
    """One instance, exact within the cost model."""

    pipeline: Pipeline
    options: Mapping[str, Option]
    board: Board

    @cached_property
    def resources(self) -> Resources:
        return total_resources(self.pipeline, self.board)

    @property
    def interval(self) -> int:
        return self.pipeline.interval

    @cached_property
    def latency_cycles(self) -> int:
        return run_unbounded(self.pipeline, 1).latency_cycles

    @property
    def ddr_bytes(self) -> int:
        """Bytes that a frame moves through DDR."""
        return sum(option.ddr_bytes for option in self.options.values())

    @cached_property
    def by_layer(self) -> dict[str, Vector]:
        """What each layer takes, with what joins it to its readers."""
        return charged(self.pipeline, self.board)

    @cached_property
    def adapters(self) -> dict[str, Vector]:
        """What each layer takes beyond its option, by its name: converters and deep FIFOs."""
        return {name: amount - vector(self.options[name].resources) for name, amount in self.by_layer.items()}


def kernel_of(
    graph: Graph,
    options: Mapping[str, Option],
    board: Board,
    interface: InterfaceConstraints,
    slrs: Sequence[int] | None = None,
) -> Kernel:
    """The kernel with FIFOs as deep as they must be. Raises NoFit: they take too long to compute.

    slrs: of each layer, in the graph's order, the number of its SLR; None: all lie in one.
    """
    folds = {name: one.fold for name, one in options.items()}
    places = {name: one.place for name, one in options.items() if one.place is not None}
    pipeline = pipeline_of(graph, folds, places, interfaces=interfaces_of(board, interface))
    check_blocks(pipeline)
    if slrs is not None:
        pipeline = pipeline.across({layer.name: slr for layer, slr in zip(graph.layers, slrs, strict=True)})
    pipeline = pipeline.with_depths(fifo_depths(pipeline))
    return Kernel(pipeline=pipeline, options=dict(options), board=board)


def charged(pipeline: Pipeline, board: Board) -> dict[str, Vector]:
    """All that each layer takes, as `layer_resources` says."""
    return {name: vector(taken) for name, taken in layer_resources(pipeline, board).items()}
