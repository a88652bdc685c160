"""The exact choice: best first over instances, their SLRs and intervals.

An entry of the queue is a layout with an interval, in one of three states: possible if options could be mixed
(a linear program says so), possible with whole options (the knapsack), and built with converters and FIFOs.
The entry with the best bound is always looked at next. So the first one that comes out built is the best of
all, and the first one that comes out of the knapsack bounds everything.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

from hlsgen.explore.knapsack import most_even
from hlsgen.explore.options import vector
from hlsgen.explore.slr_layouts import Layout
from hlsgen.explore.space import Found, Space

MOST_BUILT = 24
"""Kernels with converters and FIFOs that one search makes; after that the best one counts."""

EVEN_SLACKS = (1.02, 1.2)
"""Multiples of the least largest share that are tried for a kernel that takes as little as it can."""

LITTLE = 0.02
"""The part of a largest share that is worth another kernel."""
QUICKEST = 3
"""Intervals, from the shortest that fits, at which the least latency is looked for."""


@dataclass(frozen=True, kw_only=True)
class Searched:
    """The best kernel, if there is one. bound: nothing is better than that, in the unit of the search."""

    found: Found | None
    bound: float

    def gap(self, value: float) -> float:
        """The distance of `value`, the one reached, to the bound."""
        return abs(self.bound - value) / abs(self.bound) if self.bound else 0.0


def fastest(space: Space, layouts: list[Layout], floor: float = 0.0) -> Searched:
    """The kernel and layout with the most frames a second; of equally fast ones the fewest instances.

    floor: frames a second that some kernel is known to reach.
    """
    heap: list[tuple[float, int, int, int]] = []  # (-rate, state, layout, interval)
    built: dict[tuple[int, int], Found] = {}
    for number, layout in enumerate(layouts):
        index = space.first_feasible(layout, floor)
        if index is not None:
            index = max(index, _limited_by_ddr(space, layout.count))
            heap.append((-space.rate(layout.count, index), 0, number, index))
    heapq.heapify(heap)
    bound: float | None = None
    while heap:
        negative, state, number, index = heapq.heappop(heap)
        layout = layouts[number]
        if state == 2:
            return Searched(found=built[number, index], bound=-negative if bound is None else bound)
        if state == 0:
            solution = space.least(layout, index)
            if solution.picks is not None and space.may_pack(layout, index):
                heapq.heappush(heap, (negative, 1, number, index))
                continue
            if solution.picks is None and not solution.proven and bound is None:
                bound = -negative
        elif space.built < MOST_BUILT or not built:
            found, impossible = space.realised(layout, index), False
            if found is None and layout.by_slr is not None:
                found, impossible = space.realised_joined(layout, index)
            if bound is None and not impossible:
                bound = -negative
            if found is not None:
                built[number, index] = found
                heapq.heappush(heap, (-found.frames_per_s, 2, number, index))
                continue
        if index + 1 < len(space.intervals):
            heapq.heappush(heap, (-space.rate(layout.count, index + 1), 0, number, index + 1))
    return Searched(found=None, bound=bound or 0.0)


def _limited_by_ddr(space: Space, count: int) -> int:
    """The number of the longest interval at which DDR sets the rate; shorter ones are no faster."""
    limit = space.ddr_frames_per_s(count, space.least_bytes)
    most = count * space.clock_mhz * 1e6 / limit
    return max(0, int(np.searchsorted(space.intervals, most, side="right")) - 1)


def cheapest_for(
    space: Space, layouts: list[Layout], *, frames_per_s: float | None, latency_cycles: float | None
) -> Searched:
    """The kernel and layout of least cost that reach both targets; the bound is without deep FIFOs.

    Latency has no model that a knapsack could have: where the cheapest kernel's is too long, intervals are
    shortened until it is not, and the bound stays that of any latency.
    """
    heap: list[tuple[float, int, int]] = []  # (cost, state, layout), states as above
    latest: dict[int, int] = {}
    built: dict[int, Found] = {}
    for number, layout in enumerate(layouts):
        index = _slow_enough(space, layout, frames_per_s, latency_cycles)
        cost = space.fits_relaxed(layout, index) if index is not None else np.inf
        if index is not None and np.isfinite(cost):
            latest[number] = index
            heap.append((layout.count * cost, 0, number))
    heapq.heapify(heap)
    bound: float | None = None
    while heap:
        cost, state, number = heapq.heappop(heap)
        layout = layouts[number]
        if state == 3:
            return Searched(found=built[number], bound=cost if bound is None else bound)
        if state < 2:
            solution = (
                space.least(layout, latest[number]) if state == 0 else space.joined(layout, latest[number])
            )
            if solution is None:
                heapq.heappush(heap, (cost, 2, number))
            elif solution.picks is not None or not solution.proven:
                heapq.heappush(heap, (max(cost, layout.count * solution.bound), state + 1, number))
            continue
        bound = cost if bound is None else bound
        if built and space.built >= MOST_BUILT:
            continue
        found = _quick_enough(space, layout, latest[number], frames_per_s, latency_cycles)
        if found is not None:
            built[number] = found
            heapq.heappush(heap, (space.price(found), 3, number))
    return Searched(found=None, bound=bound or 0.0)


def _slow_enough(
    space: Space, layout: Layout, frames_per_s: float | None, latency_cycles: float | None
) -> int | None:
    """The number of the longest interval with which so many instances can reach both targets.

    No frame leaves a kernel sooner than its slowest layer has worked on all of it, so a latency is an
    interval that is too long.
    """
    most = math.inf if latency_cycles is None else latency_cycles
    if frames_per_s is not None:
        if space.ddr_frames_per_s(layout.count, space.least_bytes) < frames_per_s:
            return None
        most = min(most, layout.count * space.clock_mhz * 1e6 / frames_per_s)
    index = int(np.searchsorted(space.intervals, most * (1 + 1e-12), side="right")) - 1
    return index if index >= 0 else None


def _quick_enough(
    space: Space, layout: Layout, index: int, frames_per_s: float | None, latency_cycles: float | None
) -> Found | None:
    """A kernel of interval number `index` or shorter that reaches both targets."""

    def reached(at: int) -> Found | None:
        found, _ = space.realised_joined(layout, at)
        if found is None or (frames_per_s is not None and found.frames_per_s < frames_per_s * (1 - 1e-12)):
            return None
        if latency_cycles is not None and found.kernel.latency_cycles > latency_cycles:
            return None
        return found

    best = reached(index)
    if best is not None:
        return best
    # what is shorter costs more and is quicker, so that the first one that is quick enough is looked for
    low = space.first_feasible(layout)
    while low is not None and low < index and best is None:
        best = reached(low)
        low += max(1, (index - low) // 8)
    if best is None or low is None:
        return None
    high = low - 1
    low = high
    while index - low > 1:
        middle = (low + index) // 2
        found = reached(middle)
        if found is None:
            index = middle
        else:
            low, best = middle, found
    return best


def quickest(space: Space, layouts: list[Layout], known: Found) -> Found:
    """The least latency of `known` and of as few instances as there can be at the shortest intervals."""
    best = known
    least = min(one.count for one in layouts)
    for layout in [one for one in layouts if one.count == least]:
        first = space.first_feasible(layout)
        for index in [] if first is None else range(first, min(first + QUICKEST, len(space.intervals))):
            found = space.realised(layout, index)
            if found is not None and found.kernel.latency_cycles < best.kernel.latency_cycles:
                best = found
    return best


def evened(space: Space, layout: Layout, found: Found) -> Found:
    """A kernel as fast whose largest share of a kind is smaller, so that placing and routing have room."""
    index = int(np.searchsorted(space.intervals, found.kernel.interval, side="right")) - 1
    if index < 0:
        return found
    least = most_even(space.costs(index, space.adapters), layout.capacity, space.prices).objective
    for slack in EVEN_SLACKS:
        if least * slack >= _largest_share(found, layout) - LITTLE:
            return found
        better = space.realised(layout, index, least * slack)
        if better is not None and better.frames_per_s >= found.frames_per_s:
            return better if _largest_share(better, layout) < _largest_share(found, layout) else found
    return found


def _largest_share(found: Found, layout: Layout) -> float:
    some = layout.capacity > 0
    used = vector(found.kernel.resources)
    return float((used[some] / layout.capacity[some]).max())
