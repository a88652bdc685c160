"""Floating-point adders in recurrences: the tool takes one of logic alone, of fewer cycles, where it helps.

In public reports of 2023.2 (xcu280, 3.33 ns) 81 pipelines whose only adder sums up what the iteration before
has left have one without DSPs, of 4 cycles, and II 4; where no recurrence holds it the same source has adders
with DSPs, of 6 cycles. A pipeline of 2022.2 has the quick one where II 4 is asked for. Pipelines that nobody
asked for keep the usual adder (polybench in UCLA-VAST/Stream-HLS: 7 and 8; ZTTTX/scalehls_vitis_test: 7), and
so do those whose pragma names no II (S12P/sisyphus-fpga24-artifact, 2023.2: 6 in three loops).
"""

from __future__ import annotations

from collections.abc import Sequence

from hlsgen.schedule.delays import Delays
from hlsgen.schedule.iteration import Region
from hlsgen.schedule.operation import Timing
from hlsgen.schedule.recurrences import waiting_for_themselves


def with_quick_sums(
    region: Region, timings: Sequence[Timing | None], delays: Delays
) -> list[Timing | None] | None:
    """The timings with quick adders in recurrences; None where there is none that could be quicker."""
    stored = {
        one
        for node in region.nodes
        if node.operation is not None
        and node.operation.kind == "store"
        and node.operation.storage != "register"
        for one in node.after
    }
    sums = {
        node.index: quick
        for node in region.nodes
        if node.operation is not None
        and timings[node.index] is not None
        and (quick := delays.quick_sum(node.operation, stored=node.index in stored)) is not None
    }
    if not sums:
        return None
    held = sums.keys() & waiting_for_themselves(region, region.carried)
    return [sums[at] if at in held else timing for at, timing in enumerate(timings)] if held else None
