"""Which bits of integers can be one: words that are put together of parts cost no gates."""

from __future__ import annotations

from collections.abc import Sequence

from hlsgen.schedule.ir import Constant, Function, Instruction, IntType, Local, Operand, Type


class PossibleOnes:
    """The bits that may be one, of each integer of a function; found in one pass in the order of its
    blocks."""

    def __init__(self, function: Function, order: Sequence[str]) -> None:
        self.known: dict[str, int] = {}
        for name in order:
            for one in function.blocks[name].instructions:
                if one.name and isinstance(one.type, IntType):
                    mask = self._of(one) & _all(one.type.bits)
                    if mask != _all(one.type.bits):
                        self.known[one.name] = mask

    def of(self, operand: Operand, type_: Type) -> int:
        """The mask of an operand."""
        bits = type_.bits if isinstance(type_, IntType) else 64
        if isinstance(operand, Constant) and operand.value is not None:
            return operand.value & _all(bits)
        if isinstance(operand, Local):
            return self.known.get(operand.name, _all(bits))
        return _all(bits)

    def joins_parts(self, one: Instruction) -> bool:
        """Whether an or, xor or add only puts words beside each other: no bit can be one in both."""
        if one.opcode not in ("or", "xor", "add"):
            return False
        first, second = (
            self.of(operand, type_) for operand, type_ in zip(one.operands, one.types, strict=True)
        )
        return not first & second

    def _of(self, one: Instruction) -> int:
        masks = [self.of(operand, type_) for operand, type_ in zip(one.operands, one.types, strict=False)]
        full = _all(one.type.bits) if isinstance(one.type, IntType) else 0
        match one.opcode:
            case "zext" | "trunc" | "freeze":
                return masks[0]
            case "and":
                return masks[0] & masks[1]
            case "or" | "xor":
                return masks[0] | masks[1]
            case "add" if not masks[0] & masks[1]:
                return masks[0] | masks[1]
            case "select":
                return masks[1] | masks[2]
            case "phi":
                return _union(masks)
            case "shl" | "lshr" if (
                isinstance(one.operands[1], Constant) and one.operands[1].value is not None
            ):
                by = one.operands[1].value
                return masks[0] << by if one.opcode == "shl" else masks[0] >> by
        return full


def _union(masks: Sequence[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def _all(bits: int) -> int:
    return (1 << bits) - 1
