"""What each layer of a streaming kernel costs by the widths of its source and its weights.

The cheapest folding that is no slower than the interval, by the cost model's options of `hlsgen explore`: a
layer at a time, so that converters and deep FIFOs come on top.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.progress import Progress
from hlsgen.cost.resources import Resources
from hlsgen.explore.options import LayerOptions, all_options, vector
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.search.board_limits import KINDS, whole_of
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.targets.board import Board
from hlsgen.widths.tensors import WIDEST, Typing, Variable, source_of

Prices = NDArray[np.float64]
"""The price of one of each of KINDS."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LayerCost:
    """The price of a layer as [widths of `data`, widths of `weights`]; each may be None: one width alone."""

    name: str
    data: Variable | None
    weights: Variable | None
    prices: NDArray[np.float64]


def prices_of(board: Board, least: str) -> Prices:
    """The price of each kind: its share of what is free on the board, of all kinds or of one alone."""
    free = np.maximum(vector(whole_of(board)), 1)
    shares = 1 / free
    return shares if least == "all" else np.where([kind == least for kind in KINDS], shares, 0.0)


def price(resources: Resources, prices: Prices) -> float:
    return float(vector(resources) @ prices)


def layer_costs(
    style: StreamingNetwork,
    typing: Typing,
    known: Sequence[Variable],
    widths: Sequence[int],
    interval: int,
    prices: Prices,
    progress: Progress,
) -> list[LayerCost]:
    """The costs of every layer with a frame every `interval` cycles, for each two of `widths`.

    Raises NoFit: a layer that no folding of fits the board.
    """
    constraints = replace(style.constraints, instances=1, target_interval=None)
    table: dict[str, NDArray[np.float64]] = {}
    graph = typing.graph(typing.uniform(WIDEST, WIDEST))
    for row, data in enumerate(widths):
        for column, weights in enumerate(widths):
            progress("pricing every layer by its widths", row * len(widths) + column, len(widths) ** 2)
            graph = typing.graph(typing.uniform(data, weights))
            for name, options in all_options(graph, style.board, constraints, interval).items():
                cells = table.setdefault(name, np.zeros((len(widths), len(widths))))
                cells[row, column] = _cheapest(options, interval, prices)
    return [_reduced(graph, layer.name, known, table[layer.name]) for layer in graph.layers]


def _cheapest(options: LayerOptions, interval: int, prices: Prices) -> float:
    """The least price that is fast enough, or that of the fastest."""
    most = max(interval, int(options.intervals.min()))
    return float((options.costs[options.intervals <= most] @ prices).min())


def _reduced(graph: Graph, name: str, known: Collection[Variable], cells: NDArray[np.float64]) -> LayerCost:
    """The table with the axes of what is free alone."""
    layer = next(one for one in graph.layers if one.name == name)
    data = source_of(graph, layer.inputs[0], known)
    own = Variable(name, "output")
    if data is None and own in known:
        data = own
    weights = Variable(name, "weights") if isinstance(layer, Conv2d) else None
    weights = weights if weights in known else None
    if data is None:
        cells = cells[-1:]
    if weights is None:
        cells = cells[:, -1:]
    return LayerCost(name=name, data=data, weights=weights, prices=cells)
