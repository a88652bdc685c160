"""What callers of `hlsgen.from_torch` and the others give it, checked: anything may come."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.real_numbers import is_number, real_array
from hlsgen.designfile.clock import CLOCKS_MHZ, UNCERTAINTIES
from hlsgen.designfile.margins import MOST_MARGIN, is_margin
from hlsgen.targets.board import Board

MOST_BATCH = 1_000_000
LARGEST_NUMBER = 2.0**128
"""Magnitude of an input: no float32 is larger."""
SMALLEST_NUMBER = 2.0**-400
"""A magnitude: no type has digits for a tensor whose values are all smaller."""


def argument_problems(
    board: object, clock_mhz: object, batch: object, uncertainty: object, margin: object
) -> list[Problem]:
    """What is wrong with them; clock_mhz and margin may be None."""
    clock = clock_mhz is None or _within(CLOCKS_MHZ, clock_mhz)
    frames = isinstance(batch, int | np.integer) and not isinstance(batch, bool) and 1 <= batch <= MOST_BATCH
    return [
        Problem(message=f"{name} is {value!r:.80}", fix=fix)
        for name, value, fine, fix in (
            ("board", board, isinstance(board, str | Board), "a name such as 'u200', a board file, a Board"),
            ("clock_mhz", clock_mhz, clock, "a number from {:g} to {:g}, or None".format(*CLOCKS_MHZ)),
            (
                "uncertainty",
                uncertainty,
                _within(UNCERTAINTIES, uncertainty),
                "a share of the clock's period from {:g} to {:g}; 0.27 is 27 %".format(*UNCERTAINTIES),
            ),
            (
                "margin",
                margin,
                margin is None or is_margin(margin),
                f"auto, or a share from 0 to {MOST_MARGIN:g} such as 0.2; None: the board's",
            ),
            ("batch", batch, frames, f"a whole number from 1 to {MOST_BATCH:,}"),
        )
        if not fine
    ]


def _within(limits: tuple[float, float], value: object) -> bool:
    low, high = limits
    return is_number(value) and low <= float(value) <= high  # type: ignore[arg-type]


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
        values = real_array(given, f"calibration for {name}")
    except (TypeError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:120]
        message = f"calibration for {name} is no array of real numbers: {reason}"
        raise DesignError(Problem(message=message, fix="a NumPy array of floats, batch first")) from None
    largest = float(np.abs(values).max(initial=0.0))
    if math.isfinite(largest) and largest > LARGEST_NUMBER:
        message = f"calibration for {name} has values up to {largest:.3g}, larger than any float32"
        raise DesignError(Problem(message=message, fix="numbers that a float32 holds"))
    return values


def range_problems(samples: Mapping[str, NDArray[np.float64]]) -> list[Problem]:
    """Tensors whose values on the calibration frames no number type holds; `samples`: values by tensor."""
    problems = []
    for name, values in samples.items():
        largest = float(np.abs(values).max(initial=0.0))
        if largest and not SMALLEST_NUMBER <= largest <= LARGEST_NUMBER:
            message = f"{name}: on the calibration frames its values reach {largest:.3g}, which no type holds"
            fix = (
                "frames such as the model was trained on, or weights that keep values in the range of float32"
            )
            problems.append(Problem(message=message, fix=fix))
    return problems
