"""LUT, FF, DSP and BRAM18 of a kernel, as csynth will count them, from its operations and their schedule."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hlsgen.cost.resources import Resources
from hlsgen.schedule.areas import Areas, RoutedCells
from hlsgen.schedule.ir import Place
from hlsgen.schedule.names import function_name
from hlsgen.schedule.nest_cells import counter_bits, ending, flattened, flattening
from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.processes import ELSEWHERE
from hlsgen.schedule.region_cells import MODULES_SINCE, Core, CoreUse, core_cells, region_cells
from hlsgen.schedule.scheduled_regions import FunctionRegions, ScheduledRegion
from hlsgen.schedule.shared import Calls, Source, process_of, repeated
from hlsgen.schedule.source_functions import calls_of
from hlsgen.schedule.storage_cells import arrays, bundles, fifos, has_lite_port, host_arguments
from hlsgen.schedule.unbegun import unbegun

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
    unknown: tuple[str, ...] = ()
    """Functions of which nothing is known, the cells that they take neither: the vendor's FFT."""

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "csynth": asdict(self.csynth),
            "csynth_by_kind": {kind: asdict(cells) for kind, cells in self.by_kind.items()},
            "uncounted_by_csynth": {"lut": self.uncounted.lut, "ff": self.uncounted.ff},
            "routed": asdict(self.routed),
            "without": list(self.unknown),
        }


@dataclass(frozen=True, kw_only=True)
class PartUsage:
    """What a part of a kernel takes, and what it may have in common with other parts."""

    cells: Mapping[str, Resources]
    """csynth's cells by kind, of what is the part's alone."""
    uncounted: Resources
    arrays: Mapping[str, Resources]
    """Memories and registers by the array's name."""
    fifos: Mapping[str, tuple[int, int]]
    """Words and bits by the stream's name."""
    adapters: Mapping[str, int]
    """Bits of AXI ports."""
    lite: bool
    """Whether the source asks for an AXI-lite port."""
    told_arguments: tuple[int, ...]
    """Bits of arguments that the host gives, and of those that it gives in the flow of kernels alone."""
    other_arguments: tuple[int, ...]
    unknown: tuple[str, ...]
    """Functions of which nothing is known."""


def usage_of_part(
    functions: Sequence[FunctionRegions], pragmas: Sequence[Pragma], areas: Areas, lines: Collection[int]
) -> PartUsage:
    """What a part of a kernel takes: the sum over its functions.

    lines: of the kernel's function, whose calls the part is about; empty: all but what others are about.
    """
    found = dict.fromkeys(KINDS, Resources())
    uncounted = Resources()
    memories: dict[str, Resources] = {}
    streams: dict[str, tuple[int, int]] = {}
    adapters: dict[str, int] = {}
    told: list[int] = []
    others: list[int] = []
    for one in functions:
        source = Source(one, pragmas)
        left_out = repeated(one, source)
        for number, part in enumerate(one.parts):
            left_out[number] |= _elsewhere(one, part, lines)
        uncounted += _function(one, source, left_out, areas, found)
        own, muxes = arrays(one, left_out, areas)
        memories.update(own)
        found["multiplexers"] += muxes
        streams.update(fifos(one, left_out))
        adapters.update(bundles(one))
        own_told, own_others = host_arguments(one, pragmas)
        told += own_told
        others += own_others
    return PartUsage(
        cells=found,
        uncounted=uncounted,
        arrays=memories,
        fifos=streams,
        adapters=adapters,
        lite=has_lite_port(pragmas),
        told_arguments=tuple(told),
        other_arguments=tuple(others),
        unknown=tuple(
            sorted({name for one in functions for part in one.parts for name in part.region.calls})
        ),
    )


def _elsewhere(one: FunctionRegions, part: ScheduledRegion, lines: Collection[int]) -> set[int]:
    """The nodes that the kernel's function has from calls that other parts are about."""
    if not lines:
        return set()
    nodes = part.region.nodes
    if part.region.loop is not None:
        return set() if _is_of(part.place, lines) else {node.index for node in nodes}
    places = one.module.places
    return {
        node.index
        for node in nodes
        if node.instruction is None or not _is_of(places.get(node.instruction.place), lines)
    }


def _is_of(place: Place | None, lines: Collection[int]) -> bool:
    calls = list(calls_of(place))
    return bool(calls) and calls[-1].line in lines


def usage_of(
    parts: Sequence[PartUsage], areas: Areas, kernel_flow: bool, defined: Collection[str] = ()
) -> Usage:
    """What a kernel takes: its parts, with what several of them reach once. defined: the functions that its
    sources define, of which parts that call them know nothing."""
    found = {kind: Resources.sum(part.cells[kind] for part in parts) for kind in KINDS}
    found["memories"] += _arrays(parts)
    streams = {name: size for part in parts for name, size in part.fifos.items()}
    found["FIFOs"] = Resources.sum(areas.stream(depth, bits) for depth, bits in streams.values())
    adapters: dict[str, int] = {}
    for part in parts:
        for bundle, bits in part.adapters.items():
            adapters[bundle] = max(bits, adapters.get(bundle, 0))
    found["ports"] = Resources.sum(areas.axi_adapter(bits) for bits in adapters.values())
    if kernel_flow or adapters or any(part.lite for part in parts):
        first = parts[0]
        others = first.other_arguments if kernel_flow else ()
        found["ports"] += areas.registers_of_host([*first.told_arguments, *others])
    csynth = Resources.sum(found.values())
    uncounted = Resources.sum(part.uncounted for part in parts)
    routed = areas.routed(csynth, uncounted)
    called = dict.fromkeys(name.removesuffix(ELSEWHERE) for part in parts for name in part.unknown)
    unknown = dict.fromkeys(function_name(name) for name in called if name not in defined and _takes(name))
    return Usage(csynth=csynth, routed=routed, uncounted=uncounted, by_kind=found, unknown=tuple(unknown))


def _takes(name: str) -> bool:
    """Whether a function may take cells: what is ours marks places, and what prints or allocates is no
    hardware."""
    return not name.startswith(("__hls_", "_ZNS", "_ZNKS", "_ZS", "_Zd", "_Zn"))


def _arrays(parts: Sequence[PartUsage]) -> Resources:
    """The arrays of all parts. Those of the kernel's function itself, whose names no call has changed, are
    reached by several, and are there twice, for one to write while the other reads."""
    total = Resources()
    reached: dict[str, list[Resources]] = {}
    for part in parts:
        for name, taken in part.arrays.items():
            if "." in name:
                total += taken
            else:
                reached.setdefault(name, []).append(taken)
    for all_ in reached.values():
        largest = max(all_, key=lambda one: (one.bram18, one.lut, one.ff))
        total += largest.times(min(len(all_), 2))
    return total


def _function(
    one: FunctionRegions,
    source: Source,
    left_out: Sequence[Collection[int]],
    areas: Areas,
    found: dict[str, Resources],
) -> Resources:
    """Adds the cells of a function to `found` by their kind; gives what csynth leaves out."""
    flat, without = flattened(one), unbegun(one, source)
    states = pipelines = 0
    cores: dict[tuple[Calls, Core], list[CoreUse]] = {}
    for number, part in enumerate(one.parts):
        if len(left_out[number]) == len(part.region.nodes):
            continue
        elsewhere = set(left_out[number]) | (ending(part) if number in flat else set())
        cells = region_cells(part, areas, one.escaping.get(number, ()), elsewhere, without)
        for kind in ("operations", "multiplexers", "registers", "control"):
            found[kind] += getattr(cells, kind)
        process = process_of(part, source)
        for core, use in cells.cores.items():
            cores.setdefault((process, core), []).append(use)
        pipelines += part.pipelined
        if number in flat:
            bits = counter_bits(one, part)
            found["operations"] += flattening(bits, areas)
            found["registers"] += Resources(ff=bits)
        elif not part.pipelined:
            states += cells.states
    found["control"] += _machine(states, pipelines, areas)
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
