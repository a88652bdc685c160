"""What is done to a sum until it is a result: the numbers of the hardware against casts of rational numbers.

`result` is finish.h in Python integers, with its widths; what results should be comes from
tests/support/layers/exact.py, which knows nothing of factors.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.hardware.processor import Processor
from hlsgen.program.epilogue import Epilogue, NotFused, Stage
from hlsgen.program.scaling import Scaling
from tests.support.layers.exact import cast, value
from tests.support.shared_processor import PACKED, WIDE

SCALED = [replace(one, scales=True) for one in (PACKED, WIDE)]
PROCESSORS = st.sampled_from([PACKED, WIDE, *SCALED])
PLAIN = st.sampled_from([PACKED, WIDE])
EXAMPLES = settings(max_examples=250, deadline=None)


# ---- finish.h in integers ---------------------------------------------------------------------------------


def fits(number: int, bits: int) -> int:
    assert -(1 << (bits - 1)) <= number < 1 << (bits - 1), f"{number} does not fit {bits} bits"
    return number


def rounded(product: int, bits: int, rounding: int, tie: int) -> int:
    """A product with `bits` bits behind the point as a whole number."""
    nearest, above, below, odd, to_zero = (bool(rounding & 1 << n) for n in range(5))
    whole, rest = divmod(product, 1 << bits)
    half, remainder = divmod(rest, 1 << (bits - 1))
    more = remainder > tie
    if nearest:
        ups = (below if product < 0 else above) or (odd and whole % 2 == 1)
        return whole + (half == 1 and (more or ups))
    return whole + (to_zero and product < 0 and (half == 1 or more))


def result(processor: Processor, stages: tuple[Stage, ...], total: int, added: int, channel: int = 0) -> int:
    """What finish.h makes of a sum and the code that joins it, in a channel."""
    factor_bits, kept = processor.factor_bits, processor.result_bits
    number = fits(total, processor.sum_bits)
    widths = processor.sum_bits + factor_bits, 18 + factor_bits + 1
    if processor.scales:
        widths = processor.exact_bits, processor.exact_bits
    for place, stage in enumerate(stages):
        least, most = processor.fractions
        assert least <= stage.bits <= most
        joining = fits(added * fits(stage.joining, factor_bits), processor.joining_bits)
        numbers = stage.factor, stage.slope, stage.offset
        if stage.factors or stage.slopes or stage.offsets:
            assert place == 0 and processor.scales, "finish.h has numbers of each channel in front alone"
        each = zip((stage.factors, stage.slopes, stage.offsets), numbers, strict=True)
        factor, slope, offset = (own[channel] if own else alike for own, alike in each)
        by = fits(slope if number < 0 else factor, factor_bits)
        assert not stage.multiplies or (place == 1 and not stage.joining_up)
        product = number * (joining if stage.multiplies else by)
        product += 0 if stage.multiplies else joining << stage.joining_up
        if place == 0 or processor.scales:
            product += fits(offset, 64 if processor.scales else 32)
            assert 0 <= stage.tie < 1 << 31
        else:
            assert stage.offset == stage.tie == 0, "finish.h has no offset behind the first rounding"
        whole = rounded(fits(product, widths[place]), stage.bits, stage.rounding, stage.tie)
        number = max(fits(stage.low, kept), min(fits(stage.high, kept), whole))
    return number


# ---- the same by rational numbers -------------------------------------------------------------------------


@dataclass
class Chain:
    """Steps as the hardware has them, and what they do to a number and to the one that joins."""

    epilogue: Epilogue
    fraction: int
    begin: int
    stages: tuple[Stage, ...] = ()
    steps: list[Callable[[Fraction, Fraction], Fraction]] = field(default_factory=list)
    joins: FixedType | None = None
    type: FixedType | None = None
    erased: bool = False
    """Whether what joined was then multiplied by zero in every channel: nothing needs to join."""

    def cast(self, type_: FixedType) -> None:
        self.epilogue = self.epilogue.cast(type_)
        self.steps.append(lambda number, _: value(cast(number, type_), type_))
        self.fraction, self.type = type_.fraction, type_

    def average(self, count: int, type_: FixedType) -> None:
        self.epilogue = self.epilogue.averaged(count, type_)
        self.steps.append(lambda number, _: value(cast(number / count, type_), type_))
        self.fraction, self.type = type_.fraction, type_

    def slope(self, code: int, fraction: int) -> None:
        self.epilogue = self.epilogue.sloped([code], fraction)
        by = Fraction(code) / Fraction(2) ** fraction
        self.steps.append(lambda number, _: number * by if number < 0 else number)
        self.fraction += max(0, fraction)

    def scale(self, scaling: Scaling) -> None:
        """By the factor and the offset of channel 0."""
        self.epilogue = self.epilogue.scaled(scaling)
        self.erased = self.erased or (self.joins is not None and not any(scaling.codes))
        factor = Fraction(scaling.codes[0]) / Fraction(2) ** scaling.fraction
        offset = Fraction(scaling.offsets[0]) / Fraction(2) ** scaling.offset_fraction
        self.steps.append(lambda number, _: number * factor + offset)
        self.fraction = max(self.fraction + scaling.fraction, scaling.offset_fraction)

    def multiply(self, type_: FixedType) -> None:
        assert self.type is not None
        self.epilogue = self.epilogue.multiplied(self.type, type_)
        self.steps.append(lambda number, other: number * other)
        self.fraction, self.joins = self.fraction + type_.fraction, type_

    def subtract(self, type_: FixedType) -> None:
        self.epilogue = self.epilogue.joined(type_, negative=True)
        self.steps.append(lambda number, other: number - other)
        self.fraction, self.joins = max(self.fraction, type_.fraction), type_

    def clamp(self, low: int | None, high: int | None, fraction: int) -> None:
        self.epilogue = self.epilogue.clamped(low, high, fraction)
        unit = Fraction(1) / Fraction(2) ** fraction

        def limit(number: Fraction, _: Fraction) -> Fraction:
            number = number if low is None else max(number, low * unit)
            return number if high is None else min(number, high * unit)

        self.steps.append(limit)

    def join(self, type_: FixedType) -> None:
        self.epilogue = self.epilogue.joined(type_)
        self.steps.append(lambda number, other: number + other)
        self.fraction, self.joins = max(self.fraction, type_.fraction), type_

    def wanted(self, total: int, added: int) -> int:
        number = Fraction(total) / Fraction(2) ** self.begin
        other = Fraction(0) if self.joins is None else value(added, self.joins)
        for step in self.steps:
            number = step(number, other)
        assert self.type is not None
        return cast(number, self.type)


@st.composite
def types(draw: st.DrawFn, width: int, fraction: int) -> FixedType:
    """Around that fraction, of any rounding; mostly saturating."""
    overflow = draw(st.sampled_from([Overflow.SAT, Overflow.SAT, Overflow.SAT_SYM, Overflow.WRAP]))
    bits, point = draw(st.integers(1, width)), fraction + draw(st.integers(-6, 2))
    return FixedType(bits, bits - point, draw(st.booleans()), draw(st.sampled_from(Rounding)), overflow)


BEGINS = st.sampled_from([[], ["cast"], ["cast", "join"], ["slope", "cast", "join"], ["clamp", "cast"]])
KINDS = st.sampled_from(["cast", "cast", "slope", "clamp", "join", "join"])
SCALED_BEGINS = st.sampled_from(
    [
        *(["scale", "cast"], ["cast", "multiply"], ["cast", "multiply", "scale"], ["cast", "join", "scale"]),
        *(["cast", "subtract"], ["scale", "cast", "subtract"], ["scale", "cast", "multiply", "cast"]),
        *(["scale", "clamp", "cast"], ["join", "scale"], ["cast", "scale"]),
    ]
)
SCALED_KINDS = st.sampled_from(["cast", "clamp"])


@st.composite
def scalings(draw: st.DrawFn, fraction: int) -> Scaling:
    """Of two channels or one; the largest factors have the bits of a quantised model's."""
    largest = draw(st.sampled_from([1, 7, 300, (1 << 16) - 1, (1 << 24) - 1]))
    count = draw(st.integers(1, 2))
    codes = tuple(draw(st.integers(-largest // 3, largest)) or 2 - count for _ in range(count))
    point = largest.bit_length() + draw(st.integers(-3, 12))
    offsets = tuple(draw(st.sampled_from([0, 1, -3, 1 << 20, -(1 << 27)])) for _ in range(count))
    finest = point + fraction + draw(st.integers(-4, 4))
    return Scaling(codes=codes, fraction=point, offsets=offsets, offset_fraction=finest)


@st.composite
def chains(draw: st.DrawFn, scaled: bool) -> tuple[Chain, int, int]:
    """Steps in any order that the hardware takes, and the least and the largest sum."""
    processor = draw(st.sampled_from(SCALED) if scaled else PLAIN)
    begins, kinds = (SCALED_BEGINS, SCALED_KINDS) if scaled else (BEGINS, KINDS)
    most = draw(st.sampled_from([1, 100, 5000, 1 << 20, (1 << 31) - 1]))
    ranges = [(-most, most), (0, most), (-most, 0), (-most - 1, most // 3)]
    low, high = draw(st.sampled_from(ranges))
    fraction = draw(st.integers(-2, 20))
    chain = Chain(Epilogue.of_sum(processor, fraction, low, high), fraction, fraction)
    dropped = max(0, most.bit_length() - 8)
    width = processor.activation_bits
    try:
        for kind in [*draw(begins), *draw(st.lists(kinds, max_size=3 - scaled))]:
            if kind == "cast":
                chain.cast(draw(types(18, chain.fraction - dropped)))
                dropped = 0
            if kind == "slope":
                chain.slope(draw(st.integers(-40, 70)), draw(st.integers(-2, 7)))
            if kind == "clamp":
                point = chain.fraction - draw(st.integers(0, 3))
                least, limit = sorted(draw(st.tuples(st.integers(-3000, 100), st.integers(-100, 3000))))
                ends = [(least, None), (None, limit), (least, limit), (0, None)]
                chain.clamp(*draw(st.sampled_from(ends)), point)
            if kind == "scale":
                scaling = draw(scalings(chain.fraction))
                chain.scale(scaling)
                dropped = max(0, max(abs(chain.epilogue.least), chain.epilogue.most).bit_length() - 16)
            if kind in ("multiply", "subtract"):
                other = FixedType(width, draw(st.integers(-2, width)), draw(st.booleans()))
                chain.multiply(other) if kind == "multiply" else chain.subtract(other)
                dropped = width if kind == "multiply" else dropped
            if kind == "join":
                chain.join(
                    FixedType(width, width - chain.fraction + draw(st.integers(-3, 5)), draw(st.booleans()))
                )
        last = draw(types(width, chain.fraction - dropped))
        chain.cast(last)
        chain.stages = chain.epilogue.finished(last)
    except NotFused as reason:
        event(re.sub(r"\S*\d\S*", "..", str(reason)))
        assume(False)
    return chain, low, high


def numbers(data: st.DataObject, low: int, high: int) -> list[int]:
    """Sums at the ends, around zero, and any."""
    any_: list[int] = data.draw(st.lists(st.integers(low, high), min_size=8, max_size=8))
    return [low, high, *(n for n in range(-3, 4) if low <= n <= high), *any_]


@pytest.mark.parametrize("scaled", [False, True])
@EXAMPLES
@given(st.data())
def test_the_hardware_gives_what_the_casts_give(scaled: bool, data: st.DataObject) -> None:
    chain, low, high = data.draw(chains(scaled))
    stages = chain.stages
    assert 1 <= len(stages) <= 2
    assert sum(stage.joining != 0 for stage in stages) == (chain.joins is not None and not chain.erased)
    event(f"{len(stages)} roundings")
    others = [0]
    if chain.joins is not None:
        event("early" if stages[0].joining else "late")
        others = [
            chain.joins.min_code,
            chain.joins.max_code,
            data.draw(st.integers(chain.joins.min_code, chain.joins.max_code)),
        ]
    for total in numbers(data, low, high):
        for added in others:
            got = result(chain.epilogue.processor, stages, total, added)
            assert got == chain.wanted(total, added), (total, added, stages)


@EXAMPLES
@given(st.data())
def test_averages_are_the_rational_number_cast(data: st.DataObject) -> None:
    processor = data.draw(PROCESSORS)
    count = data.draw(st.one_of(st.integers(1, 200), st.sampled_from([3, 7, 9, 49, 196, 1 << 12])))
    code_bits = data.draw(st.integers(2, processor.activation_bits))
    source = FixedType(code_bits, data.draw(st.integers(-2, 9)), data.draw(st.booleans()))
    low, high = count * source.min_code, count * source.max_code
    chain = Chain(
        Epilogue.of_sum(processor, source.fraction, low, high),
        source.fraction,
        source.fraction,
    )
    type_ = data.draw(types(processor.activation_bits, source.fraction))
    try:
        chain.average(count, type_)
        stages = chain.epilogue.finished(type_)
    except NotFused as reason:
        event(re.sub(r"\S*\d\S*", "..", str(reason)))
        assume(False)
    event("a tie" if stages[0].tie else "a shift")
    # whole quotients, halves of the result's last bit and what lies beside them, small ones and the largest
    step = max(1, count << max(0, source.fraction - type_.fraction) >> 1)
    bases = (0, low // step, high // step)
    near = [(base + k) * step + d for base in bases for k in range(-4, 5) for d in (-1, 0, 1)]
    for total in [*numbers(data, low, high), *(n for n in near if low <= n <= high)]:
        assert result(processor, stages, total, 0) == chain.wanted(total, 0), (total, stages)


@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize("overflow", [Overflow.SAT, Overflow.SAT_SYM])
def test_every_rounding_of_every_number(rounding: Rounding, overflow: Overflow) -> None:
    """All sums of eleven bits, to four: halves on both sides of zero, and both ends of the range."""
    type_ = FixedType(4, 1, True, rounding, overflow)
    stages = Epilogue.of_sum(PACKED, 6, -1024, 1023).finished(type_)
    for total in range(-1024, 1024):
        assert result(PACKED, stages, total, 0) == cast(Fraction(total, 64), type_)


# ---- what the hardware has no room for --------------------------------------------------------------------

SAT = FixedType(8, 4, True, Rounding.RND, Overflow.SAT)
SUM = Epilogue.of_sum(PACKED, 10, -100000, 100000)


def refused(step: Callable[[], object], match: str) -> None:
    with pytest.raises(NotFused, match=match):
        step()


def test_sums_that_leave_the_adder_are_refused() -> None:
    refused(lambda: Epilogue.of_sum(PACKED, 0, 0, 1 << 31), "more than 32 bits")
    refused(lambda: Epilogue.of_sum(PACKED, 0, -(1 << 31) - 1, 0), "more than 32 bits")
    refused(lambda: Epilogue.of_sum(WIDE, 0, 0, 1 << 47), "more than 48 bits")
    Epilogue.of_sum(PACKED, 0, -(1 << 31), (1 << 31) - 1)


def test_types_that_wrap_are_refused_only_where_values_may_leave_them() -> None:
    wraps = FixedType(8, 4)
    refused(lambda: SUM.cast(wraps), "which does not saturate")
    assert Epilogue.of_sum(PACKED, 4, -128, 127).cast(wraps).finished(wraps)
    zero = replace(wraps, overflow=Overflow.SAT_ZERO)
    refused(lambda: Epilogue.of_sum(PACKED, 4, -128, 128).cast(zero), "which does not saturate")
    refused(lambda: Epilogue.of_sum(PACKED, 4, -640, 640).averaged(4, wraps), "averages may leave")


def test_a_third_rounding_is_refused() -> None:
    once = SUM.cast(FixedType(12, 6, True, Rounding.RND, Overflow.SAT))
    twice = once.cast(FixedType(10, 6, True, Rounding.TRN, Overflow.SAT))
    assert len(twice.stages) == 2
    refused(
        lambda: twice.cast(FixedType(8, 6, True, Rounding.TRN, Overflow.SAT)), "rounded more than 2 times"
    )


def test_a_second_tensor_is_refused() -> None:
    joined = SUM.joined(SAT)
    refused(lambda: joined.joined(SAT), "an addition follows another one")
    refused(lambda: joined.cast(SAT).joined(SAT), "it adds a second tensor")


def test_what_nothing_has_rounded_is_not_limited_or_sloped_before_more() -> None:
    refused(lambda: SUM.clamped(0, None, 10).joined(SAT), "an addition follows")
    refused(lambda: SUM.joined(SAT).sloped([3], 4), "a slope follows")
    refused(lambda: SUM.joined(SAT).averaged(3, SAT), "an average follows")
    refused(lambda: SUM.clamped(33, None, 12), "a limit lies between two of the values")


def test_an_average_is_the_first_rounding() -> None:
    """finish.h has an offset and a tie in that one alone."""
    refused(
        lambda: SUM.cast(SAT).averaged(3, SAT), "an average follows an addition, limits or another rounding"
    )


def test_what_a_factor_does_not_hold_is_refused() -> None:
    fine = FixedType(17, 17 - 13, True, Rounding.TRN, Overflow.SAT)
    refused(lambda: SUM.cast(fine).finished(fine), "finer than its sums by more than a factor holds")
    far = Epilogue.of_sum(PACKED, 30, -1, 1)
    coarse = FixedType(8, 8 - 2, True, Rounding.TRN, Overflow.SAT)
    refused(lambda: far.cast(coarse), "lies too far")
    huge = FixedType(20, 10, True, Rounding.TRN, Overflow.SAT)
    refused(lambda: Epilogue.of_sum(PACKED, 10, 0, 1 << 19).finished(huge), "more than 18 bits")


def test_averages_that_a_factor_is_too_coarse_for_are_refused() -> None:
    def of(count: int) -> Epilogue:
        return Epilogue.of_sum(PACKED, 4, -128 * count, 127 * count).averaged(count, SAT)

    assert of(49).stages[0].tie > 0
    assert of(1 << 14).stages[0].tie == 0, "a shift has no remainder to judge"
    assert of(196).stages[0].tie > 0
    refused(lambda: of(1000), "an average of so many values")
    # the pool at the end of a ResNet, of 16 bits
    wide = Epilogue.of_sum(WIDE, 10, 49 * -32768, 49 * 32767)
    assert wide.averaged(49, FixedType(16, 6, True, Rounding.RND, Overflow.SAT)).stages[0].tie > 0
