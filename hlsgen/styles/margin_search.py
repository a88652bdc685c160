"""The search for the fastest hardware that stays inside its own margins.

What margins hardware needs follows from its own error, which follows from the terms that it is made of: known
only once it is chosen. Margins that slow hardware without room for error asks for may be larger than those of
what is found with them, and something faster lies between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from hlsgen.report.fit import Fit
from hlsgen.targets.board import Margins

MOST_ATTEMPTS = 3
"""Searches with larger and larger margins: another mixture of terms may have a larger error."""
LEAST_STEP = 0.02
"""Margins nearer to each other than this are not told apart."""

F = TypeVar("F")


@dataclass(frozen=True, kw_only=True)
class Judged(Generic[F]):
    """What a search found, how likely it is to fit, and its frames a second."""

    found: F
    fit: Fit
    frames_per_s: float


Search = Callable[[Margins], Judged[F] | None]
"""The best hardware inside margins; None: nothing fits inside them."""


def inside(search: Search[F], first: Judged[F], margins: Margins, refinements: int) -> Judged[F]:
    """The fastest that is found with confidence to fit; the last one found where nothing is.

    first: what was found with `margins`. refinements: searches with smaller margins than those with which
    something was found that fits.
    """
    best, last = first, Margins()
    for _ in range(MOST_ATTEMPTS):
        if best.fit.confident:
            break
        last, margins = margins, margins.larger(best.fit.margins)
        found = search(margins)
        if found is None:
            return best
        best = found
    return _refined(search, best, last, margins, refinements) if best.fit.confident else best


def _refined(
    search: Search[F], best: Judged[F], refused: Margins, margins: Margins, refinements: int
) -> Judged[F]:
    """`best`, or something faster inside margins between those that it needs and those it was found with.

    refused: margins that were too small for what was found with them.
    """
    low = refused.larger(best.fit.margins.smaller(margins))
    for _ in range(refinements):
        if margins.distance(low) < LEAST_STEP:
            break
        tried = low
        found = search(tried)
        if found is not None and found.fit.confident:
            margins = tried
            best = found if found.frames_per_s > best.frames_per_s else best
            low = refused.larger(best.fit.margins.smaller(margins))
        else:
            refused = tried
            low = margins.between(tried)
    return best
