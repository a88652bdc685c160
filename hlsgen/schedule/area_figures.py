"""What utilisation reports (csynth) count for operations, areas.csv, and whole designs routed, routed.csv.

The tool's estimates are tables too: an adder of a width is the same in every report. A multiplexer is counted
by its inputs alone, whatever the words' bits.
"""

from __future__ import annotations

import csv
import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean

AREAS = Path(__file__).with_name("areas.csv")
ROUTED = Path(__file__).with_name("routed.csv")
SEVEN_SERIES = frozenset({"zynq", "artix7", "kintex7", "virtex7"})
OLD_COMPARATORS = 2023.1
"""Before this release a comparator was counted by a curve of its own."""


@dataclass(frozen=True, kw_only=True)
class AreaFigure:
    """What one operation of one size takes."""

    operation: str
    family: str
    """ultrascale, 7series or all."""
    old: bool | None
    """Whether it counts for releases before 2023.1 alone; None: for all."""
    size: int
    """Bits, or inputs of a mux."""
    cycles: int
    dsp: int
    ff: int
    lut: int
    count: int
    repositories: int


@lru_cache(maxsize=4)
def _read(path: Path) -> tuple[AreaFigure, ...]:
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(_figure(row) for row in csv.DictReader(file))


def _figure(row: dict[str, str]) -> AreaFigure:
    numbers = {
        name: int(row[name]) for name in ("size", "cycles", "dsp", "ff", "lut", "count", "repositories")
    }
    old = {"all": None, "-2022": True}[row["versions"]]
    return AreaFigure(operation=row["operation"], family=row["family"], old=old, **numbers)


@lru_cache(maxsize=512)
def figures_of(operation: str, family: str, version: float, path: Path = AREAS) -> tuple[AreaFigure, ...]:
    """The figures of an operation for a family in a release, by ascending size and cycles; another family's
    where it has none.
    """
    own = "7series" if family in SEVEN_SERIES else "ultrascale"
    fitting = [
        one
        for one in _read(path)
        if one.operation == operation and (one.old is None or one.old == (version < OLD_COMPARATORS))
    ]
    near = [one for one in fitting if one.family in (own, "all")] or fitting
    return tuple(sorted(near, key=lambda one: (one.size, one.cycles)))


def between(figures: Iterable[AreaFigure], size: int, kind: str) -> float:
    """The cells (`kind`: lut, ff) at a size: a power law between two sizes, and beyond the last two."""
    found = sorted({one.size: one for one in figures}.values(), key=lambda one: one.size)
    points = [(one.size, getattr(one, kind)) for one in found]
    place = bisect_right([width for width, _ in points], size)
    if place and points[place - 1][0] == size or len(points) == 1:
        return float(points[max(0, place - 1)][1])
    first = min(max(place - 1, 0), len(points) - 2)
    (low, below), (high, above) = points[first], points[first + 1]
    if place == len(points):  # a neighbour may be odd: the slope over the last doubling
        low, below = next(((x, y) for x, y in reversed(points) if 2 * x <= high), points[0])
    if min(below, above) <= 0:
        return float(above)
    power = math.log(above / below) / math.log(high / low)
    return float(below * (max(size, 1) / low) ** power)


@dataclass(frozen=True, kw_only=True)
class RoutedShare:
    """Routed cells over those that csynth counts, in whole designs; each repository counts once."""

    factor: float
    low: float
    """The smallest of a repository."""
    high: float
    designs: int
    repositories: int


@lru_cache(maxsize=4)
def routed_share(kind: str, path: Path = ROUTED) -> RoutedShare:
    """The share of `kind` (lut, ff)."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(row["repository"], []).append(math.log(int(row[kind]) / int(row[f"csynth_{kind}"])))
    each = [fmean(logs) for logs in found.values()]
    return RoutedShare(
        factor=math.exp(fmean(each)),
        low=math.exp(min(each)),
        high=math.exp(max(each)),
        designs=len(rows),
        repositories=len(each),
    )
