"""The choice of a kernel for each layer within a limit of resources, where the kernels' cycles add up.

From the cheapest kernels on, the step that saves the most cycles for its cost is taken while it fits: on the
lower convex hull of each layer's kernels that is the best there is for one kind of resource. Over the kinds,
cost is a sum of shares, whose weights the caller chooses.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hlsgen.cost.resources import Resources
from hlsgen.search.board_limits import KINDS
from hlsgen.search.task_kernels import KernelOption

Vector = NDArray[np.float64]
"""A number for each of KINDS."""


def vector(resources: Resources) -> Vector:
    """The resources, one number for each of KINDS."""
    return np.array([getattr(resources, kind) for kind in KINDS], np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class KernelOptions:
    """What the kernel of a layer could be. ddr_cycles: those that DDR takes for a frame of any of them."""

    kernels: tuple[KernelOption, ...]
    ddr_cycles: int

    @cached_property
    def resources(self) -> NDArray[np.float64]:
        """[kernels, KINDS]"""
        return np.array([vector(one.resources) for one in self.kernels])

    @cached_property
    def cycles(self) -> Vector:
        """[kernels] cycles a frame, those that DDR takes included."""
        return np.array([max(one.interval, self.ddr_cycles) for one in self.kernels], np.float64)

    def among(self, allowed: NDArray[np.bool_]) -> KernelOptions:
        """Those kernels that are `allowed`."""
        kept = tuple(one for one, keep in zip(self.kernels, allowed, strict=True) if keep)
        return KernelOptions(kernels=kept, ddr_cycles=self.ddr_cycles)

    def hull(self, prices: Vector) -> list[int]:
        """The lower convex hull of (cost, cycles), the cheapest first."""
        costs = self.resources @ prices
        order = np.lexsort((self.cycles, costs))
        found: list[int] = []
        for at in order.tolist():
            if found and self.cycles[at] >= self.cycles[found[-1]]:
                continue
            while len(found) > 1 and self._slope(found[-2], found[-1], costs) <= self._slope(
                found[-1], at, costs
            ):
                found.pop()
            found.append(at)
        return found

    def _slope(self, before: int, after: int, costs: Vector) -> float:
        """Cycles saved for a unit of cost; without bound if it costs nothing."""
        cost = costs[after] - costs[before]
        return float((self.cycles[before] - self.cycles[after]) / cost) if cost > 0 else math.inf


def choose(
    options: Sequence[KernelOptions], limit: Vector, prices: Vector, enough: int | None
) -> tuple[int, ...] | None:
    """Which of its kernels each layer has; None if not even the cheapest ones fit.

    enough: cycles a frame at which no faster ones are looked for.
    """
    hulls = [one.hull(prices) for one in options]
    chosen = [hull[0] for hull in hulls]
    total = sum((one.resources[at] for one, at in zip(options, chosen, strict=True)), np.zeros(len(KINDS)))
    if (total > limit).any():
        return None
    cycles = sum(one.cycles[at] for one, at in zip(options, chosen, strict=True))
    steps = sorted(
        (-one._slope(before, after, one.resources @ prices), layer, before, after)
        for layer, (one, hull) in enumerate(zip(options, hulls, strict=True))
        for before, after in zip(hull, hull[1:], strict=False)
    )
    for _, layer, before, after in steps:
        if enough and cycles <= enough:
            return tuple(chosen)
        moved = options[layer].resources[after] - options[layer].resources[before]
        if chosen[layer] == before and (total + moved <= limit).all():
            total = total + moved
            cycles += options[layer].cycles[after] - options[layer].cycles[before]
            chosen[layer] = after
    return tuple(chosen if enough else _filled(options, chosen, total, limit, prices))


def _filled(
    options: Sequence[KernelOptions], chosen: list[int], total: Vector, limit: Vector, prices: Vector
) -> list[int]:
    """What still fits beside the hulls, the most cycles for its cost first."""
    chosen = list(chosen)

    def best_step(layer: int) -> tuple[float, int, int] | None:
        one, now = options[layer], chosen[layer]
        fits = (total + one.resources - one.resources[now] <= limit).all(axis=1)
        saved = np.where(fits, one.cycles[now] - one.cycles, 0)
        if not (saved > 0).any():
            return None
        cost = (one.resources - one.resources[now]) @ prices
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = np.where(saved > 0, np.where(cost > 0, saved / cost, math.inf), -math.inf)
        at = int(np.lexsort((-saved, -worth))[0])
        return -float(worth[at]), layer, at

    waiting = [step for layer in range(len(options)) if (step := best_step(layer)) is not None]
    heapq.heapify(waiting)
    while waiting:
        _, layer, at = heapq.heappop(waiting)
        moved = options[layer].resources[at] - options[layer].resources[chosen[layer]]
        if (total + moved <= limit).all():
            total = total + moved
            chosen[layer] = at
        again = best_step(layer)
        if again is not None:
            heapq.heappush(waiting, again)
    return chosen
