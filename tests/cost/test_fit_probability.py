"""Probabilities of fitting against SciPy's normal distribution and against designs drawn at random."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from hlsgen.cost.fit_probability import CONFIDENCE, STATED, deviation, margin_for, probability_within

ERRORS = (0.05, 0.23, 0.34, 0.5)


@pytest.mark.parametrize("error", ERRORS)
def test_the_stated_error_holds_for_nine_in_ten(error: float) -> None:
    inside = norm.cdf(error, scale=deviation(error)) - norm.cdf(-error, scale=deviation(error))
    assert inside == pytest.approx(STATED, abs=1e-12)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("share", [0.5, 0.98, 1.0, 1.2])
def test_probability(error: float, share: float) -> None:
    limit = 100_000
    used = round(share * limit)
    expected = norm.cdf((limit / used - 1) * norm.ppf(0.95) / error)
    assert probability_within(used, limit, error) == pytest.approx(expected, abs=1e-9)


def test_what_is_exact() -> None:
    assert [probability_within(used, 100, 0.0) for used in (99, 100, 101)] == [1.0, 1.0, 0.0]
    assert probability_within(0, 0, 0.3) == 1.0
    assert margin_for(0.0) == 0.0


@pytest.mark.parametrize("error", ERRORS)
def test_the_margin_keeps_designs_inside(error: float) -> None:
    """A hundred thousand designs that fill what the margin leaves of a limit."""
    limit = 1.0
    modelled = limit * (1 - margin_for(error))
    drawn = np.random.default_rng(7).normal(0, error / norm.ppf(0.95), 100_000)
    assert np.mean(modelled * (1 + drawn) <= limit) == pytest.approx(CONFIDENCE, abs=0.005)


def test_the_gamble_that_the_margin_is_for() -> None:
    """98 % of the usable LUTs with an error of 34 %: a coin; the margin for that error is a fifth."""
    assert probability_within(98, 100, 0.34) == pytest.approx(0.54, abs=0.005)
    assert margin_for(0.34) == pytest.approx(0.209, abs=0.001)
