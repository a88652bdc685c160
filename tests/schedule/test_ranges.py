"""Intervals, linear forms and counters of random programs, held against running them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.schedule.control_flow import loops_of, reverse_postorder
from hlsgen.schedule.ir import Constant, Function, Instruction, IntType, Local, Operand
from hlsgen.schedule.ir_reader import read_module
from hlsgen.schedule.linear import Addresses, Linear
from hlsgen.schedule.ranges import Counter, Ranges
from hlsgen.schedule.rings import rings_of
from hlsgen.schedule.widths import Widths

CASES = settings(max_examples=150, deadline=None)
BITS = 7
INPUTS = [-64, -63, -17, -8, -2, -1, 0, 1, 2, 3, 7, 8, 21, 31, 62, 63]


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def ranges_of(function: Function) -> Ranges:
    order = reverse_postorder(
        next(iter(function.blocks)), {name: block.successors for name, block in function.blocks.items()}
    )
    return Ranges(function, order, loops_of(function))


class Undefined(Exception):
    """The program divides by zero, shifts too far, or breaks the promise of a flag."""


def run(one: Instruction, values: dict[str, int]) -> int:
    """The signed value of an instruction, by LLVM's reference."""
    type_ = one.types[0]
    assert isinstance(type_, IntType)
    assert isinstance(one.type, IntType)
    bits = type_.bits

    def of(operand: Operand) -> int:
        if isinstance(operand, Local):
            return values[operand.name]
        assert isinstance(operand, Constant)
        assert operand.value is not None
        return signed(operand.value, bits)

    first = of(one.operands[0])
    if one.opcode in ("sext", "zext", "trunc"):
        return signed(first if one.opcode != "zext" else first % (1 << bits), one.type.bits)
    second = of(one.operands[1])
    left, right = first % (1 << bits), second % (1 << bits)
    if (one.opcode in ("udiv", "urem", "sdiv", "srem") and not right) or (
        one.opcode in ("shl", "lshr", "ashr") and right >= bits
    ):
        raise Undefined
    quotient = abs(first) // (abs(second) or 1) * (1 if (first < 0) == (second < 0) else -1)
    exact = {
        "add": lambda: first + second,
        "sub": lambda: first - second,
        "mul": lambda: first * second,
        "shl": lambda: first << right,
        "lshr": lambda: left >> right,
        "ashr": lambda: first >> right,
        "and": lambda: first & second,
        "or": lambda: first | second,
        "xor": lambda: first ^ second,
        "udiv": lambda: left // right,
        "urem": lambda: left % right,
        "sdiv": lambda: quotient,
        "srem": lambda: first - second * quotient,
    }[one.opcode]()
    if "nsw" in one.flags and exact != signed(exact, bits):
        raise Undefined
    return signed(exact, bits)


@dataclass(frozen=True)
class Program:
    """A function of straight-line code with two arguments."""

    text: str

    @property
    def function(self) -> Function:
        return read_module(
            f"define void @top(i{BITS} %x, i{BITS} %y) {{\nentry:\n{self.text}  ret void\n}}\n"
        ).functions["top"]

    def runs(self) -> list[dict[str, int]]:
        """The values of all names, for inputs that define them."""
        found = []
        instructions = self.function.blocks["entry"].instructions[:-1]
        for x in INPUTS:
            for y in INPUTS:
                values = {"x": x, "y": y}
                try:
                    for one in instructions:
                        values[one.name] = run(one, values)
                except Undefined:
                    continue
                found.append(values)
        return found


WIDER = 12
BINARY = ["add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor", "udiv", "urem", "sdiv", "srem"]


@st.composite
def programs(draw: st.DrawFn, opcodes: tuple[str, ...] = (*BINARY, "sext", "zext", "trunc")) -> Program:
    widths = {"x": BITS, "y": BITS}
    lines = []
    for number in range(draw(st.integers(1, 6))):
        opcode = draw(st.sampled_from(opcodes))
        narrow = [name for name, bits in widths.items() if bits == BITS]
        wide = [name for name, bits in widths.items() if bits == WIDER]
        name = f"v{number}"
        if opcode in ("sext", "zext"):
            lines.append(f"%{name} = {opcode} i{BITS} %{draw(st.sampled_from(narrow))} to i{WIDER}")
            widths[name] = WIDER
            continue
        if opcode == "trunc":
            if wide:
                lines.append(f"%{name} = trunc i{WIDER} %{draw(st.sampled_from(wide))} to i{BITS}")
                widths[name] = BITS
            continue
        same = draw(st.sampled_from([narrow, wide or narrow]))
        bits = widths[same[0]]
        first = "%" + draw(st.sampled_from(same))
        constants = st.integers(0, bits - 1) if opcode in ("shl", "lshr", "ashr") else st.integers(-20, 63)
        second = draw(st.one_of(constants.map(str), st.sampled_from(same).map(lambda one: f"%{one}")))
        flag = draw(st.sampled_from(["", "nsw "])) if opcode in ("add", "sub", "mul", "shl") else ""
        lines.append(f"%{name} = {opcode} {flag}i{bits} {first}, {second}")
        widths[name] = bits
    return Program("".join(f"  {line}\n" for line in lines))


@CASES
@given(programs())
def test_values_stay_within_their_intervals(program: Program) -> None:
    function = program.function
    ranges = ranges_of(function)
    for values in program.runs():
        for one in function.blocks["entry"].instructions[:-1]:
            low, high = ranges.of(Local(one.name), one.type)
            assert low <= values[one.name] <= high, one.name
            bits = ranges.bits(Local(one.name), one.type)
            assert signed(values[one.name], bits) == values[one.name] or 0 <= values[one.name] < 1 << bits


@CASES
@given(programs(("add", "sub", "mul", "shl", "sext", "zext", "add", "and")))
def test_linear_forms_have_the_value(program: Program) -> None:
    function = program.function
    definitions = {one.name: one for _, one in function.instructions() if one.name}
    addresses = Addresses(definitions, ranges_of(function))
    forms = {name: addresses.form(Local(name), one.type) for name, one in definitions.items()}
    for values in program.runs():
        for name, form in forms.items():
            assert form.constant + sum(factor * values[term] for term, factor in form.terms) == values[name]
            low, high = addresses.interval(form)
            assert low <= values[name] <= high


@CASES
@given(programs(("add", "sub", "xor", "and", "sext", "zext", "trunc")))
def test_values_that_go_round_are_the_remainders_of_their_forms(program: Program) -> None:
    function = program.function
    definitions = {one.name: one for _, one in function.instructions() if one.name}
    rings = rings_of(definitions, definitions)
    assert rings.keys() >= {name for name, one in definitions.items() if one.opcode == "zext"}
    for values in program.runs():
        for name, (form, modulus) in rings.items():
            value = form.constant + sum(factor * values[term] for term, factor in form.terms)
            assert value % modulus == values[name]


@CASES
@given(programs())
def test_the_bits_that_are_kept_tell_the_results(program: Program) -> None:
    """The last value is the same when every value keeps only the bits that it is given."""
    function = program.function
    (*body, _) = function.blocks["entry"].instructions
    if not body:
        return
    last = body[-1]
    stored = Instruction("", "ret", last.type, (Local(last.name),), (last.type,))
    function.blocks["entry"].instructions[-1] = stored
    widths = Widths(function, ranges_of(function))
    for x in INPUTS[::3]:
        for y in INPUTS[::3]:
            whole, kept = {"x": x, "y": y}, {"x": x, "y": y}
            try:
                for one in body:
                    whole[one.name] = run(one, whole)
                for one in body:
                    assert isinstance(one.type, IntType)
                    kept[one.name] = cut(run(one, kept), whole[one.name], widths.result(one))
            except Undefined:
                continue
            assert kept[last.name] == whole[last.name]


def cut(value: int, whole: int, bits: int) -> int:
    """A value of which `bits` are kept, extended as the whole one would be."""
    return value % (1 << bits) if whole >= 0 else signed(value, bits)


COUNTED = """define void @top() {{
entry:
  br label %head
head:
  %i = phi i8 [ {start}, %entry ], [ %next, %body ]
  %c = icmp {predicate} i8 %i, {limit}
  br i1 %c, label %{true}, label %{false}
body:
  %next = add i8 %i, {step}
  br label %head
out:
  ret void
}}
"""
AFTER = """define void @top() {{
entry:
  br label %head
head:
  %i = phi i8 [ {start}, %entry ], [ %next, %head ]
  %next = add i8 %i, {step}
  %c = icmp {predicate} i8 %next, {limit}
  br i1 %c, label %{true}, label %{false}
out:
  ret void
}}
"""
PREDICATES = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]


def compares(predicate: str, first: int, second: int) -> bool:
    if predicate[0] == "u":
        first, second = first % 256, second % 256
    return {
        "eq": first == second,
        "ne": first != second,
        "lt": first < second,
        "le": first <= second,
        "gt": first > second,
        "ge": first >= second,
    }[predicate[-2:]]


def counted(
    start: int, step: int, predicate: str, limit: int, stays_if: bool, after: bool
) -> list[int] | None:
    """The counter's values in the body, by running the loop; None if it does not end."""
    value, values = start, []
    for _ in range(300):
        if after:
            values.append(value)
            value = signed(value + step, 8)
            if compares(predicate, value, limit) != stays_if:
                return values
        else:
            if compares(predicate, value, limit) != stays_if:
                return values
            values.append(value)
            value = signed(value + step, 8)
    return None


@settings(max_examples=800, deadline=None)
@given(
    start=st.integers(-20, 40),
    step=st.sampled_from([-7, -3, -2, -1, 1, 1, 2, 3, 5]),
    predicate=st.sampled_from(PREDICATES),
    limit=st.one_of(st.integers(-20, 60), st.integers(100, 127), st.integers(-128, -100)),
    stays_if=st.booleans(),
    after=st.booleans(),
)
def test_counters_are_those_of_the_loop_when_it_runs(
    start: int, step: int, predicate: str, limit: int, stays_if: bool, after: bool
) -> None:
    inner = "head" if after else "body"
    true, false = (inner, "out") if stays_if else ("out", inner)
    text = (AFTER if after else COUNTED).format(
        start=start, step=step, predicate=predicate, limit=limit, true=true, false=false
    )
    counter = ranges_of(read_module(text).functions["top"]).counters["i"]
    values = counted(start, step, predicate, limit, stays_if, after)
    assert (counter.start, counter.step) == (start, step)
    if counter.trips is not None:
        assert values is not None
        assert counter.trips == len(values)
        if counter.unsigned is None:
            assert counter.values == (min(values), max(values))
        else:
            assert counter.unsigned == (min(one % 256 for one in values), max(one % 256 for one in values))
    elif counter.unsigned is not None and values:
        assert counter.unsigned[0] <= min(one % 256 for one in values)
        assert all(after % 256 == before % 256 + step for before, after in itertools.pairwise(values))


@pytest.mark.parametrize(
    ("start", "step", "predicate", "limit", "stays_if", "after", "trips"),
    [
        (0, 1, "slt", 10, True, False, 10),
        (0, 1, "ult", 10, True, False, 10),
        (0, 3, "slt", 10, True, False, 4),
        (9, -1, "sge", 0, True, False, 10),
        (9, -1, "sgt", -1, True, False, 10),
        (0, 1, "eq", 10, False, False, 10),
        (0, 1, "ne", 10, True, True, 10),
        (0, 2, "ne", 10, True, True, 5),
        (0, 1, "sle", 9, True, True, 10),
        (10, -2, "eq", 0, False, True, 5),
    ],
)
def test_common_loops_are_counted(
    start: int, step: int, predicate: str, limit: int, stays_if: bool, after: bool, trips: int
) -> None:
    inner = "head" if after else "body"
    true, false = (inner, "out") if stays_if else ("out", inner)
    text = (AFTER if after else COUNTED).format(
        start=start, step=step, predicate=predicate, limit=limit, true=true, false=false
    )
    assert ranges_of(read_module(text).functions["top"]).trips == {"head": trips}


def test_a_choice_of_constants_is_a_multiple_of_its_condition() -> None:
    text = "  %c = icmp slt i7 %x, 3\n  %v = select i1 %c, i7 40, i7 32\n  %w = sext i7 %v to i64\n"
    function = Program(text).function
    definitions = {one.name: one for _, one in function.instructions() if one.name}
    addresses = Addresses(definitions, ranges_of(function))
    form = addresses.form(Local("w"), IntType(64))
    assert form == Linear(32, (("c", -8),))
    assert addresses.interval(form) == (32, 40)


def test_a_counter_by_a_step_leaves_its_start() -> None:
    counter = Counter(name="i", start=3, step=4, trips=None, values=None)
    ranges = ranges_of(read_module("define void @top() {\nentry:\n  ret void\n}\n").functions["top"])
    ranges.counters["i"] = counter
    addresses = Addresses({}, ranges)
    values = range(3, 99, 4)
    for form in (Linear(0, (("i", 1),)), Linear(5, (("i", 3),)), Linear(1, (("i", -1),)), Linear(7)):
        for modulus in (1, 2, 3, 4, 8, 12):
            rests = {
                (form.constant + sum(factor * one for _, factor in form.terms)) % modulus for one in values
            }
            found = addresses.residue(form, modulus)
            assert found == (rests.pop() if len(rests) == 1 else None)


FROM_A_VALUE = """define void @top(i8 %x) {{
entry:
  %twice = mul {flag} i8 {product}
  %start = add {flag} i8 %twice, {first}
  %one = add {flag} i8 %x, {more}
  %again = mul {flag} i8 {again}
  %limit = add {flag} i8 %again, {last}
  br label %head
head:
  %i = phi i8 [ %start, %entry ], [ %next, %body ]
  %c = icmp {predicate} i8 %i, %limit
  br i1 %c, label %{true}, label %{false}
body:
  %next = add {flag} i8 %i, {step}
  br label %head
out:
  ret void
}}
"""


@settings(max_examples=500, deadline=None)
@given(
    flag=st.sampled_from(["nsw", "nuw", "nuw nsw", ""]),
    factor=st.sampled_from([1, 2, 3]),
    numbers=st.tuples(*[st.integers(-3, 9)] * 3),
    step=st.sampled_from([-2, -1, 1, 1, 2, 3]),
    predicate=st.sampled_from(PREDICATES),
    stays_if=st.booleans(),
    source_order=st.booleans(),
)
def test_loops_between_values_a_constant_apart_are_counted(
    flag: str,
    factor: int,
    numbers: tuple[int, int, int],
    step: int,
    predicate: str,
    stays_if: bool,
    source_order: bool,
) -> None:
    first, more, last = numbers
    true, false = ("body", "out") if stays_if else ("out", "body")
    text = FROM_A_VALUE.format(
        flag=flag,
        product=f"{factor}, %x" if source_order else f"%x, {factor}",
        again=f"{factor}, %one" if source_order else f"%one, {factor}",
        first=first,
        more=more,
        last=last,
        step=step,
        predicate=predicate,
        true=true,
        false=false,
    )
    trips = ranges_of(read_module(text).functions["top"]).counters["i"].trips
    assert flag or trips is None, "what may wrap is not known"
    for x in range(-128, 128) if trips is not None else ():
        sums = [x * factor, x * factor + first, x + more, (x + more) * factor, (x + more) * factor + last]
        values = counted(signed(sums[1], 8), step, predicate, signed(sums[4], 8), stays_if, False)
        if values is None or not defined([x, *sums], [first, more, last, factor], flag):
            continue
        if keeps_counting(values, step, flag):
            assert trips == len(values)


def keeps_counting(values: list[int], step: int, flag: str) -> bool:
    """Whether a counter of eight bits never wraps, as its flags promise."""
    if "nuw" in flag and any(not 0 <= one % 256 + step < 256 or step < 0 for one in values):
        return False
    return "nsw" not in flag or all(one + step == signed(one + step, 8) for one in values)


def defined(values: list[int], constants: list[int], flag: str) -> bool:
    """Whether sums and products keep what their flags promise of eight bits."""
    if "nuw" in flag and (min(values + constants) < 0 or max(values) > 255):
        return False
    return "nsw" not in flag or all(one == signed(one, 8) for one in values)


def test_two_steps_from_a_counter_on_are_counted() -> None:
    text = FROM_A_VALUE.format(
        flag="nsw",
        product="2, %x",
        again="2, %one",
        first=0,
        more=1,
        last=0,
        step=1,
        predicate="slt",
        true="body",
        false="out",
    )
    counter = ranges_of(read_module(text).functions["top"]).counters["i"]
    assert (counter.start, counter.trips, counter.values) == (None, 2, None)
