"""What is done to an exact sum until it is a result: slopes, an addition, roundings and limits, in two
roundings at most.

A rounding is one multiplication by an integer factor, such that a fixed count of bits K of the product lies
behind the result's binary point, and dropping these. So a shift, a leaky ReLU's slope and a division are the
same multiplier:

- from f to g fraction bits: factor = 2**(K - f + g)
- below zero by a slope of s fraction bits: its code times 2**(K - f - s + g)
- an average over n: the integer nearest 2**(K - f + g) / n, see `average`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hlsgen.base.fixed import FixedType, NumberType, Overflow, Rounding
from hlsgen.hardware.processor import MOST_JOINING_UP, OFFSET_BITS, Processor
from hlsgen.program.scaling import Scaling, Term, fraction_for, split

NEAREST, HALF_UP_ABOVE, HALF_UP_BELOW, HALF_UP_ODD, TO_ZERO = 1, 2, 4, 8, 16
ROUNDING_BITS = {
    Rounding.TRN: 0,
    Rounding.TRN_ZERO: TO_ZERO,
    Rounding.RND: NEAREST | HALF_UP_ABOVE | HALF_UP_BELOW,
    Rounding.RND_ZERO: NEAREST | HALF_UP_BELOW,
    Rounding.RND_INF: NEAREST | HALF_UP_ABOVE,
    Rounding.RND_MIN_INF: NEAREST,
    Rounding.RND_CONV: NEAREST | HALF_UP_ODD,
}
"""The bits of `rounding` in finish.h."""
MOST_STAGES = 2
WIDE = 120
"""Bits of a type that holds whatever is rounded here."""
SATURATING = (Overflow.SAT, Overflow.SAT_SYM)
Limits = tuple[int | None, int | None]


class NotFused(Exception):
    """A step that the finishing hardware cannot take in where it stands; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One multiplication, rounding and limiting, as numbers of the hardware; see FIELDS of
    hardware/descriptor.py.
    """

    factor: int
    slope: int
    joining: int
    """What the added tensor is multiplied by; 0: none is added here."""
    multiplies: bool = False
    """Whether that product multiplies the number, instead of joining it; `factor` and `slope` mean nothing
    then.
    """
    bits: int
    """Bits of the product that are rounded away."""
    joining_up: int = 0
    """How far the added tensor's product is shifted up."""
    factors: tuple[int, ...] = ()
    """Of each channel; empty: all have `factor`. Likewise slopes and offsets."""
    slopes: tuple[int, ...] = ()
    offsets: tuple[int, ...] = ()
    offset: int
    tie: int
    rounding: int
    low: int
    high: int


@dataclass(frozen=True, kw_only=True)
class Pending:
    """What a stage does before it rounds. slope: codes, one or one a channel, and fraction bits; joins:
    fraction bits of what is added, `negative`: subtracted; multiplies: those of what it is multiplied by.

    scaling: factors and offsets behind these. low, high: limits at its end, in codes of `Epilogue.fraction`.
    count: a divisor.
    """

    slope: tuple[tuple[int, ...], int] | None = None
    joins: int | None = None
    negative: bool = False
    multiplies: int | None = None
    scaling: Scaling | None = None
    low: int | None = None
    high: int | None = None
    count: int = 1

    @property
    def limited(self) -> bool:
        return self.low is not None or self.high is not None

    @property
    def is_empty(self) -> bool:
        return self == Pending()


@dataclass(frozen=True, kw_only=True)
class Epilogue:
    """The steps from a sum to what there is now: a number of `fraction` fraction bits from `least` to `most`.

    begin: fraction bits of what the open stage is given. Every method gives the epilogue with one step more
    and raises NotFused where the hardware cannot take it in.
    """

    processor: Processor
    begin: int
    fraction: int
    least: int
    most: int
    stages: tuple[Stage, ...] = ()
    pending: Pending = field(default_factory=Pending)

    @classmethod
    def of_sum(
        cls, processor: Processor, fraction: int, least: int, most: int, *, finer: int = 0
    ) -> Epilogue:
        """Behind a sum from `least` to `most`, with `fraction` fraction bits. finer: zeros that it has behind
        them, since its weights are shifted up.
        """
        limit = 1 << (processor.sum_bits - 1 - finer)
        if least < -limit or most >= limit:
            raise NotFused(f"its sums need more than {processor.sum_bits} bits")
        return cls(processor=processor, begin=fraction + finer, fraction=fraction, least=least, most=most)

    def clamped(self, low: int | None, high: int | None, fraction: int) -> Epilogue:
        """With limits in codes of `fraction` fraction bits."""
        low, high = (None if end is None else self._on_grid(end, fraction) for end in (low, high))
        if self.pending.is_empty and self.stages:
            return self._limited_before(low, high)
        first, last = _limited_again((self.pending.low, self.pending.high), (low, high))
        return self._within(low, high, pending=replace(self.pending, low=first, high=last))

    def sloped(self, codes: Sequence[int], fraction: int) -> Epilogue:
        """Multiplied by a slope where it is below zero: of these codes, one or one a channel."""
        if not self.pending.is_empty:
            raise NotFused("a slope follows an addition or limits that nothing has rounded")
        if len(codes) > 1 and (self.stages or not self.processor.scales):
            raise NotFused("a slope for each channel")
        shift = max(0, fraction)
        ends = [0, max(0, self.most) << shift]
        ends += [(code * min(0, self.least)) << max(0, -fraction) for code in codes]
        if self.least > 0:
            ends.append(self.least << shift)
        return replace(
            self,
            pending=replace(self.pending, slope=(tuple(codes), fraction)),
            fraction=self.fraction + shift,
            least=min(ends),
            most=max(ends),
        )

    def joined(self, type_: NumberType, *, negative: bool = False) -> Epilogue:
        """With a tensor of this type added, or subtracted."""
        assert isinstance(type_, FixedType)
        if self.pending.joins is not None or self.pending.limited or self.pending.scaling is not None:
            raise NotFused("an addition follows another one or limits that nothing has rounded")
        if self._reads_another:
            raise NotFused("it adds a second tensor")
        fraction = max(self.fraction, type_.fraction)
        mine, other = fraction - self.fraction, fraction - type_.fraction
        ends = type_.min_code, type_.max_code
        low, high = (-ends[1], -ends[0]) if negative else ends
        return replace(
            self,
            pending=replace(self.pending, joins=type_.fraction, negative=negative),
            fraction=fraction,
            least=(self.least << mine) + (low << other),
            most=(self.most << mine) + (high << other),
        )

    def multiplied(self, own: NumberType, type_: NumberType) -> Epilogue:
        """Multiplied by a tensor of this type, as a number of type `own` that holds it."""
        assert isinstance(own, FixedType) and isinstance(type_, FixedType)
        if not self.processor.scales:
            raise NotFused("two tensors are multiplied")
        if self._reads_another:
            raise NotFused("it reads a second tensor")
        first = self if self.stages and self.pending.is_empty else self._closed(own)
        if len(first.stages) == MOST_STAGES:
            raise NotFused(f"it is rounded more than {MOST_STAGES} times")
        ends = [one * code for one in (first.least, first.most) for code in (type_.min_code, type_.max_code)]
        return replace(
            first,
            pending=Pending(multiplies=type_.fraction),
            fraction=first.fraction + type_.fraction,
            least=min(ends),
            most=max(ends),
        )

    def scaled(self, scaling: Scaling) -> Epilogue:
        """Times factors, plus offsets, each channel its own."""
        if not self.processor.scales:
            raise NotFused("its channels are scaled by factors of their own")
        pending = self.pending
        if pending.limited or pending.slope is not None or pending.scaling is not None or pending.count > 1:
            raise NotFused("factors follow others or limits that nothing has rounded")
        reads_another = pending.joins is not None or pending.multiplies is not None
        if not scaling.uniform and (self.stages or reads_another):
            raise NotFused("factors of each channel follow a rounding, an addition or a product")
        least, most, fraction = scaling.ends(self.least, self.most, self.fraction)
        pending = replace(pending, scaling=scaling)
        return replace(self, pending=pending, fraction=fraction, least=least, most=most)

    @property
    def _reads_another(self) -> bool:
        """Whether a second tensor joins already."""
        return self.pending.multiplies is not None or any(stage.joining for stage in self.stages)

    def cast(self, type_: NumberType) -> Epilogue:
        """As `type_` rounds it and fits it."""
        assert isinstance(type_, FixedType)
        shift = self.fraction - type_.fraction
        least, most = (_rounded(end, self.fraction, type_) for end in (self.least, self.most))
        holds = type_.lowest_code <= least and most <= type_.max_code
        if not holds and type_.overflow not in SATURATING:
            raise NotFused(f"values may leave {type_}, which does not saturate")
        if shift <= 0 and holds and self.pending.count == 1:
            return self  # every value stays as it is
        if shift == 0 and self.pending.count == 1:
            return self.clamped(type_.lowest_code, type_.max_code, type_.fraction)
        return self._closed(type_)

    def averaged(self, count: int, type_: FixedType) -> Epilogue:
        """Divided by `count` and rounded once, as if the rational number were cast to `type_`.

        With g fraction bits of the result and f of the sum, quotients and the halves between whole numbers
        lie a multiple of 1 / (2 d) apart, d = count * 2**max(0, f - g). The factor is off by e, a half at
        most, the product of a sum v so by e |v|. An offset of a quarter of 1 / d, in product bits
        o = 2**K / (4 d), lifts every quotient to its own place or above, and below the next one, if
        e |v| <= o; what lies 2 o above a half at most was one.
        """
        if not self.pending.is_empty or self.stages:
            raise NotFused("an average follows an addition, limits or another rounding")
        divided = replace(self, pending=replace(self.pending, count=count))
        ends = [_rounded(end, self.fraction, type_) for end in _quotients(divided)]
        if type_.overflow not in SATURATING and not type_.lowest_code <= ends[0] <= ends[1] <= type_.max_code:
            raise NotFused(f"averages may leave {type_}, which does not saturate")
        return divided._closed(type_)

    def rounded(self, type_: NumberType) -> Epilogue:
        """With what is open rounded to `type_`, so that something may be added."""
        assert isinstance(type_, FixedType)
        return self if self.pending.is_empty else self._closed(type_)

    def finished(self, type_: NumberType) -> tuple[Stage, ...]:
        """The stages that give codes of `type_`."""
        assert isinstance(type_, FixedType)
        if not self.pending.is_empty or self.begin != type_.fraction or not self.stages:
            return self._closed(type_).stages
        return self.stages

    def _on_grid(self, code: int, fraction: int) -> int:
        """A limit in codes of what there is now."""
        shift = fraction - self.fraction
        if shift > 0 and code % (1 << shift):
            raise NotFused("a limit lies between two of the values that it limits")
        return code >> shift if shift > 0 else code << -shift

    def _within(self, low: int | None, high: int | None, **changes: object) -> Epilogue:
        """With a range that limits have narrowed."""
        least, most = self.least, self.most
        if low is not None:
            least, most = max(least, low), max(most, low)
        if high is not None:
            least, most = min(least, high), min(most, high)
        return replace(self, least=least, most=most, **changes)  # type: ignore[arg-type]

    def _limited_before(self, low: int | None, high: int | None) -> Epilogue:
        """With limits that the stage before, which has ended, takes in."""
        *others, last = self.stages
        lowest, highest = _limited_again((last.low, last.high), (low, high))
        assert lowest is not None and highest is not None
        tighter = replace(last, low=lowest, high=highest)
        return replace(self._within(low, high), stages=(*others, tighter))

    def _closed(self, type_: FixedType) -> Epilogue:
        """With the open stage rounded to `type_`."""
        if len(self.stages) == MOST_STAGES:
            raise NotFused(f"it is rounded more than {MOST_STAGES} times")
        ends = [self.least, self.most] if self.pending.count == 1 else _quotients(self)
        least, most = (
            max(type_.lowest_code, min(type_.max_code, _rounded(end, self.fraction, type_))) for end in ends
        )
        limit = self._most_result
        if least < -limit or most > limit:
            raise NotFused(f"a result of {type_} needs more than {self.processor.result_bits} bits")
        stage = self._stage(type_, least, most)
        return Epilogue(
            processor=self.processor,
            begin=type_.fraction,
            fraction=type_.fraction,
            least=least,
            most=most,
            stages=(*self.stages, stage),
        )

    @property
    def _most_result(self) -> int:
        return (1 << (self.processor.result_bits - 1)) - 1

    def _stage(self, type_: FixedType, least: int, most: int) -> Stage:
        """The open stage as numbers. Its limits are rounded as its values are, which keeps their order."""
        pending, limit = self.pending, self._most_result
        low, high = (
            None if end is None else _rounded(end, self.fraction, type_)
            for end in (pending.low, pending.high)
        )
        lowest = max(type_.lowest_code, -limit) if low is None else max(type_.lowest_code, low)
        highest = min(type_.max_code, limit) if high is None else min(type_.max_code, high)
        return replace(
            self._numbers(type_.fraction),
            rounding=ROUNDING_BITS[type_.rounding],
            low=min(lowest, type_.max_code),
            high=max(highest, type_.lowest_code),
        )

    def _numbers(self, fraction: int) -> Stage:
        """Factors and offsets of the open stage, whose result has so many fraction bits; no limits yet."""
        pending = self.pending
        bits = self._bits(fraction)
        power = bits + fraction - self.begin
        offset = tie = 0
        if pending.count & (pending.count - 1):
            factor, offset, tie = self._reciprocal(fraction, bits)
        elif pending.scaling is not None or pending.multiplies is not None:
            factor = 0  # that of the scaling, or the second tensor's
        else:
            factor = self._power(power - pending.count.bit_length() + 1)
        found = Stage(
            factor=factor,
            slope=factor,
            joining=0,
            offset=offset,
            tie=tie,
            rounding=0,
            low=0,
            high=0,
            bits=bits,
        )
        if pending.slope is not None:
            codes, finer = pending.slope
            slopes = tuple(self._scaled(code, power - finer) for code in codes)
            found = replace(found, slope=slopes[0], slopes=slopes if len(slopes) > 1 else ())
        if pending.scaling is not None:
            found = self._with_scaling(found, fraction)
        return self._with_other(found, fraction)

    def _with_scaling(self, stage: Stage, fraction: int) -> Stage:
        """A stage with the factors and offsets of each channel."""
        scaling = self.pending.scaling
        assert scaling is not None
        power = stage.bits + fraction
        steps = power - self.begin - scaling.fraction
        if self.pending.multiplies is not None:
            factors: tuple[int, ...] = (0,)  # which goes into the second tensor's
        else:
            factors = tuple(self._scaled(code, steps) for code in scaling.codes)
        offsets = tuple(_whole(code, power - scaling.offset_fraction) for code in scaling.offsets)
        if max(map(abs, offsets)) >= 1 << (OFFSET_BITS - 2):
            raise NotFused(f"what is added to its products needs more than {OFFSET_BITS} bits")
        stage = replace(stage, factor=factors[0], slope=factors[0], offset=offsets[0])
        return stage if scaling.uniform else replace(stage, factors=factors, slopes=factors, offsets=offsets)

    def _with_other(self, stage: Stage, fraction: int) -> Stage:
        """A stage with what the second tensor is multiplied by, where one joins or multiplies."""
        pending = self.pending
        if pending.joins is None and pending.multiplies is None:
            return stage
        ((code, exponent),) = self._other_terms(fraction)
        power = stage.bits + exponent
        if pending.multiplies is not None:
            return replace(stage, joining=self._scaled(code, power), multiplies=True)
        if not self.processor.scales:
            return replace(stage, joining=self._scaled(code, power))
        found = split(_whole(code, power), self.processor.factor_bits, MOST_JOINING_UP)
        if found is None:
            raise NotFused("what is added is coarser than its sums by more than a factor holds")
        return replace(stage, joining=found[0], joining_up=found[1])

    def _other_terms(self, fraction: int) -> list[Term]:
        """The factor of the second tensor, if one joins or multiplies."""
        pending = self.pending
        code, finer = (
            (1, 0) if pending.scaling is None else (pending.scaling.codes[0], pending.scaling.fraction)
        )
        if pending.joins is not None:
            return [(-code if pending.negative else code, fraction - pending.joins - finer)]
        if pending.multiplies is not None:
            return [(code, fraction - self.begin - pending.multiplies - finer)]
        return []

    def _bits(self, fraction: int) -> int:
        """The bits that the open stage rounds away, for a result of so many fraction bits."""
        least, most = self.processor.fractions
        if least == most:
            return least
        pending, power = self.pending, fraction - self.begin
        if pending.count & (pending.count - 1):
            # a quotient's factor is as fine as it may be
            held = self.processor.factor_bits - 2 - power + pending.count.bit_length() - 1
            return max(least, min(most, held))
        terms = self._other_terms(fraction)
        if pending.scaling is not None:
            if pending.multiplies is None:
                terms += [(code, power - pending.scaling.fraction) for code in pending.scaling.codes]
            terms += [(code, fraction - pending.scaling.offset_fraction) for code in pending.scaling.offsets]
        elif pending.multiplies is None:
            terms.append((1, power - pending.count.bit_length() + 1))
        if pending.slope is not None:
            terms += [(code, power - pending.slope[1]) for code in pending.slope[0]]
        found = fraction_for(terms, least, most)
        if found is None:
            raise NotFused("its binary point lies too far from that of its sums")
        return found

    def _reciprocal(self, fraction: int, bits: int) -> tuple[int, int, int]:
        """Factor, offset and tie of an average; see `averaged`."""
        count = self.pending.count
        power = bits + fraction - self.begin
        factor = (2 * (1 << max(0, power)) + count) // (2 * count) if power >= 0 else 0
        apart = count << max(0, self.begin - fraction)
        offset = (1 << bits) // (4 * apart)
        error = abs(factor * count - (1 << max(0, power)))  # times count
        if not factor or max(abs(self.least), abs(self.most)) * error > offset * count:
            raise NotFused(f"an average of so many values ({count}) needs more bits than a factor has")
        return self._held(factor), offset, 2 * offset

    def _power(self, exponent: int) -> int:
        return self._scaled(1, exponent)

    def _scaled(self, code: int, exponent: int) -> int:
        """code * 2**exponent, which must be whole."""
        return self._held(_whole(code, exponent))

    def _held(self, factor: int) -> int:
        if abs(factor) >= 1 << (self.processor.factor_bits - 1):
            raise NotFused("a result is finer than its sums by more than a factor holds")
        return factor


def _whole(code: int, exponent: int) -> int:
    """code * 2**exponent. Raises NotFused: it is not whole."""
    if exponent < 0 and code % (1 << -exponent):
        raise NotFused("its binary point lies too far from that of its sums")
    return code << exponent if exponent >= 0 else code >> -exponent


def _limited_again(first: Limits, then: Limits) -> Limits:
    """Both limits as one: the ends of `first` limited by `then`, which may lie wholly beside them."""
    low, high = (None if end is None else _limited(end, *then) for end in first)
    return then[0] if low is None else low, then[1] if high is None else high


def _limited(end: int, low: int | None, high: int | None) -> int:
    end = end if low is None else max(end, low)
    return end if high is None else min(end, high)


def _quotients(epilogue: Epilogue) -> list[int]:
    """The ends of an average's range, in codes of the sums; the rounding may go to the next one."""
    count = epilogue.pending.count
    return [epilogue.least // count, -(-epilogue.most // count)]


def _rounded(code: int, fraction: int, type_: FixedType) -> int:
    """A code of `fraction` bits rounded as `type_` does, whatever its range."""
    if fraction <= type_.fraction:
        return code << (type_.fraction - fraction)
    source = FixedType(WIDE, WIDE - fraction)
    wide = FixedType(WIDE, WIDE - type_.fraction, True, type_.rounding)
    return int(wide.cast(np.array([code], object), source)[0])
