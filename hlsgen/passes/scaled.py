"""Real tensors as integer codes with real numbers beside them, and the arithmetic of these numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from hlsgen.base.fixed import Codes, FixedType
from hlsgen.layers.base import Tensor
from hlsgen.passes.quantisers import Doubles, code_type, power_of_two

MULTIPLIER_BITS = 24
WIDEST_EXACT = 48
"""Bits up to which a tensor that no quantiser follows stays exact."""
WEIGHT_SPREAD = 4
"""Powers of two that the weights' scales of a layer may differ by before they are kept beside the codes."""
ONE: Doubles = np.ones(1)
ZERO: Doubles = np.zeros(1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Scaled:
    """A real tensor: limited(scale * value + shift), value that of the fixed-point tensor `name`.

    scale and shift: [1], or one for each channel. low, high: limits of the result, None for none. ends: the
    least and largest code that occurs, if that is less than the type's range.
    """

    name: str
    tensor: Tensor
    scale: Doubles = field(default_factory=lambda: ONE)
    shift: Doubles = field(default_factory=lambda: ZERO)
    low: float | None = None
    high: float | None = None
    ends: tuple[int, int] | None = None

    @property
    def type(self) -> FixedType:
        assert isinstance(self.tensor.type, FixedType)
        return self.tensor.type

    @property
    def is_limited(self) -> bool:
        return self.low is not None or self.high is not None

    @property
    def is_linear(self) -> bool:
        """scale * value and nothing else."""
        return not self.is_limited and not self.shift.any()

    @property
    def is_uniform(self) -> bool:
        """Linear with one positive scale for all channels."""
        return self.is_linear and self.scale.size == 1 and float(self.scale[0]) > 0

    @property
    def is_plain(self) -> bool:
        """The value of the fixed-point tensor itself."""
        return self.is_uniform and float(self.scale[0]) == 1.0

    @property
    def rises(self) -> bool:
        """Whether a larger code is a larger value, in each channel."""
        return bool((self.scale > 0).all())

    def bounds(self) -> tuple[float, float]:
        """The least and the largest value that any code gives."""
        ends = np.array(self.ends or (self.type.lowest_code, self.type.max_code)) * self.type.resolution
        reached = self.scale[:, None] * ends + self.shift.reshape(-1, 1)
        low = max(reached.min(), -math.inf if self.low is None else self.low)
        high = min(reached.max(), math.inf if self.high is None else self.high)
        # a limit beyond the other end: every value is that limit
        return float(min(low, high)), float(max(low, high))

    def at(self, other: Scaled) -> Scaled:
        """What is beside `self`, beside the tensor of `other`."""
        return replace(self, name=other.name, tensor=other.tensor, ends=None)

    def moved(self, scale: Doubles, shift: Doubles) -> Scaled:
        """scale * self + shift, of a value that has no limits, or with one rising line for all channels."""
        if self.is_limited:
            assert scale.size == shift.size == 1 and scale[0] > 0
        low, high = (
            None if limit is None else float(limit * scale[0] + shift[0]) for limit in (self.low, self.high)
        )
        fresh = compressed(self.scale * scale), compressed(self.shift * scale + shift)
        return replace(self, scale=fresh[0], shift=fresh[1], low=low, high=high)

    def limited(self, low: float | None, high: float | None) -> Scaled:
        """The same values with further limits."""
        outer = (-math.inf if low is None else low, math.inf if high is None else high)
        inner = (-math.inf if self.low is None else self.low, math.inf if self.high is None else self.high)
        least, most = (float(np.clip(limit, *outer)) for limit in inner)
        return replace(
            self, low=least if math.isfinite(least) else None, high=most if math.isfinite(most) else None
        )


def compressed(values: Doubles) -> Doubles:
    """[1] where all are equal."""
    array = np.asarray(values, np.float64).reshape(-1)
    return array[:1] if array.size > 1 and (array == array[0]).all() else array


def scale_and_fraction(scale: Doubles) -> tuple[Doubles, int]:
    """(what stays on the side, fraction bits): a power of two goes wholly into the type."""
    exponents = power_of_two(scale)
    if exponents is not None and (exponents == exponents[0]).all():
        return ONE, -int(exponents[0])
    return scale, 0


def multipliers(values: Doubles) -> tuple[Codes, FixedType]:
    """Codes of MULTIPLIER_BITS bits, or of fewer where these are exact."""
    largest = float(np.abs(values).max())
    signed = bool((values < 0).any())
    if largest == 0:
        return np.zeros(values.shape, np.int64), FixedType(1, 1, False)
    exponent = math.frexp(largest)[1]
    fraction = MULTIPLIER_BITS - signed - exponent
    codes = np.rint(np.ldexp(values, fraction)).astype(np.int64)
    if np.abs(codes).max() >> (MULTIPLIER_BITS - signed):  # rounded up to a power of two
        fraction -= 1
        codes = np.rint(np.ldexp(values, fraction)).astype(np.int64)
    spare = trailing_zeros(codes)
    return codes >> spare, held(codes >> spare, fraction - spare)


def trailing_zeros(codes: Codes) -> int:
    """The low bits that are zero in all codes; 0 if all bits are."""
    every = int(np.bitwise_or.reduce(np.abs(codes)))
    return (every & -every).bit_length() - 1 if every else 0


def held(codes: Codes, fraction: int) -> FixedType:
    """The narrowest type with these codes."""
    low, high = int(codes.min(initial=0)), int(codes.max(initial=0))
    type_ = code_type(low, high, fraction)
    return FixedType(type_.width, type_.integer, type_.signed)


def exact_fraction(x: Scaled) -> int | None:
    """The fraction bits that hold every value of `x` and its limits.

    None: a scale is no power of two (exact products are not worth their bits), or above 2 * WIDEST_EXACT.
    """
    if power_of_two(np.abs(x.scale[x.scale != 0])) is None:
        return None
    limits = [limit for limit in (x.low, x.high) if limit is not None]
    steps = [float(s) * x.type.resolution for s in x.scale] + [float(s) for s in x.shift] + limits
    needed = [fraction_of(step) for step in steps if step]
    fraction = max(needed, default=0)
    return fraction if fraction <= 2 * WIDEST_EXACT else None


def fraction_of(value: float) -> int:
    """The fraction bits that hold a finite double other than 0."""
    mantissa, exponent = math.frexp(value)
    code = int(math.ldexp(mantissa, 53))
    return 53 - exponent - ((code & -code).bit_length() - 1)


def value_bits(least: float, most: float, fraction: int) -> int:
    """Bits of a type with `fraction` that reaches from `least` to `most`."""
    largest = max(abs(least), abs(most))
    return (math.frexp(largest)[1] if largest else 0) + fraction + (least < 0)


def on_grid(value: float, fraction: int) -> bool:
    return math.isfinite(value) and math.ldexp(value, fraction).is_integer()


def holds(target: FixedType, type_: FixedType) -> bool:
    """Whether `target` holds every value of `type_` as it is."""
    finer = target.fraction - type_.fraction
    if finer < 0:
        return False
    least, most = type_.lowest_code << finer, type_.max_code << finer
    return target.lowest_code <= least and most <= target.max_code


def limits_of(target: FixedType, low: int, high: int) -> dict[str, float]:
    """The limits, as values, that the type does not keep of itself."""
    limits = {}
    if low != target.lowest_code:
        limits["low"] = math.ldexp(low, -target.fraction)
    if high != target.max_code:
        limits["high"] = math.ldexp(high, -target.fraction)
    return limits


def without_sign(type_: FixedType, low: float | None) -> FixedType:
    """The type without its sign bit, if no value is below `low` and that is not negative."""
    if low is None or low < 0 or not type_.signed or type_.width == 1:
        return type_
    return FixedType(type_.width - 1, type_.integer - 1, False)


def weights_and_scale(codes: Codes, scale: Doubles) -> tuple[Codes, int, Doubles, int]:
    """(codes, fraction bits, scale [1] or [M] beside them, bits they grew by) of codes * scale.

    The scale is one for each output channel. Powers of two that differ little go into the codes.
    """
    exponents = power_of_two(scale)
    if exponents is None:
        return codes, 0, compressed(scale), 0
    least, most = int(exponents.min()), int(exponents.max())
    if most - least > WEIGHT_SPREAD:
        return codes, -least, compressed(np.ldexp(1.0, exponents - least)), 0
    return codes << (exponents - least).reshape(-1, 1, 1, 1), -least, ONE, most - least
