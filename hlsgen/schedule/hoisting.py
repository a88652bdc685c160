"""Reads that the vendor's compiler moves in front of a loop, so that a nest is none to its decision.

`for (i) for (j) a[i][j] += s[i];` is a perfect nest in the source. s[i] is the same for all j, and is read
before the inner loop: something stands beside it then, and what the tool decides of loops in which
something stands beside others holds (sort_radix of MachSuite: the inner loop of 16 is unrolled, II 16). So
is a word that all iterations read and write, and the first word of an array where each iteration takes what
the one before wrote (`a[j] += a[j - 1]`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.ir import Function, Instruction, Local, Operand
from hlsgen.schedule.linear import Address, Addresses


def reads_in_front(
    function: Function,
    parent: Loop,
    inner: Loop,
    addresses: Addresses,
    ports: Collection[str],
    unrolled: Collection[str],
) -> bool:
    """Whether a word that changes with `parent` is read in front of `inner`.

    ports: arguments that are AXI ports. unrolled: headers of loops whose counters become constants.
    """
    values = _Values(function, addresses.definitions, unrolled)
    reads: list[tuple[Address, Operand]] = []
    written: dict[str, list[Address]] = {}
    for one in (one for name in inner.blocks for one in function.blocks[name].instructions):
        if one.opcode == "call" and not one.callee.startswith(_SAYS_NOTHING):
            return False
        if one.opcode not in ("load", "store") or "volatile" in one.flags:
            continue
        address = addresses.of(one.operands[-1])
        if address is None or not isinstance(address.base, Local) or address.base.name in ports:
            continue
        if one.opcode == "store":
            written.setdefault(address.base.name, []).append(address)
        else:
            reads.append((address, one.operands[-1]))
    return any(
        _is_in_front(address, written.get(address.base.name, ()), _step(address, inner, function, addresses))
        if values.moves(operand, inner)
        else values.moves(operand, parent)
        and all(one.offset == address.offset for one in written.get(address.base.name, ()))
        for address, operand in reads
    )


_SAYS_NOTHING = ("llvm.", "__hls_mark", "__hls_keep")


def keeps_word(
    function: Function, parent: Loop, inner: Loop, addresses: Addresses, ports: Collection[str]
) -> bool:
    """Whether every iteration of `inner` reads and writes a word that changes with `parent` alone, as
    `for (i) for (j) sums[i] += a[i][j];`: it is read in front of `inner` and written behind it, which the
    tool does not make one loop with that around it then.

    Eight such nests in two kernels of the logs of Crazy-James26/HeteroCL_Transformer, 2022.1: "Cannot flatten
    loop 'l_sum_i14' (kernel.cpp:365:23): the outer loop is not a perfect loop". ports: arguments that are AXI
    ports.
    """
    values = _Values(function, addresses.definitions, ())
    moved: dict[str, list[tuple[Address, str, bool]]] = {}
    for name in inner.blocks:
        for one in function.blocks[name].instructions:
            if one.opcode == "call" and not one.callee.startswith(_SAYS_NOTHING):
                return False
            if one.opcode not in ("load", "store"):
                continue
            address = addresses.of(one.operands[-1])
            if address is None or not isinstance(address.base, Local) or "volatile" in one.flags:
                return False
            stays = not values.moves(one.operands[-1], inner) and values.moves(one.operands[-1], parent)
            always = name in inner.always and stays and address.base.name not in ports
            moved.setdefault(address.base.name, []).append((address, one.opcode, always))
    return any(
        all(always and address.offset == found[0][0].offset for address, _, always in found)
        and {opcode for _, opcode, _ in found} == {"load", "store"}
        for found in moved.values()
    )


def _is_in_front(read: Address, written: Sequence[Address], step: int) -> bool:
    """Whether an iteration reads what the one before wrote, by an address that moves by `step` bytes."""
    return any(
        step != 0
        and one.offset.terms == read.offset.terms
        and one.offset.constant - read.offset.constant == step
        for one in written
    )


def _step(address: Address, loop: Loop, function: Function, addresses: Addresses) -> int:
    """The bytes that an address moves by in an iteration of a loop; 0 if that is not known."""
    own = {one.name for one in function.blocks[loop.header].instructions if one.opcode == "phi"}
    moves = [(name, factor) for name, factor in address.offset.terms if name in own]
    counters = addresses.ranges.counters
    if len(moves) != 1 or moves[0][0] not in counters:
        return 0
    return moves[0][1] * counters[moves[0][0]].step


class _Values:
    """What changes within a loop."""

    def __init__(
        self, function: Function, definitions: Mapping[str, Instruction], unrolled: Collection[str]
    ) -> None:
        self._definitions, self._unrolled = definitions, unrolled
        self._block = {one.name: block.name for block, one in function.instructions() if one.name}

    def moves(self, operand: Operand, loop: Loop) -> bool:
        """Whether a value may change from one iteration of a loop to the next."""
        return self._moves(operand, loop, set())

    def _moves(self, operand: Operand, loop: Loop, seen: set[str]) -> bool:
        if not isinstance(operand, Local) or operand.name in seen:
            return False
        seen.add(operand.name)
        block = self._block.get(operand.name)
        if block is None or block not in loop.blocks:
            return False
        one = self._definitions[operand.name]
        if one.opcode in ("load", "call") or (one.opcode == "phi" and block not in self._unrolled):
            return True
        return any(self._moves(each, loop, seen) for each in one.operands)
