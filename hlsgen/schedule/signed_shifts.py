"""What the sign alone decides: quotients and remainders of powers of two, tests of it.

Signed quotients and remainders are the bits of the magnitude with the sign, no division.
Varsenaiga/VitisOptimization, 2021.1: `i = (i + 1) % 128` is a difference of 8 bits and a choice, where `% 3`
is a core of 21 cycles.
"""

from __future__ import annotations

from hlsgen.schedule.ir import Constant, Instruction, IntType
from hlsgen.schedule.operation import Operation


def signed_shift(one: Instruction, width: int) -> list[Operation]:
    """What stands for a division, one behind the other; empty if it is none of these. The last, a choice,
    takes the dividend, of `width` bits, too."""
    divisor = one.operands[1] if one.opcode in ("sdiv", "srem") else None
    if not isinstance(divisor, Constant) or divisor.value is None or divisor.value.bit_count() != 1:
        return []
    dropped = divisor.value.bit_length() - 1
    sizes = [width, max(1, width - dropped)] if one.opcode == "sdiv" else [1 + dropped]
    negated = [Operation(kind="sub", widths=(size, size), result=size, constants=1) for size in sizes]
    return [*negated, Operation(kind="select", widths=(sizes[-1],) * 2, result=sizes[-1])]


def is_sign_test(one: Instruction) -> bool:
    """Whether an instruction is one bit of its operand: `x < 0`, or `x > -1`.

    The vendor's compiler has bits selected there: of 440 comparisons with 0 by order in public schedule
    reports all are `x > 0`, beside tens of thousands of bits that are selected.
    """
    if (
        one.opcode != "icmp"
        or not isinstance(one.operands[1], Constant)
        or not isinstance(one.types[1], IntType)
    ):
        return False
    value, bits = one.operands[1].value, one.types[1].bits
    if value is None:
        return False
    return (one.predicate, value % (1 << bits)) in (("slt", 0), ("sgt", (1 << bits) - 1))
