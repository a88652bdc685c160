"""Number types of tensors and what they do to values. The only place of hlsgen that rounds.

A fixed-point value is stored as its *code*, the integer that its bits spell: value = code * 2**-fraction.
Every operation here gives exactly the bits that `ap_fixed` gives; the tests compare them with the
compiled reference headers.

An array of codes is int64 if every code of its type fits int64, else it holds Python integers (dtype
object), so no width overflows silently. Codes given to a method must lie in the range of their type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hlsgen.base.floating import FloatType as FloatType

Codes: TypeAlias = NDArray[Any]
"""Integer codes of a fixed-point tensor (int64, or Python ints where those are too short), or floating
values: float32 of a float32 tensor, float16 of a half tensor, or float64 in a network that has not been
quantised yet."""

MAX_TENSOR_WIDTH = 64
MAX_WIDTH = 128
# Keeps 2**-fraction and every code an ordinary (not subnormal, not infinite) double.
MAX_INTEGER = 512
# Large arrays are cast in blocks of this many codes, so that intermediate results stay in cache.
BLOCK = 1 << 15
DOUBLE_MANTISSA_BITS = 53
SHORT_FRACTION = 512
"""Two to fewer fraction bits is a double, and as much above its least."""
SHORT_WIDTH = 32
"""Codes of so many bits are exact in doubles with room to spare."""
EXACT_HALVES = 2.0**51
"""Below it a double has a bit for halves."""
FLOAT32_MANTISSA_BITS = 24


class Rounding(StrEnum):
    """What happens to the bits below the last one, as `ap_q_mode`. "rnd_*" differ only at exact halves."""

    TRN = "trn"  # towards minus infinity
    TRN_ZERO = "trn_zero"  # towards zero
    RND = "rnd"  # nearest, halves towards plus infinity
    RND_ZERO = "rnd_zero"  # nearest, halves towards zero
    RND_INF = "rnd_inf"  # nearest, halves away from zero
    RND_MIN_INF = "rnd_min_inf"  # nearest, halves towards minus infinity
    RND_CONV = "rnd_conv"  # nearest, halves to the even code


class Overflow(StrEnum):
    """What happens to a value outside the range, as `ap_o_mode` with no saturation bits (N = 0)."""

    WRAP = "wrap"  # drop the high bits
    WRAP_SM = "wrap_sm"  # sign-magnitude wrap; signed types only
    SAT = "sat"  # nearest end of the range
    SAT_ZERO = "sat_zero"  # zero
    SAT_SYM = "sat_sym"  # as sat, and the lowest code becomes minus the highest


@dataclass(frozen=True)
class FixedType:
    """`ap_fixed<width, integer, rounding, overflow>`, or `ap_ufixed` if not signed.

    `width` and `integer` in bits; `integer` may be negative or exceed `width`, as in `ap_fixed`.
    Tensors use widths to 64; products and accumulators to 128.
    Raises ValueError: width outside 1..128, integer outside -512..512, wrap_sm on an unsigned type.
    """

    width: int
    integer: int
    signed: bool = True
    rounding: Rounding = Rounding.TRN
    overflow: Overflow = Overflow.WRAP

    def __post_init__(self) -> None:
        if not 1 <= self.width <= MAX_WIDTH:
            raise ValueError(f"width {self.width} is outside 1..{MAX_WIDTH}")
        if not -MAX_INTEGER <= self.integer <= MAX_INTEGER:
            raise ValueError(f"integer bits {self.integer} are outside -{MAX_INTEGER}..{MAX_INTEGER}")
        if self.overflow is Overflow.WRAP_SM and not self.signed:
            raise ValueError("overflow mode wrap_sm needs a signed type; ap_ufixed does not support it")

    @property
    def fraction(self) -> int:
        """Bits behind the binary point; negative if the resolution is coarser than 1."""
        return self.width - self.integer

    @property
    def min_code(self) -> int:
        return -(1 << (self.width - 1)) if self.signed else 0

    @property
    def max_code(self) -> int:
        return (1 << (self.width - self.signed)) - 1

    @property
    def lowest_code(self) -> int:
        """The lowest code that a conversion leaves alone: `min_code`, but not in sat_sym.

        `ap_fixed<1, I, Q, AP_SAT_SYM>` keeps its minimum: it has no positive code to mirror.
        """
        symmetric = self.overflow is Overflow.SAT_SYM and self.signed and self.width > 1
        return -self.max_code if symmetric else self.min_code

    @property
    def resolution(self) -> float:
        """The value of code 1."""
        return float(2.0**-self.fraction)

    @property
    def container_bits(self) -> int:
        """Bits of the C++ storage: the smallest of 8, 16, 32, 64, 128 that holds `width`."""
        return max(8, 1 << (self.width - 1).bit_length())

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the codes in a .npy file. Raises ValueError above 64 bits."""
        if self.container_bits > 64:
            raise ValueError(f"{self} has no NumPy container; files hold at most 64 bits per value")
        return np.dtype(f"{'int' if self.signed else 'uint'}{self.container_bits}")

    @property
    def signed_dtype(self) -> np.dtype[Any]:
        """The narrowest signed integers that hold every code; int64 for what no integers of NumPy hold."""
        bits = self.width + (not self.signed)
        return np.dtype(f"int{min(64, max(8, 1 << (bits - 1).bit_length()))}")

    def narrowed(self, codes: Codes) -> Codes:
        """Codes of this type in as few bytes as all of them need; what is no code of it stays as it is, and
        so does one code that stands for all of a shape, which may be of any size.
        """
        if codes.dtype != np.int64 or self.signed_dtype == np.int64 or not any(codes.strides):
            return codes
        inside = not codes.size or (self.min_code <= codes.min() and codes.max() <= self.max_code)
        return codes.astype(self.signed_dtype) if inside else codes

    @property
    def cpp(self) -> str:
        modes = "" if self._default_modes else f", AP_{self.rounding.upper()}, AP_{self.overflow.upper()}"
        return f"ap_{self._name}<{self.width}, {self.integer}{modes}>"

    def __str__(self) -> str:
        modes = "" if self._default_modes else f",{self.rounding},{self.overflow}"
        return f"{self._name}<{self.width},{self.integer}{modes}>"

    def encode(self, values: ArrayLike, *, narrow: bool = False) -> Codes:
        """The codes of `ap_fixed(double)`, exact for every finite double. narrow: as `narrowed` has them.

        Raises ValueError on NaN, inf.
        """
        doubles = _finite(values)
        flat = doubles.reshape(-1)
        plain = np.int64 if self._fits_int64 else object
        result = np.empty(flat.shape, self.signed_dtype if narrow and self._fits_int64 else plain)
        for block in _blocks(flat.size):
            part = flat[block].astype(np.float64, copy=False)
            near = self._nearest(part)
            if near is not None:
                result[block] = near
                continue
            mantissa, exponent = np.frexp(part)
            codes = np.ldexp(mantissa, DOUBLE_MANTISSA_BITS).astype(np.int64)
            # value * 2**fraction = codes * 2**-shift
            shift = DOUBLE_MANTISSA_BITS - exponent.astype(np.int64) - self.fraction
            result[block] = self._encode_block(codes, shift)
        return result.reshape(doubles.shape)

    def decode(self, codes: Codes) -> NDArray[np.float64]:
        """The values of codes: exact to 53 bits, above that the nearest double, as `to_double()`."""
        values: NDArray[np.float64] = np.ldexp(_as_codes(codes).astype(np.float64), -self.fraction)
        return values

    def cast(self, codes: Codes, source: FixedType) -> Codes:
        """The codes of `ap_fixed<this> y = x` for x of type `source`; a new array."""
        given = _as_codes(codes)
        if source == self:
            # A copy, not a conversion: C++ does not apply sat_sym to a value of the very same type.
            return given.copy()
        flat = self._exact(given, source)
        holds = self._holds(source)
        watcher = None if holds else _watcher.get()
        result = np.empty(flat.shape, np.int64 if self._fits_int64 else object)
        for block in _blocks(flat.size):
            floor, rounded = self._rounded(flat[block], source)
            result[block] = rounded if holds else self._fit(rounded, floor)
            if watcher is not None:
                watcher(self, rounded, result[block])
        return result.reshape(given.shape)

    def unlimited(self, values: ArrayLike) -> Codes:
        """Values rounded as this type does, in units of its resolution, whatever its range.

        Beyond 2**60 units (2**126 in a type of more than 60 bits) they are that. Raises ValueError on NaN.
        """
        width = min(62 if self.width <= 60 else MAX_WIDTH, self.width + MAX_INTEGER - self.integer)
        wide = FixedType(width, width - self.fraction, True, self.rounding, Overflow.SAT)
        most = np.ldexp(1.0, width - 2 - self.fraction)
        return wide.encode(np.clip(np.asarray(values, np.float64), -most, most))

    def wrap(self, integers: Codes) -> Codes:
        """Any integers as codes of this type, high bits dropped."""
        given = _as_codes(integers)
        return self._wrap(given.reshape(-1)).reshape(given.shape)

    @property
    def _name(self) -> str:
        return "fixed" if self.signed else "ufixed"

    @property
    def _default_modes(self) -> bool:
        return self.rounding is Rounding.TRN and self.overflow is Overflow.WRAP

    @property
    def _fits_int64(self) -> bool:
        return self.max_code < 1 << 63

    def _store(self, codes: Codes) -> Codes:
        """Codes in this type's kind of array."""
        return codes.astype(np.int64 if self._fits_int64 else object, copy=False)

    def _exact(self, codes: Codes, source: FixedType) -> Codes:
        """Codes of `source`, flat, in an array whose integers no step of a cast to this type overflows."""
        shift = source.fraction - self.fraction
        widened = source.width + max(-shift, 0) + (not source.signed)
        fast = self._fits_int64 and widened <= 64 and shift <= 61
        return codes.reshape(-1) if fast else codes.reshape(-1).astype(object)

    def _holds(self, source: FixedType) -> bool:
        """Whether every value of `source`, once rounded, is in range."""
        ends = np.array([source.min_code, source.max_code], dtype=object)
        low, high = self._rounded(ends, source)[1]
        return bool(self.lowest_code <= low and high <= self.max_code)

    def _rounded(self, codes: Codes, source: FixedType) -> tuple[Codes, Codes]:
        """Codes of `source` in units of this resolution: (rounded down, rounded as this type does)."""
        shift = source.fraction - self.fraction
        if shift <= 0:
            widened = codes << -shift
            return widened, widened
        return codes >> shift, _round(codes, shift, self.rounding)

    def _nearest(self, doubles: NDArray[np.float64]) -> Codes | NDArray[np.float64] | None:
        """Doubles as codes of a type that rounds halves up, the quick way; None: they may be too large."""
        if self.rounding is not Rounding.RND or not self._fits_int64:
            return None
        with np.errstate(over="ignore"):
            near_one = abs(self.fraction) < SHORT_FRACTION
            scaled = doubles * 2.0**self.fraction if near_one else np.ldexp(doubles, self.fraction)
        if scaled.size and max(scaled.max(), -scaled.min()) >= EXACT_HALVES:
            return None
        floor = np.floor(scaled)
        scaled -= floor  # exact where it is near a half
        rounded = floor + (scaled >= 0.5)
        if self.width <= SHORT_WIDTH and self.overflow in (Overflow.SAT, Overflow.SAT_SYM):
            return np.clip(rounded, self.lowest_code, self.max_code, out=rounded)
        return self._fit(rounded.astype(np.int64), floor.astype(np.int64))

    def _encode_block(self, codes: NDArray[np.int64], shift: NDArray[np.int64]) -> Codes:
        """codes * 2**-shift as codes of this type; the codes have 54 bits, each its own shift."""
        exact: Codes = codes
        # 8 bits to the left leave int64 room; any shift to the right beyond 61 means "below a half".
        if self._fits_int64 and shift[codes != 0].min(initial=0) >= -8:
            left, right = np.clip(-shift, 0, 8), np.clip(shift, 0, 61)
        else:
            exact = codes.astype(object)
            left, right = np.maximum(-shift, 0).astype(object), np.maximum(shift, 0).astype(object)
        exact = exact << left
        return self._fit(_round(exact, right, self.rounding), exact >> right)

    def _fit(self, rounded: Codes, floor: Codes) -> Codes:
        """Rounded integers as codes of this type; `floor` holds the same values rounded down."""
        if self.overflow is Overflow.WRAP:
            return self._wrap(rounded)
        if self.overflow in (Overflow.SAT, Overflow.SAT_SYM):
            return self._store(np.minimum(np.maximum(rounded, self.lowest_code), self.max_code))
        outside = (rounded < self.min_code) | (rounded > self.max_code)
        if self.overflow is Overflow.SAT_ZERO:
            return self._store(np.where(outside, 0, rounded))
        # wrap_sm: the first dropped bit, before rounding, is the new sign; if that differs from the sign
        # that wrapping leaves, the bits below it are inverted too.
        wrapped = self._wrap(rounded)
        dropped = ((floor >> self.width) & 1) != 0
        return self._store(np.where(outside & (dropped != (wrapped < 0)), ~wrapped, wrapped))

    def _wrap(self, integers: Codes) -> Codes:
        if integers.dtype != object and self._fits_int64:
            unused = 64 - self.width
            return (integers << unused) >> unused if self.signed else integers & self.max_code
        period = (1 << self.width) - 1
        return self._store(((integers.astype(object) - self.min_code) & period) + self.min_code)


NumberType: TypeAlias = FixedType | FloatType

CastWatcher: TypeAlias = Callable[[FixedType, Codes, Codes], None]
"""Told of a cast that may overflow: the type, the rounded values in units of its resolution, the codes."""
_watcher: ContextVar[CastWatcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watching_casts(watcher: CastWatcher | None) -> Iterator[None]:
    """Every cast of the block that may overflow is told to `watcher`, those of one array in parts; None: to
    nobody.
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def tell_watcher(type_: FixedType, rounded: Callable[[], Codes], codes: Codes) -> None:
    """Tells the watcher, as a cast does, of what becomes `codes` in another way; `rounded` is called if need
    be.
    """
    watcher = _watcher.get()
    if watcher is not None:
        watcher(type_, rounded(), codes)


def float32_holds(type_: NumberType) -> bool:
    """Whether every value of the type is a float32; those of more bits are meant to be more exact."""
    return isinstance(type_, FloatType) or type_.width <= FLOAT32_MANTISSA_BITS


def product_type(a: FixedType, b: FixedType) -> FixedType:
    """The type of `a * b` in C++, which holds every product. Raises ValueError above 128 bits."""
    return FixedType(a.width + b.width, a.integer + b.integer, a.signed or b.signed)


def sum_type(a: FixedType, b: FixedType) -> FixedType:
    """The type of `a + b` in C++, which holds every sum. Raises ValueError above 128 bits."""
    # An unsigned operand next to a signed one needs one bit more for its sign.
    integer = 1 + max(
        a.integer + (b.signed and not a.signed),
        b.integer + (a.signed and not b.signed),
    )
    return FixedType(integer + max(a.fraction, b.fraction), integer, a.signed or b.signed)


def accumulator_type(
    activation: FixedType, weight: FixedType, terms: int, bias: FixedType | None = None
) -> FixedType:
    """The narrowest signed type that holds every sum of `terms` products, and a bias, exactly.

    No partial sum overflows it either: the ranges of the operands contain 0.
    Raises ValueError: terms below 1, more than 128 bits needed.
    """
    if terms < 1:
        raise ValueError(f"terms is {terms}; a sum of products has at least 1")
    corners = [
        x * w for x in (activation.min_code, activation.max_code) for w in (weight.min_code, weight.max_code)
    ]
    products = activation.fraction + weight.fraction
    fraction = products if bias is None else max(products, bias.fraction)
    low = terms * min(corners) << fraction - products
    high = terms * max(corners) << fraction - products
    if bias is not None:
        low += bias.min_code << fraction - bias.fraction
        high += bias.max_code << fraction - bias.fraction
    return tight_accumulator(low, high, fraction)


def tight_accumulator(min_sum: int, max_sum: int, fraction: int) -> FixedType:
    """The narrowest signed type with `fraction` bits that holds all codes from min_sum to max_sum.

    Partial sums may leave that range: they wrap, and the complete sum is right all the same.
    Raises ValueError: min_sum above max_sum, more than 128 bits needed.
    """
    if min_sum > max_sum:
        raise ValueError(f"min_sum {min_sum} exceeds max_sum {max_sum}")
    width = 1 + max((code if code >= 0 else ~code).bit_length() for code in (min_sum, max_sum))
    return FixedType(width, width - fraction)


def _finite(values: ArrayLike) -> NDArray[np.floating[Any]]:
    given = np.asarray(values)
    # of many weights in float32 no other array is made
    doubles = given if given.dtype == np.float32 else np.asarray(given, np.float64)
    flat = doubles.reshape(-1)
    if not all(np.isfinite(flat[block]).all() for block in _blocks(flat.size)):
        raise ValueError("NaN and infinity have no fixed-point value")
    return doubles


def _blocks(size: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, size, BLOCK))


def _as_codes(codes: Codes) -> Codes:
    """Any array of integers as one that does not overflow: int64, or Python integers for uint64."""
    given = np.asarray(codes)
    if given.dtype == object or given.dtype == np.int64:
        return given
    if given.dtype.kind not in "iu":
        raise TypeError(f"codes are integers, not {given.dtype}")
    return given.astype(object if given.dtype == np.uint64 else np.int64)


def _round(codes: Codes, shift: Any, mode: Rounding) -> Codes:
    """codes * 2**-shift rounded to integers; shift >= 0, a number or an array, at most 61 for int64 codes."""
    floor: Codes = codes >> shift
    if mode is Rounding.TRN:
        return floor
    one = 1 << shift
    remainder = codes & (one - 1)
    if mode is Rounding.TRN_ZERO:
        up = (codes < 0) & (remainder != 0)
    else:
        # `one` is even, or the remainder is 0: adding 1 to twice the remainder decides halves, nothing else.
        up = 2 * remainder + _halves_up(codes, floor, mode) > one
    rounded: Codes = floor + up
    return rounded


def _halves_up(codes: Codes, floor: Codes, mode: Rounding) -> Any:
    """1 where this mode sends an exact half up, else 0."""
    match mode:
        case Rounding.RND:
            return 1
        case Rounding.RND_INF:
            return codes >= 0
        case Rounding.RND_ZERO:
            return codes < 0
        case Rounding.RND_CONV:
            return floor & 1
        case _:
            return 0
