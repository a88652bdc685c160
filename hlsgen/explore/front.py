"""The Pareto front: frames a second against the share of the board that they take."""

from __future__ import annotations

import numpy as np

from hlsgen.explore.knapsack import most_even
from hlsgen.explore.options import Vector, non_dominated
from hlsgen.explore.slr_layouts import placed_in
from hlsgen.explore.space import Found, Space
from hlsgen.report.explored import FrontPoint
from hlsgen.search.board_limits import KINDS, allowed_whole, whole_of

MOST_INTERVALS = 12
"""Intervals that the front is made from, evenly on a scale of ratios."""


def front(space: Space, found: Found, most: int, up_to: float) -> tuple[FrontPoint, ...]:
    """The points, by frames a second. Each layer's converters and FIFOs count as in the kernel found.

    up_to: frames a second of the fastest kernel that was made, or inf. One instance over several SLRs counts
    in sum here, so that a faster point might not be cut into them.
    """
    limit = np.array([getattr(whole_of(space.board), kind) for kind in KINDS], np.int64)
    may = np.array([getattr(allowed_whole(space.board), kind) for kind in KINDS], np.int64)
    points = [_point_of(space, found, limit)]
    for index in _spaced(space):
        each = _each(space, index, may)
        if each is None:
            continue
        interval = int(space.intervals[index])
        for count in [space.constraints.instances] if space.constraints.instances else range(1, most + 1):
            spans = count == 1 and bool((each <= may).all())
            if placed_in(space.board, each, count) is None and not spans:
                break
            rate = min(
                count * space.clock_mhz * 1e6 / interval, space.ddr_frames_per_s(count, space.least_bytes)
            )
            if rate <= up_to:
                points.append(_point(rate, interval, count, each, limit))
    # beaten: as fast or faster with no larger share, to a millionth
    amounts = np.array([[-round(one.frames_per_s * 1e3), round(one.largest_share * 1e6)] for one in points])
    # what converters cost on other intervals is not known so well that it could beat the kernel that was made
    kept = {one for one in non_dominated(amounts) if amounts[one, 0] != amounts[0, 0]} | {0}
    return tuple(sorted((points[one] for one in kept), key=lambda one: (one.frames_per_s, one.largest_share)))


def _spaced(space: Space) -> list[int]:
    """Numbers of intervals, their ratios about equal."""
    logs = np.log(space.intervals)
    wanted = np.linspace(logs[0], logs[-1], MOST_INTERVALS)
    return sorted({int(index) for index in np.searchsorted(logs, wanted - 1e-9).clip(0, len(logs) - 1)})


def _each(space: Space, index: int, limit: Vector) -> Vector | None:
    costs = space.costs(index, space.adapters)
    solution = most_even(costs, limit, space.prices)
    if solution.picks is None:
        return None
    return np.asarray(np.sum([one[pick] for one, pick in zip(costs, solution.picks, strict=True)], axis=0))


def _point_of(space: Space, found: Found, limit: Vector) -> FrontPoint:
    each = np.array([getattr(found.kernel.resources, kind) for kind in KINDS], np.int64)
    return _point(found.frames_per_s, found.kernel.interval, found.instances, each, limit, chosen=True)


def _point(
    rate: float, interval: int, count: int, each: Vector, limit: Vector, *, chosen: bool = False
) -> FrontPoint:
    some = limit > 0
    return FrontPoint(
        frames_per_s=rate,
        interval=interval,
        instances=count,
        largest_share=float((count * each[some] / limit[some]).max()),
        used={kind: count * int(amount) for kind, amount in zip(KINDS, each, strict=True)},
        chosen=chosen,
    )
