"""Factors and offsets of a quantised model, as a stage of the hardware takes them.

A product with a real factor has as many bits behind the result's binary point as its code has: a stage of a
processor with `scales` says of itself how many bits it rounds away, between `factor_fraction` and
`most_fraction`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Term = tuple[int, int]
"""A code and the power of two that it is times, beside the bits that a stage rounds away."""


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """codes: factors, one or one a channel, of `fraction` fraction bits; offsets likewise."""

    codes: tuple[int, ...]
    fraction: int
    offsets: tuple[int, ...]
    offset_fraction: int

    @property
    def uniform(self) -> bool:
        """Whether all channels have the same factor and the same offset."""
        return len(set(self.codes)) == 1 and len(set(self.offsets)) == 1

    def ends(self, least: int, most: int, fraction: int) -> tuple[int, int, int]:
        """The range of the products with their offsets, of numbers from `least` to `most` with so many
        fraction bits; then the fraction bits of it.
        """
        product = fraction + self.fraction
        finest = max(product, self.offset_fraction)
        found = [
            (code * end << finest - product) + (offset << finest - self.offset_fraction)
            for code, offset in zip(self.codes, self.offsets, strict=True)
            for end in (least, most)
        ]
        return min(found), max(found), finest


def fraction_for(terms: Iterable[Term], least: int, most: int) -> int | None:
    """The fewest bits to round away, from `least` to `most`, with which every term is whole; None: none."""
    needed = max((-exponent - _zeros(code) for code, exponent in terms if code), default=least)
    return None if needed > most else max(least, needed)


def _zeros(code: int) -> int:
    """Zero bits behind the last one."""
    return (code & -code).bit_length() - 1


def split(number: int, bits: int, most_up: int) -> tuple[int, int] | None:
    """A number as one of so many bits, with its sign, and how far that is shifted up; None: it is finer."""
    up = max(0, abs(number).bit_length() - (bits - 1))
    if up > most_up or number % (1 << up):
        return None
    return number >> up, up
