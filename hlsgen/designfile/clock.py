"""The clock of a design: its period, and the part of it that synthesis must leave for routing."""

from __future__ import annotations

from dataclasses import dataclass

CLOCKS_MHZ = (50, 800)
"""Clocks that are taken, in a design file, a board's and in Python."""
DEFAULT_UNCERTAINTY = 0.27
"""That of Vitis HLS, with which nearly all published results were made that the cost model is fitted to."""
UNCERTAINTIES = (0, 0.5)
"""Shares of the period that may be kept back."""
UNCERTAINTY_EXAMPLE = ": a share of the period, such as 0.125 for 12.5 %"


@dataclass(frozen=True, kw_only=True)
class Clock:
    """A clock, and the share of its period (0 to 1) that HLS keeps back for delays that it cannot know."""

    mhz: float
    uncertainty: float = DEFAULT_UNCERTAINTY

    @property
    def period_ns(self) -> float:
        return 1000 / self.mhz

    @property
    def budget_ns(self) -> float:
        """What is left for the logic between two registers when HLS schedules."""
        return self.period_ns * (1 - self.uncertainty)

    @property
    def percent(self) -> str:
        """The uncertainty as Vitis takes it: "27%"."""
        return f"{100 * self.uncertainty:.6g}%"
