"""Numbers at the border of CPU and FPGA: floating point into codes of a type, and back; what it takes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes, FixedType, NumberType

VALUES = 1 << 16
"""That are converted at once where it is measured: a tensor of a usual size."""
RUNS = 7


def into_codes(values: NDArray[Any], type_: NumberType) -> Codes:
    """Codes of values, those beyond the type's range at its ends, whatever the type does by itself; values in
    float32 of a type in floating point.
    """
    if not isinstance(type_, FixedType):
        return np.asarray(values, np.float32)
    ends = (type_.min_code * type_.resolution, type_.max_code * type_.resolution)
    return type_.encode(np.clip(np.asarray(values, np.float64), *ends))


def measured_conversions(types: Iterable[FixedType]) -> tuple[float, float]:
    """Seconds of a value into its code, and of a code into its value, of the slowest of these types: medians
    of this machine, one thread; (0, 0): there are no types.
    """
    into = out = 0.0
    for type_ in set(types):
        ends = (type_.min_code * type_.resolution, type_.max_code * type_.resolution)
        values = np.random.default_rng(1).uniform(*ends, VALUES).astype(np.float32)
        codes = into_codes(values, type_)
        into = max(into, _seconds(into_codes, values, type_) / VALUES)
        out = max(out, _seconds(type_.decode, codes) / VALUES)
    return into, out


def _seconds(function: Callable[..., Any], *given: Any) -> float:
    """The median of calls, the first of which does not count."""
    function(*given)
    taken = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        function(*given)
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)
