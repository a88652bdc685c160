"""How a nest that became one loop counts: what stands between its registers and an address.

    inner = inner == limit ? 0 : inner        a comparison, and a choice
    outer = inner == limit ? outer + 1 : outer
    ...                                       the iteration
    inner = inner + 1
    both = both + 1                           ends the nest where it is the product of the two limits

Every release up to 2024.1 compares in the iteration itself; in reports of 2024.2 the one before has done so.
Comparison, choice and sum are a recurrence: counters of 32 bits at 3 ns on an Ultrascale+ -1 do not close it
in a cycle (meicale/Acc_DeCNN_on_FPGA, 2020.2: 1.11 + 0.52 + 1.20 ns of 2.19, II 2). An outer counter is
multiplied by the bytes of its dimension where those are no power of two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.ir import Function, Local
from hlsgen.schedule.linear import Linear
from hlsgen.schedule.nests import FlatNests
from hlsgen.schedule.operation import Operation
from hlsgen.schedule.ranges import Ranges
from hlsgen.schedule.releases import release_of
from hlsgen.schedule.widths import Widths

COMPARES_BEFORE = (2024, 2)
_SUM_DIGITS = 2
"""A product by a constant of no more signed digits is a sum of shifted values."""


def compares_before(version: str) -> bool:
    """Whether that release compares a counter with its limit an iteration ahead."""
    return release_of(version) >= COMPARES_BEFORE


class NestCounters:
    """The counters of a nest, as nodes of the region of its innermost loop.

    add: makes a node of an operation and the nodes that it waits for.
    """

    def __init__(
        self,
        function: Function,
        nests: FlatNests,
        ranges: Ranges,
        widths: Widths,
        add: Callable[[Operation, Sequence[int]], int],
        *,
        ahead: bool,
    ) -> None:
        self._function, self._ranges, self._widths, self._add = function, ranges, widths, add
        self._nests, self._ahead = nests, ahead
        self.values: dict[str, int] = {}
        """The nodes of the counters as an iteration sees them."""
        self.both: tuple[int, int] | None = None
        """The register that counts the iterations of the nest, and its next value."""
        self.ended = -1
        """Whether that register is at its end."""
        self._outer: dict[str, int] = {}
        self._products: dict[tuple[str, int], int] = {}

    def count(self, loop: Loop, around: Sequence[Loop], registers: dict[str, int]) -> None:
        """Make the nodes. around: the loops that became one with `loop`, the nearest first. registers: the
        nodes of the region's own counters."""
        counters = {own.header: list(self._counters_of(own)) for own in (loop, *around)}
        if all(counters.values()):
            total = sum(max(bits for _, bits in each) for each in counters.values())
            both = self._add(Operation(kind="phi", widths=(total,), result=total), [])
            self.both = both, self._add(_plain("add", total, constants=1), [both])
            self.ended = self._add(Operation(kind="icmp", widths=(total, total), result=1), [both])
        inner, *outer = (
            [pair for pair in each if self._nests.is_read(pair[0], (loop, *around))]
            for each in counters.values()
        )
        if not inner and not any(outer):
            return  # the tool counts the nest's iterations alone
        name, bits = (inner or counters[loop.header] or [("", 1)])[0]
        before = [registers[name]] if name in registers else []
        compare = Operation(kind="icmp", widths=(bits, bits), result=1)
        ends = [] if self._ahead else [self._add(compare, before)]
        for name, bits in inner or counters[loop.header][:1]:
            before = [registers[name]] if name in registers else []
            self.values[name] = self._add(_plain("select", bits), [*ends, *before])
        for name, bits in (pair for each in outer for pair in each):
            register = self._add(_plain("add", bits, constants=1), [])
            self._outer[name] = bits
            self.values[name] = self._add(_plain("select", bits), [*ends, register])

    def value(self, name: str, factor: int, element_bytes: int) -> int | None:
        """The node of a counter times the elements that it steps over; None if it is none of a nest's."""
        known = self.values.get(name)
        steps = abs(factor) // max(1, element_bytes)
        digits = _signed_digits(steps)
        if known is None or name not in self._outer or digits < _SUM_DIGITS:
            return known
        bits = self._outer[name]
        total = bits + steps.bit_length()
        if (name, steps) not in self._products:
            operation = (
                _plain("add", total)
                if digits == _SUM_DIGITS
                else Operation(kind="mul", widths=(bits, steps.bit_length()), result=total, constants=1)
            )
            self._products[name, steps] = self._add(operation, [known])
        return self._products[name, steps]

    def sources(self, offset: Linear, element_bytes: int, others: dict[str, int]) -> list[int]:
        """The nodes of an address's terms. others: those that are no counters of the nest."""
        found = [(self.value(name, factor, element_bytes), others.get(name)) for name, factor in offset.terms]
        return [node for counted, plain in found for node in [plain if counted is None else counted] if node]

    def _counters_of(self, loop: Loop) -> Iterator[tuple[str, int]]:
        """The counters of a loop that begin anew with it, and their bits."""
        outside = () if loop.parent is None else self._function.blocks[loop.parent.header].instructions
        through = {Local(one.name) for one in outside if one.opcode == "phi"}
        for one in self._function.blocks[loop.header].instructions:
            if one.opcode != "phi" or one.name not in self._ranges.counters:
                continue
            begins = {
                value
                for value, label in zip(one.operands, one.labels, strict=True)
                if label not in loop.blocks
            }
            if begins.isdisjoint(through):
                yield one.name, self._widths.result(one)


def _plain(kind: str, bits: int, constants: int = 0) -> Operation:
    return Operation(kind=kind, widths=(bits, bits), result=bits, constants=constants)


def _signed_digits(value: int) -> int:
    """The digits other than 0 of the shortest form of a number with digits -1, 0 and 1."""
    count = 0
    while value:
        if value & 1:
            value -= 2 - (value & 3)
            count += 1
        value >>= 1
    return count
