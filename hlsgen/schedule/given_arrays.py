"""What functions that are parts of their own are given: their callers' arrays, with the pragmas about these.

A function that is pipelined as a whole is scheduled by itself, and of an array its code has but a pointer.
How that is split, or that it is an AXI port, stands where it is declared, some calls above: hls4ml's `dense`
splits `data` and gives it to the pipelined `dense_wrapper`, whose 36 reads a cycle are then reads of
registers (hftsoi/sparse-pixels, 2020.1: II 1).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from hlsgen.schedule.ir import Constant, Global, Instruction, Local, Module, Operand, PointerType, Type
from hlsgen.schedule.ir_reader import read_module
from hlsgen.schedule.ir_text import ModuleText, declaration
from hlsgen.schedule.pointers import base_of, steps_of
from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.sites import Sites, VariableSite, sites_of
from hlsgen.schedule.statics import localised

_MARKS = "_ZN9hls_marks"
"""How the names of the functions that marks are made of begin, in C++."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """What a call gives for an argument: a variable of its caller's.

    type: the variable's; None where it is a pointer that the kernel itself is given. offset: bytes from the
    variable's start. row: bytes of the part of it that is given where an index chooses the part, else 0.
    sites: the pragmas about the variable.
    """

    argument: str
    base: Local | Global
    type: Type | None
    offset: int
    row: int
    constant: bool
    sites: tuple[VariableSite, ...]


def given_arrays(
    text: ModuleText, top: str, roots: Collection[str], pragmas: Sequence[Pragma]
) -> dict[str, tuple[Given, ...]]:
    """What the function `top` gives each of `roots`, itself or by way of others: by the first call of each
    where there are several. Raises ValueError."""
    from hlsgen.schedule.optimise import inline

    callers = text.callers_of(roots)
    if top not in callers:
        return {}
    elsewhere = {
        name: declaration(body, name)
        for name, body in text.functions.items()
        if name in roots or not (name in callers or name.startswith(_MARKS))
    }
    module = read_module(localised(inline(text.part(top, text.functions[top], elsewhere), [top])))
    sites = sites_of(module, pragmas)
    found: dict[str, tuple[Given, ...]] = {}
    for call in _calls(module, top, roots):
        found.setdefault(call.callee, tuple(_of_call(call, module, top, sites, text)))
    return found


def _calls(module: Module, top: str, roots: Collection[str]) -> Iterator[Instruction]:
    return (one for _, one in module.functions[top].instructions() if one.callee in roots)


def _of_call(call: Instruction, module: Module, top: str, sites: Sites, text: ModuleText) -> Iterator[Given]:
    definitions = {one.name: one for _, one in module.functions[top].instructions() if one.name}
    callee = next(iter(read_module(text.alone(call.callee)).functions.values()))
    for (name, type_), operand in zip(callee.arguments, call.operands, strict=False):
        base, offset = base_of(operand, definitions) if isinstance(type_, PointerType) else (None, 0)
        if base is None:
            continue
        variable = module.variables.get(base.name) if isinstance(base, Global) else None
        declared = definitions.get(base.name) if isinstance(base, Local) else None
        yield Given(
            argument=name,
            base=base,
            type=variable.type if variable is not None else declared.source if declared is not None else None,
            offset=offset,
            row=_row(operand, definitions),
            constant=variable is not None and variable.constant,
            sites=tuple(
                site
                for site in sites.variables
                if site.base == base and (site.function == top or isinstance(base, Global))
            ),
        )


def _row(operand: Operand, definitions: dict[str, Instruction]) -> int:
    """The bytes of the smallest part that an index of an address chooses; 0 where all are constants."""
    strides = []
    while isinstance(operand, Local):
        defined = definitions.get(operand.name)
        if defined is None or defined.opcode != "getelementptr" or defined.source is None:
            break
        steps = steps_of(defined.source, defined.operands[1:])
        strides += [stride for stride, index in steps if not isinstance(index, Constant)]
        operand = defined.operands[0]
    return min(strides, default=0)
