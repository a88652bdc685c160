"""What number types a network's tensors get: fixed by the user, or chosen from calibration data.

How users write it is hlsgen/designfile/precision_grammar.py.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import MAX_TENSOR_WIDTH, FixedType, FloatType, Overflow, Rounding
from hlsgen.base.floating import HALF

Floats = NDArray[np.float64]

AUTO_WIDTHS = (4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 22, 24)
"""Bits that `auto` chooses from."""
START_DB = 40.0
"""Signal to noise of each tensor that the search begins at: 8 bits give normal values about 40 dB."""
LEAST_TARGET_DB = 6.0
MOST_TARGET_DB = 120.0
OUTPUT_DB = 30.0
"""Signal to noise that `auto` asks of the outputs: noise of a thirtieth of their size."""
AGREEMENT = 0.99
"""Share of frames whose largest score `auto` wishes to be the same one as in floating point."""
HEADROOM = 2.0
"""Range of a tensor beside the largest value that the frames showed, at the least: a bit to spare."""
MOST_HEADROOM = 16.0
MOST_SAMPLES = 1 << 13
"""Values of a tensor that a type is chosen from."""
SPREAD = 12
"""Ranges that are tried, each half of the one before."""


@dataclass(frozen=True)
class Bits:
    """A type of so many bits, of whichever range and sign fit a tensor's values best.

    Those of an activation come from calibration frames, those of weights, always signed, from themselves.
    Raises ValueError: fewer than 1 bit, more than 64.
    """

    width: int

    def __post_init__(self) -> None:
        if not 1 <= self.width <= MAX_TENSOR_WIDTH:
            raise ValueError(f"{self.width} bits: a tensor has 1 to {MAX_TENSOR_WIDTH}")

    def __str__(self) -> str:
        return f"int{self.width}"


@dataclass(frozen=True, kw_only=True)
class LayerPrecision:
    """Types of one layer; None: as for all.

    output: half also says what it computes in. input: of a layer in fixed point, the type that a tensor in
    half which it reads becomes.
    """

    weights: FixedType | Bits | None = None
    bias: FixedType | None = None
    output: FixedType | FloatType | Bits | None = None
    input: FixedType | Bits | None = None


@dataclass(frozen=True, kw_only=True)
class Precision:
    """`default`: the type of activations, their width, or auto; float32: that of weights and sums
    too. Weights are as wide, with the integer bits they need.

    output: the type of the network's outputs, unless their layers have one in `layers`.
    accumulator: exact (no overflow whatever the weights of this width), tight (none for these weights), or a
    type that sums are narrowed to; with half, half or float32; None: exact where the design wishes weights at
    run time, else tight. What auto is to reach: output_db and agreement (0: whatever comes) are asked of the
    outputs, on frames that did not choose the ranges; target_db of every tensor (None: what the outputs
    need); a tensor's type holds headroom x the range that the frames showed (1: no more than that; None: by
    how much these differ). balance: channels are scaled by powers of two where that brings the outputs nearer
    (quantising/balance_channels.py); types that are named are those of the scaled tensors then. Half and
    fixed point may stand side by side: see `mixes_half`.
    """

    default: FixedType | FloatType | Bits | Literal["auto"] = "auto"
    weights: FixedType | Bits | None = None
    input: FixedType | FloatType | Bits | None = None
    output: FixedType | Bits | None = None
    accumulator: Literal["exact", "tight"] | FixedType | FloatType | None = None
    target_db: float | None = None
    output_db: float = OUTPUT_DB
    agreement: float = AGREEMENT
    headroom: float | None = None
    balance: bool = False
    layers: Mapping[str, LayerPrecision] = field(default_factory=dict)

    def of(self, layer: str) -> LayerPrecision:
        return self.layers.get(layer, LayerPrecision())

    @property
    def by_frames(self) -> bool:
        """Whether calibration frames choose the type of an activation: auto, or a width."""
        layers = self.layers.values()
        some = (
            self.default,
            self.input,
            self.output,
            *(one.output for one in layers),
            *(one.input for one in layers),
        )
        return self.default == "auto" or any(isinstance(one, Bits) for one in some)

    @property
    def mixes_half(self) -> bool:
        """Whether some of the network is in half and some, as far as this says, in fixed point."""
        asked = [self.input, *(one.output for one in self.layers.values())]
        asked += [one.input for one in self.layers.values()]
        if self.default == HALF:
            return any(isinstance(one, FixedType | Bits) for one in asked)
        return not isinstance(self.default, FloatType) and HALF in asked


def binade(value: float) -> int:
    """The power of two that a number above 0 is at or next above: of 4 and 7.9 it is 2, on every machine."""
    return math.frexp(value)[1] - 1


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


def fitted(
    values: Floats, width: int, *, signed: bool, beyond: Floats | None = None
) -> tuple[FixedType, float]:
    """The type of `width` bits whose range gives `beyond` the least mean square error, and that of `values`.

    beyond: None: `values` themselves.
    """
    held = values if beyond is None else beyond
    largest = float(np.abs(held).max(initial=0.0))
    if largest == 0.0:
        return FixedType(width, 1, signed, Rounding.RND, Overflow.SAT), 0.0
    mantissa, exponent = math.frexp(largest)
    widest = exponent - (mantissa == 0.5) + signed + 1
    # clipping rare outliers can pay, and the error has several minima where it does: every range is tried
    best, least = widest, math.inf
    for integer in range(widest, widest - SPREAD, -1):
        error, clipped = _error(held, width, integer, signed)
        if error < least:
            best, least = integer, error
        elif clipped > least:
            break  # a smaller range clips still more
    error = least if beyond is None else _error(values, width, best, signed)[0]
    return FixedType(width, best, signed, Rounding.RND, Overflow.SAT), error


def _error(values: Floats, width: int, integer: int, signed: bool) -> tuple[float, float]:
    """Mean square error of `values` rounded to the nearest and saturated, and saturation's part of it."""
    scale = 2.0 ** (width - integer)
    low, high = (-(2.0 ** (width - 1)), 2.0 ** (width - 1) - 1) if signed else (0.0, 2.0**width - 1)
    exact = values * scale
    codes = np.rint(exact)
    limited = np.clip(codes, low, high)
    squares = (limited - exact) ** 2 / scale**2
    return float(np.mean(squares)), float(np.sum(squares[limited != codes]) / squares.size)


@dataclass(frozen=True, kw_only=True, eq=False)
class Fits:
    """The types that fit `values` best, of each width one, each looked for once.

    beyond: values that the ranges shall fit instead, such as larger ones than were seen.
    """

    values: Floats
    signed: bool
    beyond: Floats | None = None
    _known: dict[int, tuple[FixedType, float]] = field(default_factory=dict, repr=False)

    @cached_property
    def _power(self) -> float:
        return float(np.mean(self.values**2)) if self.values.size else 0.0

    def of(self, target_db: float) -> FixedType:
        """The narrowest type that that gives the values `target_db` of signal to noise, else the widest."""
        # of Decimal every machine has the same bits, of pow() not
        most = self._power * float(Decimal(10) ** (-Decimal(target_db) / 10))
        # the error falls with every bit
        index = bisect_left(AUTO_WIDTHS, True, key=lambda width: self._fitted(width)[1] <= most)
        return self.of_width(AUTO_WIDTHS[min(index, len(AUTO_WIDTHS) - 1)])

    def of_width(self, width: int) -> FixedType:
        """The type of `width` bits with the least mean square error."""
        return self._fitted(width)[0]

    def _fitted(self, width: int) -> tuple[FixedType, float]:
        if width not in self._known:
            self._known[width] = fitted(self.values, width, signed=self.signed, beyond=self.beyond)
        return self._known[width]


def whole_range(values: Floats, width: int) -> FixedType:
    """Signed, `width` bits, with the fewest integer bits that hold every value."""
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    largest = max(high, -low)
    integer = 1 - width if largest == 0.0 else binade(largest) + 1
    for bits in (integer, integer + 1, integer + 2):
        type_ = FixedType(width, bits, True, Rounding.RND, Overflow.SAT)
        half = type_.resolution / 2
        held = type_.min_code * type_.resolution - half, type_.max_code * type_.resolution + half
        if held[0] <= low and high < held[1]:
            return type_
    return type_
