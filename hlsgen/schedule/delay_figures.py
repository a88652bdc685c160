"""What public schedule reports of the vendor's tool say operations take: delays.csv, and curves through it.

The tool keeps a table of delays for each operation, family and speed grade and interpolates in it: the
figures of one operation at one width are the same in every report. So a curve is straight lines between the
widths that were seen. Where a family has too few, the figures of a related one give the shape, times the
ratio of the two over everything that both have.
"""

from __future__ import annotations

import csv
import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import median

from hlsgen.schedule.speed import Speed

PACKAGED = Path(__file__).with_name("delays.csv")
NEW_COMPARATORS = 2023.1
"""From this release on a comparison takes what an addition takes."""

RELATED = {
    "virtexuplus": ("zynquplus", "kintexu", "zynq"),
    "zynquplus": ("virtexuplus", "kintexu", "zynq"),
    "kintexuplus": ("zynquplus",),
    "versal": ("virtexuplus",),
    "virtexu": ("kintexu", "virtexuplus", "zynquplus", "zynq"),
    "kintexu": ("virtexu", "virtexuplus", "zynquplus", "zynq"),
    "virtex7": ("zynq", "artix7", "kintexu", "virtexuplus", "zynquplus"),
    "kintex7": ("virtex7",),
    "zynq": ("artix7", "virtex7", "zynquplus", "virtexuplus", "kintexu"),
    "artix7": ("zynq", "virtex7", "zynquplus", "virtexuplus", "kintexu"),
}
"""Whose figures stand in for a family's, the nearest first; its own of another grade come before them."""
GRADE_FACTOR = {1: 1.25, 2: 1.0, 3: 1.0}
"""Delay by grade where nothing tells more: grade 1 over grade 2 as measured on virtexuplus; of grade 3 there
are no figures on UltraScale, and it is not believed to be faster.
"""
FEWEST_COMMON = 3
"""With fewer common points two libraries are not compared."""
WIDEST_GAP = 2.1
"""Between sizes further apart than this ratio, a related family's curve gives the shape."""
OTHER_CLOCK = 1.3
"""Budgets that differ by a larger ratio are those of other clocks."""
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
STRAIGHT = frozenset({"add", "add3", "icmp", "multiplier"})
"""Operations that a carry goes through: beyond the widest that was seen, a delay grows with the width. Others
grow with its logarithm.
"""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """The delay of one operation at one size."""

    operation: str
    speed: Speed
    since: float
    """First release that it counts for (2023.1), 0 for all."""
    until: float
    """Last release that it counts for."""
    size: int
    """Bits, or inputs of a mux; 0 where it does not matter."""
    cycles: int
    first_ns: float
    last_ns: float
    low_ns: float
    high_ns: float
    count: int
    """Operations that were seen with it."""
    repositories: int
    """That they were seen in; 0: taken from another family."""
    budget_ns: float = 0.0
    """The largest budget that the tool took this core for; 0: not of a core."""
    borrowed: str = ""
    """The library that it was taken from, such as zynquplus-2."""


@lru_cache(maxsize=4)
def read_figures(path: Path = PACKAGED) -> tuple[Figure, ...]:
    """The rows of a file of figures."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(_figure(row) for row in csv.DictReader(file))


_VERSIONS = {
    "all": (0.0, math.inf),
    "-2022": (0.0, 2022.9),
    "2022-": (2022.1, math.inf),
    "2023-": (NEW_COMPARATORS, math.inf),
}


def _figure(row: dict[str, str]) -> Figure:
    since, until = _VERSIONS[row["versions"]]
    return Figure(
        operation=row["operation"],
        speed=Speed(family=row["family"], grade=int(row["grade"])),
        since=since,
        until=until,
        size=int(row["size"]),
        cycles=int(row["cycles"]),
        first_ns=float(row["first_ns"]),
        last_ns=float(row["last_ns"]),
        low_ns=float(row["low_ns"]),
        high_ns=float(row["high_ns"]),
        count=int(row["count"]),
        repositories=int(row["repositories"]),
        budget_ns=float(row["budget_ns"] or 0),
    )


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Delays of a combinational operation by its size."""

    operation: str
    points: tuple[Figure, ...]
    """By ascending size, each size once; at least one."""

    def at(self, size: int) -> float:
        """Delay in ns at a size."""
        sizes = [point.size for point in self.points]
        place = bisect_right(sizes, size)
        if place == 0 or len(sizes) == 1:
            return self.points[0].first_ns
        if place == len(sizes):
            return self.points[-1].first_ns + self._growth_beyond(size)
        below, above = self.points[place - 1], self.points[place]
        share = (size - below.size) / (above.size - below.size)
        return below.first_ns + share * (above.first_ns - below.first_ns)

    def nearest(self, size: int) -> Figure:
        """The figure that tells most of a size."""
        return min(self.points, key=lambda point: abs(math.log((point.size or 1) / max(size, 1))))

    def _growth_beyond(self, size: int) -> float:
        """What is added beyond the last point, at the slope over the last doubling of the size or more."""
        last = self.points[-1]
        before = [point for point in self.points if 2 * point.size <= last.size]
        if not before or last.size < 2:
            return 0.0
        straight = self.operation in STRAIGHT
        rise = max(0.0, last.first_ns - before[-1].first_ns)
        if straight:
            return rise * (size - last.size) / (last.size - before[-1].size)
        return rise * math.log(size / last.size) / math.log(last.size / before[-1].size)


@dataclass(frozen=True, kw_only=True)
class Library:
    """The delays of one family and grade in one release, holes filled from related ones (library_of)."""

    speed: Speed
    """Of a family that there are figures of."""
    version: float
    path: Path = PACKAGED

    def curve(self, operation: str) -> Curve:
        """The delays of an operation by size."""
        return _curve(self, operation)

    def fixed(self, operation: str) -> Figure:
        """An operation whose cycles do not depend on the budget, nor its delay on a size."""
        for donor in (self.speed, *self._donors()):
            found = self._own(operation, donor)
            if found:
                return _scaled(max(found, key=lambda one: one.count), self._ratio_to(donor), self.speed)
        raise KeyError(f"no figures of {operation}")

    def cores(self, operation: str, size: int) -> tuple[Figure, ...]:
        """Cores of an operation of several cycles for a word of `size` bits, by ascending cycles: its own,
        and those that related libraries were seen with at slower and faster clocks than these.
        """
        return _cores(self, operation, size)

    def has_seen(self, operation: str) -> bool:
        """Whether an operation was seen in this family, of whatever grade."""
        return any(self._own(operation, Speed(family=self.speed.family, grade=one)) for one in (1, 2, 3))

    def _own(self, operation: str, speed: Speed) -> list[Figure]:
        """The figures of an operation in one library, in this release."""
        figures = _by_operation(self.path).get((operation, speed), ())
        return [one for one in figures if one.since <= self.version <= one.until]

    def _donors(self) -> list[Speed]:
        """Libraries to take from, the nearest first."""
        grades = sorted((1, 2, 3), key=lambda grade: (abs(grade - self.speed.grade), grade))
        families = (self.speed.family, *RELATED[self.speed.family])
        every = [Speed(family=family, grade=grade) for family in families for grade in grades]
        return [one for one in every if one != self.speed]

    def _ratio_to(self, donor: Speed) -> float:
        return 1.0 if donor == self.speed else _ratio(self.path, self.version, self.speed, donor)


def library_of(speed: Speed, version: float, path: Path = PACKAGED) -> Library:
    """The library of parts of `speed`: that of the nearest family that there are figures of."""
    families = {figure.speed.family for figure in read_figures(path)}
    family = next(one for one in (speed.family, *RELATED[speed.family]) if one in families)
    return Library(speed=replace(speed, family=family), version=version, path=path)


def _by_cycles(figure: Figure) -> tuple[int, float]:
    return figure.cycles, figure.first_ns


def _scaled(figure: Figure, factor: float, speed: Speed) -> Figure:
    """The figure for parts of `speed`, borrowed with a factor where it is not their own."""
    if figure.speed == speed:
        return figure
    return replace(
        figure,
        first_ns=round(figure.first_ns * factor, 3),
        last_ns=round(figure.last_ns * factor, 3),
        low_ns=round(figure.low_ns * factor, 3),
        high_ns=round(figure.high_ns * factor, 3),
        borrowed=f"{figure.speed.family}-{figure.speed.grade}",
    )


@lru_cache(maxsize=4)
def _by_operation(path: Path) -> dict[tuple[str, Speed], list[Figure]]:
    found: dict[tuple[str, Speed], list[Figure]] = {}
    for figure in read_figures(path):
        found.setdefault((figure.operation, figure.speed), []).append(figure)
    return found


@lru_cache(maxsize=4096)
def _cores(library: Library, operation: str, size: int) -> tuple[Figure, ...]:
    found: list[Figure] = []
    for donor in (library.speed, *library._donors()):
        budgets = [one.budget_ns for one in found]
        low, high = min(budgets, default=0.0) / OTHER_CLOCK, max(budgets, default=0.0) * OTHER_CLOCK
        factor = 1.0 if donor == library.speed else _core_ratio(library, donor)
        scaled = [
            _scaled(one, factor, library.speed)
            for one in library._own(operation, donor)
            if one.size == size and not (budgets and low <= one.budget_ns <= high)
        ]
        found += [one for one in scaled if not any(_contradicts(one, other) for other in found)]
    return tuple(sorted(found, key=_by_cycles))


def _contradicts(one: Figure, other: Figure) -> bool:
    """Whether a core has no more cycles than another, and yet less to do in each."""
    return (one.cycles - other.cycles) * (one.first_ns - other.first_ns) > 0 or one.cycles == other.cycles


@lru_cache(maxsize=4096)
def _curve(library: Library, operation: str) -> Curve:
    points = _one_each(library._own(operation, library.speed))
    for donor in library._donors():
        theirs = _one_each(library._own(operation, donor))
        if not theirs:
            continue
        factor = library._ratio_to(donor)
        scaled = [_scaled(point, factor, library.speed) for point in theirs]
        if not points:
            return Curve(operation=operation, points=tuple(scaled))
        points = _filled(operation, points, Curve(operation=operation, points=tuple(scaled)))
        if len(theirs) > 4:  # a donor with as many points has the whole shape
            break
    if not points:
        raise KeyError(f"no figures of {operation}")
    return Curve(operation=operation, points=tuple(points))


def _one_each(figures: Iterable[Figure]) -> list[Figure]:
    """Combinational figures by ascending size; not those of cores that a slow clock leaves no stages."""
    return sorted((one for one in figures if one.cycles == 0 and not one.budget_ns), key=lambda one: one.size)


def _filled(operation: str, own: Sequence[Figure], other: Curve) -> list[Figure]:
    """`own` with more points, in their gaps and beyond their ends, where the other curve has any. The other
    curve is bent to go through all of the own points.
    """
    if not own[0].size:
        return list(own)
    bend = Curve(
        operation=operation,
        points=tuple(replace(one, first_ns=one.first_ns / other.at(one.size)) for one in own),
    )
    low, high = other.points[0].size, other.points[-1].size
    found = list(own)
    for size in SIZES:
        if low <= size <= high and _lies_in_gap(size, [one.size for one in own]):
            nearest = other.nearest(size)
            ns = _clamped(round(other.at(size) * _held(bend, size), 3), size, own)
            found.append(replace(nearest, size=size, first_ns=ns, borrowed=nearest.borrowed))
    return sorted(found, key=lambda one: one.size)


def _clamped(ns: float, size: int, own: Sequence[Figure]) -> float:
    """What is filled in lies between the points beside it, and beyond them on the right side of the last."""
    below = [one.first_ns for one in own if one.size < size][-1:]
    above = [one.first_ns for one in own if one.size > size][:1]
    if below and above:
        return min(max(ns, min(below + above)), max(below + above))
    return max(ns, below[0]) if below else min(ns, above[0])


def _held(bend: Curve, size: int) -> float:
    """The bend at a size; beyond the ends, what it is there."""
    sizes = [point.size for point in bend.points]
    return bend.at(min(max(size, sizes[0]), sizes[-1]))


def _lies_in_gap(size: int, sizes: Sequence[int]) -> bool:
    if size in sizes:
        return False
    if size < sizes[0] or size > sizes[-1]:
        return True
    return any(low < size < high and high > WIDEST_GAP * low for low, high in pairwise(sizes))


@lru_cache(maxsize=4096)
def _ratio(path: Path, version: float, speed: Speed, donor: Speed) -> float:
    """The delays of one library over those of another, over every operation and size that both have."""
    mine = Library(speed=speed, version=version, path=path)
    ratios = []
    for operation in sorted({figure.operation for figure in read_figures(path)}):
        own = {one.size: one.first_ns for one in _one_each(mine._own(operation, speed))}
        theirs = {one.size: one.first_ns for one in _one_each(mine._own(operation, donor))}
        ratios += [own[size] / theirs[size] for size in own if theirs.get(size)]
    if len(ratios) >= FEWEST_COMMON:
        return median(ratios)
    return GRADE_FACTOR[speed.grade] / GRADE_FACTOR[donor.grade]


@lru_cache(maxsize=4096)
def _core_ratio(library: Library, donor: Speed) -> float:
    """The same for cores of several cycles: by what they do in all their stages, where both were seen at the
    same budget, but no more than for LUTs, as a good part of a core is hard blocks.
    """
    mine = _works(library, library.speed)
    theirs = _works(library, donor)
    ratios = [mine[core] / theirs[core] for core in mine if core in theirs]
    logic = library._ratio_to(donor)
    return min(logic, median(ratios)) if len(ratios) >= FEWEST_COMMON else logic


def _works(library: Library, speed: Speed) -> dict[tuple[str, int, float], float]:
    """ns of all stages together, by operation, size and budget."""
    return {
        (one.operation, one.size, one.budget_ns): (one.cycles + 1) * one.first_ns
        for one in read_figures(library.path)
        if one.speed == speed and one.budget_ns
    }
