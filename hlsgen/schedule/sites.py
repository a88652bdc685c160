"""Where the pragmas of the source stand in the IR, and the IR without their marks.

The front end writes each pragma as a call of `__hls_mark` or `__hls_mark_variable`
(hlsgen.schedule.preprocess). They are read after everything is inlined, when a variable's address leads to
an alloca, a global variable or an argument; then they are taken out, and what they ask of loops goes to the
loops' metadata, which LLVM's unroller reads.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hlsgen.schedule.control_flow import Loop, innermost_loops, loops_of
from hlsgen.schedule.ir import Constant, Function, Global, Instruction, Local, Module, Operand
from hlsgen.schedule.pointers import base_of, moves
from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.statics import STATE, is_static

PLAIN, VARIABLE = "__hls_mark", "__hls_mark_variable"
MARKS_HEADER = "hlsgen_marks.h"
HERE = "_ZN9hls_marks4here"
"""What the front end calls, and what calls `PLAIN` until it is inlined."""
MARK_INDEX = re.compile(r"@(?:__hls_mark|_ZN9hls_marks)\w*\(i32 (?:noundef )?(\d+)")
"""The index of each mark in the front end's text."""
_CALL = re.compile(r"^\s+(?:tail |notail )?call void .*@__hls_mark(?:_variable)?\(")
_LATCH = re.compile(r"^(!(\d+) = distinct !\{!\2\b.*)\}$")
_VARIABLE_HEAD = 10
"""Arguments of a variable's mark before the pragma's values: index, address, bytes, bits, dimensions,
six extents."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """A pragma where it stands, with the values of its options there."""

    pragma: Pragma
    values: Mapping[str, int]
    function: str
    loop: int
    """Metadata node of the innermost loop around it, -1 if there is none."""
    callee: str = ""
    """The function that it stands in, where the loop calls that; "" where both stand in one function."""
    block: str = ""


@dataclass(frozen=True, kw_only=True)
class VariableSite(Site):
    """A pragma about a variable: what its address leads to, and what the variable's type is."""

    base: Local | Global
    offset: int
    """Bytes from the base's start."""
    element_bytes: int
    element_bits: int
    extents: tuple[int, ...]
    """Of an array; the first is 0 where it is a pointer."""


@dataclass(frozen=True, kw_only=True)
class Sites:
    """All marks of a module."""

    plain: list[Site]
    variables: list[VariableSite]
    lost: list[Pragma] = field(default_factory=list)
    """Pragmas whose variable leads to nothing that the IR knows."""

    @property
    def without_variable(self) -> tuple[Pragma, ...]:
        """Pragmas of which no copy, as of a function that is called twice, is about a known variable."""
        known = {site.pragma.index for site in self.variables}
        return tuple(one for one in dict.fromkeys(self.lost) if one.index not in known)

    def of_loops(self, name: str) -> dict[int, list[Site]]:
        """The marks of that pragma by the loop around them."""
        found: dict[int, list[Site]] = defaultdict(list)
        for mark in self.plain:
            if mark.pragma.name == name and mark.loop >= 0:
                found[mark.loop].append(mark)
        return found


def sites_of(module: Module, pragmas: Sequence[Pragma]) -> Sites:
    """The marks of a module's functions."""
    marks = Sites(plain=[], variables=[])
    for function in module.functions.values():
        loops: dict[str, Loop] | None = None
        definitions: dict[str, Instruction] | None = None
        for block, call in _calls(function):
            if loops is None or definitions is None:
                loops = innermost_loops(loops_of(function))
                definitions = {one.name: one for _, one in function.instructions() if one.name}
            loop = loops[block].node if block in loops else -1
            callee = _callee(module, call, loop)
            _add(marks, call, pragmas, function.name, loop, definitions, callee, block)
    return marks


def _callee(module: Module, call: Instruction, loop: int) -> str:
    """The function that a mark stands in, if the loop around it stands in another, which calls that."""
    own, around = module.places.get(call.place), module.loop_places.get(loop)
    if own is not None and call.callee == PLAIN and own.file.endswith(MARKS_HEADER):
        own = own.inlined_at
    if own is None or around is None or len(own.calls) <= len(around.calls):
        return ""
    return own.function


def _calls(function: Function) -> Iterator[tuple[str, Instruction]]:
    for block, instruction in function.instructions():
        if instruction.callee in (PLAIN, VARIABLE) or instruction.callee.startswith(HERE):
            yield block.name, instruction


def _add(
    marks: Sites,
    call: Instruction,
    pragmas: Sequence[Pragma],
    function: str,
    loop: int,
    definitions: Mapping[str, Instruction],
    callee: str,
    block: str,
) -> None:
    numbers = [_number(operand) for operand in call.operands]
    pragma = pragmas[numbers[0] or 0]
    head = _VARIABLE_HEAD + 1 if call.callee == VARIABLE else 1
    values = {
        option: value
        for option, value in zip(pragma.options, numbers[head:], strict=False)
        if value is not None
    }
    if call.callee != VARIABLE:
        site = Site(pragma=pragma, values=values, function=function, loop=loop, callee=callee, block=block)
        marks.plain.append(site)
        return
    base, offset = base_of(call.operands[1], definitions)
    if base is None:
        marks.lost.append(pragma)
        return
    if isinstance(base, Local) and base.name not in definitions and moves(call.operands[1], definitions):
        # a callee's words of what its caller's pointer leads to: no array of its own to split
        marks.lost.append(pragma)
        return
    dimensions = numbers[4] or 0
    marks.variables.append(
        VariableSite(
            pragma=pragma,
            values=values,
            function=function,
            loop=loop,
            base=base,
            offset=offset,
            element_bytes=numbers[2] or 0,
            element_bits=numbers[3] or 0,
            extents=tuple(one or 0 for one in numbers[5 : 5 + dimensions]),
        )
    )


def _number(operand: Operand) -> int | None:
    return operand.value if isinstance(operand, Constant) else None


def is_mark(line: str) -> bool:
    """Whether a line of a module's text is a mark's call."""
    return bool(_CALL.match(line))


def without_marks(
    text: str,
    loops: Mapping[int, Sequence[str]],
    kept: Mapping[str, Sequence[str]],
    whole: Collection[str] = (),
) -> str:
    """The module's text without the calls of marks.

    `loops` names what is added to the metadata of loops, as `!{!"llvm.loop.unroll.full"}`, by their node;
    `kept` the allocas of functions that no pass may split; `whole` the functions that are pipelined as a
    whole, whose statics are what one call leaves to the next.
    """
    lines: list[str] = []
    nodes: list[str] = []
    function = ""
    statics: list[str] = []
    number = 1 + max((int(one) for one in re.findall(r"^!(\d+) = ", text, re.MULTILINE)), default=0)
    for line in text.splitlines():
        if is_mark(line) or (function in whole and f', ptr @"{STATE}.' in line):
            continue
        if line.startswith("define "):
            function = line[line.index("@") + 1 : line.index("(", line.index("@"))].strip('"')
            statics = []
        if line.startswith("  ret "):  # what the function leaves in a static its next call reads
            lines += [f"  call void @{LEFT}(ptr {name})" for name in statics]
        back = _BACK.match(line)
        if back and lines and _BLOCK.match(lines[-1]) and not _is_unrolled(loops.get(int(back[1]), ())):
            lines.append(f"  call void @{KEEP}(ptr null)")  # an empty block goes, and the loop's name with it
        latch = _LATCH.match(line)
        if latch and int(latch[2]) in loops:
            line = latch[1]
            for what in loops[int(latch[2])]:
                nodes.append(f"!{number} = {what}")
                line += f", !{number}"
                number += 1
            line += "}"
        lines.append(line)
        if " = alloca " in line:
            name = line.split(" = ", 1)[0].strip()
            bare = name[1:].strip('"')
            left = is_static(bare) and function in whole
            if left or bare in kept.get(function, ()):
                lines.append(f"  call void @{KEEP}(ptr {name})")
                statics += [name] * is_static(bare)
    lines.append(f"declare void @{KEEP}(ptr captures(none)) nounwind willreturn memory(argmem: readwrite)")
    lines.append(f"declare void @{LEFT}(ptr captures(none)) nounwind willreturn")
    return "\n".join([*lines, *nodes, ""])


KEEP = "__hls_keep"
"""Called with an array's address, it keeps passes from taking the array apart, and without one a block."""
LEFT = "__hls_keep_left"
"""Called with a static's address where its function returns: what is written to it is not lost."""
_BACK = re.compile(r"  br label [^!]*(?:, !dbg !\d+)?, !llvm\.loop !(\d+)$")
_BLOCK = re.compile(r'[-\w$."]+:')


def _is_unrolled(metadata: Sequence[str]) -> bool:
    return any("llvm.loop.unroll" in what for what in metadata)
