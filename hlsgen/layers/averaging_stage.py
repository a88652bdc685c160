"""The division of sums by constants as hardware: types, reciprocals and tables that the templates name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType, FloatType, tight_accumulator
from hlsgen.layers.base import Layer
from hlsgen.layers.division import Averaging, exact_reciprocal
from hlsgen.layers.stage import Work

MOST_RECIPROCAL_BITS = 64
"""The widest reciprocal: it is a C++ literal."""
MOST_BITS = 128
"""The widest product, and the widest of all other numbers."""
Counts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Divider:
    """Division of a sum by one of several counts, as `averaging` defines it.

    `counts` [rows][columns] is the table that hardware looks the count up in; 0: a pair that does not occur.
    Powers of two: the sum's binary point moves, which is exact. Else a multiplication by the reciprocal;
    where that would be too wide the dividend is divided digit by digit, each after the rest of those before.
    """

    averaging: Averaging
    counts: Counts

    @cached_property
    def sum_type(self) -> FixedType:
        """A signed type that holds every sum, and every sum of fewer terms."""
        averaging = self.averaging
        return tight_accumulator(min(0, averaging.low), max(0, averaging.high), averaging.fraction)

    @cached_property
    def most_shift(self) -> int:
        """Fraction bits that the largest count adds, if it is a power of two."""
        return self.averaging.counts[-1].bit_length() - 1

    @cached_property
    def exact_type(self) -> FixedType | None:
        """The type of exact averages if all counts are powers of two and it has at most 128 bits."""
        counts, type_ = self.averaging.counts, self.sum_type
        growth = self.most_shift - (counts[0].bit_length() - 1)
        width, fraction = type_.width + growth, type_.fraction + self.most_shift
        if any(count & (count - 1) for count in counts) or width > MOST_BITS:
            return None
        return FixedType(width, width - fraction)

    @property
    def count_bits(self) -> int:
        return self.averaging.counts[-1].bit_length()

    @property
    def dividend_bits(self) -> int:
        return max(1, self.averaging.bits)

    @cached_property
    def digit_bits(self) -> int:
        """Bits of the dividend that are divided at a time: all of them if product and reciprocal allow it.

        A digit comes after a rest below the largest count, so its reciprocals have no more than
        digit_bits + 2 * count_bits + 1 bits.
        """
        averaging, bits = self.averaging, self.dividend_bits
        shift = max(exact_reciprocal(count, bits)[1] for count in averaging.counts)
        largest = exact_reciprocal(averaging.counts[0], bits, shift)[0].bit_length()
        if largest <= MOST_RECIPROCAL_BITS and bits + max(largest, self.count_bits + 1) <= MOST_BITS:
            return bits
        return MOST_RECIPROCAL_BITS - 2 * self.count_bits - 1

    @property
    def digits(self) -> int:
        return -(-self.dividend_bits // self.digit_bits)

    @property
    def part_bits(self) -> int:
        """Bits of what is multiplied by a reciprocal: a digit, after the rest of the digits before it."""
        return self.digit_bits if self.digits == 1 else self.digit_bits + self.count_bits

    @cached_property
    def shift(self) -> int:
        return max(exact_reciprocal(count, self.part_bits)[1] for count in self.averaging.counts)

    def _reciprocal(self, count: int) -> int:
        return exact_reciprocal(count, self.part_bits, self.shift)[0] if count else 0

    @property
    def reciprocal_bits(self) -> int:
        return self._reciprocal(self.averaging.counts[0]).bit_length()

    def check(self, layer: Layer) -> None:
        """Raises DesignError: sums so wide, and a divisor so large, that a digit would have no bits."""
        if self.exact_type is None and self.digit_bits < 1:
            divisor, bits = self.averaging.counts[-1], self.dividend_bits
            message = f"averages over {divisor} of sums of {bits} bits are not built"
            raise DesignError(layer.problem(message, "a divisor below 2**31, or narrower types"))

    @property
    def latency(self) -> int:
        """Cycles of a division, a round figure."""
        return 0 if self.exact_type is not None else 16 * self.digits

    def work(self, lanes: int) -> tuple[Work, ...]:
        """The arithmetic of `lanes` divisions."""
        if self.exact_type is not None:
            return ()
        count = lanes * self.digits
        return (
            Work(operator="mul", count=count, bits=(self.part_bits, self.reciprocal_bits)),
            # the rest: the quotient times a small count is a few additions
            Work(operator="add", count=count * self.count_bits, bits=(self.part_bits,)),
        )

    def constants(self) -> dict[str, Any]:
        """What templates/hls/stages/average.j2 names."""
        averaging = self.averaging
        exact = self.exact_type
        found: dict[str, Any] = {
            "sum_t": self.sum_type.cpp,
            "floating": False,
            "SUM_BITS": self.sum_type.width,
            "exact": exact is not None,
            "single": len(averaging.counts) == 1,
            "COUNT": _literal(averaging.counts[0]),
            "TABLE_ROWS": len(self.counts),
            "TABLE_COLUMNS": len(self.counts[0]),
        }
        if exact is not None:
            moves = [
                [self.most_shift - count.bit_length() + 1 if count else 0 for count in row]
                for row in self.counts
            ]
            return found | {"exact_t": exact.cpp, "EXACT_BITS": exact.width, "moves": _rows(moves)}
        reciprocals = [[self._reciprocal(count) for count in row] for row in self.counts]
        return found | {
            "quotient_t": averaging.quotient_type.cpp,
            "QUOTIENT_BITS": averaging.quotient_type.width,
            "SCALE": averaging.scale,
            "DIVIDEND_BITS": self.dividend_bits,
            "COUNT_BITS": self.count_bits,
            "RECIPROCAL_BITS": self.reciprocal_bits,
            "RECIPROCAL": _literal(self._reciprocal(averaging.counts[0])),
            "SHIFT": self.shift,
            "DIGITS": self.digits,
            "DIGIT_BITS": self.digit_bits,
            "PART_BITS": self.part_bits,
            "counts": _rows(self.counts),
            "reciprocals": _rows(reciprocals),
        }


@dataclass(frozen=True, kw_only=True)
class FloatDivider:
    """Multiplication of a float32 sum by the reciprocal of one of several `counts`, as a Divider's."""

    counts: Counts

    sum_type: ClassVar[FloatType] = FloatType()
    latency: ClassVar[int] = 4

    def check(self, layer: Layer) -> None:
        """Every count has a reciprocal."""

    def work(self, lanes: int) -> tuple[Work, ...]:
        """The arithmetic of `lanes` averages."""
        return (Work(operator="float_mul", count=lanes),)

    def constants(self) -> dict[str, Any]:
        """What templates/hls/stages/average.j2 names."""
        table = [[_float_reciprocal(count) for count in row] for row in self.counts]
        return {
            "sum_t": self.sum_type.cpp,
            "floating": True,
            "single": len(self.counts) == len(self.counts[0]) == 1,
            "RECIPROCAL": table[0][0],
            "TABLE_ROWS": len(self.counts),
            "TABLE_COLUMNS": len(self.counts[0]),
            "reciprocals": ["{" + ", ".join(row) + "}" for row in table],
        }


def _float_reciprocal(count: int) -> str:
    return FloatType().literal(1 / count if count else 0.0)


def count_table(counts: Sequence[int], window_counts: tuple[Sequence[int], Sequence[int]]) -> Counts:
    """The table in which hardware looks up what a window's sum is divided by, by its rows and columns.

    counts: every divisor that there is; window_counts: the rows and the columns of each output's window.
    """
    if len(counts) == 1:
        return (tuple(counts),)
    rows, columns = (set(numbers) for numbers in window_counts)
    return tuple(
        tuple(row * column if row in rows and column in columns else 0 for column in _range(columns))
        for row in _range(rows)
    )


def _range(numbers: set[int]) -> range:
    """All numbers from the least of these to the largest."""
    return range(min(numbers), max(numbers) + 1)


def _rows(table: Sequence[Sequence[int]]) -> list[str]:
    """A two-dimensional table's rows as C++ text."""
    return ["{" + ", ".join(_literal(value) for value in row) + "}" for row in table]


def _literal(value: int) -> str:
    """A number of up to 64 bits, 0 or more, in C++."""
    return str(value) if value < 1 << 31 else f"{value}ull"
