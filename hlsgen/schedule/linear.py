"""Addresses as linear forms: a constant number of bytes and multiples of values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from hlsgen.schedule.ir import Constant, Expression, Global, Instruction, IntType, Local, Operand, Type
from hlsgen.schedule.pointers import moved_by, steps_of, variables_of
from hlsgen.schedule.ranges import Counter, Ranges

MOST_MOVES = 1 << 31
"""Iterations that a pointer may be moved in, of which nothing is known."""
LEAST_INDEX_BITS = 32
"""No array has as many words as a number of so many bits."""
_PURE = frozenset(("add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor", "zext", "sext", "trunc"))


@dataclass(frozen=True)
class Linear:
    """constant + sum of factor * value over `terms`, which name values of the function."""

    constant: int
    terms: tuple[tuple[str, int], ...] = ()

    def __add__(self, other: Linear) -> Linear:
        terms = dict(self.terms)
        for name, factor in other.terms:
            terms[name] = terms.get(name, 0) + factor
        return Linear(
            self.constant + other.constant,
            tuple(sorted((name, factor) for name, factor in terms.items() if factor)),
        )

    def times(self, factor: int) -> Linear:
        """The form multiplied by an integer."""
        if not factor:
            return Linear(0)
        return Linear(self.constant * factor, tuple((name, one * factor) for name, one in self.terms))


@dataclass(frozen=True)
class Address:
    """An address: bytes from the start of an alloca, a global variable, an argument or a pointer of
    unknown origin."""

    base: Local | Global
    offset: Linear


class Addresses:
    """The addresses of one function's loads and stores."""

    def __init__(self, definitions: Mapping[str, Instruction], ranges: Ranges) -> None:
        self.definitions = definitions
        self.ranges = ranges
        self.forms: dict[str, Linear] = {}
        self.known: dict[str, Address] = {}
        self.same: dict[str, str] = {}
        """Of values the first that is computed in the same way."""
        self.computed: dict[object, str] = {}
        self.parts: dict[str, str] = {}
        """Counters that are a part of another one, as i / 2 of one that counts by 16, each with that one."""

    def of(self, operand: Operand) -> Address | None:
        """Where a pointer points to; None for null and what is no address."""
        if isinstance(operand, Global):
            return Address(operand, Linear(0))
        if isinstance(operand, Expression) and operand.source is not None:
            return self._element(operand.source, operand.operands, operand.types)
        if not isinstance(operand, Local):
            return None
        known = self.known.get(operand.name)
        if known is None:
            defined = self.definitions.get(operand.name)
            if defined is not None and defined.opcode == "getelementptr" and defined.source is not None:
                known = self._element(defined.source, defined.operands, defined.types)
            elif defined is not None and defined.opcode in ("phi", "select"):
                known = self._chosen(defined)
            known = known or Address(operand, Linear(0))
            self.known[operand.name] = known
        return known

    def _element(
        self, source: Type, operands: tuple[Operand, ...], types: tuple[Type, ...]
    ) -> Address | None:
        start = self.of(operands[0])
        if start is None:
            return None
        offset = start.offset
        for (stride, index), type_ in zip(steps_of(source, operands[1:]), types[1:], strict=True):
            offset = offset + self._index(index, type_).times(stride)
        return Address(start.base, offset)

    def _index(self, operand: Operand, type_: Type) -> Linear:
        """An index as a linear form. One of 32 bits without sign may wrap, by C: but both before it and after
        it there is an array of fewer words, so that two indices differ by what their forms differ.
        """
        form = self.form(operand, type_)
        one = self.definitions.get(operand.name) if isinstance(operand, Local) else None
        if one is None or one.opcode != "zext" or form.terms != ((one.name, 1),):
            return form
        width = one.types[0]
        if not isinstance(width, IntType) or width.bits < LEAST_INDEX_BITS:
            return form
        return self._modular(one.operands[0], width) or self.form(one.operands[0], width)

    def _modular(self, operand: Operand, type_: Type) -> Linear | None:
        """A sum as a linear form that may be apart from it by a multiple of two to the power of its bits."""
        one = self.definitions.get(operand.name) if isinstance(operand, Local) else None
        if one is None or one.opcode not in ("add", "sub", "mul", "shl"):
            return None
        first, second = (
            self._modular(part, kind) or self.form(part, kind)
            for part, kind in zip(one.operands, one.types, strict=True)
        )
        return self._combined(one.opcode, first, second)

    def _chosen(self, one: Instruction) -> Address | None:
        """Where a pointer points to that is one of several in the same variable: `*p++` moves by the same
        number of bytes in each iteration, and counts them. None where the variables differ."""
        bases = variables_of(one, self.definitions)
        if len(bases) != 1:
            return None
        steps = {moved_by(operand, one.name, self.definitions) for operand in one.operands}
        starts = [
            operand for operand in one.operands if moved_by(operand, one.name, self.definitions) is None
        ]
        start = self.of(starts[0]) if one.opcode == "phi" and len(starts) == 1 else None
        steps.discard(None)
        step = steps.pop() if len(steps) == 1 else None
        if start is None or not step:
            return Address(bases.pop(), Linear(0, ((one.name, 1),)))
        counts = Counter(name=one.name, start=0, step=1, trips=None, values=(0, MOST_MOVES))
        self.ranges.counters[one.name] = counts
        self.ranges.known[one.name] = (0, MOST_MOVES)
        return Address(start.base, start.offset + Linear(0, ((one.name, step),)))

    def form(self, operand: Operand, type_: Type) -> Linear:
        """An integer as a linear form, exact where the arithmetic cannot wrap; else itself as one term."""
        if isinstance(operand, Constant):
            value = operand.value or 0
            if isinstance(type_, IntType) and value >> (type_.bits - 1) == 1:
                value -= 1 << type_.bits
            return Linear(value)
        if not isinstance(operand, Local):
            return Linear(0, (("?", 1),))
        form = self.forms.get(operand.name)
        if form is None:
            self.forms[operand.name] = itself = Linear(0, ((operand.name, 1),))
            form = self._derived(self.definitions.get(operand.name)) or itself
            self.forms[operand.name] = form
        return form

    def first_of(self, name: str) -> str:
        """The first value that is computed as one is: unrolling leaves copies under branches."""
        first = self.same.get(name)
        if first is None:
            self.same[name] = name
            one = self.definitions.get(name)
            if one is None or one.opcode not in _PURE:
                return name
            operands = tuple(
                Local(self.first_of(each.name)) if isinstance(each, Local) else each for each in one.operands
            )
            key = (one.opcode, one.type, operands, one.types)
            first = self.same[name] = self.computed.setdefault(key, name)
        return first

    def _derived(self, one: Instruction | None) -> Linear | None:
        if one is None:
            return None
        if one.opcode == "sext":
            return (
                None
                if self._counts_without_sign(one.operands[0])
                else self.form(one.operands[0], one.types[0])
            )
        if one.opcode == "zext":
            return self._unsigned(one.operands[0], one.types[0], one.flags)
        if one.opcode == "select" and isinstance(one.operands[0], Local):
            first, second = (self.form(operand, one.type) for operand in one.operands[1:])
            if first.terms == second.terms:  # a condition that holds is -1, with its sign
                return second + Linear(0, ((one.operands[0].name, second.constant - first.constant),))
        if one.opcode in ("add", "sub", "mul", "shl") or (one.opcode == "or" and "disjoint" in one.flags):
            return self._arithmetic(one) if self._exact(one) else None
        if one.opcode in ("ashr", "lshr") and isinstance(one.operands[1], Constant):
            whole = (self.form if one.opcode == "ashr" else self._unsigned)(one.operands[0], one.types[0])
            return None if whole is None else self._divided(whole, 1 << (one.operands[1].value or 0))
        return None

    def _divided(self, form: Linear, by: int) -> Linear | None:
        """A form divided by a positive integer, where nothing is left of any of its terms; else None."""
        found = Linear(form.constant // by)
        if form.constant % by:
            return None
        for name, factor in form.terms:
            if factor % by:
                part = self._part(name, factor, by)
                if part is None:
                    return None
                found = found + Linear(0, ((part, 1),))
            else:
                found = found + Linear(0, ((name, factor // by),))
        return found

    def _part(self, name: str, factor: int, by: int) -> str | None:
        """The counter that is factor / by of another one; None if that is no integer in each iteration."""
        counter = self.ranges.counters.get(name)
        if counter is None or counter.start is None:
            return None
        start, step = factor * counter.start, factor * counter.step
        if start % by or step % by:
            return None
        part = f"{name}*{factor}/{by}"
        ends = counter.values or counter.unsigned
        values = (
            None
            if ends is None
            else (min(one * factor // by for one in ends), max(one * factor // by for one in ends))
        )
        self.ranges.counters[part] = replace(
            counter, name=part, start=start // by, step=step // by, values=values, unsigned=None
        )
        if values is not None:
            self.ranges.known[part] = values
        self.parts[part] = name
        return part

    def _counts_without_sign(self, operand: Operand) -> bool:
        counter = self.ranges.counters.get(operand.name) if isinstance(operand, Local) else None
        return counter is not None and counter.unsigned is not None

    def _unsigned(self, operand: Operand, type_: Type, flags: Collection[str] = ()) -> Linear | None:
        """The value without sign as a linear form; of a counter without sign that is what its name
        stands for."""
        if self._counts_without_sign(operand):
            assert isinstance(operand, Local)
            return Linear(0, ((operand.name, 1),))
        if "nneg" in flags or self.ranges.of(operand, type_)[0] >= 0:
            return self.form(operand, type_)
        one = self.definitions.get(operand.name) if isinstance(operand, Local) else None
        if one is None or one.opcode not in ("add", "mul", "shl") or "nuw" not in one.flags:
            return None
        parts = [self._unsigned(part, kind) for part, kind in zip(one.operands, one.types, strict=True)]
        first, second = parts
        return None if first is None or second is None else self._combined(one.opcode, first, second)

    def _exact(self, one: Instruction) -> bool:
        return bool(one.flags & {"nsw", "disjoint"}) or one.name in self.ranges.known

    def _arithmetic(self, one: Instruction) -> Linear | None:
        first, second = (
            self.form(operand, type_) for operand, type_ in zip(one.operands, one.types, strict=True)
        )
        return self._combined(one.opcode, first, second)

    def _combined(self, opcode: str, first: Linear, second: Linear) -> Linear | None:
        if opcode in ("add", "or"):
            return first + second
        if opcode == "sub":
            return first + second.times(-1)
        if opcode == "mul" and not second.terms:
            return first.times(second.constant)
        if opcode == "mul" and not first.terms:
            return second.times(first.constant)
        if opcode == "shl" and not second.terms and 0 <= second.constant < 64:
            return first.times(1 << second.constant)
        return None

    def interval(self, form: Linear) -> tuple[int, int]:
        """The least and greatest value of a form."""
        low = high = form.constant
        for name, factor in form.terms:
            defined = self.definitions.get(name)
            ends = self.ranges.of(Local(name), defined.type if defined is not None else IntType(64))
            products = (ends[0] * factor, ends[1] * factor)
            low, high = low + min(products), high + max(products)
        return low, high

    def residue(self, form: Linear, modulus: int) -> int | None:
        """What a form leaves when it is divided by `modulus`, as a counter by 4 leaves its start; None
        if it varies."""
        rest = form.constant
        for name, factor in form.terms:
            counter = self.ranges.counters.get(name)
            if counter is not None and counter.start is not None and not factor * counter.step % modulus:
                rest += factor * counter.start
            elif factor % modulus:
                low, power = self._low_bits(name)
                if factor * power % modulus:
                    return None
                rest += factor * low
        return rest % modulus

    def _low_bits(self, name: str) -> tuple[int, int]:
        """What a value leaves when it is divided by a power of two, and that power: as far as a mask says.

        Below the bits that `or` sets are those of the value itself.
        """
        one = self.definitions.get(name)
        while one is not None and one.opcode in ("zext", "sext") and isinstance(one.operands[0], Local):
            one = self.definitions.get(one.operands[0].name)
        if one is None or one.opcode not in ("and", "or") or not isinstance(one.operands[1], Constant):
            return 0, 1
        mask = one.operands[1].value or 0
        lowest = mask & -mask
        if one.opcode == "and" or not mask:
            return 0, lowest or 1
        below = self.residue(self.form(one.operands[0], one.types[0]), lowest)
        power = ~(mask + lowest - 1) & (mask + lowest)
        return (0, 1) if below is None else ((mask & (power - 1)) + below, power)
