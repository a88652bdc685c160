"""How far two integers of a function lie apart, where that is a constant: 2 * i and 2 * (i + 1)."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping

from hlsgen.schedule.ir import Constant, Instruction, IntType, Local, Operand

MOST_STEPS = 64
"""Operations that are followed back; what is computed by more stays unknown."""
SIGNED, UNSIGNED = "nsw", "nuw"
"""LLVM's words for sums and products that are those of whole numbers, with and without sign, as those of
int in C are."""


def distance(
    first: Operand, second: Operand, bits: int, definitions: Mapping[str, Instruction], wraps_not: str
) -> int | None:
    """`first` less `second`, both of `bits` bits, as a signed number; None if it is no constant.

    wraps_not: SIGNED or UNSIGNED, as which no sum or product on the way may wrap.
    """
    tally: Tally[str] = Tally()
    ends = [
        _add(tally, value, times, IntType(bits), definitions, wraps_not, MOST_STEPS)
        for value, times in ((first, 1), (second, -1))
    ]
    modulus = 1 << bits
    if None in ends or any(times % modulus for times in tally.values()):
        return None
    found = sum(end for end in ends if end is not None) % modulus
    return found - modulus if found >= modulus // 2 else found


def _add(
    tally: Tally[str],
    value: Operand,
    times: int,
    type_: IntType,
    definitions: Mapping[str, Instruction],
    wraps_not: str,
    steps: int,
) -> int | None:
    """Adds a multiple of a value to the multiples of names in `tally`; its constant part."""
    if isinstance(value, Constant):
        return None if value.value is None else value.value * times
    if not isinstance(value, Local):
        return None
    one = definitions.get(value.name)
    if one is not None and one.type == type_ and steps:
        parts = _parts(one, wraps_not)
        found = [
            _add(tally, part, times * factor, type_, definitions, wraps_not, steps // len(parts))
            for part, factor in parts
        ]
        if parts:
            return None if None in found else sum(each for each in found if each is not None)
    tally[value.name] += times
    return 0


def _parts(one: Instruction, wraps_not: str) -> tuple[tuple[Operand, int], ...]:
    """The values that an operation sums up, with their factors; none if it may wrap, or is no sum."""
    disjoint = one.opcode == "or" and "disjoint" in one.flags
    if wraps_not not in one.flags and not disjoint:
        return ()
    if one.opcode in ("add", "sub", "or"):
        return (one.operands[0], 1), (one.operands[1], -1 if one.opcode == "sub" else 1)
    if one.opcode not in ("mul", "shl"):
        return ()
    first, second = one.operands
    if one.opcode == "mul" and isinstance(first, Constant):
        first, second = second, first  # as it stands in the source: 2 * i
    if not isinstance(second, Constant) or second.value is None:
        return ()
    return ((first, second.value if one.opcode == "mul" else 1 << second.value),)
