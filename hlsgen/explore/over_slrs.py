"""The layers of one instance over several SLRs, each in one of them.

First as runs of layers in their order of computation, so that data crosses each border once; where that does
not fit, in any SLRs, with as few crossings as the options then allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import LinearConstraint

from hlsgen.explore.knapsack import Costs, cheapest
from hlsgen.explore.options import Vector, non_dominated
from hlsgen.explore.solver import full, solve

MOST_NODES = 1
"""Nodes of branch and cut for one interval: where there is room the first one has an answer."""
CROSSING_NODES = 20
INFEASIBLE = 2
"""The status of a problem without solution, as scipy.optimize.milp has it."""
WEIGHINGS = 50
"""Weights of the kinds that are tried to prove that runs do not fit."""
SLACK = 1e-9
"""More than the rounding errors of such a proof."""
GAP = 0.1
"""The distance from the least cost that an answer may have, relative: whether there is one matters most."""

Edges = Sequence[tuple[int, int]]
"""Pairs of layers, by number, of which the second reads the first."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The option and the SLR of each layer, in the graph's order."""

    picks: tuple[int, ...]
    slrs: tuple[int, ...]


def spread(
    costs: Sequence[Costs], limits: Sequence[Vector], prices: NDArray[np.float64], edges: Edges
) -> Spread | None:
    """Options and SLRs that fit; None: none was found."""
    mixed = anywhere(costs, limits, prices)
    # runs are a special case, hardly there where nothing else is
    if mixed is None:
        return None
    return in_runs(costs, limits, prices) or with_few_crossings(mixed, costs, limits, edges)


def in_slrs(
    costs: Sequence[Costs], limits: Sequence[Vector], prices: NDArray[np.float64], slrs: Sequence[int]
) -> Spread | None:
    """Options of layers whose SLRs are given; None: they do not fit."""
    picks = [0] * len(costs)
    for slr, limit in enumerate(limits):
        here = [layer for layer, at in enumerate(slrs) if at == slr]
        if not here:
            continue
        solution = cheapest([costs[layer] for layer in here], limit, prices)
        if solution.picks is None:
            return None
        for layer, pick in zip(here, solution.picks, strict=True):
            picks[layer] = pick
    return Spread(picks=tuple(picks), slrs=tuple(slrs))


def in_runs(costs: Sequence[Costs], limits: Sequence[Vector], prices: NDArray[np.float64]) -> Spread | None:
    """Layers in their order of computation, cut into one run for each SLR; None if that does not fit.

    The SLRs are taken in their order on the chip, from either end. A run that fits fits without its last
    layer too: so each SLR takes the longest run that fits it, and if any cut fits then this one does.
    """
    numbers = list(range(len(limits)))
    for order in (numbers, numbers[::-1]):
        may = may_run(costs, [limits[slr] for slr in order])
        found = _runs(costs, limits, order, prices) if may else None
        if found is not None:
            return found
    return None


def may_run(costs: Sequence[Costs], limits: Sequence[Vector]) -> bool:
    """False: it is proven that no runs of layers, one for each of `limits` in turn, hold all of them.

    A run is no shorter if options may be mixed, and what begins later ends no sooner.
    """
    amounts, owner, _ = _listed(costs)
    end = 0
    for limit in limits:
        fitting = (owner >= end) & (amounts <= limit).all(axis=1)
        end += _longest(amounts[fitting], owner[fitting] - end, limit)
    return end == len(costs)


def _longest(amounts: NDArray[np.int64], owner: NDArray[np.int64], limit: Vector) -> int:
    """The most layers, from number 0 on, that may go together within `limit`, their options mixed.

    Whatever the kinds weigh, what layers that fit take at their least weighs no more than the limit. Weights
    of kinds that a run takes too much of grow (multiplicative weights: Arora, Hazan, Kale, 2012), so that
    they come near to the dual solution of the linear program; but any of them are a proof.
    """
    kinds = np.flatnonzero(limit > 0)
    shares = amounts[:, kinds] / limit[kinds]
    firsts = np.flatnonzero(np.diff(owner, prepend=-1))
    missing = np.flatnonzero(owner[firsts] != np.arange(len(firsts)))
    most = int(missing[0]) if len(missing) else len(firsts)
    weights = np.ones(len(kinds))
    for number in range(WEIGHINGS if len(kinds) else 0):
        price = shares @ weights
        least = np.lexsort((price, owner))[firsts[:most]]
        most = int(np.searchsorted(np.cumsum(price[least]), weights.sum() * (1 + SLACK), side="right"))
        if not most:
            break
        excess = shares[least[: most + 1]].sum(axis=0) - 1
        weights = weights * np.exp(excess / max(np.abs(excess).max(), SLACK) / np.sqrt(number + 1))
        weights /= weights.sum()
    return most


def _runs(
    costs: Sequence[Costs], limits: Sequence[Vector], order: list[int], prices: NDArray[np.float64]
) -> Spread | None:
    picks: list[int] = []
    slrs: list[int] = []
    for slr in order:
        begin = len(picks)
        low, high = begin, len(costs)
        best: tuple[int, ...] = ()
        while low < high:
            middle = (low + high + 1) // 2
            solution = cheapest(costs[begin:middle], limits[slr], prices)
            if solution.picks is None:
                high = middle - 1
            else:
                low, best = middle, solution.picks
        picks += best
        slrs += [slr] * len(best)
    if len(picks) < len(costs):
        return None
    return Spread(picks=tuple(picks), slrs=tuple(slrs))


def unpackable(costs: Sequence[Costs], limits: Sequence[Vector], prices: NDArray[np.float64]) -> bool:
    """Whether it is proven that no choice of options lies in SLRs, whole layers in each, all together."""
    amounts, owner, _ = _listed(costs)
    return bool(_packing(amounts, owner, limits, amounts @ prices, MOST_NODES).status == INFEASIBLE)


def anywhere(costs: Sequence[Costs], limits: Sequence[Vector], prices: NDArray[np.float64]) -> Spread | None:
    """Each layer in any SLR: binary x[SLR, layer, option]."""
    amounts, owner, kept = _listed(costs)
    result = _packing(amounts, owner, limits, amounts @ prices, MOST_NODES)
    if result.x is None:
        return None
    x = np.asarray(result.x).reshape(len(limits), len(amounts))
    picks, slrs = [], []
    for layer, keep in enumerate(kept):
        here = np.flatnonzero(owner == layer)
        slr, local = np.unravel_index(int(np.argmax(x[:, here])), (len(limits), len(here)))
        picks.append(int(keep[local]))
        slrs.append(int(slr))
    return Spread(picks=tuple(picks), slrs=tuple(slrs))


def with_few_crossings(
    found: Spread, costs: Sequence[Costs], limits: Sequence[Vector], edges: Edges
) -> Spread:
    """The same options with fewer crossings, if that is found."""
    chosen = np.array([one[pick] for one, pick in zip(costs, found.picks, strict=True)])
    return Spread(picks=found.picks, slrs=_few_crossings(chosen, limits, edges) or found.slrs)


def _listed(
    costs: Sequence[Costs],
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[NDArray[np.int64]]]:
    """The options of all layers that no other beats, the layer of each, and by layer their numbers."""
    kept = [np.array(sorted(non_dominated(one))) for one in costs]
    amounts = np.concatenate([one[keep] for one, keep in zip(costs, kept, strict=True)])
    return amounts, np.repeat(np.arange(len(costs)), [len(keep) for keep in kept]), kept


def _packing(
    amounts: NDArray[np.int64],
    owner: NDArray[np.int64],
    limits: Sequence[Vector],
    price: NDArray[np.float64],
    nodes: int,
) -> Any:
    """The packing, its x one after the other for [SLR, option]."""
    count, slrs = len(amounts), len(limits)
    return solve(
        np.tile(price, slrs),
        whole=np.ones(slrs * count),
        upper=1,
        constraints=[_one_each(owner, slrs, 0), *_within(amounts, limits, 0)],
        nodes=nodes,
        gap=GAP,
    )


def _few_crossings(
    amounts: NDArray[np.int64], limits: Sequence[Vector], edges: Edges
) -> tuple[int, ...] | None:
    """The SLR of each layer, options fixed: a variable more for each edge and border, 1 if it is crossed."""
    layers, slrs = len(amounts), len(limits)
    borders = slrs - 1
    crossings = len(edges) * borders
    width = slrs * layers + crossings
    rows = sparse.lil_array((2 * crossings, width))
    for number, (a, b) in enumerate(edges):
        for border in range(borders):
            for half, sign in enumerate((1, -1)):
                line = 2 * (number * borders + border) + half
                for slr in range(border + 1, slrs):
                    rows[line, slr * layers + a] = sign
                    rows[line, slr * layers + b] = -sign
                rows[line, slrs * layers + number * borders + border] = -1
    result = solve(
        np.concatenate([np.zeros(slrs * layers), np.ones(crossings)]),
        whole=np.concatenate([np.ones(slrs * layers), np.zeros(crossings)]),
        upper=1,
        constraints=[
            _one_each(np.arange(layers), slrs, crossings),
            *_within(amounts, limits, crossings),
            LinearConstraint(rows.tocsr(), -np.inf, 0),
        ],
        nodes=CROSSING_NODES,
    )
    if result.x is None:
        return None
    x = np.asarray(result.x[: slrs * layers]).reshape(slrs, layers)
    return tuple(int(slr) for slr in np.argmax(x, axis=0))


def _one_each(owner: NDArray[np.int64], slrs: int, extra: int) -> LinearConstraint:
    """Every layer has one option in one SLR; `extra` variables follow that are no options."""
    count, layers = len(owner), int(owner[-1]) + 1
    one = sparse.csr_array((np.ones(count), (owner, np.arange(count))), (layers, count))
    return LinearConstraint(sparse.hstack([one] * slrs + [sparse.csr_array((layers, extra))]).tocsr(), 1, 1)


def _within(amounts: NDArray[np.int64], limits: Sequence[Vector], extra: int) -> list[LinearConstraint]:
    """What lies in an SLR fits it, to the last unit although HiGHS works to a tolerance."""
    count, found = len(amounts), []
    for slr, limit in enumerate(limits):
        kinds = np.flatnonzero(limit > 0)
        shares = sparse.csr_array((amounts[:, kinds] / limit[kinds]).T)
        before = sparse.csr_array((len(kinds), slr * count))
        after = sparse.csr_array((len(kinds), (len(limits) - slr - 1) * count + extra))
        rows = sparse.hstack([before, shares, after]).tocsr()
        found.append(LinearConstraint(rows, -np.inf, full(limit[kinds])))
        none = np.flatnonzero((limit == 0) & (amounts > 0).any(axis=0))
        if len(none):
            where = np.any(amounts[:, none] > 0, axis=1).astype(np.float64).reshape(1, -1)
            row = sparse.hstack([before[:1], sparse.csr_array(where), after[:1]]).tocsr()
            found.append(LinearConstraint(row, 0, 0))
    return found


def crossings(slrs: Sequence[int], edges: Edges) -> int:
    """Borders of SLRs that streams between layers cross."""
    return sum(abs(slrs[a] - slrs[b]) for a, b in edges)
