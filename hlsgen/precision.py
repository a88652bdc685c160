"""What number types a network's tensors get: fixed by the user, or chosen from calibration data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hlsgen.errors import DesignError, Problem
from hlsgen.fixed import FixedType, Overflow, Rounding, parse_type

Floats = NDArray[np.float64]

AUTO_WIDTHS = (4, 5, 6, 7, 8, 9, 10, 12, 14, 16)
"""Bits that `auto` chooses from."""
TARGET_DB = 40.0
"""Signal to noise that `auto` asks of each tensor: 8 bits give normal values about 40 dB."""
MOST_TARGET_DB = 120.0
OUTPUT_DB = 20.0
"""Signal to noise that `auto` asks of the outputs: noise of a tenth of their size."""
MOST_SAMPLES = 1 << 13
"""Values of a tensor that a type is chosen from."""
SPREAD = 12
"""Ranges that are tried, each half of the one before."""


@dataclass(frozen=True, kw_only=True)
class LayerPrecision:
    """Types of one layer; None: as for all."""

    weights: FixedType | None = None
    bias: FixedType | None = None
    output: FixedType | None = None


@dataclass(frozen=True, kw_only=True)
class Precision:
    """`default`: the type of activations, or auto. Weights are as wide, with the integer bits they need.

    accumulator: exact (no overflow whatever the weights of this width), tight (none for these weights), or
    a type that sums are narrowed to; None: exact where the design wishes weights at run time, else tight.
    target_db: signal to noise that auto asks of each tensor; more if the outputs would not have output_db.
    """

    default: FixedType | Literal["auto"] = "auto"
    weights: FixedType | None = None
    input: FixedType | None = None
    accumulator: Literal["exact", "tight"] | FixedType | None = None
    target_db: float = TARGET_DB
    output_db: float = OUTPUT_DB
    layers: Mapping[str, LayerPrecision] = field(default_factory=dict)

    def of(self, layer: str) -> LayerPrecision:
        return self.layers.get(layer, LayerPrecision())


def precision_of(given: str | FixedType | Precision | Mapping[str, object] | None) -> Precision:
    """What users write as `precision=`: "auto", a type, a Precision, or a mapping by layer name.

    A mapping's key "default" is the type for all; any other key is a layer, its value a type (the output's)
    or a mapping of weights, bias and output. Raises DesignError: something else, float32.
    """
    if isinstance(given, Precision):
        return given
    if given is None or isinstance(given, str | FixedType):
        return Precision(default=_default(given))
    if not isinstance(given, Mapping):
        raise DesignError(_wrong("precision", given))
    layers = {
        name: _layer(name, value)
        for name, value in given.items()
        if name not in ("default", "weights", "input")
    }
    weights, source = (given.get(key) for key in ("weights", "input"))
    return Precision(
        default=_default(given.get("default")),
        weights=None if weights is None else _type("precision: weights", weights),
        input=None if source is None else _type("precision: input", source),
        layers=layers,
    )


def input_type_of(given: str | FixedType | Precision | Mapping[str, object] | None) -> FixedType | None:
    """What `precision=` may say of a network that brings its own types: {"input": type}. None: nothing.

    Raises DesignError: it says more than that, or no type.
    """
    if given is None:
        return None
    asked = precision_of(given)
    if asked.input is None or asked != Precision(input=asked.input):
        message = "the network brings its own number types, so that precision= can only say its inputs'"
        raise DesignError(Problem(message=message, fix='leave precision out, or {"input": "ufixed<8,0>"}'))
    return asked.input


def _default(given: object) -> FixedType | Literal["auto"]:
    return "auto" if given in (None, "auto") else _type("precision", given)


def _layer(name: str, given: object) -> LayerPrecision:
    if not isinstance(given, Mapping):
        return LayerPrecision(output=_type(f"precision: {name}", given))
    unknown = sorted(set(given) - {"weights", "bias", "output"})
    if unknown:
        message = f"precision: {name}: {', '.join(map(str, unknown))} is none of weights, bias, output"
        raise DesignError(Problem(message=message, fix="one of these three"))
    return LayerPrecision(**{key: _type(f"precision: {name}: {key}", value) for key, value in given.items()})


def _type(what: str, given: object) -> FixedType:
    if isinstance(given, FixedType):
        return given
    if not isinstance(given, str):
        raise DesignError(_wrong(what, given))
    try:
        type_ = parse_type(given)
    except ValueError as error:
        raise DesignError(Problem(message=f"{what}: {error}", fix='a type such as "fixed<16,6>"')) from None
    if not isinstance(type_, FixedType):
        message = f"{what}: a streaming kernel computes in fixed point, not in {type_}"
        raise DesignError(Problem(message=message, fix='"auto", or a type such as "fixed<16,6>"'))
    return type_


def _wrong(what: str, given: object) -> Problem:
    message = f"{what} is {type(given).__name__}, not a type"
    return Problem(message=message, fix='"auto", a type such as "fixed<16,6>", or a mapping by layer name')


def saturating(type_: FixedType) -> FixedType:
    """The type with rounding to the nearest and saturation, unless it names other modes itself."""
    if (type_.rounding, type_.overflow) != (Rounding.TRN, Overflow.WRAP):
        return type_
    return replace(type_, rounding=Rounding.RND, overflow=Overflow.SAT)


def to_nearest(type_: FixedType) -> FixedType:
    """The type of a network's input: to the nearest, unless it names other modes itself. It wraps as it did,
    so that a value beyond it is an error rather than clipped.
    """
    if (type_.rounding, type_.overflow) != (Rounding.TRN, Overflow.WRAP):
        return type_
    return replace(type_, rounding=Rounding.RND)


def fitted(values: Floats, width: int, *, signed: bool) -> tuple[FixedType, float]:
    """The type of `width` bits whose range gives `values` the least mean square error, and that error."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return FixedType(width, 1, signed, Rounding.RND, Overflow.SAT), 0.0
    widest = int(np.ceil(np.log2(largest))) + signed + 1
    # clipping rare outliers can pay, and the error has several minima where it does: every range is tried
    errors = {
        integer: _error(values, width, integer, signed) for integer in range(widest, widest - SPREAD, -1)
    }
    integer = min(errors, key=lambda one: errors[one])
    return FixedType(width, integer, signed, Rounding.RND, Overflow.SAT), errors[integer]


def _error(values: Floats, width: int, integer: int, signed: bool) -> float:
    """Mean square error of `values` rounded to the nearest and saturated."""
    scale = 2.0 ** (width - integer)
    low, high = (-(2.0 ** (width - 1)), 2.0 ** (width - 1) - 1) if signed else (0.0, 2.0**width - 1)
    codes = np.clip(np.rint(values * scale), low, high)
    return float(np.mean((codes / scale - values) ** 2))


def chosen(values: Floats, target_db: float, widths: tuple[int, ...] = AUTO_WIDTHS) -> FixedType:
    """The narrowest type that represents `values` with `target_db` of signal to noise, else the widest."""
    signed = bool(values.min(initial=0.0) < 0)
    power = float(np.mean(values**2)) if values.size else 0.0
    for width in widths:
        type_, error = fitted(values, width, signed=signed)
        if power == 0.0 or error <= power * 10 ** (-target_db / 10):
            return type_
    return type_


def whole_range(values: Floats, width: int) -> FixedType:
    """Signed, `width` bits, with the fewest integer bits that hold every value."""
    largest = float(np.abs(values).max(initial=0.0))
    integer = 1 - width if largest == 0.0 else int(np.floor(np.log2(largest))) + 1
    for bits in (integer, integer + 1, integer + 2):
        type_ = FixedType(width, bits, True, Rounding.RND, Overflow.SAT)
        half = type_.resolution / 2
        if not values.size or (
            values.max() < type_.max_code * type_.resolution + half
            and values.min() >= type_.min_code * type_.resolution - half
        ):
            return type_
    return type_
