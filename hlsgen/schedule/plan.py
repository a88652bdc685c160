"""What becomes of each loop: pipelined, unrolled or left, by the pragmas and by the tool's own rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from hlsgen.schedule.automatic import nests_of, unroll_by_itself
from hlsgen.schedule.control_flow import Loop, is_passed_by, loops_of
from hlsgen.schedule.ir import Function, Module, Place
from hlsgen.schedule.ranges import Ranges
from hlsgen.schedule.sites import Sites


@dataclass(slots=True, eq=False)
class LoopPlan:
    """What is asked of loops, by the loops' nodes before unrolling."""

    pipelined: dict[int, int] = field(default_factory=dict)
    """With the II that is asked for."""
    branched: dict[int, int] = field(default_factory=dict)
    """The same of loops whose copies are pipelined where no loop is left in them."""
    timed: set[int] = field(default_factory=set)
    """Loops of which a pragma names the II."""
    flushed: set[int] = field(default_factory=set)
    """Loops whose pipelines shall empty while nothing comes in."""
    off: set[int] = field(default_factory=set)
    """Loops that must not be pipelined."""
    apart: set[int] = field(default_factory=set)
    """Loops that must not become one with those around them."""
    unrolled: dict[int, int] = field(default_factory=dict)
    """By which factor; 0: wholly."""
    functions: dict[str, int] = field(default_factory=dict)
    """Functions that are pipelined as a whole, with the II asked for."""
    named: set[int] = field(default_factory=set)
    """Loops that a pragma is about, whichever."""


def plan_of(
    module: Module,
    sites: Sites,
    whole: Mapping[str, int],
    bundle: str,
    version: str,
    simplified: Callable[[], Module],
    *,
    unrolls_unasked: bool = True,
) -> LoopPlan:
    """The plan of a module whose functions are inlined.

    `whole`: the functions that are pipelined as a whole. `bundle`: the AXI port of pointers without an
    interface. `version`: the release of the tool. `simplified`: gives the module with simpler arithmetic, in
    which more counters are seen. `unrolls_unasked`: whether the tool unrolls loops for those around them
    though no pragma asks for it.
    """
    plan = _asked(sites, whole)
    for function in module.functions.values():
        loops = loops_of(function)
        for loop in loops:
            _leave_to_callees(loop, module, sites, plan)
            _leave_to_copies(loop, function, sites, plan)
        trips = Ranges(function, (), loops).trips
        if any(_counts_unseen(loop, plan, trips) for loop in loops):
            trips = _more_trips(simplified(), function.name) | trips
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
            settled=plan.off | set(plan.pipelined) | set(plan.branched),
        )
        unroll_by_itself(nests, version, for_pipelines=unrolls_unasked)
    return plan


def _counts_unseen(loop: Loop, plan: LoopPlan, trips: Mapping[str, int]) -> bool:
    """Whether the tool may unroll a loop of which the iterations are not known."""
    if loop.header in trips or loop.parent is None or loop.node in plan.named:
        return False
    return loop.parent.node not in plan.pipelined and not _inside_pipeline(loop, plan)


def _more_trips(module: Module, name: str) -> dict[str, int]:
    """The iterations of a function's loops, by their headers."""
    function = module.functions.get(name)
    return dict(Ranges(function, (), loops_of(function)).trips) if function is not None else {}


def _asked(sites: Sites, whole: Mapping[str, int]) -> LoopPlan:
    plan = LoopPlan(functions=dict(whole))
    # what a function says of itself counts for the loop that calls it where that says nothing: the last tells
    for site in sorted(sites.plain, key=lambda one: not one.callee):
        pragma = site.pragma
        if site.loop < 0:
            continue
        if pragma.name in ("pipeline", "unroll", "loop_flatten", "loop_merge", "dataflow"):
            plan.named.add(site.loop)
        if pragma.name == "loop_flatten" and "off" in pragma.words:
            plan.apart.add(site.loop)
        elif pragma.name == "pipeline" and "off" in pragma.words:
            plan.off.add(site.loop)
        elif pragma.name == "pipeline":
            plan.pipelined[site.loop] = max(1, site.values.get("ii", 1))
            plan.timed |= {site.loop} if "ii" in site.values else set()
            plan.flushed |= {site.loop} if pragma.texts.get("style") == "flp" else set()
        elif pragma.name == "unroll" and "off" not in pragma.words:
            plan.unrolled[site.loop] = site.values.get("factor", 0)
    return plan


def _leave_to_callees(loop: Loop, module: Module, sites: Sites, plan: LoopPlan) -> None:
    """Where a loop calls a function that is pipelined as a whole, and other loops stand beside the call, the
    function is a pipeline of its own, and the loop is none."""
    asked = [one for one in sites.plain if one.loop == loop.node and one.pragma.name == "pipeline"]
    callees = {one.callee for one in asked if "off" not in one.pragma.words}
    if not callees or "" in callees:
        return
    within = [one for one in _below(loop) if plan.unrolled.get(one.node) != 0]
    theirs = [one for one in within if callees & set(_functions_around(module.loop_places.get(one.node)))]
    if len(theirs) == len(within):
        return
    plan.pipelined.pop(loop.node, None)
    plan.off.add(loop.node)
    for one in theirs:
        plan.unrolled[one.node] = 0


def _leave_to_copies(loop: Loop, function: Function, sites: Sites, plan: LoopPlan) -> None:
    """Where the pragma of a loop stands in a branch of it, a loop within has one of its own, and a loop
    around is unrolled: a constant of each copy takes one of the branches away, with the pragma in it, before
    the tool obeys it (Winterslife/FPGA-acceleration-for-Tensorized-Transformer-Training: II 1 in each of 32).
    """
    asked = [one for one in sites.plain if one.loop == loop.node and one.pragma.name == "pipeline"]
    if loop.node not in plan.pipelined or not all(is_passed_by(loop, one.block, function) for one in asked):
        return
    within = any(one.node in plan.pipelined for one in _below(loop))
    if within and any(plan.unrolled.get(one.node) == 0 for one in _above(loop)):
        plan.branched[loop.node] = plan.pipelined.pop(loop.node)


def _above(loop: Loop) -> Iterator[Loop]:
    above = loop.parent
    while above is not None:
        yield above
        above = above.parent


def _below(loop: Loop) -> Iterator[Loop]:
    for one in loop.inner:
        yield one
        yield from _below(one)


def _functions_around(place: Place | None) -> Iterator[str]:
    while place is not None:
        yield place.function
        place = place.inlined_at


def _obey(loop: Loop, function: Function, plan: LoopPlan, trips: int | None) -> None:
    """Loops that vanish for certain: of one iteration, of no more than their factor, within a pipeline.

    One of one iteration does so even where a pragma pipelines it, with the loops within it: the tool
    pipelines what is around (ayumiohno/mnist_depthwise_hls, 2022.1: II 4 of a nest around such a loop).
    """
    factor = plan.unrolled.get(loop.node, 0)
    if factor and trips is not None and factor >= trips:
        plan.unrolled[loop.node] = 0
    if trips == 1:
        if plan.pipelined.pop(loop.node, 0):
            plan.unrolled |= {one.node: 0 for one in _below(loop)}
        plan.unrolled[loop.node] = 0
    if _inside_pipeline(loop, plan) or function.name in plan.functions:
        plan.unrolled[loop.node] = 0  # whatever factor they name


def _inside_pipeline(loop: Loop, plan: LoopPlan) -> bool:
    return any(above.node in plan.pipelined for above in _above(loop))
