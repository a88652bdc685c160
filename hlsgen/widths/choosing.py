"""Which candidate is taken, and which ones no other beats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hlsgen.base.errors import DesignError, Problem
from hlsgen.widths.losses import Allowed, Losses
from hlsgen.widths.quantised import Candidate


def chosen_of(candidates: Sequence[Candidate], of: Losses, allowed: Allowed) -> Candidate:
    """The cheapest that keeps the metric with standard errors to spare; where none does, of those that keep
    it the one with the most to spare.

    Raises DesignError: none keeps it.
    """
    built = [one for one in candidates if not one.hardware.refusal]
    able = [one for one in built if one.loss.within(allowed)]
    if able:
        return min(able, key=lambda one: (one.price, one.loss.lost))
    able = [one for one in built if one.loss.within(replace(allowed, sigma=0.0))]
    if able:
        return min(able, key=lambda one: (one.loss.lost + allowed.sigma * one.loss.error, one.price))
    raise nothing_keeps(of, allowed, min(one.loss.lost for one in candidates))


def nothing_keeps(of: Losses, allowed: Allowed, least: float) -> DesignError:
    """That nothing does, of which `least` is the least loss."""
    message = (
        f"no widths keep {of.metric.name} at {of.floating - allowed.loss:.4f} where they are chosen: the "
        f"best reach {of.floating - least:.4f}"
    )
    return DesignError(Problem(message=message, fix="a larger --loss, or wider --widths"))


def front_of(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that no other one beats in price and in the metric of the frames that choose, cheapest first."""
    found: list[Candidate] = []
    for one in sorted(candidates, key=lambda one: (one.price, -one.metric)):
        if not one.hardware.refusal and (not found or one.metric > found[-1].metric):
            found.append(one)
    return found
