"""How likely a design is to fit its board, as reports say it: from the error of the modelled LUTs and FFs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from hlsgen.cost.fit_probability import CONFIDENCE, margin_for, probability_within
from hlsgen.designfile.margins import AUTO
from hlsgen.report.cells import Cost
from hlsgen.report.figures import Slr
from hlsgen.report.section import Number, Rows, Section, Text
from hlsgen.report.tables import table
from hlsgen.search.board_limits import COLUMNS
from hlsgen.targets.board import Board, Margins


@dataclass(frozen=True, kw_only=True)
class KindFit(Section):
    """A kind of resource in the region where it is fullest.

    share: of what is usable there; error: of the model, 0: exact. margin: the share of the usable that is
    left free for the error, asked for by the design or by the error.
    usable, free: the probability that what is usable there is enough, and what the platform leaves free.
    """

    kind: Text
    region: Text
    share: Number
    error: Number
    margin: Number
    usable: Number
    free: Number


@dataclass(frozen=True, kw_only=True)
class Fit(Section):
    """How likely a design is to fit. margin: auto, or the share that the design asks for, as text.

    confidence: what `auto` asks of LUTs and FFs each. usable, free: the least of the kinds', since what is
    assumed of the model's terms errs alike in both.
    """

    margin: Text
    confidence: Number
    usable: Number
    free: Number
    kinds: Annotated[tuple[KindFit, ...], Rows]

    @property
    def confident(self) -> bool:
        """Whether LUTs and FFs stay inside the usable share with the confidence."""
        return self.usable >= self.confidence

    @property
    def margins(self) -> Margins:
        """What the errors of LUTs and FFs ask for, a whole percent at a time."""
        found = {one.kind: margin_for(one.error) for one in self.kinds if one.error}
        rounded = {kind: -(-round(1e6 * share) // 10_000) / 100 for kind, share in found.items()}
        return Margins(lut=rounded.get("lut", 0.0), ff=rounded.get("ff", 0.0))


def fit_figures(cost: Cost, slrs: Sequence[Slr], board: Board) -> Fit:
    """The section `fit` of a design whose regions are `slrs`."""
    errors = {"lut": cost.routed.lut_error, "ff": cost.routed.ff_error}
    given = None if board.margin == AUTO else board.margin
    kinds = [
        _fullest(kind, errors.get(kind, 0.0), given, slrs)
        for kind in COLUMNS
        if any(getattr(slr.used, kind) for slr in slrs)
    ]
    return Fit(
        margin=AUTO if given is None else f"{given:g}",
        confidence=CONFIDENCE,
        usable=min((one.usable for one in kinds), default=1.0),
        free=min((one.free for one in kinds), default=1.0),
        kinds=tuple(kinds),
    )


def _fullest(kind: str, error: float, given: float | None, slrs: Sequence[Slr]) -> KindFit:
    there = [slr for slr in slrs if getattr(slr.used, kind)]
    slr = max(there, key=lambda one: getattr(one.used, kind) / max(1, getattr(one.usable, kind)))
    used, usable, free = (getattr(one, kind) for one in (slr.used, slr.usable, slr.free))
    asked = (margin_for(error) if given is None else given) if error else 0.0
    return KindFit(
        kind=kind,
        region=slr.name,
        share=round(used / max(1, usable), 4),
        error=error,
        margin=round(asked, 4),
        usable=_rounded(probability_within(used, usable, error), error),
        free=_rounded(probability_within(used, free, error), error),
    )


def _rounded(probability: float, error: float) -> float:
    """To four digits; what is not exact is never certain."""
    return min(round(probability, 4), 0.9999) if error else probability


def fit_line(fit: Fit) -> str:
    """The probabilities in a line: "fits the usable share with a probability of 92 % (LUT 92 %, ...)"."""
    unsure = [f"{one.kind.upper()} {percent_text(one.usable)}" for one in fit.kinds if one.error]
    exact = _exact_text(one for one in fit.kinds if not one.error)
    parts = ", ".join(unsure) + (f"; {exact}" if exact else "")
    return (
        f"fits the usable share with a probability of {percent_text(fit.usable)} ({parts}), "
        f"what the platform leaves free with {percent_text(fit.free)}; margin {fit.margin}"
    )


FIT_HEAD = ("resource", "fullest in", "of usable", "error", "margin", "inside usable", "inside free")


def fit_rows(fit: Fit) -> list[tuple[str, ...]]:
    """The cells of each kind, below FIT_HEAD."""
    return [
        (
            one.kind.upper(),
            one.region,
            f"{one.share:.0%}",
            f"{one.error:.0%}" if one.error else "exact",
            f"{one.margin:.0%}" if one.error else "",
            percent_text(one.usable),
            percent_text(one.free),
        )
        for one in fit.kinds
    ]


def fit_text(fit: Fit) -> str:
    """A section of report.md."""
    return f"## Probability that it fits\n\nThe design {fit_line(fit)}.\n\n" + table(FIT_HEAD, fit_rows(fit))


def fit_warnings(fit: Fit, board: Board) -> list[str]:
    """What is said of a design that `margin: auto` could not keep inside the usable share."""
    if fit.margin != AUTO or fit.confident:
        return []
    over = ", ".join(
        f"{one.kind.upper()} {one.share:.0%} of usable with an error of {one.error:.0%}"
        for one in fit.kinds
        if one.usable < fit.confidence
    )
    return [
        f"stays inside the usable share of {board.title} with a probability of "
        f"{percent_text(fit.usable)} only, not {percent_text(fit.confidence)}: {over}; nothing that the "
        "design allows is smaller: "
        "fewer instances, mapping: auto, narrower types, or margin: 0 if that is good enough"
    ]


def _exact_text(kinds: Iterable[KindFit]) -> str:
    """DSP, BRAM18 exact."""
    names = [one.kind.upper() for one in kinds]
    return f"{', '.join(names)} exact" if names else ""


def percent_text(probability: float) -> str:
    """92 %; near one, what a rounded figure would hide: > 99.9 %."""
    if probability == 1:
        return "100 %"
    if probability > 0.999:
        return "> 99.9 %"
    return f"{100 * probability:.0f} %" if probability < 0.985 else f"{100 * probability:.1f} %"
