"""One option of each layer, so that all together fit and cost least: a multiple-choice knapsack, exactly.

The model: binary x[layer, option], one of each layer; for every kind of resource the sum of what is chosen is
at most the capacity. HiGHS solves it (branch and cut); it is stopped by a number of nodes, never by a clock,
so that the same input gives the same choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import LinearConstraint

from hlsgen.explore.options import Vector, non_dominated
from hlsgen.explore.solver import full, solve

MOST_NODES = 20_000
"""Nodes of branch and cut; what is not proven by then is said to be unproven."""
EVEN_NODES = 2
EVEN_GAP = 0.1
SLACKS = (1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 4.0)
"""Multiples of the least share that mixed options need: what whole ones are given, the first that does."""
TIE = 1e-7
"""The part of all costs by which a later option of a layer costs more, so that ties have one winner."""

Costs = NDArray[np.int64]
"""The costs of a layer as [options, kinds]."""


@dataclass(frozen=True, kw_only=True)
class Solution:
    """What was found. picks: the option of each layer; None: none is known.

    bound: no choice has a smaller objective. proven: `picks` has the least objective, or none exists at all.
    """

    picks: tuple[int, ...] | None
    objective: float
    bound: float
    proven: bool


NOTHING = Solution(picks=None, objective=np.inf, bound=np.inf, proven=True)


def cheapest(
    costs: Sequence[Costs],
    capacity: Vector,
    prices: NDArray[np.float64],
    *,
    relaxed: bool = False,
    nodes: int = MOST_NODES,
    gap: float = 1e-4,
) -> Solution:
    """The choice within `capacity` whose sum of prices times resources is least.

    relaxed: options may be mixed; `bound` then holds for whole ones too, and there are no picks.
    """
    found = _Problem(costs, capacity, prices)
    return found.solve(relaxed=relaxed, nodes=nodes, gap=gap) if found.possible else NOTHING


def most_even(costs: Sequence[Costs], limit: Vector, prices: NDArray[np.float64]) -> Solution:
    """The choice whose largest share of a kind of `limit` is least, to a few percent; the objective is it.

    Whole options are looked for just above the share that mixed ones need, which is the bound. Shares over 1
    are possible. Among choices of that share a cheap one.
    """
    endless = np.where(limit > 0, np.iinfo(np.int32).max, 0)
    found = _Problem(costs, endless, prices)
    if not found.possible:
        return NOTHING
    least = found.least_share(limit)
    for slack in SLACKS:
        capacity = np.floor(limit * least * slack).astype(np.int64)
        solution = cheapest(costs, capacity, prices, nodes=EVEN_NODES, gap=EVEN_GAP)
        if solution.picks is not None:
            some = limit > 0
            total = np.sum([one[pick] for one, pick in zip(costs, solution.picks, strict=True)], axis=0)
            share = float((total[some] / limit[some]).max())
            return Solution(picks=solution.picks, objective=share, bound=least, proven=share == least)
    return Solution(picks=None, objective=np.inf, bound=least, proven=False)


class _Problem:
    """The options that can be in an answer at all, as one long list."""

    def __init__(self, costs: Sequence[Costs], capacity: Vector, prices: NDArray[np.float64]) -> None:
        self.capacity = capacity
        self.layers = len(costs)
        self.kept: list[list[int]] = []
        self.possible = bool((capacity >= 0).all())
        for one in costs:
            fitting = np.flatnonzero((one <= capacity).all(axis=1))
            if not len(fitting):
                self.possible = False
                return
            self.kept.append(sorted(int(fitting[index]) for index in non_dominated(one[fitting])))
        self.rows = [one[kept] for one, kept in zip(costs, self.kept, strict=True)]
        self.possible &= bool((sum(one.min(axis=0) for one in self.rows) <= capacity).all())
        self.amounts = np.concatenate(self.rows)
        self.owner = np.repeat(np.arange(self.layers), [len(one) for one in self.rows])
        self.ends = np.cumsum([len(one) for one in self.rows])
        self.price = self.amounts @ prices
        self.kinds = np.flatnonzero(capacity > 0)

    def solve(self, *, relaxed: bool, nodes: int, gap: float) -> Solution:
        rank = np.concatenate([np.arange(len(one)) for one in self.rows])
        scale = max(float(self.price.max()), 1e-12)
        objective = self.price / scale + (0 if relaxed else TIE * rank)
        capacity = self.capacity[self.kinds]
        shares = sparse.csr_array((self.amounts[:, self.kinds] / capacity).T)
        result = solve(
            objective,
            whole=np.full(len(objective), 0 if relaxed else 1),
            upper=1,
            constraints=[
                LinearConstraint(self._one_each(), 1, 1),
                LinearConstraint(shares, -np.inf, full(capacity)),
            ],
            nodes=nodes,
            gap=gap,
        )
        if result.x is None:
            # 2: infeasible; anything else ended early
            bound = np.inf if result.status == 2 else -np.inf
            return Solution(picks=None, objective=np.inf, bound=bound, proven=result.status == 2)
        if relaxed:
            value = float(result.fun) * scale
            return Solution(picks=None, objective=value, bound=value, proven=True)
        picks, price = self._picked(result.x)
        # the ties' prices are in the bound too
        slack = TIE * float(rank[self.ends - 1].sum())
        bound = min(price, (float(result.mip_dual_bound) - slack) * scale)
        return Solution(picks=picks, objective=price, bound=bound, proven=result.status == 0)

    def least_share(self, limit: Vector) -> float:
        """The least largest share of a kind of `limit`, if options could be mixed: a variable more."""
        kinds = np.flatnonzero(limit > 0)
        count = len(self.amounts)
        shares = sparse.csr_array((self.amounts[:, kinds] / limit[kinds]).T)
        one_each = sparse.hstack([self._one_each(), sparse.csr_array((self.layers, 1))])
        under = sparse.hstack([shares, sparse.csr_array(-np.ones((len(kinds), 1)))])
        result = solve(
            np.append(np.zeros(count), 1.0),
            whole=np.zeros(count + 1),
            upper=np.append(np.ones(count), np.inf),
            nodes=1,
            constraints=[
                LinearConstraint(one_each.tocsr(), 1, 1),
                LinearConstraint(under.tocsr(), -np.inf, 0),
            ],
        )
        assert result.x is not None, "a linear program without limits has a solution"
        return float(result.fun)

    def _one_each(self) -> sparse.csr_array:
        count = len(self.owner)
        return sparse.csr_array((np.ones(count), (self.owner, np.arange(count))), (self.layers, count))

    def _picked(self, x: NDArray[np.float64]) -> tuple[tuple[int, ...], float]:
        """The options chosen, by their numbers in `costs`, and what they cost together."""
        begins = self.ends - [len(one) for one in self.rows]
        local = [int(np.argmax(x[b:e])) for b, e in zip(begins, self.ends, strict=True)]
        picks = tuple(kept[index] for kept, index in zip(self.kept, local, strict=True))
        return picks, float(self.price[begins + local].sum())
