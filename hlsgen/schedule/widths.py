"""How many bits of a value hardware keeps: no more than its range needs, and than its users look at."""

from __future__ import annotations

from collections.abc import Mapping

from hlsgen.schedule.ir import Constant, Function, Instruction, IntType, Local, Operand, Type, bits_of
from hlsgen.schedule.ranges import Ranges

_LOW_BITS = frozenset(["add", "sub", "mul", "and", "or", "xor", "phi", "select", "freeze"])
"""Operations whose low bits depend on no higher bit of their operands."""
ROUNDS = 64
"""Steps until nothing changes, at the most; large kernels took 6."""


class Widths:
    """The bits that operations of a function need."""

    def __init__(self, function: Function, ranges: Ranges) -> None:
        self.ranges = ranges
        self.demanded = _demanded(function)

    def of(self, operand: Operand, type_: Type) -> int:
        """The bits of an operand: the vendor's compiler narrows to what the range and the users need."""
        if not isinstance(type_, IntType):
            return bits_of(type_)
        bits = self.ranges.bits(operand, type_)
        if isinstance(operand, Local):
            bits = min(bits, self.demanded.get(operand.name, type_.bits) or 1)
        return bits

    def result(self, one: Instruction) -> int:
        """The bits of an instruction's result."""
        return self.of(Local(one.name), one.type) if one.name else bits_of(one.type)

    def operands(self, one: Instruction) -> tuple[int, ...]:
        """The bits of an instruction's operands, no more than its result for what only needs its low bits."""
        most = self.result(one) if one.opcode in ("add", "sub", "mul", "and", "or", "xor") else 1 << 20
        return tuple(
            min(most, self.of(operand, type_)) for operand, type_ in zip(one.operands, one.types, strict=True)
        )


def _demanded(function: Function) -> dict[str, int]:
    """The low bits of each integer that some user looks at; grows from none to a fixed point."""
    demanded: dict[str, int] = {}
    instructions = [one for _, one in function.instructions()]
    for _ in range(ROUNDS):
        changed = False
        for one in reversed(instructions):
            for operand, bits in _demands(one, demanded):
                if bits > demanded.get(operand, 0):
                    demanded[operand] = bits
                    changed = True
        if not changed:
            return demanded
    return {}


def _demands(one: Instruction, demanded: Mapping[str, int]) -> list[tuple[str, int]]:
    """What an instruction looks at: the names of its operands, and how many low bits of each."""
    own = demanded.get(one.name, 0) if one.name else 0
    found = []
    for at, (operand, type_) in enumerate(zip(one.operands, one.types, strict=False)):
        if not isinstance(operand, Local) or not isinstance(type_, IntType):
            continue
        bits = type_.bits
        if (
            one.opcode == "trunc"
            or (one.opcode in _LOW_BITS and not (one.opcode == "select" and at == 0))
            or one.opcode in ("zext", "sext")
        ):
            bits = min(bits, own)
        elif one.opcode == "shl" and at == 0 and isinstance(one.operands[1], Constant):
            bits = max(0, min(bits, own - (one.operands[1].value or 0)))
        elif one.opcode == "lshr" and at == 0 and isinstance(one.operands[1], Constant) and own:
            bits = min(bits, own + (one.operands[1].value or 0))
        if one.opcode == "and" and bits:
            other = one.operands[1 - at]
            if isinstance(other, Constant) and other.value is not None and other.value >= 0:
                bits = min(bits, other.value.bit_length())
        found.append((operand.name, bits))
    return found
