"""What becomes of each loop: pipelined, unrolled or left, by the pragmas and by the tool's own rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hlsgen.schedule.automatic import nests_of, unroll_by_itself
from hlsgen.schedule.control_flow import Loop, loops_of
from hlsgen.schedule.ir import Function, Module
from hlsgen.schedule.ranges import Ranges
from hlsgen.schedule.sites import Sites


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


def plan_of(module: Module, sites: Sites, whole: Mapping[str, int], bundle: str, version: str) -> LoopPlan:
    """The plan of a module whose functions are inlined.

    `whole`: the functions that are pipelined as a whole. `bundle`: the AXI port of pointers without an
    interface. `version`: the release of the tool.
    """
    plan = _asked(sites, whole)
    for function in module.functions.values():
        loops = loops_of(function)
        trips = Ranges(function, (), loops).trips
        for loop in loops:
            _obey(loop, function, plan, trips.get(loop.header))
        nests = nests_of(
            module,
            function,
            loops,
            trips,
            sites,
            bundle,
            unrolled=plan.unrolled,
            named=plan.named,
            settled=plan.off | set(plan.pipelined),
        )
        unroll_by_itself(nests, version)
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
