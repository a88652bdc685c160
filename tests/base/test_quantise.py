"""Inputs become codes by their type's modes, constants by the nearest; held against exact fractions."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.base.quantise import nearest, quantised
from hlsgen.model.ir import Port, Tensor
from hlsgen.model.ports import port_codes, stand_in_codes, tensor_codes
from tests.support.input_values import awkward

SATURATING = (Overflow.SAT, Overflow.SAT_SYM, Overflow.SAT_ZERO)
TYPES = st.builds(
    FixedType,
    st.integers(2, 12),
    st.integers(-2, 8),
    st.booleans(),
    st.sampled_from(Rounding),
    st.sampled_from([*SATURATING, Overflow.WRAP]),
)


def integer_of(value: float, type_: FixedType) -> int:
    """The integer to which a value in steps of the type is rounded, by the definition of its mode."""
    steps = Fraction(value) * Fraction(2) ** type_.fraction
    floor, ceil = math.floor(steps), math.ceil(steps)
    half = steps - floor == Fraction(1, 2)
    match type_.rounding:
        case Rounding.TRN:
            return floor
        case Rounding.TRN_ZERO:
            return floor if steps > 0 else ceil
        case Rounding.RND_CONV:
            return round(steps)
        case _ if not half:
            return round(steps)
        case Rounding.RND:
            return ceil
        case Rounding.RND_MIN_INF:
            return floor
        case Rounding.RND_INF:
            return ceil if steps > 0 else floor
        case _:
            return floor if steps > 0 else ceil


def limited(integer: int, type_: FixedType) -> int:
    """The code that saturation makes of it."""
    low = -type_.max_code if type_.overflow is Overflow.SAT_SYM and type_.signed else type_.min_code
    if type_.overflow is Overflow.SAT_ZERO and not low <= integer <= type_.max_code:
        return 0
    return min(max(integer, low), type_.max_code)


@settings(max_examples=60, deadline=None)
@given(type_=TYPES, seed=st.integers(0, 9))
def test_inputs_by_the_modes_of_their_type(type_: FixedType, seed: int) -> None:
    values = awkward(type_.resolution, type_.min_code, type_.max_code, seed=seed)
    integers = [integer_of(float(value), type_) for value in values]
    outside = sum(not type_.min_code <= integer <= type_.max_code for integer in integers)
    if type_.overflow is Overflow.WRAP:
        with pytest.raises(DesignError, match=f"x: {outside} of {values.size} values leave the range"):
            quantised(values, type_, "x")
        inside = [type_.min_code <= integer <= type_.max_code for integer in integers]
        values, integers = values[inside], [one for one, fits in zip(integers, inside, strict=True) if fits]
    wanted = [limited(integer, type_) for integer in integers]
    np.testing.assert_array_equal(quantised(values, type_, "x"), wanted)


@settings(max_examples=30, deadline=None)
@given(type_=TYPES, seed=st.integers(0, 9))
def test_constants_to_the_nearest_unless_their_type_names_a_rounding(type_: FixedType, seed: int) -> None:
    values = np.random.default_rng(seed).integers(4 * type_.min_code, 4 * type_.max_code, 99)
    values = values * type_.resolution / 4
    used = replace(type_, rounding=Rounding.RND) if type_.rounding is Rounding.TRN else type_
    wanted = [limited(integer_of(float(value), used), type_) for value in values]
    if type_.overflow is Overflow.WRAP:
        wanted = [min(code, type_.max_code) for code in wanted]
        values = np.minimum(values, type_.max_code * type_.resolution)
    np.testing.assert_array_equal(nearest(values, type_, "x"), wanted)


def test_the_whole_range_of_integer_bits() -> None:
    """No type that a design may name ends in a traceback."""
    for type_ in (FixedType(64, 512), FixedType(64, -512), FixedType(64, 64, False), FixedType(1, 1)):
        assert quantised([0.0], type_, "x").tolist() == [0]
        with pytest.raises(DesignError, match="leave the range"):
            quantised([1e300], type_, "x")


def port(type_: FixedType, **more: object) -> Port:
    tensor = Tensor(shape=(1, 1, 3), type=type_)
    return Port(name="x", source="x", tensor=tensor, shape=(3,), **more)  # type: ignore[arg-type]


def test_the_framework_rounds_to_float32_before_its_quantizer() -> None:
    type_ = FixedType(8, 8, True, Rounding.RND_CONV, Overflow.SAT)
    beyond_a_tie = [[2.5 + 1e-9, -2.5 - 1e-9, 1e300]]
    assert port_codes(port(type_), beyond_a_tie, "x").tolist() == [[[[3, -3, 127]]]]
    assert port_codes(port(type_, in_float32=True), beyond_a_tie, "x").tolist() == [[[[2, -2, 127]]]]
    scale = float(np.float32(0.1))
    # 0.25 / scale is 2.49999996 in real numbers, 2.5 in float32
    assert port_codes(port(type_, scale=scale), [[0.25, 0.35, 0.1]], "x")[0, 0, 0, 0] == 2
    quotients = np.float32([0.25, 0.35, 0.15]) / np.float32(0.1)
    codes = port_codes(port(type_, scale=scale, in_float32=True), [[0.25, 0.35, 0.15]], "x")
    assert codes.reshape(-1).tolist() == np.rint(quotients).tolist()


def test_what_stands_in_for_a_users_values_is_clipped() -> None:
    values = np.array([[[[-0.5, 0.25, 0.999]]]])
    assert stand_in_codes(port(FixedType(2, 0, False)), values).tolist() == [[[[0, 1, 3]]]]
    with pytest.raises(DesignError, match="1 of 3 values leave the range"):
        tensor_codes(port(FixedType(2, 0, False)), values, "x")
