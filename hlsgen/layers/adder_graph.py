"""A constant matrix times a vector as adders: products by constants as shifts, what sums share added once.

Each weight is written in canonical signed digits, the fewest powers of two that add up to it (Reitwiesner
1960), so that a product is a sum of shifted inputs. Of all sums the pair of shifted inputs that occurs most
often is added once and stands in their place as an input of its own, again and again (Hartley 1996, Potkonjak
et al. 1996; da4ml refines it for whole matrices, arXiv:2507.04535). What is left of each sum is added in a
tree.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes

BLOCK_DIGITS = 96
"""Digits of a sum among which pairs are looked for together; parts of longer sums share within themselves."""

Digits = dict[int, dict[int, int]]
"""Of a sum: by signal, by shift, the sign 1 or -1."""
Pair = tuple[int, int, int, int]
"""Signals i and j, the shift of j less that of i, and the product of their signs."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The codes from `low` to `high`; inputs and sums of them reach 0."""

    low: int
    high: int

    def shifted(self, shift: int, sign: int) -> Interval:
        ends = sign * (self.low << shift), sign * (self.high << shift)
        return Interval(min(ends), max(ends))

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    @property
    def signed(self) -> bool:
        return self.low < 0

    @property
    def bits(self) -> int:
        """Of a two's complement number, unsigned if there is nothing below 0."""
        return max(self.high.bit_length(), max(0, -self.low - 1).bit_length()) + self.signed


@dataclass(frozen=True, slots=True)
class Term:
    """sign * 2^shift * the signal of this number."""

    signal: int
    shift: int = 0
    sign: int = 1


@dataclass(frozen=True, slots=True)
class Adder:
    """left + right, of which the first is positive. depth: adders on the longest way to an input."""

    left: Term
    right: Term
    range: Interval
    depth: int


@dataclass(frozen=True, eq=False)
class AdderGraph:
    """Signals 0 to inputs - 1 are the inputs, signal inputs + n is the sum of adder n.

    outputs: what each row of the matrix times the inputs is; None: 0.
    """

    inputs: tuple[Interval, ...]
    adders: tuple[Adder, ...]
    outputs: tuple[Term | None, ...]

    def range_of(self, signal: int) -> Interval:
        count = len(self.inputs)
        return self.inputs[signal] if signal < count else self.adders[signal - count].range

    @cached_property
    def negated(self) -> int:
        """Outputs that are the negative of a signal, which takes a subtraction."""
        return sum(one is not None and one.sign < 0 for one in self.outputs)

    @property
    def count(self) -> int:
        """Adders and subtractors."""
        return len(self.adders) + self.negated

    @cached_property
    def bits(self) -> int:
        """Bits that are added, of all adders: those of the right below the left's lowest pass through."""
        found = sum(self._added_bits(one) for one in self.adders)
        negated = (one for one in self.outputs if one is not None and one.sign < 0)
        return found + sum(self.range_of(one.signal).bits for one in negated)

    @cached_property
    def sum_bits(self) -> int:
        """Bits of all sums."""
        return sum(one.range.bits for one in self.adders)

    @cached_property
    def depth(self) -> int:
        """Adders on the longest way from an input to an output."""
        return max((one.depth for one in self.adders), default=0)

    @cached_property
    def last_uses(self) -> tuple[int, ...]:
        """Of each signal the depth of the last adder that takes it; an output waits for the deepest."""
        found = [0] * (len(self.inputs) + len(self.adders))
        for one in self.adders:
            for term in (one.left, one.right):
                found[term.signal] = max(found[term.signal], one.depth)
        for output in self.outputs:
            if output is not None:
                found[output.signal] = self.depth + 1
        return tuple(found)

    def held_bits(self, adders_a_cycle: int) -> int:
        """Bits of registers between the steps of its pipeline: each signal is held until its last use."""
        depths = [0] * len(self.inputs) + [one.depth for one in self.adders]
        found = 0
        for signal, (made, last) in enumerate(zip(depths, self.last_uses, strict=True)):
            if last:
                held = (last - 1) // adders_a_cycle - max(0, made - 1) // adders_a_cycle
                found += held * self.range_of(signal).bits
        return found

    def of(self, inputs: Codes) -> Codes:
        """[..., inputs] -> [..., outputs], adder by adder: as the hardware has it."""
        signals = [inputs[..., n].astype(np.int64) for n in range(len(self.inputs))]
        for one in self.adders:
            signals.append(_value(signals, one.left) + _value(signals, one.right))
        zero = np.zeros(inputs.shape[:-1], np.int64)
        rows = [zero if one is None else _value(signals, one) for one in self.outputs]
        return np.stack(rows, axis=-1)

    def _added_bits(self, adder: Adder) -> int:
        """A carry chain begins where both numbers have bits, but a borrow from the lowest bit on."""
        left, right = adder.left.shift, adder.right.shift
        through = 0 if adder.right.sign < 0 and left > 0 else max(left, right)
        return max(1, adder.range.bits - through)


def _value(signals: list[Codes], term: Term) -> Codes:
    found: Codes = term.sign * (signals[term.signal] << term.shift)
    return found


def signed_digits(number: int) -> list[tuple[int, int]]:
    """The canonical signed digits of `number`: (shift, sign), no two next to each other."""
    found, shift = [], 0
    while number:
        if number & 1:
            sign = 2 - (number & 3)  # 1, or -1 in front of another 1
            found.append((shift, sign))
            number -= sign
        number >>= 1
        shift += 1
    return found


def digit_count(weights: NDArray[np.integer]) -> int:
    """Canonical signed digits of all `weights`: an adder each, were nothing shared.

    They are where the bits of w and of 3 w differ, but for the lowest.
    """
    size = np.abs(weights.astype(np.int64))
    return int(np.bitwise_count(size ^ (3 * size)).sum())


def adder_graph(weights: NDArray[np.integer], inputs: tuple[Interval, ...]) -> AdderGraph:
    """weights [outputs, inputs] times a vector whose elements lie in `inputs`."""
    work = _Sharing(inputs)
    rows: list[list[Term]] = [[] for _ in range(len(weights))]
    for first, last in _blocks(weights):
        sums = [_digits_of(row, first, last) for row in weights]
        for row, terms in zip(rows, work.shared(sums), strict=True):
            row += terms
    outputs = tuple(work.added(row) for row in rows)
    return AdderGraph(inputs=inputs, adders=tuple(work.adders), outputs=outputs)


def _blocks(weights: NDArray[np.integer]) -> Iterator[tuple[int, int]]:
    """Ranges of inputs in which no sum has many more digits than pairs are looked for among."""
    rows = max(1, len(weights))
    mean = max(1.0, digit_count(weights) / rows)
    count = -(-int(mean) // BLOCK_DIGITS)
    ends = np.linspace(0, weights.shape[1], count + 1).astype(int)
    yield from zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)


def _digits_of(row: NDArray[np.integer], first: int, last: int) -> Digits:
    return {n: dict(signed_digits(int(row[n]))) for n in range(first, last) if row[n]}


class _Sharing:
    """The adders made so far."""

    def __init__(self, inputs: tuple[Interval, ...]) -> None:
        self.ranges = list(inputs)
        self.depths = [0] * len(inputs)
        self.adders: list[Adder] = []

    def add(self, one: Term, other: Term) -> Term:
        """Their sum, by an adder more: a positive one comes first; that of two negative ones is negative."""
        if one.sign < other.sign:
            one, other = other, one
        sign = one.sign
        low = min(one.shift, other.shift)
        left = Term(one.signal, one.shift - low)
        right = Term(other.signal, other.shift - low, sign * other.sign)
        reach = self.ranges[left.signal].shifted(left.shift, 1)
        reach += self.ranges[right.signal].shifted(right.shift, right.sign)
        depth = 1 + max(self.depths[left.signal], self.depths[right.signal])
        self.adders.append(Adder(left, right, reach, depth))
        self.ranges.append(reach)
        self.depths.append(depth)
        return Term(len(self.ranges) - 1, low, sign)

    def added(self, terms: list[Term]) -> Term | None:
        """The sum of all of `terms`, those of the least depth and the fewest bits first."""
        if not terms:
            return None
        waiting = [(*self._weight(term), n, term) for n, term in enumerate(terms)]
        heapq.heapify(waiting)
        count = len(waiting)
        while len(waiting) > 1:
            one, other = heapq.heappop(waiting)[-1], heapq.heappop(waiting)[-1]
            joined = self.add(one, other)
            heapq.heappush(waiting, (*self._weight(joined), count, joined))
            count += 1
        return waiting[0][-1]

    def _weight(self, term: Term) -> tuple[int, int]:
        return self.depths[term.signal], self.ranges[term.signal].bits + term.shift

    def shared(self, sums: list[Digits]) -> list[list[Term]]:
        """The terms of each of `sums` after pairs that several have were added once."""
        table = _Pairs(sums, self.ranges)
        for pair in table:
            i, j, shift, sign = pair
            one, other = Term(i, max(0, -shift)), Term(j, max(0, shift), sign)
            table.put(pair, self.add(one, other))
        return [
            [Term(signal, shift, sign) for signal, at in sum_.items() for shift, sign in at.items()]
            for sum_ in sums
        ]


class _Pairs:
    """How often each pair of shifted signals is in the sums; as an iterator, those that save most first."""

    def __init__(self, sums: list[Digits], ranges: list[Interval]) -> None:
        self.sums, self.ranges = sums, ranges
        self.counts: defaultdict[Pair, int] = defaultdict(int)
        self.holders: defaultdict[int, set[int]] = defaultdict(set)
        for number, digits in enumerate(sums):
            flat = sorted(
                (signal, shift, sign) for signal, at in digits.items() for shift, sign in at.items()
            )
            for signal in digits:
                self.holders[signal].add(number)
            for n, (i, p, s) in enumerate(flat):
                for j, q, t in flat[n + 1 :]:
                    self.counts[i, j, q - p, s * t] += 1
        self.heap = [(-self._gain(pair, count), pair) for pair, count in self.counts.items() if count > 1]
        heapq.heapify(self.heap)
        self.fresh: set[Pair] = set()

    def __iter__(self) -> Iterator[Pair]:
        while self.heap:
            gain, pair = heapq.heappop(self.heap)
            count = self.counts.get(pair, 0)
            if count < 2:
                continue
            now = -self._gain(pair, count)
            if now > gain:
                heapq.heappush(self.heap, (now, pair))  # others have used some of them
                continue
            if sum(len(self._places(pair, number)) for number in self._holders(pair)) > 1:
                yield pair
            else:
                self.counts[pair] = 0  # they overlap

    def put(self, pair: Pair, made: Term) -> None:
        """`made`, the sum of `pair`, in its places."""
        i, j, shift, sign = pair
        for number in sorted(self._holders(pair)):
            for p in self._places(pair, number):
                s = self.sums[number][i][p]
                self._take(number, i, p)
                self._take(number, j, p + shift)
                self._give(number, made.signal, min(p, p + shift), s * made.sign)
        for pair in sorted(self.fresh):
            count = self.counts.get(pair, 0)
            if count > 1:
                heapq.heappush(self.heap, (-self._gain(pair, count), pair))
        self.fresh.clear()

    def _gain(self, pair: Pair, count: int) -> int:
        i, j, shift, _ = pair
        one = self.ranges[i].bits + max(0, -shift)
        other = self.ranges[j].bits + max(0, shift)
        return (count - 1) * (max(one, other) - abs(shift) + 1)

    def _holders(self, pair: Pair) -> set[int]:
        return self.holders[pair[0]] & self.holders[pair[1]]

    def _places(self, pair: Pair, number: int) -> list[int]:
        """The shifts of i at which the sum has the pair, none of which overlap."""
        i, j, shift, sign = pair
        left, right = self.sums[number].get(i, {}), self.sums[number].get(j, {})
        found: list[int] = []
        used: set[int] = set()
        for p in sorted(left):
            if right.get(p + shift) != left[p] * sign or (i == j and p in used):
                continue
            found.append(p)
            used.add(p + shift)
        return found

    def _take(self, number: int, signal: int, shift: int) -> None:
        digits = self.sums[number]
        sign = digits[signal].pop(shift)
        if not digits[signal]:
            del digits[signal]
            self.holders[signal].discard(number)
        self._count(digits, signal, shift, sign, -1)

    def _give(self, number: int, signal: int, shift: int, sign: int) -> None:
        digits = self.sums[number]
        self._count(digits, signal, shift, sign, 1)
        digits.setdefault(signal, {})[shift] = sign
        self.holders[signal].add(number)

    def _count(self, digits: Digits, signal: int, shift: int, sign: int, step: int) -> None:
        """Counts the pairs of a digit with all others of its sum, or takes them out."""
        counts = self.counts
        for other, at in digits.items():
            for q, t in at.items():
                if (other, q) < (signal, shift):
                    pair = (other, signal, shift - q, t * sign)
                else:
                    pair = (signal, other, q - shift, sign * t)
                now = counts[pair] + step
                if now:
                    counts[pair] = now
                else:
                    del counts[pair]
                if step > 0 and now > 1:
                    self.fresh.add(pair)
