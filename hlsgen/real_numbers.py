"""Arrays of real numbers: NumPy drops the imaginary part of others with no more than a warning."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hlsgen.errors import DesignError, Place, Problem

REAL_PART = "real numbers; its real part alone if that is what is meant"


def real_array(values: ArrayLike, what: str, place: Place | None = None) -> NDArray[np.float64]:
    """`values` as float64. Raises DesignError: they are complex; TypeError, ValueError: no numbers."""
    array = np.asarray(values)
    if np.iscomplexobj(array):
        message = f"{what} holds {array.dtype}, not real numbers"
        raise DesignError(Problem(message=message, fix=REAL_PART, place=place))
    return np.asarray(array, np.float64)
