"""What becomes of each loop: pipelined, unrolled or left, by the pragmas and by the tool's own rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hlsgen.schedule.control_flow import Loop, loops_of
from hlsgen.schedule.ir import Function, Instruction, Local, Module, Place
from hlsgen.schedule.memories import memories_of
from hlsgen.schedule.pointers import base_of
from hlsgen.schedule.ranges import Ranges
from hlsgen.schedule.sites import Sites

MOST_TRIPS = 64
"""An innermost loop of no more iterations, which no pragma is about, is unrolled and its parent pipelined
(config_compile's pipeline_loops)."""


@dataclass(slots=True, eq=False)
class LoopPlan:
    """What is asked of loops, by the loops' nodes before unrolling."""

    pipelined: dict[int, int] = field(default_factory=dict)
    """With the II that is asked for."""
    off: set[int] = field(default_factory=set)
    """Loops that must not be pipelined."""
    unrolled: dict[int, int] = field(default_factory=dict)
    """By which factor; 0: wholly."""
    functions: dict[str, int] = field(default_factory=dict)
    """Functions that are pipelined as a whole, with the II asked for."""
    named: set[int] = field(default_factory=set)
    """Loops that a pragma is about, whichever."""


def plan_of(module: Module, sites: Sites, whole: Mapping[str, int], bundle: str) -> LoopPlan:
    """The plan of a module whose functions are inlined.

    `whole`: the functions that are pipelined as a whole. `bundle`: the AXI port of pointers without an
    interface.
    """
    plan = _asked(sites, whole)
    for function in module.functions.values():
        loops = loops_of(function)
        trips = Ranges(function, (), loops).trips
        for loop in loops:
            _obey(loop, function, plan, trips.get(loop.header))
        _unroll_small(loops, function, module, sites, plan, trips, bundle)
    return plan


def _asked(sites: Sites, whole: Mapping[str, int]) -> LoopPlan:
    plan = LoopPlan(functions=dict(whole))
    for site in sites.plain:
        pragma = site.pragma
        if site.loop < 0:
            continue
        if pragma.name in ("pipeline", "unroll", "loop_flatten", "loop_merge", "dataflow"):
            plan.named.add(site.loop)
        if pragma.name == "pipeline" and "off" in pragma.words:
            plan.off.add(site.loop)
        elif pragma.name == "pipeline":
            plan.pipelined[site.loop] = max(1, site.values.get("ii", 1))
        elif pragma.name == "unroll":
            plan.unrolled[site.loop] = site.values.get("factor", 0)
    return plan


def _obey(loop: Loop, function: Function, plan: LoopPlan, trips: int | None) -> None:
    """Loops that vanish for certain: of one iteration, of no more than their factor, within a pipeline."""
    factor = plan.unrolled.get(loop.node, 0)
    if factor and trips is not None and factor >= trips:
        plan.unrolled[loop.node] = 0
    if trips == 1 and loop.node not in plan.pipelined:
        plan.unrolled[loop.node] = 0
    if _inside_pipeline(loop, plan) or function.name in plan.functions:
        plan.unrolled[loop.node] = 0  # whatever factor they name


def _inside_pipeline(loop: Loop, plan: LoopPlan) -> bool:
    above = loop.parent
    while above is not None:
        if above.node in plan.pipelined:
            return True
        above = above.parent
    return False


def _unroll_small(
    loops: list[Loop],
    function: Function,
    module: Module,
    sites: Sites,
    plan: LoopPlan,
    trips: Mapping[str, int],
    bundle: str,
) -> None:
    """Unroll innermost loops that no pragma is about where the tool would: one level of a nest that is
    not perfect."""
    ports = {
        base.name
        for base, memories in memories_of(module, function, sites, bundle).by_base.items()
        if any(memory.bundle for memory in memories)
    }
    definitions = {one.name: one for _, one in function.instructions() if one.name}

    def small(loop: Loop) -> bool:
        return (
            loop.node >= 0
            and loop.node not in plan.named
            and trips.get(loop.header, MOST_TRIPS + 1) <= MOST_TRIPS
            and all(plan.unrolled.get(inner.node) == 0 for inner in loop.inner)
            and not _uses_ports(loop, function, definitions, ports)
        )

    chosen: list[Loop] = []
    for parent in loops:
        left = [inner for inner in parent.inner if plan.unrolled.get(inner.node) != 0]
        if (
            left
            and not _is_perfect(parent, function)
            and parent.node not in plan.off
            and parent.node not in plan.pipelined
            and not _inside_pipeline(parent, plan)
            and all(small(inner) and _together(inner, parent, module) for inner in left)
        ):
            chosen += left
    for loop in chosen:
        plan.unrolled[loop.node] = 0


def _is_perfect(parent: Loop, function: Function) -> bool:
    """Whether a loop does nothing but run one inner loop: such nests are flattened, and nothing is
    unrolled."""
    if len(parent.inner) != 1:
        return False
    own = parent.blocks - parent.inner[0].blocks
    return not any(
        one.opcode in ("store", "load")
        or (one.opcode == "call" and not one.callee.startswith(("llvm.", "__hls_mark")))
        for name in own
        for one in function.blocks[name].instructions
    )


def _together(loop: Loop, parent: Loop, module: Module) -> bool:
    """Whether two loops stand in one function of the source, and not one in a function that the other
    calls."""
    inner, outer = module.loop_places.get(loop.node), module.loop_places.get(parent.node)
    if inner is None or outer is None:
        return False
    return (inner.function, _calls(inner)) == (outer.function, _calls(outer))


def _calls(place: Place) -> tuple[tuple[str, int], ...]:
    """The calls that a place was inlined at."""
    found = []
    above = place.inlined_at
    while above is not None:
        found.append((above.file, above.line))
        above = above.inlined_at
    return tuple(found)


def _uses_ports(
    loop: Loop, function: Function, definitions: Mapping[str, Instruction], ports: set[str]
) -> bool:
    """Whether a loop reads or writes an AXI port."""
    for name in loop.blocks:
        for one in function.blocks[name].instructions:
            if one.callee.startswith("__hls_maxi"):
                return True
            if one.opcode in ("load", "store"):
                base, _ = base_of(one.operands[-1], definitions)
                if isinstance(base, Local) and base.name in ports:
                    return True
    return False
