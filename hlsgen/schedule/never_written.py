"""Tables of numbers that nothing writes, though nothing in the source calls them const.

The weights of hls4ml's networks are such: `weight2_t w2[150] = {...}`, given to functions that could take any
others. The vendor's compiler sees the whole kernel and takes them for what they are, so that a product by one
of them is one by a constant. A function that a variable points to is one, too: how trees compare, in the
kernels of conifer.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping

from hlsgen.schedule.ir_text import cut, module_text
from hlsgen.schedule.readers import uses_of
from hlsgen.schedule.sites import is_mark

_SYMBOL = r"\"[^\"]+\"|[-\w$.]+"
_TABLE = re.compile(
    rf"^@(?P<name>(?!llvm\.)(?:{_SYMBOL})) = (?:[a-z_]+ )*global (?=[\[{{<%]|ptr @)", re.MULTILINE
)
_CONSTANT = re.compile(rf"^@({_SYMBOL}) = (?:[a-z_]+ )*constant ", re.MULTILINE)
_CALL = re.compile(rf" call [^@\n]*@({_SYMBOL})\((.*)\)", re.MULTILINE)
_HEADER = re.compile(rf"^define [^@\n]*@(?P<name>{_SYMBOL})\((?P<arguments>.*)\)[^()]*\{{$")
_LOCAL = re.compile(r"%([-\w$.]+)")
_MARK = re.compile(r" call void @(?:__hls_mark|_ZN9hls_marks)")
_TELL_USES = ("sroa", "post_order_function_attributes")
_FIND_CONSTANTS = ("always_inliner", "sroa", "sccp", "instruction_combine", "global_opt")
_FIND_ARGUMENTS = ("sroa", "ipsccp")


def with_constant_tables(ir: str) -> str:
    """The module with global arrays and structures that nothing writes as constants, and with their names in
    functions that are always called with them.

    Raises ValueError.
    """
    tables = {found["name"] for found in _TABLE.finditer(ir) if " external " not in found[0]}
    if not tables:
        return ir
    constant = _only_read(ir, frozenset(tables))
    if not constant:
        return ir
    changed = _TABLE.sub(lambda found: _as_constant(found) if found["name"] in constant else found[0], ir)
    return _with_names(changed, _always_given(changed, constant))


def _as_constant(found: re.Match[str]) -> str:
    return f"{found[0].removesuffix('global ')}constant "


def _only_read(ir: str, tables: frozenset[str]) -> set[str]:
    """Which of the tables nothing writes, where nobody else knows of them."""
    from hlsgen.schedule.optimise import run_passes

    without_marks = "\n".join(line for line in ir.splitlines() if not _MARK.search(line))
    module = _parsed(without_marks)
    called = {name for name, _ in _CALL.findall(without_marks)}
    for function in module.functions:
        if not function.is_declaration and function.name in called:
            function.linkage = "internal"  # of others LLVM says nothing: they may be replaced
    uses = uses_of(run_passes(str(module), _TELL_USES), tables)
    left = tables - uses.read - uses.written
    return set(uses.read) | (left & _constant_alone(without_marks, left) if left else set())


def _constant_alone(without_marks: str, tables: frozenset[str]) -> set[str]:
    """Which LLVM finds to be constant once everything is inlined."""
    from hlsgen.schedule.optimise import run_passes

    module = _parsed(without_marks)
    for variable in module.global_variables:
        if variable.name in tables:
            variable.linkage = "internal"
    for function in module.functions:
        if not function.is_declaration:
            function.add_function_attribute("alwaysinline")
    return set(_CONSTANT.findall(run_passes(str(module), _FIND_CONSTANTS)))


def _always_given(ir: str, tables: set[str]) -> dict[str, dict[int, str]]:
    """For each function the arguments, by number, that are one of the tables in every call."""
    from hlsgen.schedule.optimise import run_passes

    module = _parsed("\n".join(line for line in ir.splitlines() if not is_mark(line)))
    called = {name for body in module_text(ir).functions.values() for name, _ in _CALL.findall(body)}
    for function in module.functions:
        if not function.is_declaration and function.name in called:
            function.linkage = "internal"
    found: dict[str, dict[int, str]] = {}
    for name, arguments in _CALL.findall(run_passes(str(module), _FIND_ARGUMENTS)):
        given = {number: one for number, one in enumerate(_tables_among(arguments)) if one in tables}
        found[name] = given if name not in found else dict(found[name].items() & given.items())
    return found


def _tables_among(arguments: str) -> Iterator[str]:
    """The global variable that each argument of a call is, or nothing."""
    for one in cut(arguments):
        word = one.rpartition(" ")[2]
        yield word[1:] if word.startswith("@") else ""


def _with_names(ir: str, given: Mapping[str, Mapping[int, str]]) -> str:
    """The module with such arguments replaced by the tables in the functions' bodies."""
    lines: list[str] = []
    names: dict[str, str] = {}
    for line in ir.splitlines():
        if names and not line.startswith("}"):
            line = _LOCAL.sub(functools.partial(_named, names), line)
        header = _HEADER.match(line)
        if header or line.startswith("}"):
            names = {}
        if header and (tables := given.get(header["name"])):
            arguments = [one.rpartition("%")[2] for one in cut(header["arguments"])]
            names = {arguments[number]: f"@{table}" for number, table in tables.items()}
        lines.append(line)
    return "\n".join([*lines, ""])


def _named(names: Mapping[str, str], found: re.Match[str]) -> str:
    return names.get(found[1], found[0])


def _parsed(text: str):  # type: ignore[no-untyped-def]  # llvmlite has no types
    from llvmlite import binding
    from llvmlite.binding.context import create_context

    return binding.parse_assembly(text, create_context())
