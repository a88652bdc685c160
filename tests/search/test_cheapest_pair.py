"""The cheapest two foldings for a number of frames a second, against every pair in every number."""

from __future__ import annotations

import math
from itertools import product

import pytest

from hlsgen.cost.cycles import cycles
from hlsgen.cost.resources import Resources
from hlsgen.layers.conv2d import Conv2d
from hlsgen.search.board_limits import KINDS
from hlsgen.search.cheapest_pair import cheapest_pair
from hlsgen.search.conv_kernel import ConvConstraints, foldings
from hlsgen.search.folding_candidates import Candidate, candidates
from hlsgen.search.two_foldings import Task
from hlsgen.targets.board import Board
from tests.search.test_two_foldings import LAYERS, all_mappings, in_slrs, small_board, words

CLOCK_MHZ = 200.0
NO_LIMIT = float("inf")


def cost_of(used: Resources, board: Board) -> float:
    return sum(getattr(used, kind) / sum(getattr(slr, kind) for slr in board.slrs) for kind in KINDS)


def least_cost(layer: Conv2d, board: Board, batch: int, fps: float) -> float:
    """Of one folding or two; infinite: nothing has so many frames a second."""
    taken = [
        (mapping, each, CLOCK_MHZ * 1e6 / cycles(mapping).interval, cost_of(each, board))
        for mapping, each in all_mappings(layer, board)
        if (1, 0) in in_slrs(each, Resources(), board)
    ]
    most = min(board.max_compute_units, batch)
    options = [
        (a * one[3] + b * other[3], a, b, one[1], other[1])
        for number, one in enumerate(taken)
        for other in taken[number:]
        for a, b in product(range(most + 1), repeat=2)
        if 0 < a + b <= most and a * one[2] + b * other[2] >= fps and words(one[0]) == words(other[0])
    ]
    for cost, a, b, each, other in sorted(options, key=lambda option: option[:3]):
        if (a, b) in in_slrs(each, other, board):
            return cost
    return NO_LIMIT


def alone(one: Candidate, board: Board, fps: float) -> float | None:
    """The cost of as many instances of one folding as it takes, if they fit."""
    count = math.ceil(fps / (CLOCK_MHZ * 1e6 * one.speed) * (1 - 1e-12))
    fits = (count, 0) in in_slrs(one.each, Resources(), board)
    return count * cost_of(one.each, board) if fits else None


@pytest.mark.parametrize(("kind", "seed"), [("float32", 0), ("fixed16", 1), ("int8", 1)])
def test_no_pair_is_cheaper(kind: str, seed: int) -> None:
    layer, board = LAYERS[kind](), small_board(seed, units=3, gb_per_s=1e4)
    all_ = candidates(layer, board, foldings(layer, ConvConstraints()))
    task = Task(board=board, clock_mhz=CLOCK_MHZ, batch=64)
    best = max(one.speed for one in all_.all) * task.hertz
    reached = 0
    for part in (0.3137, 0.9173, 1.3137, 2.1937):
        found = cheapest_pair(all_, task, part * best, NO_LIMIT)
        expected = least_cost(layer, board, 64, part * best)
        singles = [one for one in (alone(each, board, part * best) for each in all_.all) if one is not None]
        cost = NO_LIMIT if found is None else cost_of(found.total, board)
        assert min([cost, *singles]) == pytest.approx(expected), f"{part} of the fastest instance"
        if found is not None:
            reached += 1
            assert found.frames_per_s >= part * best * (1 - 1e-9)
            assert cheapest_pair(all_, task, part * best, cost * (1 - 1e-9)) is None
    assert reached >= 2


def test_ddr_has_to_keep_up() -> None:
    layer, fast, slow = LAYERS["int8"](), small_board(0, gb_per_s=1e4), small_board(0, gb_per_s=0.05)
    found = []
    for board in (fast, slow):
        all_ = candidates(layer, board, foldings(layer, ConvConstraints()))
        task = Task(board=board, clock_mhz=CLOCK_MHZ, batch=64)
        found.append(cheapest_pair(all_, task, all_.speed.max() * task.hertz, NO_LIMIT))
    assert found[0] is not None
    assert found[1] is None
