"""LLVM IR as data: what hlsgen.schedule.ir_reader makes of the text that clang and LLVM's passes write.

Only what a schedule needs is kept: types with exact widths, instructions with their operands, blocks with
their edges, and places in the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class IntType:
    """`iN`."""

    bits: int


@dataclass(frozen=True)
class FloatType:
    """`half`, `bfloat`, `float`, `double` or a wider one, by its bits."""

    bits: int


@dataclass(frozen=True)
class PointerType:
    """`ptr`."""


@dataclass(frozen=True)
class ArrayType:
    """`[n x T]`, or `<n x T>`."""

    count: int
    element: Type


@dataclass(frozen=True)
class StructType:
    """`{T, ...}`; `packed` has no padding."""

    elements: tuple[Type, ...]
    packed: bool = False

    @cached_property
    def alignment(self) -> int:
        """Bytes that a value is aligned to."""
        return 1 if self.packed else max(map(alignment_of, self.elements), default=1)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """The byte that each element starts at, and the first one after the last."""
        offsets, at = [], 0
        for element in self.elements:
            at = at if self.packed else _up(at, alignment_of(element))
            offsets.append(at)
            at += bytes_of(element)
        return (*offsets, at)


@dataclass(frozen=True)
class OtherType:
    """`void`, `label`, `metadata`, `token` and opaque structs."""

    name: str


Type = IntType | FloatType | PointerType | ArrayType | StructType | OtherType
POINTER = PointerType()
VOID = OtherType("void")


def constants_among(operands: Sequence[Operand]) -> int:
    """How many of some operands are constants."""
    return sum(isinstance(operand, Constant) for operand in operands)


def bits_of(type_: Type) -> int:
    """The bits of a value of that type, without padding; 64 for a pointer, 0 for what has none."""
    match type_:
        case IntType(bits) | FloatType(bits):
            return bits
        case PointerType():
            return 64
        case ArrayType(count, element):
            return count * bits_of(element)
        case StructType(elements):
            return sum(bits_of(element) for element in elements)
    return 0


def alignment_of(type_: Type) -> int:
    """Bytes that a value of the type is aligned to, by x86-64's rules for C."""
    match type_:
        case IntType(bits):
            return min(16 if bits > 64 else 8, 1 << ((bits + 7) // 8 - 1).bit_length())
        case FloatType(bits):
            return min(16, 1 << ((bits + 7) // 8 - 1).bit_length())
        case ArrayType(_, element):
            return alignment_of(element)
        case StructType():
            return type_.alignment
    return 8


def bytes_of(type_: Type) -> int:
    """Bytes between neighbours of that type in an array."""
    match type_:
        case IntType(bits) | FloatType(bits):
            return _up((bits + 7) // 8, alignment_of(type_))
        case ArrayType(count, element):
            return count * bytes_of(element)
        case StructType(elements):
            return _up(type_.offsets[-1], type_.alignment) if elements else 0
        case PointerType():
            return 8
    return 0


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


@dataclass(frozen=True, slots=True)
class Local:
    """A register, an argument or an alloca of the function: its name without the `%`."""

    name: str


@dataclass(frozen=True, slots=True)
class Global:
    """A global variable or a function: its name without the `@`."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """An integer; a float as its text's hash is enough; None for undef, poison and what is not one number."""

    value: int | None


@dataclass(frozen=True, slots=True)
class Expression:
    """A constant expression, as the address of an element of a global."""

    opcode: str
    operands: tuple[Operand, ...]
    types: tuple[Type, ...]
    source: Type | None = None


Operand = Local | Global | Constant | Expression


@dataclass(slots=True, eq=False)
class Instruction:
    """One instruction.

    `operands` and `types` go together; of a phi the operands are the incoming values and `labels` their
    blocks; of a br or switch `labels` are the successors; of a call `callee` is the function's name ("" for
    a pointer). `source` is the element type of a getelementptr, the allocated type of an alloca; `flags`
    such as nsw. `place` indexes the module's places, -1 if there is none.
    """

    name: str
    opcode: str
    type: Type
    operands: tuple[Operand, ...] = ()
    types: tuple[Type, ...] = ()
    labels: tuple[str, ...] = ()
    predicate: str = ""
    callee: str = ""
    source: Type | None = None
    flags: frozenset[str] = frozenset()
    place: int = -1
    loop: int = -1


@dataclass(slots=True, eq=False)
class Block:
    """A basic block: instructions, the last of which is its terminator."""

    name: str
    instructions: list[Instruction] = field(default_factory=list)

    @property
    def successors(self) -> tuple[str, ...]:
        """The blocks that its terminator may go to."""
        return self.instructions[-1].labels if self.instructions else ()


@dataclass(slots=True, eq=False)
class Function:
    """A function with a body; the first block is its entry."""

    name: str
    arguments: list[tuple[str, Type]]
    blocks: dict[str, Block]
    subprogram: int = -1

    def instructions(self) -> Iterator[tuple[Block, Instruction]]:
        """Every instruction with its block, in the order of the text."""
        for block in self.blocks.values():
            for instruction in block.instructions:
                yield block, instruction


@dataclass(frozen=True, slots=True)
class GlobalVariable:
    """A global variable; `constant` is a ROM.

    values: the bits of its integers, the least and the greatest of them; None: they differ in width, or are
    none.
    """

    name: str
    type: Type
    constant: bool
    values: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a source file, with the call that it was inlined at, outermost last."""

    file: str
    line: int
    function: str = ""
    inlined_at: Place | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def calls(self) -> tuple[tuple[str, int], ...]:
        """The calls that it was inlined at, innermost first, by their files and lines."""
        above = self.inlined_at
        return () if above is None else ((above.file, above.line), *above.calls)


@dataclass(slots=True, eq=False)
class Module:
    """A module: functions with bodies, global variables, and places by the number of their metadata node."""

    functions: dict[str, Function]
    variables: dict[str, GlobalVariable]
    places: dict[int, Place]
    loop_places: dict[int, Place]
    loop_names: dict[int, int]
    """Numbers that loops were given before passes changed their nodes."""
