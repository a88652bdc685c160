"""Functions of one value to the last bit, the same on every machine.

NumPy and SciPy are off by some units in the last place of a double, and not by the same ones on every
processor. They decide where that cannot matter; next to a boundary of rounding mpmath does, with more digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from hlsgen.base.fixed import Codes, FixedType, Rounding
from hlsgen.layers.functions import FUNCTIONS, SELU_ALPHA, SELU_SCALE, Doubles

DOUBLE_ERROR = 2.0**-48
"""What a function in float64 may be off by, times its size: the largest of 1, value and argument."""
MOST_ARGUMENT = 64.0
"""Beyond, functions are flat or lines: no terms cancel, and the argument is no part of their size."""
GRID_BITS = 36
"""Values that pieces are fitted to have no more bits than these below their size."""
PRECISIONS = (160, 640)
"""Bits that are computed with; what then still cannot be told from a boundary is taken for it."""
PRECISION_LOST = 24
"""How many of these bits are lost, by the largest of 1, argument and value."""
FLAT_FROM = 512
"""Arguments from which on a function that tends to a limit is nearer to it than the last precision tells."""
MOST_INT64_BITS = 58
"""Results up to this are computed with in int64, beyond in Python's integers."""
LARGEST_DENOMINATOR = 4096
"""A parameter stands for a fraction up to this if that, as a double, is the number given: 1/6, 0.2."""

Precise = Callable[..., Any]


@dataclass(frozen=True)
class Units:
    """f(scale * x + shift) in multiples of `unit`: what is beside the codes of a quantised model."""

    scale: float = 1.0
    shift: float = 0.0
    unit: float = 1.0

    def argument(self, values: Doubles) -> Doubles:
        """What f is asked for."""
        return values * self.scale + self.shift


PLAIN = Units()


def _celu(x: Any, alpha: Any) -> Any:
    return x if x > 0 else alpha * mpmath.expm1(x / alpha)


def _elu(x: Any, alpha: Any) -> Any:
    return x if x > 0 else alpha * mpmath.expm1(x)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


def _softplus(x: Any) -> Any:
    return mpmath.log1p(mpmath.exp(x)) if x < 0 else x + mpmath.log1p(mpmath.exp(-x))


def _hard_sigmoid(x: Any, slope: Any, offset: Any) -> Any:
    return min(max(slope * x + offset, mpmath.mpf(0)), mpmath.mpf(1))


def _gelu_tanh(x: Any) -> Any:
    cubic = x + mpmath.mpf(44715) / 1000000 * x**3
    return x * _sigmoid(2 * mpmath.sqrt(2 / mpmath.pi) * cubic)


def _beyond(x: Any, limit: Any) -> Any:
    return mpmath.sign(x) * max(abs(x) - limit, mpmath.mpf(0))


PRECISE: Mapping[str, Precise] = {
    "sigmoid": _sigmoid,
    "tanh": mpmath.tanh,
    "erf": mpmath.erf,
    "softsign": lambda x: x / (1 + abs(x)),
    "sign": mpmath.sign,
    "bipolar": lambda x: mpmath.mpf(1 if x >= 0 else -1),
    "exp": mpmath.exp,
    "abs": abs,
    "elu": _elu,
    "celu": _celu,
    "selu": lambda x: (
        mpmath.mpf(SELU_SCALE) * _elu(x, mpmath.mpf(SELU_ALPHA)) if x <= 0 else mpmath.mpf(SELU_SCALE) * x
    ),
    "silu": lambda x, beta: x * _sigmoid(beta * x),
    "gelu": lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "gelu_tanh": _gelu_tanh,
    "mish": lambda x: x * mpmath.tanh(_softplus(x)),
    "softplus": lambda x, beta, threshold: x if beta * x > threshold else _softplus(beta * x) / beta,
    "log_sigmoid": lambda x: -_softplus(-x),
    "hard_sigmoid": _hard_sigmoid,
    "hard_swish": lambda x, slope, offset: x * _hard_sigmoid(x, slope, offset),
    "tanhshrink": lambda x: x - mpmath.tanh(x),
    "softshrink": _beyond,
    "hardshrink": lambda x, limit: x if abs(x) > limit else mpmath.mpf(0),
    "threshold": lambda x, threshold, value: x if x > threshold else value,
}
"""FUNCTIONS in mpmath's numbers, by the same names."""


def rounded_codes(
    name: str,
    given: tuple[float, ...],
    source: FixedType,
    result: FixedType,
    codes: Codes,
    units: Units = PLAIN,
) -> Codes:
    """The codes of `result` of f at the values of codes of `source`, as if f were computed to all its digits.

    In the result's own rounding mode; where f leaves the range of the result, the nearest end of that.
    """
    finer = result.fraction + 1
    x = units.argument(source.decode(codes))
    values = FUNCTIONS[name](x, given)
    with np.errstate(over="ignore"):
        beyond = np.ldexp(values / units.unit, finer)
    scaled = np.clip(beyond, 2.0 * result.lowest_code - 8, 2.0 * result.max_code + 8)
    # rounded to nearest, halves of a code decide; rounded down or towards zero, whole codes
    decides = 0 if result.rounding in (Rounding.TRN, Rounding.TRN_ZERO) else 1
    boundary = np.rint((scaled - decides) / 2) * 2 + decides
    finite = np.isfinite(values)
    error = np.ldexp(_error(x, np.where(finite, values, 0.0), given) / units.unit, finer)
    doubtful = (np.abs(scaled - boundary) <= error) | ~finite
    # codes of so many bits need Python's integers
    floors = [int(value) for value in np.floor(scaled).flat]
    kind = np.int64 if result.width <= MOST_INT64_BITS else object
    exact = np.array([2 * floor + 1 for floor in floors], kind).reshape(scaled.shape)
    for index in np.flatnonzero(doubtful):
        exact.flat[index] = _sticky(name, given, source, int(codes.flat[index]), result, units)
    limited = np.clip(exact, result.lowest_code * 4, result.max_code * 4)
    width = result.width + 4
    return result.cast(limited, FixedType(width, width - finer - 1))


def nearby_values(
    name: str, given: tuple[float, ...], source: FixedType, codes: Codes, fraction: int
) -> Doubles:
    """f of codes, rounded to `fraction` bits or to GRID_BITS: doubles that are the same on any processor."""
    x = source.decode(codes)
    values = FUNCTIONS[name](x, given)
    size = _size(x, values * (1 + 2.0**-20))
    finite = np.isfinite(values)
    exponents = np.frexp(np.where(finite, size, 1.0))[1]
    bits = np.minimum(fraction, GRID_BITS - exponents)
    scaled = np.ldexp(np.where(finite, values, 0.0), bits)
    error = np.ldexp(_error(x, np.where(finite, values, 0.0), given), bits)
    doubtful = np.abs(scaled - np.floor(scaled) - 0.5) <= error
    nearest = np.rint(scaled)
    for index in np.flatnonzero(doubtful & finite):
        least = _floor(name, given, source, int(codes.flat[index]), int(bits.flat[index]) + 1)[0]
        nearest.flat[index] = (least + 1) // 2
    return np.where(finite, np.ldexp(nearest, -bits), values)


def _size(x: Doubles, values: Doubles) -> Doubles:
    return np.asarray(np.maximum(np.clip(np.abs(x), 1.0, MOST_ARGUMENT), np.abs(values)))


def _error(x: Doubles, values: Doubles, given: tuple[float, ...]) -> Doubles:
    """How far float64 may be off."""
    magnitudes = [abs(value) for value in given if value]
    largest = max([1.0, *magnitudes, *(1 / value for value in magnitudes)])
    return np.asarray(_size(x, values) * (largest * DOUBLE_ERROR))


def _sticky(
    name: str, given: tuple[float, ...], source: FixedType, code: int, result: FixedType, units: Units
) -> int:
    """2 * floor(f * 2**(fraction + 1)), and 1 more if that is not f; limited a little beyond the range."""
    low, high = 2 * result.lowest_code - 8, 2 * result.max_code + 8
    floor, exact = _floor(name, given, source, code, result.fraction + 1, low, high, units)
    return 2 * floor + (not exact)


def _floor(
    name: str,
    given: tuple[float, ...],
    source: FixedType,
    code: int,
    fraction: int,
    low: int | None = None,
    high: int | None = None,
    units: Units = PLAIN,
) -> tuple[int, bool]:
    """floor(f * 2**fraction), within `low` and `high`, and whether nothing was rounded."""
    filled = FUNCTIONS[name].filled(given)
    nearest = 0
    for precision in PRECISIONS:
        with mpmath.workprec(precision + abs(fraction)):
            x = mpmath.ldexp(mpmath.mpf(code), -source.fraction) * units.scale + units.shift
            value = PRECISE[name](x, *(_number(one) for one in filled)) / units.unit
            scaled = mpmath.ldexp(value, fraction)
            if low is not None and scaled < low:
                return low, True
            if high is not None and scaled > high:
                return high, True
            nearest = int(mpmath.nint(scaled))
            off = scaled - nearest
            size = max(1, abs(x), abs(value) * units.unit) / units.unit
            if abs(off) > mpmath.ldexp(size, fraction - precision - abs(fraction) + PRECISION_LOST):
                return nearest - (off < 0), False
            if off == 0 and abs(x) >= FLAT_FROM:
                break
    return nearest, True


def _number(parameter: float) -> Any:
    simple = Fraction(parameter).limit_denominator(LARGEST_DENOMINATOR)
    exact = simple if float(simple) == parameter else Fraction(parameter)
    return mpmath.mpf(exact.numerator) / exact.denominator
