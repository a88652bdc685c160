"""Divisions by constants, of which few are built as divisions.

Powers of two are shifts (signed_shifts.py). Other quotients are products: a word of n bits times the
divisor's reciprocal of n + 2 bits. `x / 3` of an int is a core named mul_32s_34ns_65 in public RTL of Vitis
HLS, of an unsigned char mul_8ns_10ns_17. Other remainders stay (urem_32ns_3ns_2_36_1), the only divisions by
constants that were found there.
"""

from __future__ import annotations

from hlsgen.schedule.ir import Constant, Instruction
from hlsgen.schedule.operation import DIVISIONS, Operation
from hlsgen.schedule.signed_shifts import signed_shift
from hlsgen.schedule.widths import Widths

MORE_BITS = 2
"""Bits that the reciprocal has more than the dividend."""


def instead_of_division(one: Instruction, widths: Widths) -> list[Operation]:
    """What is built in place of a division, one behind the other; empty if it is one, or no division. A
    choice at the end takes the dividend too, for its sign."""
    if one.opcode not in DIVISIONS:
        return []
    width = widths.of(one.operands[0], one.type)
    below_zero = one.opcode == "sdiv" and widths.ranges.of(one.operands[0], one.type)[0] < 0
    return signed_shift(one, width) or _product(one, width, below_zero)


def _product(one: Instruction, width: int, below_zero: bool) -> list[Operation]:
    """A quotient of a word of `width` bits. Where that may be below zero the product and what is cut from it
    are negated, and a choice stands behind each."""
    divisor = one.operands[1] if one.opcode in ("udiv", "sdiv") else None
    if not isinstance(divisor, Constant) or divisor.value is None or abs(divisor.value).bit_count() <= 1:
        return []
    whole = 2 * width + 1
    cut = Operation(kind="lshr", widths=(whole,), result=width, constants=1)
    steps = [Operation(kind="mul", widths=(width, width + MORE_BITS), result=whole, constants=1)]
    if below_zero:
        choice = Operation(kind="select", widths=(width, width), result=width)
        steps += [_negation(whole), cut, choice, _negation(width), choice]
    return steps if below_zero else [*steps, cut]


def _negation(bits: int) -> Operation:
    return Operation(kind="sub", widths=(bits, bits), result=bits, constants=1)
