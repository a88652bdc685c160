"""What callers of `hlsgen.from_torch` and the others give it, checked: anything may come."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.board import Board
from hlsgen.errors import DesignError, Problem

MOST_BATCH = 1_000_000
CLOCKS_MHZ = (50, 800)
"""As in a design file and a board's."""
LARGEST_NUMBER = 2.0**128
"""Magnitude of an input: no float32 is larger."""


def argument_problems(board: object, clock_mhz: object, batch: object) -> list[Problem]:
    """What is wrong with them; clock_mhz may be None."""
    low, high = CLOCKS_MHZ
    clock = clock_mhz is None or (_is_number(clock_mhz) and low <= float(clock_mhz) <= high)  # type: ignore[arg-type]
    frames = isinstance(batch, int | np.integer) and not isinstance(batch, bool) and 1 <= batch <= MOST_BATCH
    return [
        Problem(message=f"{name} is {value!r:.80}", fix=fix)
        for name, value, fine, fix in (
            ("board", board, isinstance(board, str | Board), "a name such as 'u200', a board file, a Board"),
            ("clock_mhz", clock_mhz, clock, f"a number from {low} to {high}, or None"),
            ("batch", batch, frames, f"a whole number from 1 to {MOST_BATCH:,}"),
        )
        if not fine
    ]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def input_shapes(given: Any) -> list[tuple[int, ...]]:
    """The shape of each input, from one shape or several. Raises DesignError: that is none."""
    try:
        shapes = [given] if not _is_sequence(given) or not all(map(_is_sequence, given)) else list(given)
        found = [tuple(operator.index(size) for size in shape) for shape in shapes]
    except TypeError:
        found = []
    if not found or any(not shape or min(shape) < 1 for shape in found):
        fix = "sizes without the batch, such as (3, 32, 32); of several inputs a list of such"
        raise DesignError(Problem(message=f"input_shape is {given!r:.80}", fix=fix))
    return found


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)


def frames_array(given: Any, name: str) -> NDArray[np.float64]:
    """Frames of the input `name` as float64, from NumPy, PyTorch, lists.

    Raises DesignError: no real numbers, or some beyond LARGEST_NUMBER (NaN may be there).
    """
    try:
        array = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"it holds {array.dtype}")
        values = array.astype(np.float64)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:120]
        message = f"calibration for {name} is no array of real numbers: {reason}"
        raise DesignError(Problem(message=message, fix="a NumPy array of floats, batch first")) from None
    largest = float(np.abs(values).max(initial=0.0))
    if math.isfinite(largest) and largest > LARGEST_NUMBER:
        message = f"calibration for {name} has values up to {largest:.3g}, larger than any float32"
        raise DesignError(Problem(message=message, fix="numbers that a float32 holds"))
    return values
