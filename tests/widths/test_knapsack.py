"""The exact choice of widths against trying all of them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.widths.knapsack import cheapest, priced
from hlsgen.widths.layer_costs import LayerCost
from hlsgen.widths.tensors import Variable

WIDTHS = (2, 5, 8)
TENSORS = [
    Variable("a", "output"),
    Variable("b", "weights"),
    Variable("b", "output"),
    Variable("c", "weights"),
]


def problem(seed: int) -> tuple[dict[Variable, Any], list[LayerCost]]:
    """Two convolutions, the second of which reads what the first gives, and a pool."""
    generator = np.random.default_rng(seed)
    a, b_weights, b, c_weights = TENSORS
    noise = {one: np.sort(generator.exponential(1, 3))[::-1] * [1, 0.1, 0] for one in TENSORS}
    return noise, [
        LayerCost(name="b", data=a, weights=b_weights, prices=generator.uniform(0.01, 1, (3, 3))),
        LayerCost(name="pool", data=b, weights=None, prices=generator.uniform(0.01, 1, (3, 1))),
        LayerCost(name="c", data=b, weights=c_weights, prices=generator.uniform(0.01, 1, (3, 3))),
        LayerCost(name="first", data=None, weights=b_weights, prices=generator.uniform(0.01, 1, (1, 3))),
        LayerCost(name="fixed", data=None, weights=None, prices=np.array([[0.5]])),
    ]


def price(costs: list[LayerCost], at: dict[Variable, int]) -> float:
    total = 0.0
    for one in costs:
        row = 0 if one.data is None else at[one.data]
        column = 0 if one.weights is None else at[one.weights]
        total += one.prices[row][column]
    return total


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.floats(0.001, 3))
def test_nothing_within_the_budget_is_cheaper(seed: int, budget: float) -> None:
    noise, costs = problem(seed)
    able = {}
    for choice in itertools.product(range(3), repeat=4):
        at = dict(zip(TENSORS, choice, strict=True))
        if sum(noise[one][index] for one, index in at.items()) <= budget:
            able[choice] = price(costs, at)
    found = cheapest(noise, costs, WIDTHS, budget)
    assert found is not None and able
    at = {one: WIDTHS.index(bits) for one, bits in found.widths.items()}
    assert (
        found.price == pytest.approx(price(costs, at)) == pytest.approx(priced(costs, found.widths, WIDTHS))
    )
    assert found.noise == pytest.approx(sum(noise[one][index] for one, index in at.items()))
    assert found.noise <= budget * (1 + 1e-6)
    assert found.price == pytest.approx(min(able.values()), abs=1e-6)
    assert found.gap <= 1e-6


def test_of_what_costs_the_same_the_narrowest_is_taken() -> None:
    noise, costs = problem(0)
    free = [
        LayerCost(name=one.name, data=one.data, weights=one.weights, prices=0 * one.prices) for one in costs
    ]
    found = cheapest(noise, free, WIDTHS, 100.0)
    assert found is not None and set(found.widths.values()) == {2}


def test_a_budget_that_nothing_keeps() -> None:
    noise, costs = problem(0)
    assert cheapest({one: values + 1 for one, values in noise.items()}, costs, WIDTHS, 0.5) is None
