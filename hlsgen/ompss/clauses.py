"""The rules of the OmpSs-2@FPGA compiler, and of AIT behind it, for any C or C++ file.

From the compiler's table of clauses (OSS.td), its tests' expected errors and its wrapper generator, and from
AIT 8.1's own checks; messages are theirs where they have one. The compiler itself has not been met.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from hlsgen.ompss.parsing import (
    Clause,
    Directive,
    Function,
    Parameter,
    closing,
    definitions,
    directives,
    items,
    plain,
)

FPGA_ONLY = (
    "num_instances",
    "onto",
    "num_repetitions",
    "period",
    "affinity",
    "copy_deps",
    "copy_in",
    "copy_out",
    "copy_inout",
)
COPIES = ("copy_in", "copy_out", "copy_inout")
DEPENDENCES = (
    *("in", "out", "inout", "concurrent", "commutative", "reduction", "depend"),
    *("weakin", "weakout", "weakinout", "weakconcurrent", "weakcommutative"),
)
ONCE = (
    *("device", "num_instances", "onto", "num_repetitions", "period", "affinity", "copy_deps"),
    *("if", "final", "cost", "priority", "label", "wait", "onready", "ndrange"),
)
OTHERS = ("default", "shared", "private", "firstprivate", "shmem", "chunksize", "immediate", "microtask")
IGNORED = {
    "num_repetitions": "the compiler takes it, but always makes tasks that are not periodic",
    "period": "the compiler takes it, but always makes tasks that are not periodic",
    "data_dist": "is ignored without -fompss-imp",
    "owner": "is ignored without -fompss-imp",
}
OLD = ("localmem", "no_localmem_copies", "cache_size", "implements", "target", "copies")
"""The clauses of OmpSs-1 and Mercurium."""
NO_ARGUMENT = ("copy_deps", "wait")
KNOWN = {*FPGA_ONLY, *DEPENDENCES, *ONCE, *OTHERS, *IGNORED}

MOST_ARGUMENTS = 15
MOST_DEPENDENCES = 8
MOST_COPIES = 15
"""The most in a task: defaults of AIT's --max_args_per_task, --max_deps_per_task, --max_copies_per_task."""
MOST_TYPES = 16
"""Kinds of accelerators that the hardware runtime knows."""
CAST_BITS = 64
"""An element that is copied passes through a union with an unsigned long long."""
FPGA_TYPE = 0x100000000
ARCHITECTURES = 0x300000000
LARGEST_TYPE = 0x3FFFFFFFF


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A broken rule. `line` and `column` count from 1; `rule` is its short name."""

    line: int
    column: int
    rule: str
    message: str
    fix: str


class _Found(NamedTuple):
    """The same with a place in the text."""

    at: int
    rule: str
    message: str
    fix: str


def check_ompss(text: str) -> list[Finding]:
    """Every rule that the text of one source file breaks, in order."""
    text = text.replace("\r\n", "\n")
    code = plain(text)
    found = list(_found(text, code))
    places = sorted({(one.at, one.rule): one for one in found}.values(), key=lambda one: one.at)
    return [
        Finding(
            line=code.count("\n", 0, one.at) + 1,
            column=one.at - code.rfind("\n", 0, one.at),
            rule=one.rule,
            message=one.message,
            fix=one.fix,
        )
        for one in places
    ]


def _found(text: str, code: str) -> Iterator[_Found]:
    all_ = directives(code)
    tasks = [one for one in all_ if one.name == "task"]
    for directive in tasks:
        for rule in _RULES:
            yield from rule(directive)
    fpga = [one for one in tasks if _is_fpga(one) and one.function is not None and not one.inside]
    if fpga:
        yield from _includes(text, code)
        yield from _missing_bodies(code, fpga)
        yield from _creators(fpga, tasks)
        yield from _together(fpga)


def _is_fpga(directive: Directive) -> bool:
    return (directive.argument("device") or "").strip() == "fpga"


# ---------------------------------------------------------------- one directive


def _names(directive: Directive) -> Iterator[_Found]:
    seen: set[str] = set()
    for clause in directive.clauses:
        name = clause.name
        if name in OLD:
            message = f"'{name}' is a clause of OmpSs-1, which OmpSs-2@FPGA does not have"
            yield _Found(clause.at, "old-clause", message, "copy_deps, copy_in, copy_out or copy_inout")
        elif name not in KNOWN:
            message = f"'#pragma oss task' has no clause '{name}'"
            yield _Found(clause.at, "unknown-clause", message, f"leave {name} out")
        elif name in IGNORED:
            yield _Found(clause.at, "ignored-clause", f"{name} {IGNORED[name]}", f"leave {name} out")
        if name in seen and name in ONCE:
            message = f"directive '#pragma oss task' cannot contain more than one '{name}' clause"
            yield _Found(clause.at, "repeated-clause", message, "keep one of them")
        seen.add(name)


def _arguments(directive: Directive) -> Iterator[_Found]:
    for clause in directive.clauses:
        if clause.name in NO_ARGUMENT and clause.argument is not None:
            message = f"'{clause.name}' takes no argument"
            yield _Found(clause.at, "clause-argument", message, f"write {clause.name}")
        elif clause.name in KNOWN - set(NO_ARGUMENT) and not (clause.argument or "").strip():
            message = f"'{clause.name}' needs an argument in brackets"
            yield _Found(clause.at, "clause-argument", message, f"write {clause.name}(...)")


def _devices(directive: Directive) -> Iterator[_Found]:
    if _is_fpga(directive):
        return
    for clause in directive.named(*FPGA_ONLY):
        message = f"{clause.name} cannot be used with other devices than fpga"
        yield _Found(clause.at, "device", message, f"add device(fpga), or leave {clause.name} out")


def _placement(directive: Directive) -> Iterator[_Found]:
    """Where device(fpga) may stand."""
    if not _is_fpga(directive):
        return
    if directive.inside or directive.function is None:
        message = "device(fpga) is not supported in inline directives"
        yield _Found(directive.at, "inline", message, "make a function of it, with the pragma before it")
    elif directive.function.body is None:
        message = "#pragma oss task device(fpga)' can only be applied to functions with bodies for now"
        yield _Found(directive.function.at, "body", message, "put the pragma before the definition")


def _constants(directive: Directive) -> Iterator[_Found]:
    message = "Expected this to evaulate to a constant unsigned integer"
    parameters = _parameters(directive)
    for clause in directive.named("num_instances", "onto"):
        value = _value(clause.argument or "")
        variable = any(name in parameters for name in _identifiers(clause.argument or ""))
        if variable or (value is not None and value < (1 if clause.name == "num_instances" else 0)):
            yield _Found(clause.at, "constant", message, "a constant, at least 1")
    for name, clause, dimensions in _copied(directive):
        if name not in parameters:
            continue
        sizes = [*dimensions, *re.findall(r"\[([^\]]+)\]", parameters[name].type)]
        for size in sizes:
            value = _value(size)
            if any(one in parameters for one in _identifiers(size)) or (value is not None and value < 0):
                fix = f"a constant size for {name}, or no copy: a task may also work on it in place"
                yield _Found(clause.at, "constant", message, fix)


def _onto(directive: Directive) -> Iterator[_Found]:
    for clause in directive.named("onto"):
        value = _value(clause.argument or "")
        if value is None:
            continue
        if value & ARCHITECTURES == 0:
            message = "Architecture bits not set in the onto clause: 33 -> SMP arch, 32 -> FPGA arch"
            yield _Found(clause.at, "onto", message, f"0x{FPGA_TYPE + value:X}")
        elif value > LARGEST_TYPE:
            message = "Task type too wide: 2bits arch + 32bits hash"
            yield _Found(clause.at, "onto", message, f"0x{FPGA_TYPE + value % FPGA_TYPE:X}")


def _local_memory(directive: Directive) -> Iterator[_Found]:
    """What is copied into local memory."""
    parameters = _parameters(directive)
    for clause in directive.named(*COPIES):
        for item, _ in items(clause.argument or ""):
            if not item.startswith("["):
                message = (
                    "Expected this to be an array if it is intended to be placed in the local memory of the "
                    "FPGA. You might want to use the copy_deps, copy_in, copy_out and/or copy_inout "
                    "parameters in the oss task"
                )
                yield _Found(clause.at, "copied-array", message, f"write [SIZE]{item}")
    for name, clause, _ in _copied(directive):
        parameter = parameters.get(name)
        if parameter is None:
            if directive.function is not None:
                message = f"'{name}' is no parameter of the task's function, so it cannot be copied"
                yield _Found(clause.at, "copied-parameter", message, f"pass {name} to the function")
            continue
        if clause.name in ("out", "inout", "copy_out", "copy_inout") and _points_to_const(parameter):
            message = (
                "Out/inout localmem with const qualifier. This parameter can't be sent to the FPGA local "
                "memory if it is marked as const and as an out/inout. Consider removing const"
            )
            yield _Found(parameter.at, "const", message, f"remove const from {name}")
        wide = re.search(r"\bap_u?(?:int|fixed)\s*<\s*(\d+)", parameter.type)
        if wide is not None and int(wide.group(1)) > CAST_BITS:
            message = f"elements of '{name}' have {wide.group(1)} bits, and a copy keeps {CAST_BITS} of them"
            yield _Found(parameter.at, "copied-width", message, "no copy of it, or narrower elements")


def _limits(directive: Directive) -> Iterator[_Found]:
    if directive.function is None or not _is_fpga(directive):
        return
    dependences = {
        item for clause in directive.named(*DEPENDENCES) for item, _ in items(clause.argument or "")
    }
    copies = {name for name, _, _ in _copied(directive)}
    counts = (
        ("arguments", "args", len(directive.function.parameters), MOST_ARGUMENTS),
        ("dependences", "deps", len(dependences), MOST_DEPENDENCES),
        ("copies", "copies", len(copies), MOST_COPIES),
    )
    for what, option, count, most in counts:
        if count > most:
            message = f"task '{directive.function.name}' has {count} {what}, and the hardware takes {most}"
            fix = f"at most {most}, or AIT's option --max_{option}_per_task"
            yield _Found(directive.function.at, "limits", message, fix)


def _types(directive: Directive) -> Iterator[_Found]:
    """Types whose width differs between the host and the FPGA, and what the FPGA cannot do."""
    function = directive.function
    if function is None or not _is_fpga(directive):
        return
    parts = [(one.type, one.at) for one in function.parameters]
    parts.append((function.body or "", function.body_at))
    for text, at in parts:
        for word in re.finditer(r"\bsize_t\b|(?<!long )\blong\b(?!\s+(?:long|double)\b)", text):
            message = f"'{word.group()}' has another width on the FPGA than on the host"
            yield _Found(at + word.start(), "width", message, "int or long long")
        for word in re.finditer(r"#\s*pragma\s+oss\s+(taskyield|atomic)\b", text):
            message = f"{word.group(1)} is not supported in the FPGA's code"
            yield _Found(at + word.start(), "unsupported", message, f"leave {word.group(1)} out")


_RULES: tuple[Callable[[Directive], Iterator[_Found]], ...] = (
    _names,
    _arguments,
    _devices,
    _placement,
    _constants,
    _onto,
    _local_memory,
    _limits,
    _types,
)


# ---------------------------------------------------------------- the file


def _includes(text: str, code: str) -> Iterator[_Found]:
    for found in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', text, re.MULTILINE):
        name = found.group(1)
        commented = "include" not in code[found.start() : found.end()]
        if not commented and not name.endswith((".fpga.h", ".fpga")):
            message = f'only headers that end in .fpga.h reach the accelerator, and "{name}" does not'
            yield _Found(found.start(1), "include", message, "call it .fpga.h, or keep it out of this file")


def _missing_bodies(code: str, fpga: list[Directive]) -> Iterator[_Found]:
    with_body, without = definitions(code)
    for function in (one.function for one in fpga):
        assert function is not None
        for name in _called(function):
            if name in without and name not in with_body:
                message = (
                    "This function is depended by an fpga kernel, but we couldn't locate its body. Make sure "
                    "it is visible in this translation unit."
                )
                yield _Found(without[name], "missing-body", message, f"define {name} in this file")


def _creators(fpga: list[Directive], tasks: list[Directive]) -> Iterator[_Found]:
    names = {one.function.name for one in tasks if one.function is not None}
    for directive in fpga:
        function = directive.function
        assert function is not None
        creates = "taskwait" in (function.body or "") or bool(names & set(_called(function)))
        for clause in directive.named("copy_deps", *COPIES) if creates else []:
            message = f"task '{function.name}' creates tasks, so that it has no local memory to copy into"
            yield _Found(clause.at, "creator-copies", message, f"leave {clause.name} out")


def _together(fpga: list[Directive]) -> Iterator[_Found]:
    """AIT's checks of all accelerators."""
    types: dict[int, str] = {}
    names: set[str] = set()
    for number, directive in enumerate(fpga, start=1):
        function = directive.function
        assert function is not None
        type_ = _value(directive.argument("onto") or "")
        if type_ is not None and type_ in types:
            message = f"Two accelerators use the same type: '{type_}' (maybe you should use the onto clause)"
            yield _Found(directive.at, "same-type", message, f"another number than that of {types[type_]}")
        if function.name in names:
            message = f"Two accelerators use the same name: '{function.name}'"
            yield _Found(function.at, "same-name", message, "give each function its own name")
        if re.fullmatch("[A-Za-z][A-Za-z0-9_]*", function.name) is None:
            message = f"'{function.name}' is an invalid accelerator name. Must start with a letter"
            yield _Found(function.at, "name", message, "a name that starts with a letter")
        if number == MOST_TYPES + 1:
            message = f"Max number of accelerator types supported by POM is 16, but design has {len(fpga)}"
            yield _Found(directive.at, "types", message, "fewer kinds of FPGA tasks")
        types |= {} if type_ is None else {type_: function.name}
        names.add(function.name)


# ---------------------------------------------------------------- expressions


def _parameters(directive: Directive) -> dict[str, Parameter]:
    return {} if directive.function is None else {one.name: one for one in directive.function.parameters}


def _copied(directive: Directive) -> Iterator[tuple[str, Clause, list[str]]]:
    """Array sections that go to local memory: the name, the clause that says how, the sizes."""
    clauses = directive.named(*COPIES)
    if directive.named("copy_deps"):
        clauses += directive.named(*DEPENDENCES)
    for clause in clauses:
        for item, _ in items(clause.argument or ""):
            sizes = []
            while item.startswith("["):
                close = closing(item, 0)
                if not close:
                    break
                sizes.append(item[1 : close - 1])
                item = item[close:].strip()
            if sizes and re.fullmatch(r"\w+", item):
                yield item, clause, sizes


def _points_to_const(parameter: Parameter) -> bool:
    """Whether what the pointer or array leads to is constant; `int *const` is not."""
    return re.search(r"\bconst\b", parameter.type.split("*")[0].split("[")[0]) is not None


def _identifiers(expression: str) -> list[str]:
    return re.findall(r"(?<![\w:])[A-Za-z_]\w*(?!\s*::)", expression)


def _called(function: Function) -> list[str]:
    return re.findall(r"\b([A-Za-z_]\w*)\s*\(", function.body or "")


def _value(expression: str) -> int | None:
    """The value of a literal; None: it is an expression."""
    word = re.fullmatch(r"\s*(-?)\s*(0[xX][0-9a-fA-F]+|\d+)[uUlL]*\s*", expression)
    if word is None:
        return None
    value = int(word.group(2), 16 if word.group(2)[:2].lower() == "0x" else 10)
    return -value if word.group(1) else value
