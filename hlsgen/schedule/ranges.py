"""What integers can be: intervals of the values of a function, counters of its loops among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.distances import SIGNED, UNSIGNED, distance
from hlsgen.schedule.indexing_counters import extent_indexed_by
from hlsgen.schedule.ir import (
    Block,
    Constant,
    Function,
    Global,
    GlobalVariable,
    Instruction,
    IntType,
    Local,
    Operand,
    Type,
)
from hlsgen.schedule.pointers import base_of

Interval = tuple[int, int]
"""The least and the greatest value, as a signed number; both inclusive."""


@dataclass(frozen=True, kw_only=True)
class Counter:
    """A register of a loop that a constant is added to in each iteration."""

    name: str
    start: int | None
    step: int
    trips: int | None
    """Iterations of the loop, where this counter ends it and the bounds are constants."""
    values: Interval | None
    """Within an iteration's body, where known."""
    unsigned: Interval | None = None
    """Of a counter that may reach the upper half of its type and never wraps: its values without sign."""


class Ranges:
    """Intervals of the integers of one function, found in one pass in the order of its blocks."""

    def __init__(
        self,
        function: Function,
        order: Sequence[str],
        loops: Sequence[Loop],
        variables: Mapping[str, GlobalVariable] | None = None,
    ) -> None:
        """variables: global ones, of which constants tell what is loaded from them."""
        self.known: dict[str, Interval] = {}
        self.counters: dict[str, Counter] = {}
        self.trips: dict[str, int] = {}
        self.variables = variables or {}
        self.definitions = definitions = {one.name: one for _, one in function.instructions() if one.name}
        for loop in loops:
            for counter in counters_of(loop, function, definitions):
                self.counters[counter.name] = counter
                if counter.trips is not None:
                    self.trips.setdefault(loop.header, counter.trips)
        for name in order:
            self._block(function.blocks[name])

    def _block(self, block: Block) -> None:
        for one in block.instructions:
            if isinstance(one.type, IntType) and one.name:
                found = self._of(one, one.type.bits)
                if found is not None:
                    self.known[one.name] = found

    def of(self, operand: Operand, type_: Type) -> Interval:
        """The interval of an operand of an integer type."""
        if not isinstance(type_, IntType):
            return (-(1 << 63), (1 << 63) - 1)
        if isinstance(operand, Constant) and operand.value is not None:
            value = _signed(operand.value, type_.bits)
            return value, value
        if isinstance(operand, Local) and operand.name in self.known:
            return self.known[operand.name]
        return _all(type_.bits)

    def unsigned(self, operand: Operand, type_: IntType) -> Interval:
        """The interval of an operand's value without sign."""
        low, high = self.of(operand, type_)
        if low >= 0:
            return low, high
        return (low + (1 << type_.bits), high + (1 << type_.bits)) if high < 0 else (0, (1 << type_.bits) - 1)

    def bits(self, operand: Operand, type_: Type) -> int:
        """The least bits that hold every value of the operand, with its sign if it has one."""
        if not isinstance(type_, IntType):
            return 64
        low, high = self.of(operand, type_)
        if low >= 0:
            return max(1, min(type_.bits, high.bit_length()))
        return max(1, min(type_.bits, max(high.bit_length(), (-low - 1).bit_length()) + 1))

    def _of(self, one: Instruction, bits: int) -> Interval | None:
        if one.opcode == "phi":
            return self._phi(one, bits)
        rule = _RULES.get(one.opcode)
        if rule is not None:
            found = rule(self, one)
            return found if found and _all(bits)[0] <= found[0] and found[1] <= _all(bits)[1] else None
        if one.opcode == "zext":
            source = one.types[0]
            return self.unsigned(one.operands[0], source) if isinstance(source, IntType) else None
        if one.opcode == "sext":
            return self.of(one.operands[0], one.types[0])
        if one.opcode in ("trunc", "freeze"):
            low, high = self.of(one.operands[0], one.types[0])
            least, most = _all(bits)
            return (low, high) if least <= low and high <= most else None
        if one.opcode in ("select", "call"):
            return self._choice(one)
        return self._loaded(one, bits) if one.opcode == "load" and self.variables else None

    def _loaded(self, one: Instruction, bits: int) -> Interval | None:
        """What a constant array can give."""
        base, _ = base_of(one.operands[0], self.definitions)
        variable = self.variables.get(base.name) if isinstance(base, Global) else None
        if variable is None or variable.values is None or variable.values[0] != bits:
            return None
        return variable.values[1:]

    def _phi(self, one: Instruction, bits: int) -> Interval | None:
        counter = self.counters.get(one.name)
        if counter is not None:
            return counter.values
        if any(isinstance(value, Local) and value.name not in self.known for value in one.operands):
            return None
        intervals = [self.of(value, one.type) for value in one.operands]
        return min(low for low, _ in intervals), max(high for _, high in intervals)

    def _choice(self, one: Instruction) -> Interval | None:
        if one.opcode == "select":
            first, second = (self.of(value, one.type) for value in one.operands[1:])
            return min(first[0], second[0]), max(first[1], second[1])
        if one.callee.startswith(("llvm.smax.", "llvm.smin.", "llvm.umin.", "llvm.umax.")):
            first, second = (self.of(value, one.type) for value in one.operands[:2])
            if one.callee.startswith("llvm.u") and min(first[0], second[0]) < 0:
                return None
            pick = max if "max." in one.callee else min
            return pick(first[0], second[0]), pick(first[1], second[1])
        return None


def _add(ranges: Ranges, one: Instruction) -> Interval:
    first, second = _pair(ranges, one)
    return first[0] + second[0], first[1] + second[1]


def _sub(ranges: Ranges, one: Instruction) -> Interval:
    first, second = _pair(ranges, one)
    return first[0] - second[1], first[1] - second[0]


def _mul(ranges: Ranges, one: Instruction) -> Interval:
    first, second = _pair(ranges, one)
    products = [left * right for left in first for right in second]
    return min(products), max(products)


def _shl(ranges: Ranges, one: Instruction) -> Interval | None:
    first, second = _pair(ranges, one)
    if second[0] != second[1] or not 0 <= second[0] < 4096:
        return None
    return first[0] << second[0], first[1] << second[0]


def _shift_right(ranges: Ranges, one: Instruction) -> Interval | None:
    second = ranges.of(one.operands[1], one.types[1])
    type_ = one.types[0]
    if not isinstance(type_, IntType) or second[0] != second[1] or not 0 <= second[0] < type_.bits:
        return None
    first = (
        ranges.unsigned(one.operands[0], type_) if one.opcode == "lshr" else ranges.of(one.operands[0], type_)
    )
    return first[0] >> second[0], first[1] >> second[0]


def _and(ranges: Ranges, one: Instruction) -> Interval | None:
    highs = [high for low, high in _pair(ranges, one) if low >= 0]
    return (0, min(highs)) if highs else None


def _or(ranges: Ranges, one: Instruction) -> Interval | None:
    first, second = _pair(ranges, one)
    if first[0] < 0 or second[0] < 0:
        return None
    return 0, (1 << max(first[1].bit_length(), second[1].bit_length())) - 1


def _urem(ranges: Ranges, one: Instruction) -> Interval | None:
    first, second = _pair(ranges, one)
    if second[0] <= 0 or first[0] < 0:
        return None
    return 0, min(first[1], second[1] - 1)


def _udiv(ranges: Ranges, one: Instruction) -> Interval | None:
    first, second = _pair(ranges, one)
    if second[0] <= 0 or first[0] < 0:
        return None
    return first[0] // second[1], first[1] // second[0]


def _pair(ranges: Ranges, one: Instruction) -> tuple[Interval, Interval]:
    return ranges.of(one.operands[0], one.types[0]), ranges.of(one.operands[1], one.types[1])


_RULES = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "shl": _shl,
    "lshr": _shift_right,
    "ashr": _shift_right,
    "and": _and,
    "or": _or,
    "xor": _or,
    "urem": _urem,
    "srem": _urem,
    "udiv": _udiv,
    "sdiv": _udiv,
}


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _all(bits: int) -> Interval:
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def counters_of(loop: Loop, function: Function, definitions: Mapping[str, Instruction]) -> list[Counter]:
    """The counters of a loop: registers whose next value is their own plus a constant."""
    found = []
    for one in function.blocks[loop.header].instructions:
        if one.opcode != "phi":
            break
        step = _step(one, loop, definitions)
        if step is not None and isinstance(one.type, IntType):
            counter = _counter(one, one.type.bits, step, loop, function, definitions)
            if counter.trips == 1 or not _has_constant(one, loop):
                found.append(counter)
    return found


def _has_constant(phi: Instruction, loop: Loop) -> bool:
    """Whether a register's next value is a constant: it counts only where that ends the loop."""
    pairs = zip(phi.operands, phi.labels, strict=True)
    return any(isinstance(value, Constant) for value, label in pairs if label in loop.blocks)


def _step(phi: Instruction, loop: Loop, definitions: Mapping[str, Instruction]) -> int | None:
    steps = set()
    for value, label in zip(phi.operands, phi.labels, strict=True):
        if label not in loop.blocks:
            continue
        if isinstance(value, Constant):
            steps.add(_to_constant(phi, value, loop))
            continue
        defined = definitions.get(value.name) if isinstance(value, Local) else None
        if defined is None or defined.opcode != "add" or defined.operands[0] != Local(phi.name):
            return None
        step = defined.operands[1]
        if not isinstance(step, Constant) or step.value is None or not isinstance(phi.type, IntType):
            return None
        steps.add(_signed(step.value, phi.type.bits))
    return steps.pop() if len(steps) == 1 else None


def _to_constant(phi: Instruction, value: Constant, loop: Loop) -> int | None:
    """The step to a second value that is a constant, as LLVM writes it where a loop runs once."""
    starts = [one for one, label in zip(phi.operands, phi.labels, strict=True) if label not in loop.blocks]
    start = starts[0] if len(starts) == 1 else None
    if not isinstance(start, Constant) or start.value is None or value.value is None:
        return None
    if not isinstance(phi.type, IntType):
        return None
    return _signed(value.value, phi.type.bits) - _signed(start.value, phi.type.bits) or None


def _counter(
    phi: Instruction,
    bits: int,
    step: int,
    loop: Loop,
    function: Function,
    definitions: Mapping[str, Instruction],
) -> Counter:
    begins = [
        value for value, label in zip(phi.operands, phi.labels, strict=True) if label not in loop.blocks
    ]
    starts = {value.value if isinstance(value, Constant) else None for value in begins}
    start = starts.pop() if len(starts) == 1 else None
    start = _signed(start, bits) if start is not None else None
    values, trips, unsigned = None, None, None
    if start is None and step and len(begins) == 1:
        last = _last(phi, bits, 0, step, loop, function, definitions, begins[0])
        trips = abs(last) // abs(step) + 1 if last is not None else None
    if start is not None and step:
        last = _last(phi, bits, start, step, loop, function, definitions)
        if last is not None:
            ends = (min(start, last), max(start, last))
            values, unsigned = (ends, None) if ends[1] < 1 << (bits - 1) else (None, ends)
            trips = abs(last - start) // abs(step) + 1
    if values is None and unsigned is None:
        extent = extent_indexed_by(phi, step, loop, function, definitions)
        if extent is not None:
            ends = (max(0, start or 0), extent - 1)
            values, unsigned = (ends, None) if extent <= 1 << (bits - 1) else (None, ends)
        elif _rises(phi, start, step, loop, function, definitions):
            unsigned = (max(0, start or 0), (1 << bits) - 1)
    return Counter(name=phi.name, start=start, step=step, trips=trips, values=values, unsigned=unsigned)


def _rises(
    phi: Instruction,
    start: int | None,
    step: int,
    loop: Loop,
    function: Function,
    definitions: Mapping[str, Instruction],
) -> bool:
    """Whether a counter without sign never wraps: its sum says so, or a test ends the loop before."""
    nexts = {
        value.name
        for value, label in zip(phi.operands, phi.labels, strict=True)
        if label in loop.blocks and isinstance(value, Local)
    }
    if step > 0 and all("nuw" in definitions[name].flags for name in nexts):
        return True
    if step != 1 or (start is not None and start < 0):
        return False
    for name in dict.fromkeys([loop.header, *loop.latches]):
        branch = function.blocks[name].instructions[-1]
        condition = branch.operands[0] if branch.opcode == "br" and branch.operands else None
        compared = definitions.get(condition.name) if isinstance(condition, Local) else None
        if (
            compared is None
            or compared.opcode != "icmp"
            or compared.operands[0]
            not in (
                Local(phi.name),
                *(Local(one) for one in nexts),
            )
        ):
            continue
        stays = [label in loop.blocks for label in branch.labels]
        if (compared.predicate == "ult" and stays == [True, False]) or (
            compared.predicate == "uge" and stays == [False, True]
        ):
            return True
        if start == 0 and (compared.predicate, stays) in (("ne", [True, False]), ("eq", [False, True])):
            return True
    return False


def _last(
    phi: Instruction,
    bits: int,
    start: int,
    step: int,
    loop: Loop,
    function: Function,
    definitions: Mapping[str, Instruction],
    origin: Operand | None = None,
) -> int | None:
    """The counter's value in the last iteration, if a comparison with a constant ends the loop.

    origin: a value that varies, from which on all is counted: bounds count that are a constant apart from it.
    """
    for name in dict.fromkeys([*loop.always, *loop.latches]):
        branch = function.blocks[name].instructions[-1]
        outside = [label not in loop.blocks for label in branch.labels]
        if branch.opcode != "br" or sum(outside) != 1 or not branch.operands:
            continue
        condition = branch.operands[0]
        compared = definitions.get(condition.name) if isinstance(condition, Local) else None
        if compared is None or compared.opcode != "icmp":
            continue
        if origin is not None:
            compared = _counted_from(origin, compared, bits, definitions)
        before = name == loop.header and name not in loop.latches
        last = _bound(
            compared, phi, bits, start, step, leaves_if=outside[0], before=before, definitions=definitions
        )
        if last is not None:
            return last
    return None


def _counted_from(
    origin: Operand, compared: Instruction, bits: int, definitions: Mapping[str, Instruction]
) -> Instruction:
    """A comparison with a bound, as if the value were zero that a counter starts from: with sign, since what
    lies in front of that is negative."""
    wraps_not = UNSIGNED if compared.predicate.startswith("u") else SIGNED
    apart = distance(compared.operands[1], origin, bits, definitions, wraps_not)
    predicate = compared.predicate.replace("u", "s") if wraps_not == UNSIGNED else compared.predicate
    return replace(compared, predicate=predicate, operands=(compared.operands[0], Constant(apart)))


def _bound(
    compared: Instruction,
    phi: Instruction,
    bits: int,
    start: int,
    step: int,
    *,
    leaves_if: bool,
    before: bool,
    definitions: Mapping[str, Instruction],
) -> int | None:
    """The counter's value in the last iteration, by a test that leaves the loop. before: it stands before
    all that an iteration does, so that the one that leaves is none."""
    first, second = compared.operands
    if not isinstance(second, Constant) or second.value is None or not isinstance(first, Local):
        return None
    limit = _signed(second.value, bits)
    half = 1 << (bits - 1)
    if limit < 0 and start >= 0 and step > 0 and compared.predicate[0] in "uen":
        limit += 2 * half  # without sign, the upper half of the type
    elif limit < 0 and compared.predicate.startswith("u"):
        return None
    ahead = 0
    if first != Local(phi.name):
        further = _ahead(definitions.get(first.name), phi, bits)
        if further is None:
            return None
        ahead = further
    # the value of the counter at the first iteration whose test leaves the loop
    predicate = compared.predicate[-2:]
    stops = {
        ("eq", True): lambda value: value == limit,
        ("ne", False): lambda value: value == limit,
        ("lt", False): lambda value: value >= limit,
        ("ge", True): lambda value: value >= limit,
        ("le", False): lambda value: value > limit,
        ("gt", True): lambda value: value > limit,
        ("gt", False): lambda value: value <= limit,
        ("le", True): lambda value: value <= limit,
        ("ge", False): lambda value: value < limit,
        ("lt", True): lambda value: value < limit,
    }.get((predicate, leaves_if))
    if stops is None:
        return None
    last = _first_stop(stops, start, step, ahead, limit, before=before and not ahead)
    upper = half if limit < half and not compared.predicate.startswith("u") else 2 * half
    if last is None or not -half <= last + step < upper:
        return None  # the counter wraps before
    if compared.predicate.startswith("u") and min(start, start + ahead, last + step) < 0:
        return None  # without sign it is more than the limit
    return last


def _ahead(defined: Instruction | None, phi: Instruction, bits: int) -> int | None:
    """How far a value is ahead of a counter; None if it is not made of it and a constant alone."""
    if defined is None or defined.operands[:1] != (Local(phi.name),):
        return None
    if defined.opcode != "add" and not (defined.opcode == "or" and "disjoint" in defined.flags):
        return None
    more = defined.operands[1]
    return _signed(more.value, bits) if isinstance(more, Constant) and more.value is not None else None


def _first_stop(
    stops: Callable[[int], bool], start: int, step: int, ahead: int, limit: int, *, before: bool
) -> int | None:
    """The counter in the last iteration; before: the one whose test leaves is none."""
    near = max(1, (limit - start - ahead) // step - 1) if (limit - start) * step > 0 else 1
    for count in (0, *range(near, near + 4)):
        value: int = start + count * step
        if stops(value + ahead):
            if not before:
                return value
            return value - step if count else None
    return None
