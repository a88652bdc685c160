"""The foldings of a layer that may share a board with another one, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hlsgen.cost.conv_instance import instance_resources
from hlsgen.cost.cycles import Cycles, cycles, ddr_cost
from hlsgen.cost.resources import Resources, arithmetic_resources
from hlsgen.designfile.constraints import NoFit
from hlsgen.hardware.conv2d import ConvMapping, bare_mapping, mappings
from hlsgen.hardware.conv_folding import Folding
from hlsgen.hardware.conv_words import row_columns
from hlsgen.layers.conv2d import Conv2d
from hlsgen.search.board_limits import KINDS, allowed
from hlsgen.targets.board import Board

Floats = NDArray[np.float64]
Words = tuple[int, int, int]
"""What makes two kernels give the same bits in the same places of DDR: columns of a padded row in and out,
and in floating point the channels that are added up at a time.
"""

MOST_FOLDINGS = 500
"""Foldings that are looked at: all of a small layer, of a large one those that would fill SLRs best if they
took nothing but their arithmetic and could be cut to size.
"""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A folding as hardware. each, cycles: of an instance."""

    mapping: ConvMapping
    each: Resources
    cycles: Cycles

    @property
    def speed(self) -> float:
        """Frames a cycle."""
        return 1 / self.cycles.interval

    @cached_property
    def moved(self) -> int:
        """What DDR is charged with for a frame."""
        return ddr_cost(self.mapping)

    @cached_property
    def overhead(self) -> int:
        """Cycles of a call beside the intervals of its frames."""
        return self.cycles.call(1) - self.cycles.interval

    @property
    def words(self) -> Words:
        mapping = self.mapping
        added = mapping.folding.simd if mapping.layer.is_float else 0
        return mapping.in_words * mapping.in_lanes, mapping.out_words * mapping.out_lanes, added


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """Candidates, the fastest instance first, and their figures as arrays [candidate, ...]."""

    all: tuple[Candidate, ...]

    def __len__(self) -> int:
        return len(self.all)

    @cached_property
    def speed(self) -> Floats:
        return np.array([one.speed for one in self.all], np.float64)

    @cached_property
    def moved(self) -> Floats:
        return np.array([one.moved for one in self.all], np.float64)

    @cached_property
    def overhead(self) -> Floats:
        return np.array([one.overhead for one in self.all], np.float64)

    @cached_property
    def resources(self) -> Floats:
        """[candidate, KINDS]"""
        rows = [[getattr(one.each, kind) for kind in KINDS] for one in self.all]
        return np.array(rows, np.float64).reshape(len(self.all), len(KINDS))

    @cached_property
    def efficiency(self) -> Floats:
        """[candidate, KINDS] speed for a unit of each kind of resource; without bound where it takes none."""
        with np.errstate(divide="ignore"):
            return self.speed[:, None] / self.resources

    @cached_property
    def words(self) -> NDArray[np.int64]:
        """A number for the words of each."""
        numbers: dict[Words, int] = {}
        return np.array([numbers.setdefault(one.words, len(numbers)) for one in self.all], np.int64)


def limits(board: Board) -> Floats:
    """[SLR, KINDS] what a search may fill."""
    rows = [[getattr(allowed(slr, board), kind) for kind in KINDS] for slr in board.slrs]
    return np.array(rows, np.float64)


def candidates(
    layer: Conv2d, board: Board, folds: Iterable[Folding], *, any_words: bool = False
) -> Candidates:
    """Those of `folds` that are worth a look: fast enough for what they take, and not beaten in all respects.

    any_words: with every padding of rows in DDR, not only with that which suits them best. Those are looked
    at first that what their arithmetic takes leaves the most hope for.
    """
    room = limits(board)
    hopes = [(_filled(_at_least(layer, folding, board), room), folding) for folding in folds]
    best = sorted((pair for pair in hopes if pair[0] > 0), key=lambda pair: -pair[0])[:MOST_FOLDINGS]
    found = [
        one
        for _, folding in best
        for one in _made(layer, folding, board, any_words=any_words)
        if _filled((one.each, one.speed), room) > 0
    ]
    found.sort(key=lambda one: one.cycles.interval)
    return Candidates(all=tuple(_undominated(found)))


def _at_least(layer: Conv2d, folding: Folding, board: Board) -> tuple[Resources, float]:
    """What any instance with this folding takes, and frames a cycle that none exceeds."""
    bare = bare_mapping(layer, folding, board.multiplier)
    return arithmetic_resources(bare, board.terms), 1 / least_interval(bare)


def least_interval(bare: ConvMapping) -> int:
    """Cycles from frame to frame where nothing ever waits."""
    return bare.load_times * bare.wave.tiles * bare.weight_steps * bare.wave.columns


def _made(layer: Conv2d, folding: Folding, board: Board, *, any_words: bool) -> Iterator[Candidate]:
    choices = (None, *(row_columns(layer, board) if any_words else ()))
    try:
        for rows in choices:
            for mapping in mappings(layer, folding, board, rows):
                each = instance_resources(mapping, board.terms)
                yield Candidate(mapping=mapping, each=each, cycles=cycles(mapping))
    except NoFit:
        return


def _filled(instance: tuple[Resources, float], room: Floats) -> float:
    """Frames a cycle of all SLRs full of an instance, if it could be cut to size; 0 if none has room."""
    each, speed = instance
    taken = np.array([getattr(each, kind) for kind in KINDS], np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        counts = np.where(taken > 0, room / taken, np.inf).min(axis=1)
    return float(speed * counts.sum()) if (counts >= 1).any() else 0.0


def _undominated(found: Sequence[Candidate]) -> list[Candidate]:
    """Those that no other one of the same words beats in speed, in DDR traffic and all resources."""
    kept: list[Candidate] = []
    figures: dict[Words, Floats] = {}
    filled: dict[Words, int] = {}
    for one in found:
        taken = [getattr(one.each, kind) for kind in KINDS]
        mine = np.array([*taken, one.moved, one.overhead], np.float64)
        rows = figures.setdefault(one.words, np.empty((len(found), len(mine))))
        count = filled.get(one.words, 0)
        # those that are kept are as fast or faster
        if not (rows[:count] <= mine).all(axis=1).any():
            rows[count] = mine
            filled[one.words] = count + 1
            kept.append(one)
    return kept
