"""By how much values differ from those that were wanted, added up over parts of the frames."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hlsgen.base.short_repr import Brief
from hlsgen.model.origins import Floats

WRONG_DB = 20.0
"""Signal to noise below which a layer is wrong: errors of a tenth of the signal."""


@dataclass(frozen=True, kw_only=True)
class Difference(Brief):
    """signal, noise: sums of squares of what was wanted and of the errors. values: how many there are.

    largest: the largest absolute error; where: its frame, then its index in the framework's layout.
    """

    values: int = 0
    signal: float = 0.0
    noise: float = 0.0
    largest: float = 0.0
    where: tuple[int, ...] = ()

    @classmethod
    def of(cls, found: Floats, wanted: Floats, first_frame: int = 0) -> Difference:
        """Of arrays [frames, ...], the first frame of which is number `first_frame`."""
        errors = np.abs(found - wanted)
        at = np.unravel_index(int(errors.argmax()), errors.shape) if errors.size else ()
        frame, *index = (int(one) for one in at) if at else (0,)
        return cls(
            values=errors.size,
            signal=float(np.square(wanted).sum()),
            noise=float(np.square(errors).sum()),
            largest=float(errors.max(initial=0.0)),
            where=(first_frame + frame, *index),
        )

    def __add__(self, other: Difference) -> Difference:
        worst = other if other.largest > self.largest or not self.values else self
        return Difference(
            values=self.values + other.values,
            signal=self.signal + other.signal,
            noise=self.noise + other.noise,
            largest=worst.largest,
            where=worst.where,
        )

    @property
    def snr_db(self) -> float:
        """Signal to noise in decibels: inf without noise, -inf without a signal."""
        return decibels(self.signal, self.noise)

    @property
    def is_wrong(self) -> bool:
        """Whether the errors are more than a tenth of the signal, or no numbers."""
        return not self.snr_db >= WRONG_DB


def decibels(signal: float, noise: float) -> float:
    """Ten times the decimal logarithm of the ratio; inf without noise, -inf without a signal."""
    if math.isnan(signal) or math.isnan(noise):
        return math.nan
    return math.inf if noise == 0.0 else 10 * math.log10(signal / noise) if signal else -math.inf


def shown_db(snr_db: float | None) -> str:
    """A cell of a table."""
    if snr_db is None:
        return ""
    return "exact" if snr_db == math.inf else f"{snr_db:.1f}"
