"""Numbers in structs that hold arrays too, as variables of their own.

    struct Buffer { short words[48]; int count; } buffer;
    buffer.words[buffer.count++] = x;            the count is a register, as to the vendor's tool

A struct is one variable to LLVM as long as a run-time index points into it: its numbers stay in memory, where
any write of the array might be one of them, and two writes might be of the same word. An index stays within
its array in C++. (caps-tum/ATOMFLOW sortLatticeByRow.cpp:780, 2024.2: II 1 of two such writes.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hlsgen.schedule.ir import (
    ArrayType,
    Constant,
    FloatType,
    Function,
    Global,
    Instruction,
    IntType,
    Local,
    Operand,
    StructType,
    Type,
    bits_of,
    bytes_of,
)
from hlsgen.schedule.ir_reader import read_module
from hlsgen.schedule.ir_text import SYMBOL

ROUNDS = 4
"""Of structs that are copied to each other: one of them after the other."""
_FLOATS = {16: "half", 32: "float", 64: "double"}
_FUNCTION = re.compile(r"(^define .*?^\}$)", re.MULTILINE | re.DOTALL)
_NAME = re.compile(rf"define [^@\n]*@({SYMBOL})\(")
_ALLOCA = re.compile(rf"  %({SYMBOL}) = alloca ")
_ACCESS = re.compile(rf"(  (?:%{SYMBOL} = load|store) .*, ptr )%({SYMBOL})(.*)")
_LIFE = re.compile(rf"(  call void @llvm\.lifetime\.(?:start|end)\.p0\([^%]*)%({SYMBOL})(.*)")
_POINTER = rf"ptr [^,%@]*?([%@]{SYMBOL})"
_COPY = re.compile(
    rf"  (?:tail )?call void (@llvm\.mem(?:cpy|move)[^(]*)\({_POINTER}, {_POINTER}, i64 (\d+),.*"
)
_SET = re.compile(rf"  (?:tail )?call void (@llvm\.memset[^(]*)\({_POINTER}, i8 0, i64 (\d+),.*")
_PLACE = re.compile(r", !dbg !\d+$")
_ANYTHING = IntType(8)
"""What a pointer that was moved by bytes points to."""


@dataclass
class _Struct:
    """A local struct. numbers: the types of those that may be cut out, by their first byte.

    pointers: the byte that each pointer into it names, or None for a word of one of its arrays.
    """

    name: str
    numbers: dict[int, Type]
    pointers: dict[str, int | None] = field(default_factory=dict)
    partners: set[str] = field(default_factory=set)
    """Pointers that it is copied from or to."""
    accessed: set[int] = field(default_factory=set)
    """The bytes of numbers that are read or written."""

    def leave(self, begin: int, end: int) -> None:
        """Numbers with a byte between two stay where they are."""
        for at, type_ in list(self.numbers.items()):
            if at < end and begin < at + bytes_of(type_):
                del self.numbers[at]

    def variable(self, at: int) -> str:
        """The variable of a number."""
        plain = self.name.strip('"')
        return f'%"{plain}.number{at}"'


def with_scalars_apart(text: str) -> str:
    """The module's text with the numbers of local structs with arrays as allocas, if nothing is done with
    their addresses but reading, writing and copying them; the same text if there are none."""
    for number in range(ROUNDS):
        if not _may_have_structs(text):
            return text
        module = read_module(text)
        parts = _FUNCTION.split(text)
        for at in range(1, len(parts), 2):
            named = _NAME.match(parts[at])
            function = module.functions.get(named[1].strip('"')) if named else None
            parts[at] = _rewritten(parts[at], function, number) if function is not None else parts[at]
        changed = "".join(parts)
        if changed == text:
            break
        text = changed
    return text


def _may_have_structs(text: str) -> bool:
    return re.search(r"^  %\S+ = alloca (?:%|\{|<\{)", text, re.MULTILINE) is not None


def _rewritten(body: str, function: Function, number: int) -> str:
    chosen: list[_Struct] = []
    taken: set[str] = set()
    for struct in _structs(function):
        if not struct.partners & taken and not any(one.partners & struct.pointers.keys() for one in chosen):
            chosen.append(struct)
            taken |= struct.pointers.keys()
    if not chosen:
        return body
    rewriting = _Rewriting(chosen, number)
    return "\n".join(line for one in body.split("\n") for line in rewriting.of(one))


# which numbers


def _structs(function: Function) -> Iterator[_Struct]:
    """The structs that have numbers to be cut out."""
    uses: dict[str, list[Instruction]] = {}
    for _, one in function.instructions():
        for operand in one.operands:
            if isinstance(operand, Local):
                uses.setdefault(operand.name, []).append(one)
    for _, one in function.instructions():
        if one.opcode != "alloca" or not isinstance(one.source, StructType) or not _has_array(one.source):
            continue
        struct = _Struct(one.name, dict(_numbers(one.source, 0)))
        told = bool(struct.numbers) and _follow(struct, one.name, 0, one.source, uses)
        told = told and struct.partners.isdisjoint(struct.pointers)  # one part of it is copied to another
        struct.numbers = {at: type_ for at, type_ in struct.numbers.items() if at in struct.accessed}
        if told and struct.numbers:
            yield struct


def _numbers(type_: StructType, at: int) -> Iterator[tuple[int, Type]]:
    for element, offset in zip(type_.elements, type_.offsets, strict=False):
        if isinstance(element, StructType):
            yield from _numbers(element, at + offset)
        elif isinstance(element, IntType) or (isinstance(element, FloatType) and element.bits in _FLOATS):
            yield at + offset, element


def _has_array(type_: Type) -> bool:
    if isinstance(type_, StructType):
        return any(_has_array(element) for element in type_.elements)
    return isinstance(type_, ArrayType) and type_.count > 1


def _follow(
    struct: _Struct, pointer: str, at: int | None, within: Type, uses: Mapping[str, Sequence[Instruction]]
) -> bool:
    """Take note of what is done with a pointer to a byte of a struct, or to a word of an array in it (None).
    within: what it points to. False where nothing can be told."""
    struct.pointers[pointer] = at
    for one in uses.get(pointer, ()):
        stores_it = one.opcode == "store" and _is(one.operands[0], pointer)
        if one.opcode == "getelementptr" and _is(one.operands[0], pointer):
            moved = _moved(one, at, struct)
            if moved is None or one.name in struct.pointers or not _follow(struct, one.name, *moved, uses):
                return False
        elif one.opcode in ("load", "store") and not stores_it:
            _access(struct, at, one)
        elif one.callee.startswith("llvm.mem"):
            if not _copy(struct, at, pointer, one):
                return False
        elif one.callee.startswith("llvm.lifetime") or at is None or isinstance(within, ArrayType):
            continue
        elif isinstance(within, StructType) or within is _ANYTHING:
            return False
        else:
            struct.leave(at, at + bytes_of(within))  # its address goes elsewhere
    return True


def _is(operand: Operand, name: str) -> bool:
    return isinstance(operand, Local) and operand.name == name


def _moved(one: Instruction, at: int | None, struct: _Struct) -> tuple[int | None, Type] | None:
    """The byte that a getelementptr comes to, and what is there; None where that is not known."""
    if at is None or one.source is None:
        return None, _ANYTHING
    type_: Type = one.source
    for number, index in enumerate(one.operands[1:]):
        value = index.value if isinstance(index, Constant) else None
        if number and isinstance(type_, StructType):
            if value is None:
                return None
            at, type_ = at + type_.offsets[value], type_.elements[value]
            continue
        if number:
            if not isinstance(type_, ArrayType):
                return None
            type_ = type_.element
        if value is None:  # a word of the array that begins here, in which no number lies
            return None if at in struct.numbers or isinstance(type_, StructType) else (None, type_)
        at += value * bytes_of(type_)
    return at, _ANYTHING if one.source == _ANYTHING else type_


def _access(struct: _Struct, at: int | None, one: Instruction) -> None:
    """A number that is not read or written as what it is stays where it is."""
    type_ = one.types[0] if one.opcode == "store" else one.type
    if at is None:
        return
    struct.accessed.add(at)
    if struct.numbers.get(at) != type_ or "volatile" in one.flags:
        struct.leave(at, at + max(1, bytes_of(type_)))


def _copy(struct: _Struct, at: int | None, pointer: str, one: Instruction) -> bool:
    """Whether a copy is understood. Numbers that it does not take whole stay where they are."""
    if at is None:
        return True
    goes, other, length = one.operands[0], one.operands[1], one.operands[2]
    if not isinstance(length, Constant) or length.value is None:
        return False
    if one.callee.startswith("llvm.memset"):
        if not (isinstance(other, Constant) and other.value == 0):
            struct.leave(at, at + length.value)
    else:
        partner = other if _is(goes, pointer) else goes
        if not isinstance(partner, Local | Global) or _is(partner, pointer):
            return False
        struct.partners |= {partner.name} if isinstance(partner, Local) else set()
    for begin, type_ in list(struct.numbers.items()):
        end = begin + bytes_of(type_)
        if begin < at + length.value and at < end and not (at <= begin and end <= at + length.value):
            struct.leave(begin, end)
    return True


# the text


class _Rewriting:
    """The lines of a function with variables for the numbers of its structs."""

    def __init__(self, structs: Sequence[_Struct], number: int) -> None:
        """number: of the round, which is a part of new names."""
        self.structs = {one.name: one for one in structs}
        self.owner = {name: one for one in structs for name in one.pointers}
        self.number, self.count = number, 0

    def of(self, line: str) -> Iterator[str]:
        """A line, or those that stand for it."""
        if found := _ALLOCA.match(line):
            yield line
            for struct in self._named(found[1]):
                for at, type_ in struct.numbers.items():
                    yield f"  {struct.variable(at)} = alloca {_text(type_)}"
        elif (found := _ACCESS.match(line)) and (place := self._number(found[2])):
            yield f"{found[1]}{place}{found[3]}"
        elif found := _LIFE.match(line):
            yield line
            for struct in self._named(found[2]):
                yield from (f"{found[1]}{struct.variable(at)}{found[3]}" for at in struct.numbers)
        elif found := _COPY.match(line):
            yield from _placed(line, self._pieces(line, found[1], found[2], found[3], int(found[4])))
        elif found := _SET.match(line):
            yield from _placed(line, self._pieces(line, found[1], found[2], "", int(found[3])))
        else:
            yield line

    def _named(self, name: str) -> list[_Struct]:
        """The struct of a name, if there is one."""
        found = self.structs.get(name.strip('"'))
        return [found] if found is not None else []

    def _number(self, pointer: str) -> str:
        """The variable of the number that a pointer names; empty if it names none."""
        struct = self.owner.get(pointer.strip('"'))
        at = struct.pointers[pointer.strip('"')] if struct else None
        return struct.variable(at) if struct and at is not None and at in struct.numbers else ""

    def _pieces(self, line: str, function: str, goes: str, comes: str, length: int) -> Iterator[str]:
        """A copy, or a clearing, number by number and in pieces between them."""
        known = [one[1:].strip('"') for one in (goes, comes) if one.startswith("%")]
        mine = next((name for name in known if name in self.owner), "")
        struct = self.owner[mine] if mine else None
        start = struct.pointers[mine] if struct else None
        if struct is None or start is None:
            yield line
            return
        inside = sorted(at - start for at in struct.numbers if start <= at < start + length)
        done = 0
        for number in [*inside, length]:
            if number > done:
                yield from self._piece(function, goes, comes, done, number - done)
            if number < length:
                type_ = struct.numbers[start + number]
                to_mine = goes[1:].strip('"') == mine
                yield from self._single(struct.variable(start + number), type_, goes, comes, number, to_mine)
                done = number + bytes_of(type_)

    def _piece(self, function: str, goes: str, comes: str, at: int, length: int) -> Iterator[str]:
        to, first = self._at(goes, at)
        yield first
        if not comes:
            yield f"  call void {function}(ptr {to}, i8 0, i64 {length}, i1 false)"
            return
        by, second = self._at(comes, at)
        yield second
        yield f"  call void {function}(ptr {to}, ptr {by}, i64 {length}, i1 false)"

    def _single(
        self, variable: str, type_: Type, goes: str, comes: str, at: int, to_mine: bool
    ) -> Iterator[str]:
        if not comes:
            yield f"  store {_text(type_)} zeroinitializer, ptr {variable}"
            return
        other, moved = self._at(comes if to_mine else goes, at)
        value = self._new()
        yield moved
        yield f"  {value} = load {_text(type_)}, ptr {other if to_mine else variable}, align 1"
        yield f"  store {_text(type_)} {value}, ptr {variable if to_mine else other}, align 1"

    def _at(self, pointer: str, at: int) -> tuple[str, str]:
        """A pointer some bytes behind another, and the line that makes it."""
        name = self._new()
        return name, f"  {name} = getelementptr inbounds i8, ptr {pointer}, i64 {at}"

    def _new(self) -> str:
        self.count += 1
        return f'%"copy{self.number}.number{self.count}"'


def _placed(line: str, others: Iterator[str]) -> Iterator[str]:
    """Lines with the place of another."""
    place = _PLACE.search(line)
    for one in others:
        yield one if place is None or one == line else f"{one}{place[0]}"


def _text(type_: Type) -> str:
    return f"i{type_.bits}" if isinstance(type_, IntType) else _FLOATS[bits_of(type_)]
