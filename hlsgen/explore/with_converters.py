"""The exact choice with converters: where two layers' words differ, what stands between them counts too.

Beside x[layer, option] there is a variable for each stream and each pair of formats, one that its writer can
give and one that its reader can take. Of a stream the variables of a format sum up to whether an option with
that format is chosen, on both sides; so for whole x they are whole too, and only x must be whole. Deep FIFOs
are all that is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import LinearConstraint

from hlsgen.cost.stages import process_resources
from hlsgen.explore.knapsack import NOTHING, Solution
from hlsgen.explore.options import (
    Format,
    LayerOptions,
    Option,
    Vector,
    least_fifo,
    non_dominated,
    vector,
)
from hlsgen.explore.solver import full, solve
from hlsgen.hardware.pipeline import conversion, first_readers
from hlsgen.hardware.processes import WidthConverter
from hlsgen.layers.base import Tensor
from hlsgen.layers.stage import StreamFormat
from hlsgen.model.ir import Graph
from hlsgen.search.board_limits import KINDS
from hlsgen.targets.board import Board

MOST_NODES = 2_000
MOST_PAIRS = 40_000
"""Pairs of formats, all streams together: of more the converters are not known beforehand."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """A stream between layers by their numbers. source_input: None: what the writer gives; else a DDR port's
    words, which are those of that input of its first reader.
    """

    tensor: Tensor
    writer: int
    source_input: int | None
    reader: int
    reader_input: int

    def before(self, option: Option) -> Format:
        return option.gives if self.source_input is None else option.takes[self.source_input]

    def after(self, option: Option) -> Format:
        return option.takes[self.reader_input]


class Adapters:
    """The converters of a graph on a board."""

    def __init__(self, graph: Graph, board: Board) -> None:
        self.board = board
        self.graph = graph
        self._known: dict[tuple[Tensor, Format, Format], tuple[Vector, int]] = {}

    @cached_property
    def links(self) -> list[Link]:
        number = {layer.name: index for index, layer in enumerate(self.graph.layers)}
        first = first_readers(self.graph)
        found = []
        for reader, layer in enumerate(self.graph.layers):
            for index, (source, tensor) in enumerate(zip(layer.inputs, layer.sources, strict=True)):
                if source in number:
                    writer, port = number[source], None
                else:
                    name, port = first[source]
                    writer = number[name]
                    if (writer, port) == (reader, index):
                        continue
                found.append(
                    Link(tensor=tensor, writer=writer, source_input=port, reader=reader, reader_input=index)
                )
        return found

    def converter(self, tensor: Tensor, before: Format, after: Format) -> tuple[Vector, int]:
        """What stands between the formats, with its FIFOs at their least; and its interval in cycles."""
        key = (tensor, before, after)
        if key not in self._known:
            have = StreamFormat(tensor=tensor, px=before[0], channels=before[1])
            want = StreamFormat(tensor=tensor, px=after[0], channels=after[1])
            total, interval = np.zeros(len(KINDS), np.int64), 0
            for words in conversion(have, want):
                process = WidthConverter(name="", reads=(), writes=(), before=have, after=words)
                total += vector(process_resources(process, self.board)) + vector(
                    least_fifo(words, self.board)
                )
                interval = max(interval, process.interval)
                have = words
            self._known[key] = (total, interval)
        return self._known[key]

    def of(self, options: Sequence[Option]) -> Vector:
        """All converters of a choice."""
        total = np.zeros(len(KINDS), np.int64)
        for link in self.links:
            writer, reader = options[link.writer], options[link.reader]
            total += self.converter(link.tensor, link.before(writer), link.after(reader))[0]
        return total


def cheapest_joined(
    layers: Sequence[LayerOptions],
    most: int,
    capacity: Vector,
    prices: NDArray[np.float64],
    adapters: Adapters,
) -> Solution | None:
    """The cheapest choice of interval `most` or shorter, converters counted; None: too many formats."""
    problem = _Joined(layers, most, capacity, adapters)
    if problem.impossible:
        return NOTHING
    if problem.pairs > MOST_PAIRS:
        return None
    return problem.solve(prices)


class _Joined:
    """The rows and columns of the model."""

    def __init__(
        self, layers: Sequence[LayerOptions], most: int, capacity: Vector, adapters: Adapters
    ) -> None:
        self.capacity, self.most, self.adapters = capacity, most, adapters
        self.kept = [self._worth_looking_at(one) for one in layers]
        self.impossible = bool((capacity < 0).any()) or not all(self.kept)
        self.options = [
            [one.every[index] for index in keep] for one, keep in zip(layers, self.kept, strict=True)
        ]
        self.formats = [
            (
                sorted({link.before(one) for one in self.options[link.writer]}),
                sorted({link.after(one) for one in self.options[link.reader]}),
            )
            for link in adapters.links
        ]
        self.pairs = sum(len(before) * len(after) for before, after in self.formats)

    def _worth_looking_at(self, layer: LayerOptions) -> list[int]:
        """The options that none with the same formats beats in resources, and that can fit."""
        groups: dict[tuple[Format, tuple[Format, ...]], list[int]] = {}
        costs = layer.every_cost
        fits = np.all(costs <= self.capacity, axis=1)
        for index, one in enumerate(layer.every):
            if one.interval <= self.most and fits[index]:
                groups.setdefault((one.gives, one.takes), []).append(index)
        return sorted(group[at] for group in groups.values() for at in non_dominated(costs[np.array(group)]))

    def solve(self, prices: NDArray[np.float64]) -> Solution:
        amounts = np.array([vector(one.resources) for found in self.options for one in found])
        pairs, slow = self._pairs()
        every = np.concatenate([amounts, pairs])
        upper = np.concatenate([np.ones(len(amounts)), np.where(slow, 0.0, 1.0)])
        upper[(every[:, self.capacity == 0] > 0).any(axis=1)] = 0
        price = every @ prices
        scale = max(float(price.max()), 1e-12)
        result = solve(
            price / scale,
            whole=np.concatenate([np.ones(len(amounts)), np.zeros(len(pairs))]),
            upper=upper,
            constraints=self._constraints(every),
            nodes=MOST_NODES,
        )
        if result.x is None:
            proven = result.status == 2
            return Solution(picks=None, objective=np.inf, bound=np.inf if proven else -np.inf, proven=proven)
        picks = tuple(
            keep[int(np.argmax(result.x[begin : begin + len(keep)]))]
            for keep, begin in zip(self.kept, self.begins, strict=True)
        )
        objective = float(result.fun) * scale
        bound = min(objective, float(result.mip_dual_bound) * scale)
        return Solution(picks=picks, objective=objective, bound=bound, proven=result.status == 0)

    @cached_property
    def begins(self) -> list[int]:
        """The number of each layer's first variable, by the layer's name."""
        ends = np.cumsum([len(found) for found in self.options])
        return [0, *(int(end) for end in ends[:-1])]

    def _pairs(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The converters of every pair of formats, stream by stream, and whether they are too slow."""
        found = [
            self.adapters.converter(link.tensor, have, want)
            for link, (before, after) in zip(self.adapters.links, self.formats, strict=True)
            for have, want in product(before, after)
        ]
        costs = np.array([cost for cost, _ in found], np.int64).reshape(-1, len(KINDS))
        return costs, np.array([interval > self.most for _, interval in found], np.bool_)

    def _constraints(self, every: NDArray[np.int64]) -> list[LinearConstraint]:
        width, count = len(every), sum(len(found) for found in self.options)
        owner = np.repeat(np.arange(len(self.options)), [len(found) for found in self.options])
        one_each = sparse.csr_array((np.ones(count), (owner, np.arange(count))), (len(self.options), width))
        kinds = np.flatnonzero(self.capacity > 0)
        shares = sparse.csr_array((every[:, kinds] / self.capacity[kinds]).T)
        found = [
            LinearConstraint(one_each, 1, 1),
            LinearConstraint(shares, -np.inf, full(self.capacity[kinds])),
        ]
        if self.adapters.links:
            found.append(LinearConstraint(self._sums(count, width), 0, 0))
        return found

    def _sums(self, first: int, width: int) -> sparse.csr_array:
        """A row for each format of each side of each stream: its pairs less the options that have it."""
        rows: list[int] = []
        columns: list[int] = []
        signs: list[float] = []
        line = 0
        for link, (before, after) in zip(self.adapters.links, self.formats, strict=True):
            pairs = np.arange(first, first + len(before) * len(after)).reshape(len(before), len(after))
            first += pairs.size
            writers = [before.index(link.before(one)) for one in self.options[link.writer]]
            readers = [after.index(link.after(one)) for one in self.options[link.reader]]
            for layer, members, table in ((link.writer, writers, pairs), (link.reader, readers, pairs.T)):
                for number, here in enumerate(table):
                    rows += [line + number] * len(here)
                    columns += here.tolist()
                    signs += [1.0] * len(here)
                rows += [line + number for number in members]
                columns += range(self.begins[layer], self.begins[layer] + len(members))
                signs += [-1.0] * len(members)
                line += len(table)
        return sparse.csr_array((signs, (rows, columns)), (line, width))
