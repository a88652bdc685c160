"""What nothing exceeds, and what keeps the kernel that was found from being faster."""

from __future__ import annotations

import numpy as np

from hlsgen.explore.knapsack import cheapest
from hlsgen.explore.options import LayerOptions, vector
from hlsgen.explore.slr_layouts import Layout
from hlsgen.explore.space import Found, Space
from hlsgen.search.board_limits import KINDS, whole_of
from hlsgen.search.placement import LIMIT_NAMES
from hlsgen.search.streaming import memory_ports


def multiplier_bound(space: Space) -> float | None:
    """Frames a second if all usable DSPs multiplied in every cycle; None: no layer needs any.

    Packed products count half where a layer may have them; products that never take a DSP, not at all.
    """
    needed = sum(_dsps_a_mac(one) * one.layer.macs for one in space.options.values())
    if not needed:
        return None
    return float(whole_of(space.board).dsp * space.clock_mhz * 1e6 / needed)


def _dsps_a_mac(found: LayerOptions) -> float:
    """DSPs a product of the option that multiplies most with a DSP."""
    shares = [
        one.resources.dsp / one.multipliers
        for one in found.every
        if one.resources.dsp and one.multipliers and found.layer.macs
    ]
    return min(shares, default=0.0)


def bottleneck(space: Space, found: Found, layout: Layout, most: int) -> str:
    """What would have to be more for a shorter interval, or for another instance."""
    kernel = found.kernel
    computed = found.instances * space.clock_mhz * 1e6 / kernel.interval
    if found.frames_per_s < computed * (1 - 1e-9):
        return "DDR bandwidth"
    slowest = kernel.pipeline.slowest
    stage = f"{slowest.name} with {slowest.interval:,} cycles a frame"
    if found.instances >= most:
        limit = "the batch has no frame for another instance"
        if most == space.board.most_units(memory_ports(space.graph, space.constraints)):
            limit = f"the platform has no more than {most} compute units"
        if space.constraints.instances:
            limit = "the design fixes the instances"
        stage += f"; {limit}"
    index = int(np.searchsorted(space.intervals, kernel.interval)) - 1
    if space.constraints.target_interval:
        return f"{stage}; the design fixes the interval"
    if index < 0:
        return f"{stage}, its fastest folding"
    kinds = _scarce(space, layout, index)
    if not kinds:
        return f"{stage}; the borders of the SLRs, which no layer can lie across" if found.slrs else stage
    return f"{stage}; {' and '.join(LIMIT_NAMES[kind] for kind in kinds)} for more"


def _scarce(space: Space, layout: Layout, index: int) -> list[str]:
    """The kinds without whose limit interval number `index` would fit; else those that are short together."""
    costs = space.costs(index)
    if np.isfinite(cheapest(costs, layout.capacity, space.prices, relaxed=True).objective):
        return []
    endless = np.iinfo(np.int32).max
    single = []
    for number, kind in enumerate(KINDS):
        capacity = layout.capacity.copy()
        capacity[number] = endless
        if np.isfinite(cheapest(costs, capacity, space.prices, relaxed=True).objective):
            single.append(kind)
    together = ("lut", "bram18", "uram", "dsp")
    return single or [kind for kind in together if layout.capacity[KINDS.index(kind)]]


def utilisation(space: Space, found: Found) -> dict[str, float]:
    """The share of what may be used of the whole board, by kind that it has."""
    whole = whole_of(space.board)
    used = found.instances * vector(found.kernel.resources)
    return {
        kind: float(amount / getattr(whole, kind))
        for kind, amount in zip(KINDS, used, strict=True)
        if getattr(whole, kind)
    }
