"""How likely hardware is to stay inside a limit, from the error of the model; and the margin for that.

What is really taken is the model's figure times 1 + e, with e normal around 0; an error of 0.3 says that nine
in ten designs are within 30 % of theirs (hlsgen/cost/error_margins.py), so that its deviation is 0.3 / 1.645.
"""

from __future__ import annotations

from statistics import NormalDist

CONFIDENCE = 0.9
"""The probability with which `margin: auto` keeps LUTs and FFs, each of them, inside the usable share."""
STATED = 0.9
"""The share of designs that a stated error holds for, of those above and below the model together."""

_STANDARD = NormalDist()


def deviation(error: float) -> float:
    """The standard deviation of a stated relative error."""
    return error / _STANDARD.inv_cdf((1 + STATED) / 2)


def probability_within(used: int, limit: int, error: float) -> float:
    """The probability that what is modelled as `used` takes `limit` at most; error: relative, 0: exact."""
    if used <= 0:
        return 1.0
    room = limit / used - 1
    if error <= 0:
        return float(room >= 0)
    return _STANDARD.cdf(room / deviation(error))


def margin_for(error: float, confidence: float = CONFIDENCE) -> float:
    """The share of a limit that must stay free for `confidence` that the rest is enough."""
    return 1 - 1 / (1 + _STANDARD.inv_cdf(confidence) * deviation(error))
