"""The IR of a kernel cut into modules that are scheduled one by one.

The processes of a dataflow region share no iteration: the vendor's compiler schedules each as a module of
its own, and so is it here. A part is the kernel's function with the calls of one process; the calls of others
stay calls of what is not known, so that what they store is not known either.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hlsgen.base.errors import DesignError, Problem
from hlsgen.schedule.control_flow import loops_of
from hlsgen.schedule.given_arrays import Given, given_arrays
from hlsgen.schedule.ir_reader import read_module
from hlsgen.schedule.ir_text import ModuleText, declaration, linkage_of, module_text
from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.sites import HERE, PLAIN, sites_of

ELSEWHERE = ".elsewhere"
"""How the name of a process ends where another part is about it."""
_LINE = re.compile(r"\bline: (\d+)")
CALLEE = re.compile(r"(?P<call>\bcall [^@]*)@(?P<name>\"[^\"]+\"|[-\w$.]+)\(")
LOOP = "!llvm.loop"


@dataclass(frozen=True, kw_only=True)
class Part:
    """A module with one function that is scheduled.

    lines: where the function calls what the part is about; empty if it is about all of it. interval: the II
    that is asked for where the function is pipelined as a whole, else 0. given: what its caller gives it;
    None if it is the kernel's own function, which has no caller.
    """

    ir: str
    root: str
    lines: frozenset[int] = frozenset()
    interval: int = 0
    given: tuple[Given, ...] | None = None


def parts_of(ir: str, top: str, pragmas: Sequence[Pragma]) -> list[Part]:
    """The parts of a module: of the function `top`, or of all that nothing calls if it is empty, and of the
    functions that are pipelined as a whole.

    Raises DesignError if there is no such function.
    """
    text = module_text(ir)
    tops = _tops(text, top)
    whole = _pipelined_functions(text, pragmas)
    elsewhere = {name: declaration(text.functions[name], name) for name in whole}
    used = set().union(*(text.callees(name) for name in tops))
    roots = [name for name in whole if name in used and name not in tops]
    given: dict[str, tuple[Given, ...]] = {}
    for top in reversed(tops if roots else ()):
        given |= given_arrays(text, top, roots, pragmas)
    found = []
    for root in [*tops, *roots]:
        others = {name: line for name, line in elsewhere.items() if name != root}
        parts = _parts_of_function(text, root, others, whole.get(root, 0), pragmas)
        found += [part if root in tops else replace(part, given=given.get(root, ())) for part in parts]
    return found


def _tops(text: ModuleText, top: str) -> list[str]:
    """The functions of the IR that are kernels, by their names there, where C++ names are mangled."""
    if not top:
        called = {found["name"].strip('"') for body in text.functions.values() for found in _calls(body)}
        hidden = ("internal", "linkonce")
        return [
            name
            for name, body in text.functions.items()
            if name not in called
            and "basic_ostream" not in name  # prints a type of the kernel's, and is never called here
            and not any(word in linkage_of(body) for word in hidden)
        ]
    mangled = f"_Z{len(top)}{top}"
    found = [name for name in text.functions if name == top]
    found = found or [name for name in text.functions if name.startswith(mangled)]
    found = found or [
        name for name in text.functions if f"{len(top)}{top}" in name and name.startswith("_ZN")
    ]
    if not found:
        message = f"the files define no function {top}"
        raise DesignError(
            Problem(message=message, fix="name the function that becomes the kernel with --top")
        )
    return found[:1]


def _calls(body: str) -> Iterator[re.Match[str]]:
    return CALLEE.finditer(body)


def _asked(body: str, pragmas: Sequence[Pragma], name: str) -> bool:
    """Whether a function's body has a mark of that pragma, which is not off."""
    return any(
        pragmas[int(found[1])].name == name and "off" not in pragmas[int(found[1])].words
        for found in _MARK.finditer(body)
    )


_MARK = re.compile(rf"@(?:{PLAIN}|{HERE}\w*)\(i32 (?:noundef )?(\d+)")


def _of_function(
    text: ModuleText, name: str, pragmas: Sequence[Pragma], pragma: str
) -> Mapping[str, int] | None:
    """The values of a pragma that stands in a function but in none of its loops; None if none does."""
    if not _asked(text.functions[name], pragmas, pragma):
        return None
    for site in sites_of(read_module(text.alone(name)), pragmas).plain:
        if site.loop < 0 and site.pragma.name == pragma and "off" not in site.pragma.words:
            return site.values
    return None


def _pipelined_functions(text: ModuleText, pragmas: Sequence[Pragma]) -> dict[str, int]:
    """The functions that ask to be pipelined as a whole, with their II.

    Not those that a loop calls, nor those that a pipelined loop or another such function calls by way of
    others: they are a part of that pipeline.
    """
    found: dict[str, int] = {}
    for name in text.functions:
        values = _of_function(text, name, pragmas, "pipeline")
        if values is not None:
            found[name] = values.get("ii", 1)
    return {name: ii for name, ii in found.items() if not _is_within(name, text, pragmas, frozenset(found))}


def _is_within(name: str, text: ModuleText, pragmas: Sequence[Pragma], pipelined: frozenset[str]) -> bool:
    """Whether a loop calls a function, or a pipeline does by way of others."""
    if _loops_that_call(name, text, pragmas, all_loops=True):
        return True
    waiting, seen = [name], {name}
    while waiting:
        called = waiting.pop()
        callers = {one for one in _callers(called, text) if one not in seen}
        if callers & pipelined or _loops_that_call(called, text, pragmas, all_loops=False):
            return True
        seen |= callers
        waiting += sorted(callers)
    return False


def _callers(name: str, text: ModuleText) -> Iterator[str]:
    call = re.compile(rf"@\"?{re.escape(name)}\"?\(")
    return (one for one, body in text.functions.items() if one != name and call.search(body))


def _loops_that_call(name: str, text: ModuleText, pragmas: Sequence[Pragma], *, all_loops: bool) -> bool:
    """Whether a loop calls a function itself; without `all_loops` one that asks to be pipelined."""
    for caller in _callers(name, text):
        module = read_module(text.alone(caller))
        function = next(iter(module.functions.values()))
        asked = sites_of(module, pragmas).of_loops("pipeline")
        loops = [loop for loop in loops_of(function) if all_loops or loop.node in asked]
        inside = set().union(*(loop.blocks for loop in loops), set())
        if any(block.name in inside and one.callee == name for block, one in function.instructions()):
            return True
    return False


def _parts_of_function(
    text: ModuleText, root: str, elsewhere: Mapping[str, str], interval: int, pragmas: Sequence[Pragma]
) -> Iterator[Part]:
    body = text.functions[root]
    processes = _processes(text, root, elsewhere, pragmas)
    declared = dict(elsewhere)
    for name in processes:
        declared[f"{name}{ELSEWHERE}"] = declaration(text.functions[name], f"{name}{ELSEWHERE}")
    yield Part(ir=text.part(root, _without(body, set(processes)), declared), root=root, interval=interval)
    for name, lines in processes.items():
        ir = text.part(root, _without(body, processes.keys() - {name}), declared)
        yield Part(ir=ir, root=root, lines=lines, interval=interval)


def _processes(
    text: ModuleText, root: str, elsewhere: Mapping[str, str], pragmas: Sequence[Pragma]
) -> dict[str, frozenset[int]]:
    """The functions with loops that a dataflow region calls, with the lines of their calls.

    None where a loop of the region's own calls one, or one line calls two.
    """
    if _of_function(text, root, pragmas, "dataflow") is None:
        return {}
    function = next(iter(read_module(text.alone(root)).functions.values()))
    inside = set().union(*(loop.blocks for loop in loops_of(function)), set())
    found: dict[str, set[int]] = defaultdict(set)
    for block, one in function.instructions():
        name = one.callee
        if name not in text.functions or name in elsewhere or name == root:
            continue
        if not any(LOOP in text.functions[callee] for callee in text.callees(name)):
            continue
        line = _LINE.search(text.nodes.get(one.place, ""))
        if block.name in inside or line is None:
            return {}
        found[name].add(int(line[1]))
    every = [line for lines in found.values() for line in lines]
    return {} if len(every) != len(set(every)) else {name: frozenset(lines) for name, lines in found.items()}


def _without(body: str, processes: set[str]) -> str:
    """The body with calls of some functions made calls of what has no body."""

    def renamed(found: re.Match[str]) -> str:
        name = found["name"].strip('"')
        return f'{found["call"]}@"{name}{ELSEWHERE}"(' if name in processes else found[0]

    return CALLEE.sub(renamed, body) if processes else body
