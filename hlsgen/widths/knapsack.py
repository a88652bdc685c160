"""The cheapest widths whose noise at the outputs stays within a budget, exactly: a multiple-choice knapsack.

Binary x[tensor, width], one of each tensor. A layer's price depends on two tensors, its data and its
weights: y[layer, width, width] >= 0 with the marginals x is their product, since x is one at one width alone.
Noise of independent roundings adds up: the sum over the tensors of what each makes by itself. HiGHS solves it
by branch and cut, and says by how much a cheaper choice could at most be cheaper (the gap).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from hlsgen.widths.layer_costs import LayerCost
from hlsgen.widths.tensors import Variable

MOST_NODES = 20_000
"""Nodes of branch and cut: a number of them and never a clock, so that the same input has the same answer."""
TIE = 1e-8
"""The price of a bit beside what it costs."""
SCALE = 1e6
"""Prices are shares of a board: in millionths the solver's tolerances do not matter."""

Row = tuple[NDArray[np.int64], NDArray[np.float64], float, float]
"""Columns, their factors, the least and the largest sum."""
Noise = Mapping[Variable, NDArray[np.float64]]
"""By tensor the noise that each width makes at the outputs, as a share of their power."""


@dataclass(frozen=True, kw_only=True)
class Picked:
    """The widths of a budget; price: of all layers, a sum of shares; gap: 0: proven to be the least."""

    widths: Mapping[Variable, int]
    price: float
    noise: float
    gap: float


def cheapest(noise: Noise, costs: Sequence[LayerCost], widths: Sequence[int], budget: float) -> Picked | None:
    """The cheapest widths with at most `budget` of noise; None: there are none."""
    model = _Model(list(noise), costs, widths)
    found = milp(
        model.objective * SCALE,
        integrality=model.integrality,
        bounds=Bounds(0, 1),
        constraints=model.constraint(noise, budget),
        options={"node_limit": MOST_NODES, "mip_rel_gap": 0.0},
    )
    if found.x is None:
        return None
    places = {one: int(np.argmax(found.x[model.places(one)])) for one in noise}
    chosen = {one: widths[index] for one, index in places.items()}
    return Picked(
        widths=chosen,
        price=priced(costs, chosen, widths),
        noise=float(sum(noise[one][index] for one, index in places.items())),
        gap=max(0.0, float(found.mip_gap or 0.0)),
    )


class _Model:
    """The columns: x of every tensor and width, then y of every layer of two tensors and two widths."""

    def __init__(
        self, tensors: Sequence[Variable], costs: Sequence[LayerCost], widths: Sequence[int]
    ) -> None:
        self.size = size = len(widths)
        self.number = {one: index * size for index, one in enumerate(tensors)}
        self.pairs: list[tuple[Variable, Variable, NDArray[np.float64]]] = []
        # of choices alike in price the narrowest
        tie = TIE * np.tile(np.array(widths, np.float64), len(tensors))
        for one in costs:
            free = [axis for axis in (one.data, one.weights) if axis is not None]
            if len(free) == 2:
                self.pairs.append((free[0], free[1], one.prices))
            elif free:
                tie[self.places(free[0])] += one.prices.reshape(-1)
        self.objective = np.concatenate([tie, *(prices.reshape(-1) for _, _, prices in self.pairs)])
        self.whole = len(tie)

    @property
    def integrality(self) -> NDArray[np.int64]:
        """Whole numbers for x; y follows."""
        return (np.arange(len(self.objective)) < self.whole).astype(np.int64)

    def places(self, tensor: Variable) -> slice:
        return slice(self.number[tensor], self.number[tensor] + self.size)

    def constraint(self, noise: Noise, budget: float) -> LinearConstraint:
        """One width of each tensor, the layers' y as these say, no more noise than the budget."""
        size = self.size
        rows: list[Row] = [
            (np.arange(first, first + size), np.ones(size), 1.0, 1.0) for first in self.number.values()
        ]
        for index, (data, weights, _) in enumerate(self.pairs):
            first = self.whole + index * size * size
            cells = np.arange(first, first + size * size).reshape(size, size)
            for tensor, lines in ((data, cells), (weights, cells.T)):
                for k, line in enumerate(lines):
                    places = np.append(line, self.number[tensor] + k)
                    rows.append((places, np.append(np.ones(size), -1.0), 0.0, 0.0))
        every = np.concatenate([noise[one] for one in self.number])
        scale = 1 / budget if budget > 0 else 1.0
        rows.append((np.arange(self.whole), every * scale, -np.inf, budget * scale))
        return _constraint(rows, len(self.objective))


def priced(costs: Sequence[LayerCost], chosen: Mapping[Variable, int], widths: Sequence[int]) -> float:
    """The price of all layers with these widths."""
    at = {one: widths.index(bits) for one, bits in chosen.items()}
    total = 0.0
    for one in costs:
        row = 0 if one.data is None else at.get(one.data, 0)
        column = 0 if one.weights is None else at.get(one.weights, 0)
        total += float(one.prices[row, column])
    return total


def _constraint(rows: Sequence[Row], columns: int) -> LinearConstraint:
    data = np.concatenate([values for _, values, _, _ in rows])
    indices = np.concatenate([places for places, _, _, _ in rows])
    starts = np.cumsum([0, *(len(places) for places, _, _, _ in rows)])
    matrix = sparse.csr_array((data, indices, starts), shape=(len(rows), columns))
    return LinearConstraint(matrix, [low for _, _, low, _ in rows], [high for _, _, _, high in rows])
