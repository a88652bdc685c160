"""Real tensors as integer codes with real numbers beside them, and the arithmetic of these numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from hlsgen.base.coded import Coded, Doubles, fraction_bits, nearly_each, power_of_two
from hlsgen.base.fixed import Codes, FixedType
from hlsgen.layers.base import Tensor

MULTIPLIER_BITS = 24
MOST_FACTOR_BITS = 60
"""Bits of factors of all channels together, in which each has MULTIPLIER_BITS of its own."""
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
    """The values, or [1] of them where all are equal."""
    array = np.asarray(values, np.float64).reshape(-1)
    return array[:1] if array.size > 1 and (array == array[0]).all() else array


def scale_and_fraction(scale: Doubles) -> tuple[Doubles, int]:
    """The scale that stays on the side, and fraction bits: a power of two goes wholly into the type."""
    exponents = power_of_two(scale)
    if exponents is not None and (exponents == exponents[0]).all():
        return ONE, -int(exponents[0])
    return scale, 0


def multipliers(values: Doubles, finest: float = math.inf) -> Coded:
    """Factors with MULTIPLIER_BITS significant bits each, the sign included if one is negative, or with fewer
    that are exact.

    finest: fraction bits beyond which a small factor keeps no more; never of types above MOST_FACTOR_BITS.
    """
    bits = MULTIPLIER_BITS - bool((values < 0).any())
    room = MOST_FACTOR_BITS - math.frexp(float(np.abs(values).max(initial=0.0)))[1]
    return nearly_each(values, bits, int(min(finest, room)))


def exact_fraction(x: Scaled) -> int | None:
    """The fraction bits that hold every value of `x` and its limits.

    None: a scale is no power of two (exact products are not worth their bits), or above 2 * WIDEST_EXACT.
    """
    if power_of_two(np.abs(x.scale[x.scale != 0])) is None:
        return None
    limits = [limit for limit in (x.low, x.high) if limit is not None]
    fraction = fraction_bits(np.concatenate([x.scale * x.type.resolution, x.shift, limits]))
    return fraction if fraction <= 2 * WIDEST_EXACT else None


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
