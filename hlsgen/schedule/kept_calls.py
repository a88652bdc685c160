"""Functions that a pipeline calls and that are pipelined by themselves: the tool keeps them as modules.

Here they are inlined, so that what one leaves in a window of registers the other reads at once. To the tool a
call has what it is given until it ends: hls4ml's `dense_latency` reads the window that `shift_line_buffer`
moves, and the next iteration waits for its end ("Unable to enforce a carried dependence constraint ...
between 'call' operation ... and 'call' operation", abdennour-GUESSOUM/Lenet5-hls4ml, 2023.2: II 3 and 6 where
the inlined code has 1). How long that is depends on where in the iteration the call begins, which is not
known here. Before Vitis a call gives such registers back as its results, and nothing waits for its end
(hftsoi/sparse-pixels, 2020.1: II 1 in twelve, where `dense_latency` takes two to four cycles).
"""

from __future__ import annotations

from collections.abc import Collection

from hlsgen.schedule.ir import Module, Place
from hlsgen.schedule.iteration import Region
from hlsgen.schedule.predefined import FIRST_VITIS
from hlsgen.schedule.releases import release_of
from hlsgen.schedule.sites import Sites
from hlsgen.schedule.source_functions import calls_of


def kept_calls(
    region: Region,
    counters: Collection[str],
    place: Place | None,
    sites: Sites,
    module: Module,
    version: str,
) -> tuple[str, ...]:
    """Such functions by their names, of a loop at `place` that leaves its next iteration more than counters;
    none of another, and before Vitis (`version` is the tool's release)."""
    if release_of(version) < FIRST_VITIS:
        return ()
    asked = {
        site.callee
        for site in sites.plain
        if site.pragma.name == "pipeline" and site.callee and "off" not in site.pragma.words
    }
    if not asked or place is None or not _leaves_more(region, counters):
        return ()
    numbers = {node.instruction.place for node in region.nodes if node.instruction is not None}
    return tuple(
        sorted(
            {
                one.function
                for number in numbers
                for one in calls_of(module.places.get(number))
                if one.function in asked and len(one.calls) > len(place.calls)
            }
        )
    )


def _leaves_more(region: Region, counters: Collection[str]) -> bool:
    left = [
        region.nodes[edge.target].instruction
        for edge in region.carried
        if not edge.begins and edge.target not in region.counting
    ]
    return any(one is None or one.name not in counters for one in left)
