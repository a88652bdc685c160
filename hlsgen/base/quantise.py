"""Numbers from outside become codes, and never silently out of range.

Inputs are rounded and limited as their type says, which is what the framework's quantizer does where the type
stands for one. Constants, which come out of a training and not through a conversion, go to the nearest code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.base.fixed import MAX_INTEGER, Codes, FixedType, FloatType, NumberType, Overflow, Rounding
from hlsgen.base.real_numbers import real_array

LARGEST_FLOAT = float(np.finfo(np.float32).max)
PART = 1 << 16
"""Values that are looked at together."""
WRAPPING = (Overflow.WRAP, Overflow.WRAP_SM)


def quantised(
    values: ArrayLike, type_: NumberType, what: str, place: Place | None = None, *, narrow: bool = False
) -> Codes:
    """The codes of inputs, by the type's own rounding and overflow; floating-point values stay values.

    narrow: in as few bytes as the type's codes need.

    Raises DesignError: a value is complex, not finite, or leaves the range of a type that wraps: nobody means
    that.
    """
    if isinstance(values, np.ndarray) and values.dtype in (np.float32, np.float64):
        array = values  # of many weights no copy is made
    else:
        array = real_array(values, what, place)
    if not all(np.isfinite(part).all() for part in _parts(array)):
        raise DesignError(Problem(message=f"{what} holds NaN or infinity", fix="finite numbers", place=place))
    if isinstance(type_, FloatType):
        if array.size and np.abs(array).max() > type_.largest:
            message = f"{what} leaves the range of {type_}; the largest is {np.abs(array).max():g}"
            fix = f"values up to {'65504' if type_.is_half else '3.4e38'}"
            raise DesignError(Problem(message=message, fix=fix, place=place))
        return type_.encode(array)
    outside = _outside(array, type_) if type_.overflow in WRAPPING else 0
    if outside:
        raise DesignError(_range_problem(array.astype(np.float64), type_, what, outside, place))
    return type_.encode(array, narrow=narrow)


def nearest(
    values: ArrayLike, type_: NumberType, what: str, place: Place | None = None, *, narrow: bool = False
) -> Codes:
    """The codes of constants: to the nearest, halves up, unless the type names another rounding than trn.

    narrow: as of `quantised`. Raises DesignError: as `quantised`.
    """
    if isinstance(type_, FixedType) and type_.rounding is Rounding.TRN:
        type_ = replace(type_, rounding=Rounding.RND)
    return quantised(values, type_, what, place, narrow=narrow)


def _outside(array: Codes, type_: FixedType) -> int:
    """How many values do not fit the type once rounded."""
    # of a quarter of a value, two fraction bits more make the same code
    wider = FixedType(type_.width + 2, type_.integer, True, type_.rounding, Overflow.SAT)
    found = 0
    for part in _parts(array):
        rounded = wider.encode(part.astype(np.float64, copy=False) / 4)
        found += int(np.count_nonzero((rounded < type_.min_code) | (rounded > type_.max_code)))
    return found


def _parts(array: Codes) -> Iterator[Codes]:
    """All values in parts that caches hold: of a hundred million weights no other array is as large."""
    flat = array.reshape(-1)
    return (flat[first : first + PART] for first in range(0, flat.size, PART))


def _range_problem(array: Codes, type_: FixedType, what: str, outside: int, place: Place | None) -> Problem:
    low, high = type_.min_code * type_.resolution, type_.max_code * type_.resolution
    farthest = float(array.flat[np.maximum(low - array, array - high).argmax()])
    plain = FixedType(type_.width, type_.integer, type_.signed)
    saturating = replace(plain, rounding=Rounding.RND, overflow=Overflow.SAT)
    return Problem(
        message=f"{what}: {outside} of {array.size} values leave the range of {plain}, {low:g} to {high:g}; "
        f"the farthest is {farthest:g}",
        fix=f"{_wider(array, type_)}{saturating} clips them on purpose",
        place=place,
    )


def _wider(array: Codes, type_: FixedType) -> str:
    """The type of the same width with the fewest integer bits that holds every value."""
    signed = type_.signed or bool(array.min() < 0)
    for integer in range(type_.integer, MAX_INTEGER + 1):
        if not _outside(array, FixedType(type_.width, integer, signed, type_.rounding)):
            name = "fixed" if signed else "ufixed"
            return f"{integer} integer bits hold them all ({name}<{type_.width},{integer}>); "
    return ""
