"""The least period with which a kernel's part settles, from what each period that is tried shows."""

from __future__ import annotations

from dataclasses import dataclass

MOST_CIRCLES = 2
"""Circles one after another whose own period is tried: mostly the first one binds."""
FIRST_STEP = 256
"""Cycles beyond the next circle's period that are tried then, twice as many each time."""


@dataclass
class PeriodSearch:
    """The search for a part's period, in cycles: `short` is known to be too short, `long` to be enough.

    circles: how many were found that take longer than what was tried.
    """

    period: int
    short: int
    long: int | None = None
    step: int = 1
    circles: int = 0

    def at_least(self, period: int) -> None:
        """A circle takes as long. That is tried, but of many circles in turn something more, or halfway."""
        was_exact = self.period == self.short + 1
        self.short = period - 1
        self.circles += 1
        if self.circles <= MOST_CIRCLES or (self.long is not None and not was_exact):
            self.period = period
        else:
            self.step = max(self.step, FIRST_STEP)
            self._further()

    def too_short(self) -> None:
        self.short = self.period
        self._further()

    def enough(self) -> bool:
        """Whether a shorter one is still to be tried."""
        self.long = self.period
        self._further()
        return self.period < self.long

    def _further(self) -> None:
        """Farther and farther up, until one is enough; then halfway."""
        if self.long is not None:
            self.period = max(self.short + 1, (self.short + self.long) // 2)
            return
        self.period = self.short + self.step
        self.step *= 2
