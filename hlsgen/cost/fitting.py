"""Fits the terms to published rows, and measures how far off they are on rows that they were not fitted to.

Least absolute relative errors with coefficients of zero or more. The rows of one configuration (a 16-bit
adder) are all fitted to or all held out, by a hash of the configuration, whatever the device and version:
else a row would be predicted from its own copy.
"""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from hlsgen.cost.published_cores import FAMILIES, PUBLISHED, Family, Features, Row
from hlsgen.targets.terms import CELLS, Factor, Factors, Figure, Fit, Kind, Pair, TermsFile

HELD_OUT_SHARE = 0.35
FEWEST_CONFIGURATIONS = 8
"""With fewer, each configuration is held out once in turn, and the errors of all are taken together; of a
single one, each device and version.
"""
LEAST_ERROR = 0.02
"""No figure is stated to be better than this: the reports round to whole cells."""
TIE = 1e-6
"""Price of a coefficient, so that of equally good fits the one with the smallest is taken, on any machine."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A row of a family: its features in the order of the fit, the cells that the report says."""

    configuration: str
    report: str
    features: tuple[float, ...]
    cells: float


def fit(file: TermsFile, rows: Sequence[Row]) -> TermsFile:
    """The terms of `file` with every figure that there are rows of fitted anew; the others stay."""
    terms = dict(file.terms)
    for family in FAMILIES:
        for kind, features in family.kinds.items():
            pair: Pair = getattr(terms[family.name], kind)
            figure = fitted(family, kind, features, rows)
            terms[family.name] = terms[family.name].model_copy(
                update={kind: pair.model_copy(update={"csynth": figure})}
            )
    return file.model_copy(update={"terms": terms, "routed_over_csynth": published_factors()})


def fitted(family: Family, kind: Kind, features: Sequence[str], rows: Sequence[Row]) -> Figure:
    """A figure of a term from the rows of its family."""
    near: list[Sample] = []
    far: list[Sample] = []
    for row, found in family.rows(list(rows)):
        (near if row.at_our_clocks else far).append(_sample(row, found, features, kind))
    count = len({one.configuration for one in near})
    if count >= FEWEST_CONFIGURATIONS:
        chosen = [one for one in near if not held_out(one.configuration)]
        rest = [one for one in near if held_out(one.configuration)]
        errors = relative_errors(solve(chosen), rest)
    else:
        chosen, rest = near, near
        errors = _errors_in_turn(near, by_report=count == 1)
    weights = solve(chosen)
    elsewhere = relative_errors(weights, far)
    q90 = float(np.quantile(errors, 0.9))
    return Figure(
        basis="fitted",
        per={name: rounded(weight) for name, weight in zip(features, weights, strict=True)},
        error=round(max(LEAST_ERROR, q90), 4),
        fit=Fit(
            rows=len(chosen),
            held_out=len(rest),
            median=round(float(np.median(errors)), 4),
            q90=round(q90, 4),
            elsewhere=round(float(np.median(elsewhere)), 4) if len(elsewhere) else None,
        ),
    )


def held_out(configuration: str) -> bool:
    """Whether the rows of a configuration are kept from the fit: by its hash, so the same every time."""
    digest = hashlib.sha256(configuration.encode()).digest()
    return digest[0] < HELD_OUT_SHARE * 256


def solve(samples: Sequence[Sample]) -> Floats:
    """The coefficients, zero or more, of the least sum of absolute relative errors.

    Not of their squares: most rows of a term follow one rule, and the few that do not (a constant operand, a
    ternary adder) should not pull the others away from it.
    """
    cells = np.array([one.cells for one in samples])
    scale = np.maximum(1.0, cells)
    matrix = np.array([one.features for one in samples], dtype=np.float64) / scale[:, None]
    rows, columns = matrix.shape
    # minimise the sum of t with -t <= matrix @ x - cells <= t
    bounds = np.vstack([np.hstack([sign * matrix, -np.eye(rows)]) for sign in (1, -1)])
    limits = np.concatenate([sign * cells / scale for sign in (1, -1)])
    cost = np.concatenate([np.full(columns, TIE), np.ones(rows)])
    found = linprog(cost, A_ub=bounds, b_ub=limits, method="highs")
    return np.maximum(0.0, np.asarray(found.x[:columns], dtype=np.float64)) + 0.0


def relative_errors(weights: Floats, samples: Sequence[Sample]) -> Floats:
    """|predicted - reported| over what is reported, over 1 where that is nothing."""
    if not samples:
        return np.zeros(0)
    predicted = np.array([one.features for one in samples], dtype=np.float64) @ weights
    cells = np.array([one.cells for one in samples])
    return np.asarray(np.abs(predicted - cells) / np.maximum(1.0, cells))


def _errors_in_turn(samples: Sequence[Sample], *, by_report: bool) -> Floats:
    """Each configuration, or the rows of each device and version, predicted from the others alone."""
    errors = []
    groups = [one.report if by_report else one.configuration for one in samples]
    for group in sorted(set(groups)):
        out = [one for one, name in zip(samples, groups, strict=True) if name == group]
        others = [one for one, name in zip(samples, groups, strict=True) if name != group]
        errors.append(relative_errors(solve(others), out))
    return np.concatenate(errors)


def _sample(row: Row, found: Features, features: Sequence[str], kind: Kind) -> Sample:
    return Sample(
        configuration=f"{row.term} {row.parameters}",
        report=f"{row.vitis} {row.device}",
        features=tuple(float(found[name]) for name in features),
        cells=float(row.cells(kind)),
    )


def rounded(value: float) -> float:
    """The number with four digits, as in the file."""
    return float(f"{value:.4g}")


def published_factors() -> Factors:
    """Routed over csynth in the whole designs of published/vitis-designs.csv that have both."""
    with (PUBLISHED / "vitis-designs.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    both = []
    for line in lines:
        if line["stage"] == "csynth":
            same = (line["source"], line["design"], line["device"])
            both += [
                (line, other)
                for other in lines
                if other["stage"] == "routed" and (other["source"], other["design"], other["device"]) == same
            ]
    found: dict[str, Factor] = {}
    for kind in CELLS:
        ratios = [int(routed[kind]) / int(csynth[kind]) for csynth, routed in both]
        middle = math.exp(float(np.mean(np.log(ratios))))
        spread = max(abs(ratio / middle - 1) for ratio in ratios)
        found[kind] = Factor(
            factor=rounded(middle),
            error=rounded(spread),
            designs=len(ratios),
            source="geometric mean over " + " and ".join(sorted({csynth["design"] for csynth, _ in both})),
        )
    return Factors(**found)
