"""From the IR of a part of a kernel to what is said of its loops."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from hlsgen.schedule import optimise
from hlsgen.schedule.areas import Areas
from hlsgen.schedule.balance import balance
from hlsgen.schedule.begun_anew import flattens_imperfect, flattens_writes
from hlsgen.schedule.bursts import port_rules
from hlsgen.schedule.component import Target
from hlsgen.schedule.confidence import likely_at_most, stands_within, trusted
from hlsgen.schedule.constant_indices import split_constant_dimensions
from hlsgen.schedule.control_flow import Loop, loops_of, reverse_postorder
from hlsgen.schedule.declared_memories import memories_of
from hlsgen.schedule.dependences import tells_chosen_apart
from hlsgen.schedule.equal_counters import tells_equal
from hlsgen.schedule.filled_tables import with_filled_tables
from hlsgen.schedule.first_calls import with_first_calls
from hlsgen.schedule.given_memories import given_memories
from hlsgen.schedule.hoisting import keeps_word
from hlsgen.schedule.inferred import infer_partitions, infers_partitions, without_copies
from hlsgen.schedule.ir import ArrayType, Function, Module
from hlsgen.schedule.ir_reader import read_module
from hlsgen.schedule.known_bounds import with_bounds_in_front
from hlsgen.schedule.memories import Memories
from hlsgen.schedule.names import function_name
from hlsgen.schedule.nest_counters import compares_before
from hlsgen.schedule.nests import FlatNests
from hlsgen.schedule.overwritten import bases_written
from hlsgen.schedule.padding import padding_cleared
from hlsgen.schedule.places import LOOP_NAME
from hlsgen.schedule.plan import LoopPlan, plan_of
from hlsgen.schedule.pragma_releases import understood
from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.predefined import FIRST_VITIS
from hlsgen.schedule.processes import ELSEWHERE, Part
from hlsgen.schedule.ranges import Ranges
from hlsgen.schedule.region import RegionBuilder
from hlsgen.schedule.releases import release_of
from hlsgen.schedule.results import LoopSchedule, PartSchedule
from hlsgen.schedule.scheduled_regions import FunctionRegions, address_only, function_regions
from hlsgen.schedule.shapes import shapes_of
from hlsgen.schedule.sites import Sites, sites_of, without_marks
from hlsgen.schedule.source_functions import SourceFunction, SourceFunctions, named
from hlsgen.schedule.statics import localised
from hlsgen.schedule.struct_scalars import with_scalars_apart
from hlsgen.schedule.unrolled_size import says_size, says_too_large, unrolled_instructions
from hlsgen.schedule.usage import usage_of_part
from hlsgen.schedule.verdict import Verdict

DEFAULT_BUNDLE = "gmem"
"""The AXI port of pointer arguments without an interface, in the flow of kernels."""
FULL = '!{!"llvm.loop.unroll.full"}'


def schedule_part(
    part: Part, pragmas: Sequence[Pragma], target: Target, *, careful: bool = False
) -> PartSchedule:
    """What is said of the loops of one part of a kernel.

    One that is too large is scheduled with each function's first call alone, and else not. `careful` leaves
    out the pass of LLVM that is known to end the process on some code.
    """
    whole = {part.root: part.interval} if part.interval else {}
    inlined = with_scalars_apart(localised(optimise.inline(part.ir, [part.root])))
    before = read_module(inlined)
    computed = with_filled_tables(inlined, before)
    if computed != inlined:
        inlined, before = computed, read_module(computed)
    sites = understood(sites_of(before, pragmas), target.version, kernel_flow=target.kernel_flow)
    port = DEFAULT_BUNDLE if target.kernel_flow else ""
    bundle = port if part.given is None else ""
    given = given_memories(part.given or (), target.version, port)
    plan = plan_of(
        before,
        sites,
        whole,
        bundle,
        target.version,
        lambda: read_module(optimise.simplify(inlined)),
        unrolls_unasked=target.pipelines_unasked,
    )
    name, size = function_name(part.root), unrolled_instructions(before, plan)
    too_large = says_too_large(name, size)
    if too_large and (fewer := with_first_calls(part.ir, pragmas)) != part.ir:
        smaller = schedule_part(replace(part, ir=fewer), pragmas, target, careful=careful)
        return replace(smaller, by_first_calls=says_size(name, size))
    if too_large:
        return PartSchedule(
            loops=(),
            instructions=0,
            usage=usage_of_part([], pragmas, Areas(delays=target.delays), part.lines),
            too_large=too_large,
        )
    kept = _kept(before, sites)
    bounded = with_bounds_in_front(inlined, before, plan.unrolled)
    unmarked = without_marks(bounded, _loop_metadata(before, plan), kept, plan.functions)
    unrolled = optimise.unroll(padding_cleared(unmarked, before, kept), careful=careful)
    after = read_module(unrolled)
    for function in after.functions.values():
        balance(function, after, pragmas, address_only(function))
    shapes = shapes_of(before)
    loops: list[LoopSchedule] = []
    functions: list[FunctionRegions] = []
    for function in after.functions.values():
        memories = memories_of(after, function, sites, bundle, shapes, given)
        if part.lines:
            memories.share()
        flows = SourceFunctions(function, after).around(named(pragmas, "dataflow"))
        lost = bases_written(before.functions[function.name]) - bases_written(function)
        found, made_of = _of_function(function, after, sites, memories, plan, target, flows, lost)
        loops += found
        functions += made_of
    return PartSchedule(
        loops=tuple(loop for loop in loops if _is_of_part(loop, part)),
        instructions=sum(1 for function in after.functions.values() for _ in function.instructions()),
        usage=usage_of_part(functions, pragmas, Areas(delays=target.delays), part.lines),
        lost=sites.without_variable,
    )


def _is_of_part(loop: LoopSchedule, part: Part) -> bool:
    """Whether a loop is within the calls that a part is about."""
    outermost = loop.place
    while outermost is not None and outermost.inlined_at is not None:
        outermost = outermost.inlined_at
    return not part.lines or outermost is None or outermost.line in part.lines


def _loop_metadata(module: Module, plan: LoopPlan) -> dict[int, list[str]]:
    metadata: dict[int, list[str]] = {}
    for function in module.functions.values():
        for loop in loops_of(function):
            if loop.node < 0:
                continue
            asked = metadata.setdefault(loop.node, [f'!{{!"{LOOP_NAME}", i64 {loop.node}}}'])
            factor = plan.unrolled.get(loop.node)
            if factor == 0:
                asked.append(FULL)
            elif factor is not None and factor > 1:
                asked.append(f'!{{!"llvm.loop.unroll.count", i32 {factor}}}')
    return metadata


def _kept(module: Module, sites: Sites) -> dict[str, list[str]]:
    """The arrays that stay arrays: memories that no pragma splits into registers."""
    kept: dict[str, list[str]] = {}
    for function in module.functions.values():
        arrays = {
            one.name
            for _, one in function.instructions()
            if one.opcode == "alloca" and isinstance(one.source, ArrayType)
        }
        for base, memories in memories_of(module, function, sites).by_base.items():
            if base.name in arrays and any(memory.depth > 1 for memory in memories):
                kept.setdefault(function.name, []).append(base.name)
    return kept


INITIALISERS = ("arrayinit.", "arrayctor.", "array.cons.")
"""How Clang names the loops that it makes of `ap_int<8> words[64] = {0};`: the report has no such
pipeline, nor writes that keep copies away (devanshj1996/FPGA-Final-project-Federated-Learning, 2022.1)."""


def _of_function(
    function: Function,
    module: Module,
    sites: Sites,
    memories: Memories,
    plan: LoopPlan,
    target: Target,
    dataflows: Collection[SourceFunction],
    lost: Collection[str],
) -> tuple[list[LoopSchedule], list[FunctionRegions]]:
    if not function.blocks:
        return [], []
    loops = loops_of(function)
    entry = next(iter(function.blocks))
    order = reverse_postorder(entry, {name: block.successors for name, block in function.blocks.items()})
    ranges = Ranges(function, order, loops, module.variables)
    ports = {base.name for base, found in memories.by_base.items() if any(one.bundle for one in found)}
    builder = RegionBuilder(
        function,
        memories,
        ranges,
        loops,
        FlatNests(
            function,
            ranges.trips,
            stays=lambda loop: module.loop_names.get(loop.node, -1) in plan.apart,
            keeps_word=lambda parent, inner: keeps_word(function, parent, inner, builder.addresses, ports),
        ),
        writes_registers=target.delays.writes_registers(sum(loop.parent is None for loop in loops)),
        compares_before=compares_before(target.version),
        ports=port_rules(target.version, kernel_flow=target.kernel_flow, widest_bits=target.axi_widest_bits),
        flattens_imperfect=flattens_imperfect(target.version),
        flattens_writes=flattens_writes(target.version),
        tells_chosen=tells_chosen_apart(target.version),
        tells_equal=tells_equal(target.version),
        lost=lost,
    )
    split_constant_dimensions(function, memories, builder.addresses)
    verdicts = [
        Verdict(builder, loop, module, sites, asked, target.delays, automatic=automatic, timed=timed)
        for loop, asked, automatic, timed in _pipelines(function, loops, module, plan)
        if not automatic or (target.pipelines_unasked and release_of(target.version) >= FIRST_VITIS)
    ]
    partly = {node for node, factor in plan.unrolled.items() if factor > 1}
    while infers_partitions(target.version) and (split := infer_partitions(memories, verdicts, partly)):
        verdicts = [
            verdict if split.isdisjoint(verdict.region.accesses) else verdict.again() for verdict in verdicts
        ]
    without_copies(verdicts, dataflows)
    asked = [verdict.loop for verdict in verdicts if not verdict.automatic]
    flushed = {id(loop) for loop in loops if module.loop_names.get(loop.node, -1) in plan.flushed}
    results = [
        likely_at_most(
            trusted(verdict.result()),
            instead=stands_within(verdict.loop, asked),
            flushed=id(verdict.loop) in flushed and verdict.leaves_words,
        )
        for verdict in verdicts
    ]
    pipelined = {id(verdict.loop) for verdict in verdicts}
    others = [
        Verdict(builder, loop, module, sites, 1, target.delays)
        for loop in [None, *loops]
        if id(loop) not in pipelined
    ]
    parts = [verdict.part(pipelined=True) for verdict in verdicts]
    parts += [verdict.part(pipelined=False) for verdict in others]
    return results, [function_regions(builder, module, sites, parts)]


def _pipelines(
    function: Function, loops: Sequence[Loop], module: Module, plan: LoopPlan
) -> Iterator[tuple[Loop | None, int, bool, bool]]:
    """The loops that are pipelined, with the II that is asked for, whether no pragma asks, and whether one
    names the II; None: the function. Those that stay within a pipeline the tool pipelines in its
    place. Vivado HLS pipelines none unasked (2020.1: the logs of four of hftsoi/sparse-pixels)."""
    if function.name in plan.functions:
        yield None, plan.functions[function.name], False, True
    for loop in loops:
        name = module.loop_names.get(loop.node, -1)
        asked = plan.pipelined.get(name, None if loop.inner else plan.branched.get(name))
        if asked is not None:
            yield loop, asked, False, name in plan.timed
        elif not (
            loop.inner
            or name in plan.off
            or loop.header.startswith(INITIALISERS)
            or _calls_elsewhere(loop, function)
        ):
            yield loop, 1, True, False


def _calls_elsewhere(loop: Loop, function: Function) -> bool:
    """Whether loops stand in a loop by a call that was left out (first_calls.py)."""
    inside = (one for name in loop.blocks for one in function.blocks[name].instructions)
    return any(one.callee.endswith(ELSEWHERE) for one in inside)
