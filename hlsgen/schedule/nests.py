"""Nests of loops in which nothing stands but the innermost: the vendor's compiler makes one loop of them.

By its guide the bounds of all loops but the outermost have to be constants (UG1399, `loop_flatten`: perfect
nests, and semi-perfect ones, whose outermost bound may vary). By its reports it is enough that the loop
around leaves them alone: the two numbers of iterations are multiplied in front of the nest. A loop that ends
at several places stays (soheilbh/fpga-vs-cpu-realtime-vision, 2024.2: 600 by 800 iterations and a return).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property

from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.ir import Constant, Function, Instruction, Local, Operand

COMPUTED = frozenset(
    ["add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor", "udiv", "sdiv", "urem", "srem"]
    + ["icmp", "select", "zext", "sext", "trunc", "freeze"]
)
"""What gives the same of the same operands each time."""


class FlatNests:
    """The nests of a function that become one loop each.

    trips: the iterations of loops with constant bounds, by their headers. stays: whether a pragma keeps a
    loop apart: it may stand in the inner one as in that around it. keeps_word: whether the compiler itself
    puts something between a loop and the one in it.
    """

    def __init__(
        self,
        function: Function,
        trips: Mapping[str, int],
        stays: Callable[[Loop], bool],
        keeps_word: Callable[[Loop, Loop], bool],
    ) -> None:
        self._function, self._trips, self._stays = function, trips, stays
        self._keeps_word = keeps_word
        self._found: dict[str, list[Loop]] = {}

    def around(self, loop: Loop | None) -> list[Loop]:
        """The loops that become one loop with this one, the nearest first."""
        if loop is None:
            return []
        if loop.header not in self._found:
            self._found[loop.header] = list(self._climbed(loop))
        return self._found[loop.header]

    def is_read(self, counter: str, nest: Sequence[Loop]) -> bool:
        """Whether anything hangs on a counter but its own next value and the branches that end the loops of
        its nest."""
        ends_at = {name for loop in nest for name in loop.leaving(self._function)}
        seen, waiting = {counter}, [counter]
        while waiting:
            for block, reader in self._readers.get(waiting.pop(), ()):
                if reader.opcode in COMPUTED:
                    if reader.name not in seen:
                        seen.add(reader.name)
                        waiting.append(reader.name)
                elif reader.name != counter and not (reader.opcode == "br" and block in ends_at):
                    return True
        return False

    @cached_property
    def _readers(self) -> dict[str, list[tuple[str, Instruction]]]:
        """The instructions that read each value, with the blocks that they stand in."""
        found: dict[str, list[tuple[str, Instruction]]] = {}
        for block, one in self._function.instructions():
            for operand in one.operands:
                if isinstance(operand, Local):
                    found.setdefault(operand.name, []).append((block.name, one))
        return found

    def _climbed(self, loop: Loop) -> list[Loop]:
        found: list[Loop] = []
        while (
            loop.parent is not None
            and loop.header in loop.parent.always
            and len(loop.leaving(self._function)) == 1
            and not (self._stays(loop) or self._stays(loop.parent))
            and (loop.header in self._trips or keeps_bounds(self._function, loop, loop.parent))
            and is_perfect(self._function, loop.parent, loop.parent.inner)
            and not self._keeps_word(loop.parent, loop)
        ):
            loop = loop.parent
            found.append(loop)
        return found


def is_perfect(function: Function, parent: Loop, inner: Sequence[Loop]) -> bool:
    """Whether a loop does nothing but run one inner loop. `inner`: those that are left within it."""
    if len(inner) != 1:
        return False
    own = parent.blocks - inner[0].blocks
    return not any(
        addresses_in(one)
        or (one.opcode == "call" and not one.callee.startswith(("llvm.", "__hls_mark", "__hls_keep")))
        for name in own
        for one in function.blocks[name].instructions
    )


def addresses_in(one: Instruction) -> tuple[Operand, ...]:
    """The addresses that an instruction reads or writes: objects are copied as blocks of bytes."""
    if one.opcode in ("load", "store"):
        return one.operands[-1:]
    if one.callee.startswith(("llvm.memcpy", "llvm.memmove")):
        return one.operands[:2]
    return one.operands[:1] if one.callee.startswith("llvm.memset") else ()


def keeps_bounds(function: Function, loop: Loop, parent: Loop) -> bool:
    """Whether a loop that ends at one place does so by counters whose first and last values are known before
    the loop around it begins."""
    branch = function.blocks[loop.leaving(function)[0]].instructions[-1]
    if branch.opcode != "br" or not branch.operands:
        return False
    made = {one.name: one for name in parent.blocks for one in function.blocks[name].instructions if one.name}
    counters = {
        one.name
        for one in function.blocks[loop.header].instructions
        if one.opcode == "phi" and _counts(one, loop, made)
    }
    return not _is_known(branch.operands[0], made, ()) and _is_known(branch.operands[0], made, counters)


def _counts(register: Instruction, loop: Loop, made: Mapping[str, Instruction]) -> bool:
    """Whether a constant is added to a register in each iteration, from a value that is known before."""
    for came, label in zip(register.operands, register.labels, strict=True):
        step = made.get(came.name) if isinstance(came, Local) and label in loop.blocks else None
        if label not in loop.blocks:
            known = _is_known(came, made, ())
        else:
            known = step is not None and step.opcode == "add" and step.operands[0] == Local(register.name)
            known = known and step is not None and isinstance(step.operands[1], Constant)
        if not known:
            return False
    return True


def _is_known(value: Operand, made: Mapping[str, Instruction], counters: Collection[str]) -> bool:
    """Whether a value hangs on those counters alone, on constants, and on what lies outside of a loop that
    makes `made`."""
    one = made.get(value.name) if isinstance(value, Local) else None
    if one is None or one.name in counters:
        return True
    return one.opcode in COMPUTED and all(_is_known(operand, made, counters) for operand in one.operands)
