"""From the IR of a kernel to what is said of its loops."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence

from hlsgen.base.errors import DesignError, Problem
from hlsgen.schedule import optimise
from hlsgen.schedule.areas import Areas
from hlsgen.schedule.balance import balance
from hlsgen.schedule.component import Target
from hlsgen.schedule.control_flow import Loop, loops_of, reverse_postorder
from hlsgen.schedule.front_end import FrontEnd
from hlsgen.schedule.inferred import infer_partitions, infers_partitions
from hlsgen.schedule.ir import ArrayType, Function, Module
from hlsgen.schedule.ir_reader import read_module
from hlsgen.schedule.memories import Memories, memories_of, shapes_of
from hlsgen.schedule.parts import FunctionParts, address_only, function_parts
from hlsgen.schedule.places import LOOP_NAME
from hlsgen.schedule.plan import LoopPlan, plan_of
from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.ranges import Ranges
from hlsgen.schedule.region import RegionBuilder
from hlsgen.schedule.results import KernelSchedule, LoopSchedule, merged
from hlsgen.schedule.sites import HERE, PLAIN, Site, Sites, sites_of, without_marks
from hlsgen.schedule.statics import localised
from hlsgen.schedule.usage import usage_of
from hlsgen.schedule.verdict import Verdict

DEFAULT_BUNDLE = "gmem"
"""The AXI port of pointer arguments without an interface, in the flow of kernels."""
FULL = '!{!"llvm.loop.unroll.full"}'


def schedule_ir(front: FrontEnd, top: str, target: Target, *, careful: bool = False) -> KernelSchedule:
    """What is said of the loops of a kernel: of the function `top`, or of all that nothing calls if it is
    empty.

    Raises DesignError if there is no such function.
    """
    begun = time.perf_counter()
    text, pragmas = front.ir, front.pragmas
    tops = _tops(text, top)
    whole = _pipelined_functions(text, pragmas)
    inlined = localised(optimise.inline(text, [*tops, *whole]))
    before = read_module(inlined)
    sites = sites_of(before, pragmas)
    bundle = DEFAULT_BUNDLE if target.kernel_flow else ""
    plan = plan_of(before, sites, whole, bundle)
    unrolled = optimise.unroll(
        without_marks(inlined, _loop_metadata(before, plan), _kept(before, sites)), careful=careful
    )
    after = read_module(unrolled)
    for function in after.functions.values():
        balance(function, after, pragmas, address_only(function))
    shapes = shapes_of(before)
    loops: list[LoopSchedule] = []
    parts: list[FunctionParts] = []
    for function in after.functions.values():
        memories = memories_of(after, function, sites, bundle, shapes)
        found, part = _of_function(function, after, sites, memories, plan, target)
        loops += found
        parts += part
    return KernelSchedule(
        kernel=top or ", ".join(_source_name(name) for name in tops),
        loops=merged(sorted(loops, key=_order)),
        part=target.part,
        version=target.version,
        clock_ns=target.clock_ns,
        budget_ns=target.delays.budget_ns,
        instructions=sum(1 for function in after.functions.values() for _ in function.instructions()),
        seconds=front.seconds + time.perf_counter() - begun,
        dropped=front.dropped,
        usage=usage_of(parts, pragmas, Areas(delays=target.delays), kernel_flow=target.kernel_flow),
    )


def _source_name(name: str) -> str:
    """The name of a function in the source, of the name that C++ gives it in the IR."""
    found = re.match(r"_Z(\d+)", name)
    return name[found.end() : found.end() + int(found[1])] if found else name


def _order(loop: LoopSchedule) -> tuple[str, int]:
    return (loop.place.file, loop.place.line) if loop.place else ("", 0)


_DEFINED = re.compile(
    r"^define (?P<how>[^@\n]*)@(?:\"(?P<quoted>[^\"]+)\"|(?P<name>[-\w$.]+))\(", re.MULTILINE
)


def _tops(text: str, top: str) -> list[str]:
    """The functions of the IR that are kernels, by their names there, where C++ names are mangled."""
    defined = [(one["quoted"] or one["name"], one["how"]) for one in _DEFINED.finditer(text)]
    if not top:
        called = set(re.findall(r"call [^@\n]*@([-\w$.]+)\(", text))
        return [
            name
            for name, how in defined
            if name not in called and "internal" not in how and "linkonce" not in how
        ]
    mangled = f"_Z{len(top)}{top}"
    found = [name for name, _ in defined if name == top]
    found = found or [name for name, _ in defined if name.startswith(mangled)]
    found = found or [name for name, _ in defined if f"{len(top)}{top}" in name and name.startswith("_ZN")]
    if not found:
        message = f"the files define no function {top}"
        raise DesignError(
            Problem(message=message, fix="name the function that becomes the kernel with --top")
        )
    return found[:1]


def _pipelined_functions(text: str, pragmas: Sequence[Pragma]) -> dict[str, int]:
    """The functions that ask to be pipelined as a whole, and are called in no loop."""
    asked = {pragma.index for pragma in pragmas if pragma.name == "pipeline" and "off" not in pragma.words}
    site = re.compile(rf"@(?:{PLAIN}|{HERE}\w*)\(i32 (?:noundef )?(\d+)")
    found: dict[str, int] = {}
    types = "".join(re.findall(r"^%.* = type .*\n", text, re.MULTILINE))
    bodies = re.findall(r"^define .*?^\}$", text, re.MULTILINE | re.DOTALL)
    for body in bodies:
        if not any(int(number) in asked for number in site.findall(body)):
            continue
        module = read_module(types + body)
        for one in sites_of(module, pragmas).plain:
            if one.loop < 0 and not _in_loop(one, module) and one.pragma.index in asked:
                found[one.function] = one.values.get("ii", 1)
    called = [name for name in found if any(_called_in_loop(name, body, types) for body in bodies)]
    return {name: ii for name, ii in found.items() if name not in called}


def _in_loop(site: Site, module: Module) -> bool:
    return site.loop >= 0 or site.function not in module.functions


def _called_in_loop(name: str, body: str, types: str) -> bool:
    if f"@{name}(" not in body.split("\n", 1)[1] and f'@"{name}"(' not in body:
        return False
    function = next(iter(read_module(types + body).functions.values()))
    inside = set().union(*(loop.blocks for loop in loops_of(function)), set())
    return any(block.name in inside and one.callee == name for block, one in function.instructions())


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


def _of_function(
    function: Function, module: Module, sites: Sites, memories: Memories, plan: LoopPlan, target: Target
) -> tuple[list[LoopSchedule], list[FunctionParts]]:
    if not function.blocks:
        return [], []
    loops = loops_of(function)
    entry = next(iter(function.blocks))
    order = reverse_postorder(entry, {name: block.successors for name, block in function.blocks.items()})
    ranges = Ranges(function, order, loops, module.variables)
    builder = RegionBuilder(function, memories, ranges, loops)
    verdicts = [
        Verdict(builder, loop, module, sites, asked, target.delays, automatic=automatic)
        for loop, asked, automatic in _pipelines(function, loops, module, plan)
    ]
    if infers_partitions(target.version) and infer_partitions(memories, verdicts):
        verdicts = [verdict.again() for verdict in verdicts]
    results = [verdict.result() for verdict in verdicts]
    pipelined = {id(verdict.loop) for verdict in verdicts}
    others = [
        Verdict(builder, loop, module, sites, 1, target.delays)
        for loop in [None, *loops]
        if id(loop) not in pipelined
    ]
    parts = [verdict.part(pipelined=True) for verdict in verdicts]
    parts += [verdict.part(pipelined=False) for verdict in others]
    return results, [function_parts(function, module, memories, sites, parts)]


def _pipelines(
    function: Function, loops: Sequence[Loop], module: Module, plan: LoopPlan
) -> Iterator[tuple[Loop | None, int, bool]]:
    """The loops that are pipelined, with the II that is asked for and whether no pragma asks; None: the
    function."""
    if function.name in plan.functions:
        yield None, plan.functions[function.name], False
    for loop in loops:
        name = module.loop_names.get(loop.node, -1)
        asked = plan.pipelined.get(name)
        if asked is not None:
            yield loop, asked, False
        elif not (loop.inner or name in plan.off or _inner_of_pipelined(loop, module, plan)):
            yield loop, 1, True


def _inner_of_pipelined(loop: Loop, module: Module, plan: LoopPlan) -> bool:
    above = loop.parent
    while above is not None:
        if module.loop_names.get(above.node, -1) in plan.pipelined:
            return True
        above = above.parent
    return False
