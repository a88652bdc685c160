"""The baseline: layers folded one by one, as FINN's SetFolding does.

For a target interval each layer takes more input channels at a time until it is fast enough, then more output
channels; weights lie where they lie by default. Of all targets the kernel that fits with the most frames a
second. Source: FINN, src/finn/transformation/fpgadataflow/set_folding.py: SIMD first, then PE.
"""

from __future__ import annotations

import numpy as np

from hlsgen.explore.kernel import kernel_of
from hlsgen.explore.options import Option, Vector, usual_options, vector
from hlsgen.explore.over_slrs import spread
from hlsgen.explore.slr_layouts import Layout, capacities, placed_in
from hlsgen.explore.space import Found, Space

MOST_BUILT = 6
"""Kernels with converters and FIFOs that are tried, from the fastest."""


def greedy(space: Space, most: int) -> Found | None:
    """The best kernel of up to `most` instances; None: none was found that fits."""
    paths = {
        layer.name: _path(usual_options(space.graph, layer, space.board, space.constraints))
        for layer in space.graph.layers
    }
    if not all(paths.values()):
        return None
    tried: dict[tuple[int, ...], tuple[float, int, dict[str, Option]]] = {}
    for target in _targets(space, paths):
        chosen = {name: _first(path, target) for name, path in paths.items()}
        key = tuple(paths[name].index(one) for name, one in chosen.items())
        if key not in tried:
            count = _count(space, _sum(chosen), most)
            interval = max(one.interval for one in chosen.values())
            tried[key] = (count / interval, count, chosen)
    for _, count, chosen in sorted(tried.values(), key=lambda one: (-one[0], one[1]))[:MOST_BUILT]:
        found = _found(space, chosen, count) if count else None
        if found is not None:
            return found
    return None


def _targets(space: Space, paths: dict[str, list[Option]]) -> list[int]:
    if space.constraints.target_interval:
        return [space.constraints.target_interval]
    return sorted({one.interval for path in paths.values() for one in path})


def _path(options: list[Option]) -> list[Option]:
    """The foldings in the order in which they are tried: SIMD grows at the least PE, then PE."""
    if not options:
        return []
    px = min(one.fold.px for one in options)
    narrow = [one for one in options if one.fold.px == px]
    least = min(one.fold.pe for one in narrow)
    path = sorted((one for one in narrow if one.fold.pe == least), key=lambda one: one.fold.simd)
    for pe in sorted({one.fold.pe for one in narrow} - {least}):
        path.append(max((one for one in narrow if one.fold.pe == pe), key=lambda one: one.fold.simd))
    return path


def _first(path: list[Option], target: int) -> Option:
    """The first that is fast enough; else the last."""
    return next((one for one in path if one.interval <= target), path[-1])


def _sum(chosen: dict[str, Option]) -> Vector:
    return np.asarray(np.sum([vector(one.resources) for one in chosen.values()], axis=0), np.int64)


def _count(space: Space, each: Vector, most: int) -> int:
    """Instances that fit, each in one SLR, or one over all of them."""
    wanted = space.constraints.instances
    rooms = [int(min(limit[each > 0] // each[each > 0])) for limit in capacities(space.board)]
    count = min(sum(rooms), most)
    if not count and bool((each <= np.sum(capacities(space.board), axis=0)).all()):
        count = 1
    return (wanted if count >= wanted else 0) if wanted else count


def _found(space: Space, chosen: dict[str, Option], count: int) -> Found | None:
    """The kernel with as many instances as fit it with its converters and FIFOs."""
    kernel = kernel_of(space.graph, chosen, space.board, space.constraints.interface)
    each = vector(kernel.resources)
    for fewer in [count] if space.constraints.instances else range(count, 0, -1):
        if placed_in(space.board, each, fewer) is not None:
            return space.fitting(kernel, Layout(count=fewer, by_slr=(), capacity=each), None)
    if count > 1 and space.constraints.instances:
        return None
    single = [one[None, :] for one in kernel.by_layer.values()]
    apart = spread(single, capacities(space.board), space.prices, space.edges)
    whole = Layout(count=1, by_slr=None, capacity=each)
    if apart is None:
        return None
    kernel = kernel_of(space.graph, chosen, space.board, space.constraints.interface, apart.slrs)
    return space.fitting(kernel, whole, apart.slrs)
