"""What LUTs and FFs a design takes, of which terms they are made, and how far off that may be.

The error of a whole design is not measured: none has come back from the vendor tools. It is propagated from
the terms': all uses of one term are off alike; what is measured of different terms errs independently, but
what is assumed (structure, estimates, the factor from csynth to routed) may all err to the same side, so that
those errors add up. A calibration (hlsgen/vendor/calibrate.py) measures the whole instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from hlsgen.cost.resources import Resources
from hlsgen.targets.board import Board
from hlsgen.targets.device_family import family_of
from hlsgen.targets.terms import Kind, Terms

Total = Callable[[Terms], Resources]
"""What a design takes with some terms."""
FITTED_FAMILY = "UltraScale+"
"""The published rows are of its parts."""
LEAST_ERROR = 0.05
"""No whole design is said to be known better."""


def _other_family(board: Board) -> str:
    """What is to be said of a part that is not of the family of those that the terms were fitted to."""
    family = family_of(board.part)
    if family is not None and FITTED_FAMILY in family.name:
        return ""
    kind = "of no family that is known here" if family is None else family.name
    return (
        f"; those rows are of {FITTED_FAMILY} parts, and {board.part} is {kind}: expect more than that error"
    )


def by_term(total: Total, terms: Terms) -> dict[str, dict[Kind, int]]:
    """LUT and FF of each term alone; together they are the whole, as nothing else has any."""
    apart = terms.apart()
    taken = total(apart)
    lut, ff = apart.parts(taken.lut), apart.parts(taken.ff)
    return {name: {"lut": lut[name], "ff": ff[name]} for name in lut}


def whole_error(terms: Terms, kind: Kind, parts: Mapping[str, int]) -> float:
    """Relative error to expect of a sum of terms, to a percent upwards; what is measured goes first."""
    if terms.calibration is not None:
        return float(getattr(terms.calibration, f"{kind}_error"))
    whole = sum(parts.values())
    if not whole:
        return 0.0
    alone = together = 0.0
    for name, cells in parts.items():
        measured, assumed = terms.errors(name, kind)
        alone += (measured * cells) ** 2
        together += assumed * cells
    return math.ceil(100 * max(LEAST_ERROR, math.hypot(math.sqrt(alone), together) / whole)) / 100


def basis(board: Board, terms: Terms, parts: Mapping[str, Mapping[Kind, int]]) -> str:
    """Where a figure of a design on `board` comes from, in a sentence. terms: the board's, of one target."""
    done = terms.calibration
    if done is not None:
        return f"calibrated on {done.designs} designs of {terms.name}, each predicted from the others"
    whole = sum(part["lut"] for part in parts.values())
    fitted = sum(part["lut"] for name, part in parts.items() if is_fitted(terms, name, "lut"))
    share = fitted / whole if whole else 0.0
    return (
        f"{share:.0%} of the LUTs in terms fitted to published csynth rows, the rest structure or estimates; "
        f"no such design has been synthesised{_other_family(board)}"
    )


def is_fitted(terms: Terms, name: str, kind: Kind) -> bool:
    """Whether a figure, or the other target's that it refers to, is fitted."""
    pair = getattr(terms.file.terms[name], kind)
    own = getattr(pair, terms.target)
    if own.per is None:
        own = pair.csynth if terms.target == "routed" else pair.routed
    return bool(own.basis == "fitted")
