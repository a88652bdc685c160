"""What the layers' tests compare with: number types in exact fractions, apart from hlsgen.base.fixed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from hlsgen.base.fixed import Codes, FixedType, FloatType, Overflow, Rounding
from hlsgen.base.type_text import parse_type
from hlsgen.layers.base import Layer, Shape, Tensor

FLOAT = FloatType()


def tensor(shape: Shape, type_: str | FixedType | FloatType = "float32") -> Tensor:
    return Tensor(shape=shape, type=parse_type(type_) if isinstance(type_, str) else type_)


def value(code: int, type_: FixedType) -> Fraction:
    return Fraction(int(code)) * Fraction(2) ** -type_.fraction


def cast(exact: Fraction, type_: FixedType) -> int:
    """The code of a rational number: rounded, then fitted."""
    return _fitted(_rounded(exact * Fraction(2) ** type_.fraction, type_.rounding), type_)


def _rounded(scaled: Fraction, mode: Rounding) -> int:
    low = math.floor(scaled)
    if mode is Rounding.TRN:
        return low
    if mode is Rounding.TRN_ZERO:
        return math.trunc(scaled)
    rest = scaled - low
    if rest != Fraction(1, 2):
        return low + (rest > Fraction(1, 2))
    up = {
        Rounding.RND: True,
        Rounding.RND_MIN_INF: False,
        Rounding.RND_ZERO: scaled < 0,
        Rounding.RND_INF: scaled > 0,
        Rounding.RND_CONV: low % 2 == 1,
    }[mode]
    return low + up


def _fitted(code: int, type_: FixedType) -> int:
    low = -(2 ** (type_.width - 1)) if type_.signed else 0
    high = low + 2**type_.width - 1
    if type_.overflow is Overflow.WRAP:
        return (code - low) % 2**type_.width + low
    if type_.overflow is Overflow.SAT_SYM and type_.signed and type_.width > 1:
        low = -high
    if low <= code <= high:
        return code
    if type_.overflow is Overflow.SAT_ZERO:
        return 0
    return low if code < low else high


def codes_of(type_: FixedType, shape: tuple[int, ...], rng: np.random.Generator) -> Codes:
    """Random codes of all magnitudes, extremes and zeros among them."""
    draws = []
    for _ in range(math.prod(shape)):
        kind = rng.integers(6)
        if kind == 0:
            draws.append(type_.min_code)
        elif kind == 1:
            draws.append(type_.max_code)
        elif kind == 2:
            draws.append(int(min(max(rng.integers(-2, 3), type_.min_code), type_.max_code)))
        else:
            span = type_.max_code - type_.min_code + 1
            draws.append(type_.min_code + int.from_bytes(rng.bytes(16), "little") % span)
    codes = np.array(draws, object).reshape(shape)
    return codes.astype(np.int64) if type_.max_code < 1 << 63 else codes


@st.composite
def fixed_types(draw: st.DrawFn, widest: int = 20) -> FixedType:
    """Any type but of wrap_sm, whose overflow the tests of hlsgen.base.fixed cover."""
    overflow = draw(st.sampled_from([mode for mode in Overflow if mode is not Overflow.WRAP_SM]))
    return FixedType(
        draw(st.integers(1, widest)),
        draw(st.integers(-3, 10)),
        draw(st.booleans()),
        draw(st.sampled_from(Rounding)),
        overflow,
    )


def sources_of(layer: Layer, seed: int, frames: int = 2) -> list[Codes]:
    """Random codes for each source of a fixed-point layer, or normal values for a float one."""
    rng = np.random.default_rng(seed)
    found: list[Codes] = []
    for source in layer.sources:
        shape = (frames, *source.shape)
        if isinstance(source.type, FixedType):
            found.append(codes_of(source.type, shape, rng))
        else:
            found.append(4 * rng.standard_normal(shape))
    return found


def messages(layer: Layer) -> str:
    """All that `check` says."""
    return "\n".join(str(problem) for problem in layer.check())
