"""Numbers from outside become codes: to the nearest, and never silently out of range."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.errors import DesignError, Place, Problem
from hlsgen.fixed import MAX_INTEGER, FixedType, FloatType, NumberType, Overflow, Rounding
from hlsgen.layers.base import Codes
from hlsgen.real_numbers import real_array

LARGEST_FLOAT = float(np.finfo(np.float32).max)
SATURATING = (Overflow.SAT, Overflow.SAT_SYM)


def quantised(values: ArrayLike, type_: NumberType, what: str, place: Place | None = None) -> Codes:
    """The codes of `values`: rounded to the nearest, halves up; float32 values stay values.

    Raises DesignError: a value is complex, not finite, or leaves the range of a type that does not saturate.
    """
    array = real_array(values, what, place)
    if array.size and not np.isfinite(array).all():
        raise DesignError(Problem(message=f"{what} holds NaN or infinity", fix="finite numbers", place=place))
    if isinstance(type_, FloatType):
        if array.size and np.abs(array).max() > LARGEST_FLOAT:
            message = f"{what} leaves the range of {type_}; the largest is {np.abs(array).max():g}"
            raise DesignError(Problem(message=message, fix="values up to 3.4e38", place=place))
        return type_.encode(array)
    nearest = FixedType(type_.width, type_.integer, type_.signed, Rounding.RND, Overflow.SAT)
    outside = _outside(array, nearest)
    if outside and type_.overflow not in SATURATING:
        raise DesignError(_range_problem(array, type_, what, outside, place))
    return nearest.encode(array)


def _outside(array: Codes, type_: FixedType) -> int:
    half = type_.resolution / 2
    low = type_.min_code * type_.resolution - half
    high = type_.max_code * type_.resolution + half
    return int(np.count_nonzero((array < low) | (array >= high)))


def _range_problem(array: Codes, type_: FixedType, what: str, outside: int, place: Place | None) -> Problem:
    low, high = type_.min_code * type_.resolution, type_.max_code * type_.resolution
    worst = float(array.flat[np.abs(array).argmax()])
    saturating = FixedType(type_.width, type_.integer, type_.signed, Rounding.RND, Overflow.SAT)
    return Problem(
        message=f"{what}: {outside} of {array.size} values leave the range of {type_}, {low:g} to {high:g}; "
        f"the largest is {worst:g}",
        fix=f"{_wider(array, type_)}{saturating} clips them on purpose",
        place=place,
    )


def _wider(array: Codes, type_: FixedType) -> str:
    """The type of the same width with the fewest integer bits that holds every value."""
    signed = type_.signed or bool(array.min() < 0)
    for integer in range(type_.integer, MAX_INTEGER + 1):
        if not _outside(array, FixedType(type_.width, integer, signed)):
            name = "fixed" if signed else "ufixed"
            return f"{integer} integer bits hold them all ({name}<{type_.width},{integer}>); "
    return ""
