"""LUT, FF, DSP and BRAM18 of a kernel, as csynth will count them, from its operations and their schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hlsgen.cost.resources import Resources
from hlsgen.schedule.areas import Areas, RoutedCells
from hlsgen.schedule.nests import counter_bits, flattened, flattening
from hlsgen.schedule.part_cells import MODULES_SINCE, Core, CoreUse, core_cells, part_cells
from hlsgen.schedule.parts import FunctionParts
from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.shared import Calls, Source, process_of, repeated
from hlsgen.schedule.storage_cells import arrays, fifos, ports

KINDS = ("operations", "multiplexers", "registers", "memories", "FIFOs", "control", "ports")


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Estimates of one kernel."""

    csynth: Resources
    """What Vitis HLS will report."""
    routed: RoutedCells
    """What is left after place and route, by public designs that have both figures."""
    uncounted: Resources
    """What csynth leaves out though it is there when routed; part of `routed`."""
    by_kind: dict[str, Resources] = field(default_factory=dict)
    """csynth's cells by what they are for."""

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "csynth": asdict(self.csynth),
            "csynth_by_kind": {kind: asdict(cells) for kind, cells in self.by_kind.items()},
            "uncounted_by_csynth": {"lut": self.uncounted.lut, "ff": self.uncounted.ff},
            "routed": asdict(self.routed),
        }


def usage_of(
    functions: Sequence[FunctionParts], pragmas: Sequence[Pragma], areas: Areas, *, kernel_flow: bool
) -> Usage:
    """What a kernel takes: the sum over its functions, each with its parts, memories, FIFOs and ports."""
    found = dict.fromkeys(KINDS, Resources())
    uncounted = Resources()
    for one in functions:
        uncounted += _function(one, Source(one, pragmas), areas, found)
        found["ports"] += ports(one, pragmas, areas, kernel_flow=kernel_flow)
    csynth = Resources.sum(found.values())
    return Usage(csynth=csynth, routed=areas.routed(csynth, uncounted), uncounted=uncounted, by_kind=found)


def _function(one: FunctionParts, source: Source, areas: Areas, found: dict[str, Resources]) -> Resources:
    """Adds the cells of a function to `found` by their kind; gives what csynth leaves out."""
    left_out = repeated(one, source)
    flat = flattened(one)
    states = pipelines = 0
    cores: dict[tuple[Calls, Core], list[CoreUse]] = {}
    for number, part in enumerate(one.parts):
        if len(left_out[number]) == len(part.region.nodes):
            continue
        cells = part_cells(part, areas, one.escaping.get(number, ()), left_out[number])
        for kind in ("operations", "multiplexers", "registers", "control"):
            found[kind] += getattr(cells, kind)
        process = process_of(part, source)
        for core, use in cells.cores.items():
            cores.setdefault((process, core), []).append(use)
        pipelines += part.pipelined
        if number in flat:
            found["operations"] += flattening(part, areas)
            found["registers"] += Resources(ff=counter_bits(part))
        elif not part.pipelined:
            states += cells.states
    found["control"] += _machine(states, pipelines, areas)
    memories, muxes = arrays(one, left_out, areas)
    found["memories"] += memories
    found["multiplexers"] += muxes
    found["FIFOs"] += fifos(one, areas)
    uncounted = Resources()
    for uses in cores.values():
        most = max(uses, key=lambda use: use.count)
        found["operations"] += core_cells(most, areas)
        found["multiplexers"] += areas.mux(len(uses)).times(2 * most.count)
        uncounted += areas.uncounted(most.operation).times(most.count)
    return uncounted


def _machine(states: int, pipelines: int, areas: Areas) -> Resources:
    """The state machine of a function: a state for each cycle, two to start a pipeline and wait for it."""
    modules = areas.delays.library.version >= MODULES_SINCE
    states += pipelines * (2 if modules else 1)
    return Resources(ff=states + (pipelines if modules else 0)) + areas.mux(states + 1)
