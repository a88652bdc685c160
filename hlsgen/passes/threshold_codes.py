"""Thresholds of real values as codes of the tensor that is compared, with the scales of a quantised model.

The sign of a real value is one such comparison. A value is limited(scale * v + shift), v that of a
fixed-point tensor, and it reaches a threshold T where v reaches (T - shift) / scale: one number for each
channel and threshold, so that scales, biases and limits before thresholds cost nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hlsgen.base.coded import SIGN, Coded, Doubles, fraction_bits, held, narrowest, on_grid, power_of_two
from hlsgen.base.fixed import FixedType
from hlsgen.layers.steps import Steps
from hlsgen.layers.thresholds import Thresholds
from hlsgen.passes.scaled import ONE, ZERO, Scaled

TIE = 2.0**-22
"""Share by which an inexact quotient may be off a code: what float32 makes of scale and threshold."""
STRUCTURAL_TIE = 2.0**-44
"""Share that doubles may be off a quotient which is a code: a scale and its own multiple as shift."""
MOST_FRACTION = 4
"""Fraction bits, of steps, that the lowest value may have to be a code, not a shift beside the codes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Placed:
    """first + step * number as codes of `type`, scale and shift of a real value beside them."""

    first: float
    step: float
    type: FixedType
    scale: Doubles
    shift: Doubles


def on_codes(rows: Doubles, x: Scaled) -> Doubles:
    """[1 or C, N] the values of x's tensor from which on real thresholds `rows` are reached.

    Each is a code of the tensor, or the one after its last code. Exact where the quotient is; else a quotient
    next to a code is that code, as float32 would have it. x rises.
    """
    scale, shift = x.scale.reshape(-1, 1), x.shift.reshape(-1, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        moved = rows - shift
        steps = np.ldexp(moved / scale, x.type.fraction)
        exact = (moved + shift == rows) & (np.frexp(scale)[0] == 0.5)
        near = np.rint(steps)
        close = np.abs(steps - near) <= TIE * np.maximum(1, np.abs(steps))
        # at the code 0 nothing is multiplied, so that float32 compares shift and threshold as they are
        equal = np.abs(moved) <= STRUCTURAL_TIE * np.maximum(np.abs(rows), np.abs(shift))
        tied = ~exact & np.where(near == 0, equal, close)
    codes = np.where(tied, near, np.ceil(steps))
    if x.low is not None:
        codes = np.where(rows <= x.low, -np.inf, codes)
    if x.high is not None:
        codes = np.where(rows > x.high, np.inf, codes)
    inside = np.clip(codes, float(x.type.min_code), float(x.type.max_code + 1))
    return np.asarray(np.ldexp(inside, -x.type.fraction))


def signs_of(
    scale: Doubles, shift: Doubles, source: FixedType, *, either_sign: bool = False
) -> tuple[Coded, Coded]:
    """Factors of -1, 0, 1 and offsets [C]: factor * v + offset is negative where scale * v + shift is.

    scale, shift [C]: any doubles; v: the values of `source`. A positive factor is free before a sign, so each
    channel keeps its own threshold, exactly, however small its scale is beside the others. either_sign: as
    of `held`.
    """
    factors = np.sign(scale).astype(np.int64)
    codes = np.array(
        [_offset(*line, source) for line in zip(scale.tolist(), shift.tolist(), strict=True)], object
    )
    return (
        Coded(codes=factors, type=held(factors, 0, either_sign=either_sign)),
        Coded(codes=codes, type=held(codes, source.fraction, either_sign=either_sign)),
    )


def _offset(scale: float, shift: float, source: FixedType) -> int:
    """The code that added to sign(scale) * code gives a number below 0 where scale * v + shift is."""
    if not scale:
        return 0 if shift >= 0 else -1
    exact = Fraction(shift) / Fraction(abs(scale)) * Fraction(2) ** source.fraction
    near = round(exact)
    distance = abs(exact - near) / max(1, abs(near))
    if not near or distance > TIE:  # nothing is rounded at the code 0
        code = math.floor(exact)
    elif exact >= near or distance <= STRUCTURAL_TIE:
        code = near
    else:
        code = near - (not _reached_in_float32(scale, shift, source, near))
    return min(max(code, -source.max_code - 1 - (scale < 0)), source.max_code + 1)


def _reached_in_float32(scale: float, shift: float, source: FixedType, offset: int) -> bool:
    """Whether a framework, which computes scale * v + shift in float32, finds it not negative at the tie."""
    value = np.float32(math.ldexp(-offset if scale > 0 else offset, -source.fraction))
    _, exponent = math.frexp(scale)  # a power of two changes no sign, and keeps float32 from its ends
    mantissa, moved = (np.float32(math.ldexp(one, -exponent)) for one in (scale, shift))
    return bool(mantissa * value + moved >= 0)


def placed(first: float, step: float, count: int) -> Placed:
    """How first + step * number, up to `count`, is a code: one bit for two opposites, else as few as do."""
    if count == 1 and step > 0 and first == -step / 2:
        return Placed(first=-1.0, step=1.0, type=SIGN, scale=np.array([step]), shift=np.array([step / 2]))
    lowest, shift = first / step, ZERO
    if not on_grid(lowest, MOST_FRACTION) or fraction_bits(lowest) > MOST_FRACTION:
        lowest, shift = 0.0, np.array([first])
    unit, scale = 1.0, np.array([step])
    if step > 0 and power_of_two(scale) is not None:
        unit, scale = step, ONE
    ends = [unit * lowest, unit * (lowest + 1), unit * (lowest + count)]
    return Placed(first=ends[0], step=unit, type=narrowest(ends), scale=scale, shift=shift)


def reached_by_some(layer: Thresholds) -> Thresholds:
    """The layer without thresholds that every input of every channel reaches, or none does; one stays."""
    codes, source = layer.first_codes, layer.source_type
    surely = (codes <= source.min_code).all(axis=0)
    never = (codes > source.max_code).all(axis=0)
    below, above = int(surely.sum()), int(never.sum())
    if below + above >= layer.count:
        below = min(below, layer.count - 1)
        above = layer.count - 1 - below
    kept = layer.thresholds[:, below : layer.count - above]
    return Thresholds(
        name=layer.name,
        inputs=layer.inputs,
        place=layer.place,
        source=layer.source,
        result_type=layer.result_type,
        thresholds=kept,
        first=layer.first + below * layer.step,
        step=layer.step,
    )


def shared(layer: Thresholds) -> Steps | None:
    """The same as a step function, where all channels have the same thresholds; None: they have not."""
    row = layer.thresholds[0]
    if (layer.thresholds != row).any():
        return None
    last = np.append(row[1:] != row[:-1], True)  # of thresholds that are alike
    values = np.array(layer.values)
    return Steps(
        name=layer.name,
        inputs=layer.inputs,
        place=layer.place,
        source=layer.source,
        result_type=layer.result_type,
        thresholds=tuple(row[last].tolist()),
        values=(layer.values[0], *values[1:][last].tolist()),
    )
