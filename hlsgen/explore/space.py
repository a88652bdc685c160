"""What is searched: the options of all layers, the intervals that matter, and kernels made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hlsgen.designfile.constraints import NetworkConstraints
from hlsgen.explore.kernel import Kernel, kernel_of
from hlsgen.explore.knapsack import Costs, Solution, cheapest
from hlsgen.explore.options import LayerOptions, Option, Vector, all_options, vector, vector_of_board
from hlsgen.explore.over_slrs import in_slrs, spread, unpackable
from hlsgen.explore.slr_layouts import Layout, capacities, placed_in
from hlsgen.explore.with_converters import Adapters, cheapest_joined
from hlsgen.model.ir import Graph
from hlsgen.search.board_limits import KINDS
from hlsgen.search.placement import at_banks, ddr_bytes_per_s
from hlsgen.search.slr_cut import numbers_of
from hlsgen.targets.board import Board

ROUNDS = 4
"""Kernels that are made for an interval: after each the next choice allows for the adapters of the last."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """A kernel that fits, with its instances. slrs: of every layer if one instance lies over several."""

    kernel: Kernel
    instances: int
    by_slr: tuple[int, ...] | None
    slrs: tuple[int, ...] | None
    frames_per_s: float


@dataclass(eq=False)
class Space:
    """The search's problem, with what was learned so far.

    adapters: by layer what it took in the last kernel beyond its option. solved: knapsacks.
    """

    graph: Graph
    board: Board
    clock_mhz: float
    constraints: NetworkConstraints
    adapters: dict[str, Vector] = field(default_factory=dict)
    solved: int = 0
    built: int = 0

    @cached_property
    def options(self) -> dict[str, LayerOptions]:
        return all_options(self.graph, self.board, self.constraints)

    @cached_property
    def intervals(self) -> Vector:
        """The intervals of which some layer's options have one, from the shortest that all layers reach."""
        every = np.unique(np.concatenate([one.intervals for one in self.options.values()]))
        every = every[every >= self.shortest]
        # of those that keep to a fixed one the longest: what some layer then really has
        most = self.constraints.target_interval
        return every[every <= most][-1:] if most else every

    @cached_property
    def shortest(self) -> int:
        """The interval of the layer whose fastest option is slowest."""
        return max(int(one.intervals[0]) for one in self.options.values())

    @cached_property
    def prices(self) -> NDArray[np.float64]:
        """The price of each kind, a share of what is free on the board: a kernel costs a sum of shares."""
        total = vector_of_board(self.board)
        return np.where(total > 0, 1 / np.maximum(total, 1), 0.0)

    @cached_property
    def edges(self) -> list[tuple[int, int]]:
        """Pairs of layers, by number, of which the second reads the first."""
        number = {layer.name: index for index, layer in enumerate(self.graph.layers)}
        return [
            (number[source], index)
            for index, layer in enumerate(self.graph.layers)
            for source in layer.inputs
            if source in number
        ]

    def costs(self, index: int, adapters: dict[str, Vector] | None = None) -> list[Costs]:
        """The costs of the options that keep to interval number `index`, by layer."""
        most = self.intervals[index]
        found = []
        for name, one in self.options.items():
            count = int(np.searchsorted(one.intervals, most, side="right"))
            extra = adapters.get(name) if adapters else None
            found.append(one.costs[:count] if extra is None else one.costs[:count] + extra)
        return found

    def fits_relaxed(self, layout: Layout, index: int) -> float:
        """The least cost if options could be mixed; infinite if not even that fits."""
        self.solved += 1
        return cheapest(self.costs(index), layout.capacity, self.prices, relaxed=True).objective

    def least(self, layout: Layout, index: int) -> Solution:
        """The cheapest choice, converters and deep FIFOs not counted, all SLRs of a spanning one as one."""
        self.solved += 1
        return cheapest(self.costs(index), layout.capacity, self.prices)

    def may_pack(self, layout: Layout, index: int) -> bool:
        """False: no choice is one instance over several SLRs, each layer whole in one of them.

        Converters, relays and deep FIFOs only add to what is counted here.
        """
        if layout.by_slr is not None or self.constraints.slrs:
            return True
        self.solved += 1
        return not unpackable(self.costs(index), capacities(self.board), self.prices)

    def first_feasible(self, layout: Layout, floor: float = 0.0) -> int | None:
        """The number of the shortest interval that fits if options could be mixed; None if none does.

        floor: frames a second; intervals that give less are not looked at.
        """
        low, high = 0, len(self.intervals) - 1
        if floor:
            most = layout.count * self.clock_mhz * 1e6 / floor * (1 + 1e-9)
            high = int(np.searchsorted(self.intervals, most, side="right")) - 1
            if high < 0:
                return None
        if not np.isfinite(self.fits_relaxed(layout, high)):
            return None
        while low < high:
            middle = (low + high) // 2
            if np.isfinite(self.fits_relaxed(layout, middle)):
                high = middle
            else:
                low = middle + 1
        return low

    def ddr_frames_per_s(self, count: int, frame_bytes: int) -> float:
        """The rate that DDR allows `count` instances, wherever they lie: banks are shared evenly."""
        placed = at_banks([self.board.slrs[0].name] * count, self.board)
        rate = ddr_bytes_per_s(placed, self.board, self.clock_mhz)
        return rate / frame_bytes if frame_bytes else float("inf")

    @cached_property
    def least_bytes(self) -> int:
        """Bytes that a frame moves through DDR at the options that move fewest."""
        return sum(min(one.ddr_bytes for one in found.options) for found in self.options.values())

    def rate(self, count: int, index: int) -> float:
        """Frames a second that no kernel of this interval exceeds."""
        computed = count * self.clock_mhz * 1e6 / int(self.intervals[index])
        return min(computed, self.ddr_frames_per_s(count, self.least_bytes))

    def joined(self, layout: Layout, index: int, extra: Vector | None = None) -> Solution | None:
        """The cheapest choice, converters counted; None: there are too many.

        extra: what deep FIFOs take besides.
        """
        self.solved += 1
        room = layout.capacity if extra is None else layout.capacity - extra
        layers = list(self.options.values())
        return cheapest_joined(layers, int(self.intervals[index]), room, self.prices, self.converters)

    @cached_property
    def converters(self) -> Adapters:
        return Adapters(self.graph, self.board)

    def realised_joined(self, layout: Layout, index: int) -> tuple[Found | None, bool]:
        """A kernel as `realised` gives, chosen with converters; and whether it is proven that none is."""
        if layout.by_slr is None:
            return self.realised(layout, index), False
        extra = np.zeros(len(KINDS), np.int64)
        for number in range(ROUNDS):
            solution = self.joined(layout, index, extra)
            if solution is None:
                return self.realised(layout, index), False
            if solution.picks is None:
                return None, solution.proven and number == 0
            chosen = zip(self.options.items(), solution.picks, strict=True)
            kernel = self.made({name: one.every[pick] for (name, one), pick in chosen})
            found = self.fitting(kernel, layout, None)
            if found is not None:
                self.adapters = kernel.adapters
                return found, False
            options = list(kernel.options.values())
            known = np.sum([vector(one.resources) for one in options], axis=0) + self.converters.of(options)
            extra = np.maximum(extra, vector(kernel.resources) - known)
        return None, False

    def realised(self, layout: Layout, index: int, fill: float = 1.0) -> Found | None:
        """A kernel of this interval that fits with its converters and FIFOs; None if none was found.

        fill: the share of what is free that options are chosen for.
        """
        adapters = dict(self.adapters)
        for _ in range(ROUNDS):
            choice = self._choice(layout, index, adapters, fill)
            if choice is None:
                return None
            picks, slrs = choice
            kernel = self.made(self.picked(picks), slrs)
            found = self.fitting(kernel, layout, slrs)
            if found is not None:
                self.adapters = kernel.adapters
                return found
            adapters = {
                name: np.maximum(adapters.get(name, np.zeros(len(KINDS), np.int64)), one)
                for name, one in kernel.adapters.items()
            }
        return None

    def made(self, options: Mapping[str, Option], slrs: Sequence[int] | None = None) -> Kernel:
        """The kernel of these options; slrs: of each layer, if it lies across several."""
        self.built += 1
        return kernel_of(self.graph, options, self.board, self.constraints.interface, slrs)

    def picked(self, picks: tuple[int, ...]) -> dict[str, Option]:
        return {
            name: one.options[pick] for (name, one), pick in zip(self.options.items(), picks, strict=True)
        }

    def fitting(self, kernel: Kernel, layout: Layout, slrs: tuple[int, ...] | None) -> Found | None:
        """The kernel in its SLRs, if it fits them."""
        by_slr = None
        if slrs is not None:
            limits = capacities(self.board)
            for slr, limit in enumerate(limits):
                here = [one for one, at in zip(kernel.by_layer.values(), slrs, strict=True) if at == slr]
                if here and (np.sum(here, axis=0) > limit).any():
                    return None
        else:
            by_slr = placed_in(self.board, vector(kernel.resources), layout.count)
            if by_slr is None:
                return None
        return Found(
            kernel=kernel,
            instances=layout.count,
            by_slr=by_slr,
            slrs=slrs,
            frames_per_s=self.frames_per_s(kernel, layout.count),
        )

    def frames_per_s(self, kernel: Kernel, count: int) -> float:
        computed = count * self.clock_mhz * 1e6 / kernel.interval
        return min(computed, self.ddr_frames_per_s(count, kernel.ddr_bytes))

    def price(self, found: Found) -> float:
        """The price of all instances: the sum of shares of the board."""
        return found.instances * float(vector(found.kernel.resources) @ self.prices)

    def _choice(
        self, layout: Layout, index: int, adapters: dict[str, Vector], fill: float
    ) -> tuple[tuple[int, ...], tuple[int, ...] | None] | None:
        costs = self.costs(index, adapters)
        self.solved += 1
        if layout.by_slr is None:
            limits = [_part(limit, fill) for limit in capacities(self.board)]
            given = numbers_of(self.constraints.slrs, self.board)
            if given:
                apart = in_slrs(costs, limits, self.prices, [given[name] for name in self.options])
            else:
                apart = spread(costs, limits, self.prices, self.edges)
            return (apart.picks, apart.slrs) if apart else None
        solution = cheapest(costs, _part(layout.capacity, fill), self.prices)
        return (solution.picks, None) if solution.picks is not None else None


def _part(limit: Vector, fill: float) -> Vector:
    return limit if fill == 1 else np.floor(limit * fill).astype(np.int64)
