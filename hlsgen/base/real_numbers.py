"""Real numbers, and arrays of them: NumPy drops the imaginary part of others with no more than a warning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Place, Problem

REAL_PART = "real numbers; its real part alone if that is what is meant"


def real_array(values: Any, what: str, place: Place | None = None) -> NDArray[np.float64]:
    """`values`, of NumPy, PyTorch or lists, as float64.

    Raises DesignError: they are complex. TypeError, ValueError: they are no numbers.
    """
    try:
        array = np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)
    except (RuntimeError, OverflowError) as error:
        raise ValueError(str(error)) from error
    if np.iscomplexobj(array):
        message = f"{what} holds {array.dtype}, not real numbers"
        raise DesignError(Problem(message=message, fix=REAL_PART, place=place))
    if array.dtype.kind not in "biufO":
        raise TypeError(f"it holds {array.dtype}")
    try:
        return array.astype(np.float64)
    except OverflowError as error:
        raise ValueError(str(error)) from error


def is_number(value: object) -> bool:
    """Whether it is a real number of Python's or NumPy's, NaN and infinity too; True and False are none."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
