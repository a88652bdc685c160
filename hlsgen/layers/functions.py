"""The functions of one value that a table computes, in float64, and what they are far from zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

# Klambauer et al., Self-Normalizing Neural Networks, 2017, in the digits that torch has
SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805


class Tail(NamedTuple):
    """gain * x + offset."""

    gain: float
    offset: float = 0.0


def _special(name: str, x: Doubles) -> Doubles:
    """A function of SciPy's, whose import takes a sixth of a second that most networks need not wait."""
    from scipy import special

    found: Doubles = getattr(special, name)(x)
    return found


ZERO = Tail(0.0)
IDENTITY = Tail(1.0)
Tails = tuple[Tail | None, Tail | None]


@dataclass(frozen=True, kw_only=True)
class Function:
    """compute(x, *parameters) on float64 arrays; tails(*parameters): what it tends to, or is, at both ends.

    `parameters`: names and defaults, in their order. A tail is a hint: the table uses it where it holds.
    """

    compute: Callable[..., Any]
    tails: Callable[..., Tails]
    parameters: tuple[tuple[str, float], ...] = ()

    def filled(self, given: tuple[float, ...]) -> tuple[float, ...]:
        """The parameters, with defaults for those that are not given."""
        return given + tuple(default for _, default in self.parameters[len(given) :])

    def __call__(self, values: Doubles, given: tuple[float, ...] = ()) -> Doubles:
        """f(values): infinite beyond the range of double, NaN where a parameter makes it so."""
        with np.errstate(all="ignore"):
            return np.asarray(self.compute(values, *self.filled(given)), np.float64)

    def tails_of(self, given: tuple[float, ...] = ()) -> Tails:
        return self.tails(*self.filled(given))


def _elu(x: Doubles, alpha: float) -> Doubles:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _celu(x: Doubles, alpha: float) -> Doubles:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha))


def _gelu_tanh(x: Doubles) -> Doubles:
    return np.asarray(0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))


def _softplus(x: Doubles, beta: float, threshold: float) -> Doubles:
    return np.where(beta * x > threshold, x, np.logaddexp(0, beta * x) / beta)


def _hard_sigmoid(x: Doubles, slope: float, offset: float) -> Doubles:
    return np.clip(slope * x + offset, 0, 1)


def _constants(low: float, high: float) -> Tails:
    return Tail(0.0, low), Tail(0.0, high)


HARD = (("slope", 1 / 6), ("offset", 0.5))
"""torch's hard_sigmoid, relu6(x + 3) / 6; that of Keras 2 has (0.2, 0.5), that of QKeras (0.5, 0.5)."""

FUNCTIONS: dict[str, Function] = {
    "sigmoid": Function(compute=lambda x: _special("expit", x), tails=lambda: _constants(0, 1)),
    "tanh": Function(compute=np.tanh, tails=lambda: _constants(-1, 1)),
    "erf": Function(compute=lambda x: _special("erf", x), tails=lambda: _constants(-1, 1)),
    "softsign": Function(compute=lambda x: x / (1 + np.abs(x)), tails=lambda: _constants(-1, 1)),
    "sign": Function(compute=np.sign, tails=lambda: _constants(-1, 1)),
    "bipolar": Function(compute=lambda x: np.where(x >= 0, 1.0, -1.0), tails=lambda: _constants(-1, 1)),
    "exp": Function(compute=np.exp, tails=lambda: (ZERO, None)),
    "abs": Function(compute=np.abs, tails=lambda: (Tail(-1.0), IDENTITY)),
    "elu": Function(
        compute=_elu,
        tails=lambda alpha: (Tail(0.0, -alpha), IDENTITY),
        parameters=(("alpha", 1.0),),
    ),
    "celu": Function(
        compute=_celu,
        tails=lambda alpha: (Tail(0.0, -alpha), IDENTITY),
        parameters=(("alpha", 1.0),),
    ),
    "selu": Function(
        compute=lambda x: SELU_SCALE * _elu(x, SELU_ALPHA),
        tails=lambda: (Tail(0.0, -SELU_SCALE * SELU_ALPHA), Tail(SELU_SCALE)),
    ),
    "silu": Function(
        compute=lambda x, beta: x * _special("expit", beta * x),
        tails=lambda beta: (ZERO, IDENTITY),
        parameters=(("beta", 1.0),),
    ),
    "gelu": Function(compute=lambda x: x * _special("ndtr", x), tails=lambda: (ZERO, IDENTITY)),
    "gelu_tanh": Function(compute=_gelu_tanh, tails=lambda: (ZERO, IDENTITY)),
    "mish": Function(
        compute=lambda x: x * np.tanh(np.logaddexp(0, x)),
        tails=lambda: (ZERO, IDENTITY),
    ),
    "softplus": Function(
        compute=_softplus,
        tails=lambda beta, threshold: (ZERO, IDENTITY),
        parameters=(("beta", 1.0), ("threshold", 20.0)),
    ),
    "log_sigmoid": Function(compute=lambda x: _special("log_expit", x), tails=lambda: (IDENTITY, ZERO)),
    "hard_sigmoid": Function(
        compute=_hard_sigmoid, tails=lambda slope, offset: _constants(0, 1), parameters=HARD
    ),
    "hard_swish": Function(
        compute=lambda x, slope, offset: x * _hard_sigmoid(x, slope, offset),
        tails=lambda slope, offset: (ZERO, IDENTITY),
        parameters=HARD,
    ),
    "tanhshrink": Function(compute=lambda x: x - np.tanh(x), tails=lambda: (Tail(1.0, 1.0), Tail(1.0, -1.0))),
    "softshrink": Function(
        compute=lambda x, limit: np.sign(x) * np.maximum(np.abs(x) - limit, 0),
        tails=lambda limit: (Tail(1.0, limit), Tail(1.0, -limit)),
        parameters=(("limit", 0.5),),
    ),
    "hardshrink": Function(
        compute=lambda x, limit: np.where(np.abs(x) > limit, x, 0.0),
        tails=lambda limit: (IDENTITY, IDENTITY),
        parameters=(("limit", 0.5),),
    ),
    "threshold": Function(
        compute=lambda x, threshold, value: np.where(x > threshold, x, value),
        tails=lambda threshold, value: (Tail(0.0, value), IDENTITY),
        parameters=(("threshold", 0.0), ("value", 0.0)),
    ),
}
"""The functions by name. Those that are limits are clamps; those with a slope on each side of 0 are leaky."""
