"""A kernel with each function's first call alone, where all of them would make it too large.

A network written by hand calls one function for each of its layers. The tool makes a module of it, which all
calls share; here each call is a copy, which its arguments specialise. Of functions with loops that another
calls several times, the first call stays, others become calls of what is not known; not those in pipelines,
whose iterations are made of all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from hlsgen.schedule.control_flow import loops_of
from hlsgen.schedule.ir import Function, Module
from hlsgen.schedule.ir_reader import read_module
from hlsgen.schedule.ir_text import ModuleText, declaration, module_text
from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.processes import CALLEE, ELSEWHERE, LOOP
from hlsgen.schedule.sites import sites_of


def with_first_calls(ir: str, pragmas: Sequence[Pragma]) -> str:
    """The module in which no function calls another with loops twice, but from a pipeline; the same text
    where none does."""
    text = module_text(ir)
    with_loops = {
        name for name in text.functions if any(LOOP in text.functions[one] for one in text.callees(name))
    }
    found = ir
    left_out: set[str] = set()
    for name, body in text.functions.items():
        first, names = _first_calls(text, name, with_loops, pragmas)
        if names:
            found = found.replace(body, first, 1)
            left_out |= names
    declared = [
        declaration(text.functions[name], f"{name}{ELSEWHERE}")
        for name in sorted(left_out)
        if f"@{name}{ELSEWHERE}" not in text.symbols
    ]
    return "\n".join([found, *declared, ""]) if left_out else ir


def _first_calls(
    text: ModuleText, caller: str, with_loops: Set[str], pragmas: Sequence[Pragma]
) -> tuple[str, set[str]]:
    """A function's body with first calls alone, and the functions whose other calls were left out."""
    body = text.functions[caller]
    calls = [found["name"].strip('"') for found in CALLEE.finditer(body)]
    if all(calls.count(name) < 2 for name in with_loops & set(calls)):
        return body, set()
    module = read_module(text.alone(caller))
    function = next(iter(module.functions.values()))
    inside = _pipelined_blocks(function, module, pragmas)
    in_pipeline = [block.name in inside for block, one in function.instructions() if one.callee in with_loops]
    at = 0
    seen: set[str] = set()
    left_out: set[str] = set()

    def renamed(found: re.Match[str]) -> str:
        nonlocal at
        name = found["name"].strip('"')
        if name not in with_loops:
            return found[0]
        at += 1
        if in_pipeline[at - 1] or name not in seen:
            seen.add(name)
            return found[0]
        left_out.add(name)
        return f'{found["call"]}@"{name}{ELSEWHERE}"('

    return CALLEE.sub(renamed, body), left_out


def _pipelined_blocks(function: Function, module: Module, pragmas: Sequence[Pragma]) -> set[str]:
    """The blocks of loops that ask to be pipelined; all of them where the function asks for it."""
    sites = sites_of(module, pragmas)
    if any(one.pragma.name == "pipeline" and one.loop < 0 for one in sites.plain):
        return set(function.blocks)
    asked = sites.of_loops("pipeline")
    return set().union(*(loop.blocks for loop in loops_of(function) if loop.node in asked), set())
