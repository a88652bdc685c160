"""How far a quick search for a kernel goes: what it makes, which options it passes over, when it ends.

All limits are counts, never seconds, so that every machine finds the same kernel.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Generic, TypeVar

from hlsgen.base.progress import Progress
from hlsgen.cost.resources import Resources
from hlsgen.search.board_limits import KINDS

SEARCHED_WORDS = 1 << 29
"""The most words of all kernels that are made in search of one that fits: less than a minute on one core."""
PATIENCE = 8
"""Kernels that do not fit, one after the other, before the steps to slower ones become longer."""

Option = TypeVar("Option")


class SearchBudget:
    """What a search has cost: kernels that were made, and words whose times were computed for them.

    least: what the kernel needs that came nearest to fitting, and what of it its FIFOs; None: none lacked
    anything.
    """

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.kernels = self.words = 0
        self.least: tuple[Resources, Resources] | None = None
        self._excess = float("inf")

    @property
    def spent(self) -> float:
        """The share of what may be spent; from 1 on no more kernels are made, if any fits."""
        return self.words / SEARCHED_WORDS

    def begin(self) -> None:
        """Another search begins, with the whole budget."""
        self.words = 0

    def makes(self, words: int) -> None:
        """One more kernel, for the FIFOs of which so many words are looked at."""
        self.kernels += 1
        self.words += words
        self.progress(f"choosing the hardware: kernel {self.kernels}")

    def lacks(self, needed: Resources, fifos: Resources, whole: Resources) -> None:
        """A kernel does not fit."""
        excess = max(
            getattr(needed, kind) / getattr(whole, kind) if getattr(whole, kind) else 0.0 for kind in KINDS
        )
        if excess < self._excess:
            self.least, self._excess = (needed, fifos), excess


class Steps(Generic[Option]):
    """Options from fast to slow, one by one; after PATIENCE that do not fit in longer and longer steps.

    So they are from half of the budget on. Once one fits after a long step, those that it passed over are
    looked at by halves. The last one is never passed over: if all budget is spent and none fits, it alone is
    left. `tell` says of an option whether it fits; nothing is told of one that was not tried.
    """

    def __init__(self, options: Sequence[Option], budget: SearchBudget) -> None:
        self.options = options
        self.budget = budget
        self._fits: bool | None = None

    def tell(self, *, fits: bool) -> None:
        self._fits = fits

    def __iter__(self) -> Iterator[Option]:
        at, failed, failures, step, found = 0, 0, 0, 1, False
        last = len(self.options) - 1
        while at <= last:
            if self.budget.spent >= 1:
                if found:
                    return
                at = last
            fits = yield from self._ask(at)
            found = found or bool(fits)
            if fits and step > 1:
                yield from self._between(failed, at)
                failures, step = 0, 1
            if fits is False:
                failed, failures = at, failures + 1
                step *= 2 if failures > PATIENCE or self.budget.spent >= 0.5 else 1
            at = min(at + step, last) if at < last else last + 1

    def _ask(self, at: int) -> Generator[Option, None, bool | None]:
        self._fits = None
        yield self.options[at]
        return self._fits

    def _between(self, low: int, high: int) -> Iterator[Option]:
        """The fastest that fits, if those from somewhere on do; `low` does not, `high` does."""
        while high - low > 1 and self.budget.spent < 1:
            middle = (low + high) // 2
            if (yield from self._ask(middle)):
                high = middle
            else:
                low = middle
