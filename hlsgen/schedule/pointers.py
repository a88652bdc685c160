"""What an address leads to: a variable and a number of bytes, as far as it is constant."""

from __future__ import annotations

from collections.abc import Mapping

from hlsgen.schedule.ir import (
    ArrayType,
    Constant,
    Expression,
    Global,
    Instruction,
    IntType,
    Local,
    Operand,
    StructType,
    Type,
    bytes_of,
)


def base_of(operand: Operand, definitions: Mapping[str, Instruction]) -> tuple[Local | Global | None, int]:
    """The alloca, argument or global variable that an address starts from, and the constant bytes from there.

    Parts of the offset that vary are left out: of a pointer that moves from element to element, as in what
    calls the constructors of an array, it is where that starts. (None, 0) where the address comes from
    elsewhere.
    """
    offset = 0
    while True:
        if isinstance(operand, Global):
            return operand, offset
        if isinstance(operand, Local):
            defined = definitions.get(operand.name)
            if defined is None or defined.opcode == "alloca":
                return operand, offset
            if defined.opcode == "phi":
                start = start_of(defined, definitions)
                if start is None:
                    return None, 0
                operand = start
                continue
            if defined.opcode != "getelementptr" or defined.source is None:
                return None, 0
            source, indices = defined.source, defined.operands
        elif (
            isinstance(operand, Expression)
            and operand.opcode == "getelementptr"
            and operand.source is not None
        ):
            source, indices = operand.source, operand.operands
        else:
            return None, 0
        offset += sum(
            stride * index.value
            for stride, index in steps_of(source, indices[1:])
            if isinstance(index, Constant) and index.value is not None
        )
        operand = indices[0]


def start_of(phi: Instruction, definitions: Mapping[str, Instruction]) -> Operand | None:
    """The pointer that a loop moves by constants from; None of any other choice."""
    starts = [one for one in phi.operands if not moved_by(one, phi.name, definitions)]
    return starts[0] if len(starts) == 1 < len(phi.operands) else None


def moves(operand: Operand, definitions: Mapping[str, Instruction]) -> bool:
    """Whether an address moves: whether its offset has parts that vary."""
    while isinstance(operand, Local):
        defined = definitions.get(operand.name)
        if defined is None or defined.opcode != "getelementptr":
            return False
        if not all(isinstance(index, Constant) for index in defined.operands[1:]):
            return True
        operand = defined.operands[0]
    return False


def variables_of(one: Instruction, definitions: Mapping[str, Instruction]) -> set[Local | Global]:
    """The allocas, arguments and global variables that a choice of pointers may lead to; none if it may lead
    elsewhere, as to the word of a stream."""
    found: set[Local | Global] = set()
    seen, waiting = {one.name}, list(one.operands[one.opcode == "select" :])
    while waiting:
        operand = waiting.pop()
        if isinstance(operand, Expression) and operand.opcode == "getelementptr":
            waiting.append(operand.operands[0])
        elif isinstance(operand, Global):
            found.add(operand)
        elif not isinstance(operand, Local):
            return set()
        elif operand.name not in seen:
            seen.add(operand.name)
            defined = definitions.get(operand.name)
            if defined is None or defined.opcode == "alloca":
                found.add(operand)
            elif defined.opcode == "getelementptr":
                waiting.append(defined.operands[0])
            elif defined.opcode in ("phi", "select"):
                waiting += defined.operands[defined.opcode == "select" :]
            else:
                return set()
    return found


def moved_by(operand: Operand, start: str, definitions: Mapping[str, Instruction]) -> int | None:
    """The bytes between a value and an address that is constants away from it; None of any other."""
    total = 0
    while isinstance(operand, Local) and operand.name != start:
        defined = definitions.get(operand.name)
        if defined is None or defined.opcode != "getelementptr" or defined.source is None:
            return None
        steps = steps_of(defined.source, defined.operands[1:])
        for (stride, index), type_ in zip(steps, defined.types[1:], strict=True):
            if not isinstance(index, Constant) or index.value is None:
                return None
            bits = type_.bits if isinstance(type_, IntType) else 64
            total += stride * (index.value - (1 << bits if index.value >> bits - 1 == 1 else 0))
        operand = defined.operands[0]
    return total if isinstance(operand, Local) else None


def steps_of(source: Type, indices: tuple[Operand, ...]) -> list[tuple[int, Operand]]:
    """The bytes that each index of a getelementptr steps by, with the index.

    Fields of structs are constants: their offset stands as one step.
    """
    steps: list[tuple[int, Operand]] = []
    type_ = source
    for at, index in enumerate(indices):
        if at == 0:
            steps.append((bytes_of(type_), index))
        elif isinstance(type_, StructType):
            field = index.value if isinstance(index, Constant) and index.value is not None else 0
            steps.append((1, Constant(type_.offsets[field])))
            type_ = type_.elements[field]
        elif isinstance(type_, ArrayType):
            type_ = type_.element
            steps.append((bytes_of(type_), index))
    return steps


def is_word_of_call(pointer: Operand, definitions: Mapping[str, Instruction]) -> bool:
    """Whether an address is that of a word that a stream or a burst port gives or takes, or a choice of such,
    as where either stream is read."""
    return _is_word(pointer, definitions, set())


def _is_word(pointer: Operand, definitions: Mapping[str, Instruction], seen: set[str]) -> bool:
    made_by = definitions.get(pointer.name) if isinstance(pointer, Local) else None
    if made_by is None or made_by.opcode not in ("phi", "select"):
        return made_by is not None and made_by.opcode == "call"
    chosen = made_by.operands[made_by.opcode == "select" :]
    left = [one for one in chosen if not (isinstance(one, Local) and one.name in seen)]
    seen.add(made_by.name)
    return all(_is_word(one, definitions, seen) for one in left)
