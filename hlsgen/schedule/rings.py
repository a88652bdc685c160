"""Indices that go round in a power of two, as those of a ring of lines: (newest - 2) & 3, an ap_uint<2>.

Two of them that are remainders of forms which differ by a constant are as far apart, round the ring.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hlsgen.schedule.ir import Constant, Instruction, IntType, Local, Operand
from hlsgen.schedule.linear import Linear

_WIDENED = frozenset(("zext", "sext", "trunc"))


def rings_of(names: Iterable[str], definitions: Mapping[str, Instruction]) -> dict[str, tuple[Linear, int]]:
    """Of the values that are such remainders the form that each is the remainder of, and the power of two
    that it is divided by."""
    found: dict[str, tuple[Linear, int]] = {}
    for name in names:
        one = definitions.get(name)
        modulus = _modulus(one) if one is not None else 0
        if one is not None and modulus > 1:
            found[name] = _remainder(one.operands[0], modulus, definitions), modulus
    return found


def _modulus(one: Instruction) -> int:
    """The power of two that an extension or a mask leaves the remainder by; 0 of anything else."""
    if one.opcode == "zext":
        return 1 << one.types[0].bits if isinstance(one.types[0], IntType) else 0
    if one.opcode != "and":
        return 0
    mask = one.operands[1]
    above = (mask.value or 0) + 1 if isinstance(mask, Constant) else 0
    return 0 if above & (above - 1) else above


def _remainder(operand: Operand, modulus: int, definitions: Mapping[str, Instruction]) -> Linear:
    """A linear form that leaves what a value leaves when it is divided by a power of two."""
    if isinstance(operand, Constant):
        return Linear((operand.value or 0) % modulus)
    if not isinstance(operand, Local):
        return Linear(0, (("?", 1),))
    itself = Linear(0, ((operand.name, 1),))
    one = definitions.get(operand.name)
    if one is None:
        return itself
    if one.opcode in _WIDENED and all(_holds(type_, modulus) for type_ in (one.type, one.types[0])):
        return _remainder(one.operands[0], modulus, definitions)
    if one.opcode == "and":
        return _remainder(one.operands[0], modulus, definitions) if _keeps(one, modulus) else itself
    if one.opcode not in ("add", "sub", "xor") or not _holds(one.type, modulus):
        return itself
    if one.opcode == "xor" and not _flips_the_highest(one, modulus):
        return itself
    first, second = (_remainder(part, modulus, definitions) for part in one.operands)
    return first + second.times(-1 if one.opcode == "sub" else 1)


def _holds(type_: object, modulus: int) -> bool:
    return isinstance(type_, IntType) and 1 << type_.bits >= modulus


def _keeps(one: Instruction, modulus: int) -> bool:
    """Whether a mask leaves all bits below a power of two."""
    mask = one.operands[1]
    return isinstance(mask, Constant) and not ~(mask.value or 0) & (modulus - 1)


def _flips_the_highest(one: Instruction, modulus: int) -> bool:
    """Whether what is flipped is the highest bit below a power of two alone: LLVM's way to add half of it."""
    flipped = one.operands[1]
    return isinstance(flipped, Constant) and (flipped.value or 0) % modulus == modulus // 2
