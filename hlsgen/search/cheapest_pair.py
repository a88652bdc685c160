"""The cheapest two foldings of a layer for a number of frames a second: a small one fills up what a whole
number of large ones misses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from hlsgen.search.board_limits import bank_rate
from hlsgen.search.candidates import share_of
from hlsgen.search.folding_candidates import Candidates, Floats
from hlsgen.search.placement import Deployment
from hlsgen.search.two_foldings import Counts, Pair, Task

ENOUGH = 1 - 1e-12
"""Of what is asked for: so that rounding makes no reached target a missed one."""


def cheapest_pair(all_: Candidates, task: Task, frames_per_s: float, most: float) -> Deployment | None:
    """The deployment of two foldings that has `frames_per_s` in steady state for the least cost; of equal
    ones the first.

    most: the cost (`share_of`) that it has to stay below. None: no pair does. Exact within the model: all
    pairs are sorted by what they cost with the fewest instances of the second beside each number of the
    first, and taken in this order until one fits and DDR keeps up.
    """
    for one in _by_cost(all_, task, frames_per_s / task.hertz, most):
        counted = replace(task, counts=one.counts)
        found = Pair(all_.all[one.first], all_.all[one.second], counted).deployed(0.0)
        if found is not None and found.frames_per_s >= frames_per_s * ENOUGH:
            return found
    return None


@dataclass(frozen=True, kw_only=True)
class _Option:
    first: int
    second: int
    counts: tuple[int, int]


def _by_cost(all_: Candidates, task: Task, speed: float, most: float) -> Iterator[_Option]:
    """Pairs with just enough instances for `speed` frames a cycle that cost less than `most`."""
    cost = np.array([share_of(one.each, task.board) for one in all_.all])
    found = [_with(count, all_, cost, task, speed, most) for count in range(1, task.most)]
    if not found:
        return
    options = np.concatenate([rows for rows, _ in found])
    costs = np.concatenate([prices for _, prices in found])
    for at in np.argsort(costs, kind="stable"):
        first, second, count, other = options[at].tolist()
        yield _Option(first=first, second=second, counts=(count, other))


def _with(
    count: int, all_: Candidates, cost: Floats, task: Task, speed: float, most: float
) -> tuple[Counts, Floats]:
    """[option, (first, second, count, others)] and costs with `count` instances of the first folding."""
    left = speed * ENOUGH - count * all_.speed
    others = np.maximum(1, np.ceil(left[:, None] / all_.speed[None, :]))
    costs = count * cost[:, None] + others * cost[None, :]
    fits = (all_.words[:, None] == all_.words[None, :]) & (costs < most) & (count + others <= task.most)
    moves = np.minimum(all_.moved[:, None], all_.moved[None, :])
    banks = sum(bank_rate(bank, task.board, task.clock_mhz) for bank in task.board.memory.banks)
    fits &= moves * speed * task.hertz * ENOUGH <= banks
    np.fill_diagonal(fits, val=False)
    rows, columns = np.nonzero(fits)
    numbers = np.stack(
        [rows, columns, np.full_like(rows, count), others[rows, columns].astype(np.int64)], axis=1
    )
    return numbers, costs[rows, columns]
