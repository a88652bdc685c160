"""How many instances there are and which SLR holds them; one that is larger than an SLR goes over several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from hlsgen.explore.options import Vector, non_dominated, vector
from hlsgen.search.board_limits import allowed, allowed_whole
from hlsgen.targets.board import Board


@dataclass(frozen=True, kw_only=True, eq=False)
class Layout:
    """A layout of `count` instances, so many in each SLR. capacity: what one may take.

    by_slr: None: one instance over several SLRs, its layers in each one after the other.
    """

    count: int
    by_slr: tuple[int, ...] | None
    capacity: Vector


def capacities(board: Board) -> list[Vector]:
    """What a design may use of each SLR."""
    return [vector(allowed(slr, board)) for slr in board.slrs]


def layouts(board: Board, most: int, fixed: int | None, *, apart: bool = False) -> list[Layout]:
    """Every one that leaves an instance more room in some kind than all others of as many instances.

    apart: the design says that one instance lies over several SLRs.
    """
    found: list[Layout] = []
    limits = capacities(board)
    if apart:
        return [Layout(count=1, by_slr=None, capacity=vector(allowed_whole(board)))]
    for count in range(1, most + 1) if fixed is None else [fixed]:
        found += _equal(limits, count)
    if len(limits) > 1 and fixed in (None, 1):
        found.append(Layout(count=1, by_slr=None, capacity=vector(allowed_whole(board))))
    return found


def _equal(limits: list[Vector], count: int) -> list[Layout]:
    """The layouts of `count` instances, each in one SLR."""
    splits = [split for split in _splits(count, len(limits)) if sum(split) == count]
    rooms = np.array(
        [
            np.min([limit // number for limit, number in zip(limits, split, strict=True) if number], axis=0)
            for split in splits
        ]
    )
    return [
        Layout(count=count, by_slr=splits[index], capacity=rooms[index]) for index in non_dominated(-rooms)
    ]


def _splits(count: int, parts: int) -> Iterator[tuple[int, ...]]:
    for head in product(range(count + 1), repeat=parts - 1):
        if sum(head) <= count:
            yield (*head, count - sum(head))


def placed_in(board: Board, each: Vector, count: int) -> tuple[int, ...] | None:
    """The instances in each SLR of `count` equal ones, as evenly as they fit; None if they do not."""
    rooms = [int(min((limit[each > 0] // each[each > 0]), default=count)) for limit in capacities(board)]
    if sum(rooms) < count:
        return None
    taken = [0] * len(rooms)
    for _ in range(count):
        slr = max(range(len(rooms)), key=lambda index: (rooms[index] - taken[index], -index))
        taken[slr] += 1
    return tuple(taken)
