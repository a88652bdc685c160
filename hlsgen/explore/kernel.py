"""A choice of options as the kernel that they make, with converters and FIFOs, and what each layer owes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import (
    fifo_resources,
    process_resources,
    total_resources,
    weight_port_resources,
)
from hlsgen.designfile.constraints import InterfaceConstraints
from hlsgen.explore.options import Option, Vector, first_readers, vector
from hlsgen.hardware.pipeline import Pipeline, pipeline_of
from hlsgen.hardware.ports import interfaces_of
from hlsgen.model.ir import Graph
from hlsgen.search.board_limits import KINDS
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
    graph: Graph, options: Mapping[str, Option], board: Board, interface: InterfaceConstraints
) -> Kernel:
    """The kernel with FIFOs as deep as they must be. Raises NoFit: they take too long to compute."""
    folds = {name: one.fold for name, one in options.items()}
    places = {name: one.place for name, one in options.items() if one.place is not None}
    pipeline = pipeline_of(graph, folds, places, interfaces=interfaces_of(board, interface))
    check_blocks(pipeline)
    pipeline = pipeline.with_depths(fifo_depths(pipeline))
    return Kernel(pipeline=pipeline, options=dict(options), board=board)


def charged(pipeline: Pipeline, board: Board) -> dict[str, Vector]:
    """All that each layer takes: a process or FIFO counts for the layer whose words it carries."""
    graph = pipeline.graph
    first = first_readers(graph)
    # an input that no layer reads goes straight to an output
    fallback = (graph.layers[0].name, 0)
    readers = {one.name: first.get(one.argument, fallback)[0] for one in pipeline.dma_reads}
    total = {layer.name: np.zeros(len(KINDS), np.int64) for layer in graph.layers}
    owner: dict[str, str] = {}  # of streams
    for process in pipeline.processes:
        name = process.layer or readers.get(process.name) or owner[process.reads[0]]
        total[name] += vector(process_resources(process, board))
        for stream in process.writes:
            owner[stream] = name
    for stream, name in owner.items():
        total[name] += vector(fifo_resources(pipeline.streams[stream], board))
    if pipeline.loaders:
        total[pipeline.loaders[0].name] += vector(weight_port_resources(pipeline, board))
    return total
