"""QKeras' quantizers to powers of two as step functions: where their results change.

quantized_po2 and quantized_relu_po2 give 2**e with e = round(log(x) / log(2)), within limits; zero and all
below Keras' epsilon become the least power. e changes at sqrt(2) * 2**e; at 2**e with log2_rounding="floor",
at odd powers of two with quadratic_approximation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.coded import Doubles, narrowest
from hlsgen.base.fixed import MAX_TENSOR_WIDTH, FixedType
from hlsgen.frontends.qkeras.quantizers import UnsupportedQuantizerError, called
from hlsgen.layers.steps import reached

Keys = NDArray[np.int64]
Function = Callable[[Keys], Doubles]

MAGNITUDE = 0x7FFFFFFF
"""The bits of a float32 but its sign: as integers they are in the order of the magnitudes."""
SAMPLED = 1 << 18
"""Every so many float32 numbers, 32 times from a power of two to the next, the quantizer is asked first."""


class StepFunction(NamedTuple):
    """values[i], where i of the ascending thresholds are not above x; a fixed-point type of these values."""

    thresholds: tuple[float, ...]
    values: tuple[float, ...]
    type: FixedType


def step_function(quantizer: Any, source: FixedType) -> StepFunction:
    """What a quantizer to powers of two does to values of `source`.

    Raises UnsupportedQuantizerError: no type of up to 64 bits holds its results, QKeras cannot compute them.
    """
    most = float(np.finfo(np.float32).max)
    ends = [min(max(code * source.resolution, -most), most) for code in (source.min_code, source.max_code)]

    def results(keys: Keys) -> Doubles:
        return called(quantizer, _floats(keys), "an activation")

    first, last = _keys(np.array(ends, np.float32)).tolist()
    found = np.sort(_changes(results, first, last))
    thresholds = tuple(_floats(found).astype(np.float64).tolist())
    values = tuple(results(np.concatenate([[first], found])).tolist())
    if not np.isfinite(values).all():
        name = type(quantizer).__name__
        raise UnsupportedQuantizerError(f"{name} has infinite results for {source}", "fewer bits")
    return StepFunction(thresholds, values, _result_type(quantizer, source, thresholds, values))


def _result_type(
    quantizer: Any, source: FixedType, thresholds: tuple[float, ...], values: tuple[float, ...]
) -> FixedType:
    results = [value for _, value in reached(source, thresholds, values)]
    try:
        type_ = narrowest(results)
    except ValueError:
        type_ = None
    if type_ is not None and type_.width <= MAX_TENSOR_WIDTH:
        return type_
    sizes = [abs(value) for value in results if value]
    low, high = (int(np.frexp(size)[1]) - 1 for size in (min(sizes), max(sizes)))
    message = (
        f"{type(quantizer).__name__} of {quantizer.bits} bits gives powers from 2**{low} to 2**{high}, "
        f"more than a type of {MAX_TENSOR_WIDTH} bits holds"
    )
    raise UnsupportedQuantizerError(message, f"fewer bits{_limit(quantizer, low, min(results) < 0)}")


def _limit(quantizer: Any, low: int, signed: bool) -> str:
    """The largest power of two up to which a type holds what begins at 2**low, as a remedy; or nothing."""
    if quantizer.max_value is not None and quantizer.max_value <= 1:
        return ", or a max_value above 1: then exponents begin half as low"
    # an even exponent: quadratic_approximation gives no other
    highest = (low + MAX_TENSOR_WIDTH - 1 - signed) // 2 * 2
    return f", or a max_value up to {2.0**highest:g}" if highest > 0 else ""


def _keys(floats: NDArray[np.float32]) -> Keys:
    """float32 numbers as integers in the same order; neighbours differ by 1."""
    bits = floats.view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & MAGNITUDE), bits)


def _floats(keys: Keys) -> NDArray[np.float32]:
    """The float32 numbers that have these keys."""
    magnitudes: NDArray[np.float32] = np.abs(keys).astype(np.int32).view(np.float32)
    return np.where(keys < 0, -magnitudes, magnitudes)


def _changes(results: Function, first: int, last: int) -> Keys:
    """Each key from `first` + 1 to `last` whose result is not that of the key before.

    Of keys SAMPLED apart that have equal results it takes all between them to have the same one.
    """
    samples = np.arange(-(-first // SAMPLED), last // SAMPLED + 1, dtype=np.int64) * SAMPLED
    keys = np.unique(np.concatenate([[first], samples, [last]]))
    found: list[Keys] = []
    left, right = keys[:-1], keys[1:]
    while left.size:
        differ = results(left) != results(right)
        right = right[differ]
        left = _first_change(results, left[differ], right)
        found.append(left)
    return np.concatenate([np.zeros(0, np.int64), *found])


def _first_change(results: Function, left: Keys, right: Keys) -> Keys:
    """A key, up to `right`, that ends the result of `left`, for each pair of keys with different results."""
    wanted = results(left)
    while np.any(right - left > 1):
        middle = (left + right) // 2
        same = results(middle) == wanted
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return right
