"""A function of one fixed-point value by straight pieces, in integer arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes, FixedType, Overflow, Rounding, tight_accumulator
from hlsgen.layers.correct_rounding import GRID_BITS, nearby_values
from hlsgen.layers.functions import FUNCTIONS, Doubles, Tail, Tails

MOST_SEGMENTS = 2048
"""Two block RAMs of 36 Kbit at 36 bits a segment."""
GUARD_BITS = 4
"""Fraction bits of the pieces' values beyond those of the result."""
WANTED_ERROR = 0.25
"""The pieces' error before the cast, in units of the result's resolution; fewer segments if they reach it."""
TAIL_ERROR = 0.0625
"""How far a tail may lie from the function, in units of the result's resolution."""
ALL_CODES_BITS = 18
"""The widest type whose every code is looked at."""
POINTS = 16
"""Points of a segment that it is fitted to, beyond its first."""
NEAR_ZERO = 16
"""Where functions bend: codes of a wide type are looked at more densely from -16 to 16."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """offset + (gain * (x - edge) >> shift), in codes of the value type, for codes x beyond `edge`."""

    edge: int
    offset: int = 0
    gain: int = 0
    shift: int = 0

    def of(self, codes: Codes) -> Codes:
        return self.offset + (self.gain * (codes - self.edge) >> self.shift)


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """y(x) for every code x of `source`, a code of `value_type`:

        x < low.edge:   y = low.offset + (low.gain * (x - low.edge) >> low.shift)
        x >= high.edge: y = high.offset + (high.gain * (x - high.edge) >> high.shift)
        between:        i = (x >> shift) - first
                        y = bases[i] + (slopes[i] * (x & (1 << shift) - 1) >> shift)

    Shifts to the right round down. A slope is what the value gains along a whole segment. Then y is kept
    within `limits` and cast to `result`.
    """

    source: FixedType
    result: FixedType
    low: Line
    high: Line
    shift: int
    bases: tuple[int, ...]
    slopes: tuple[int, ...]

    @property
    def fraction(self) -> int:
        """Fraction bits of y."""
        return self.result.fraction + GUARD_BITS

    @property
    def first(self) -> int:
        """The number of the first segment: x >> shift of the first code that is not in the low tail."""
        return self.low.edge >> self.shift

    @property
    def segments(self) -> int:
        return len(self.bases)

    @property
    def base_type(self) -> FixedType:
        """The type of `bases`: values."""
        return tight_accumulator(min(self.bases), max(self.bases), self.fraction)

    @property
    def slope_type(self) -> FixedType:
        """The type of `slopes`: values gained along a segment."""
        return tight_accumulator(min(self.slopes), max(self.slopes), self.fraction)

    @cached_property
    def value_type(self) -> FixedType:
        """The type of y. Raises ValueError above 128 bits."""
        codes = {self.source.min_code, self.source.max_code, self.low.edge, self.high.edge - 1}
        codes |= {self.low.edge - 1, self.high.edge}
        for number in range(self.first + 1, self.first + self.segments):
            codes |= {(number << self.shift) - 1, number << self.shift}
        ends = sorted(code for code in codes if self.source.min_code <= code <= self.source.max_code)
        # Each piece is monotone, so its values lie between those of its ends.
        values = self._values(np.array(ends, object))
        return tight_accumulator(int(min(values)), int(max(values)), self.fraction)

    @property
    def limits(self) -> tuple[int, int] | None:
        """The least and the largest y that the result holds; None: no y is beyond, or the cast saturates."""
        low, high = (code << GUARD_BITS for code in (self.result.lowest_code, self.result.max_code))
        inside = low <= self.value_type.min_code and self.value_type.max_code <= high
        return None if inside or self.result.overflow in (Overflow.SAT, Overflow.SAT_SYM) else (low, high)

    def golden(self, codes: Codes) -> Codes:
        """The result of each code."""
        values = self.values(codes)
        if self.limits is not None:
            values = np.clip(values, *self.limits)
        return self.result.cast(values, self.value_type)

    def values(self, codes: Codes) -> Codes:
        """y of each code, not limited yet."""
        bits = max(abs(slope) for slope in self.slopes).bit_length() + self.shift
        for line in (self.low, self.high):
            bits = max(bits, abs(line.gain).bit_length() + self.source.width + 1)
        narrow = bits < 62 and self.value_type.width < 62 and self.source.width < 62
        return self._values(codes if narrow else codes.astype(object))

    def _values(self, codes: Codes) -> Codes:
        kind = codes.dtype
        inside = np.clip(codes, self.low.edge, self.high.edge - 1)
        index = ((inside >> self.shift) - self.first).astype(np.int64)
        bases, slopes = (np.array(given, object).astype(kind) for given in (self.bases, self.slopes))
        rest = inside & ((1 << self.shift) - 1)
        values = bases[index] + (slopes[index] * rest >> self.shift)
        values = np.where(codes < self.low.edge, self.low.of(codes), values)
        return np.where(codes >= self.high.edge, self.high.of(codes), values)


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How the pieces of a function are found: one of FUNCTIONS, of codes of `source`, cast to `result`."""

    function: str
    parameters: tuple[float, ...]
    source: FixedType
    result: FixedType

    @property
    def tails(self) -> Tails:
        return FUNCTIONS[self.function].tails_of(self.parameters)

    @property
    def fraction(self) -> int:
        return self.result.fraction + GUARD_BITS

    @property
    def ends(self) -> tuple[float, float]:
        """The range of the result."""
        type_ = self.result
        return type_.lowest_code * type_.resolution, type_.max_code * type_.resolution

    def of(self, codes: Codes) -> Doubles:
        """The function of codes of the source, the same on every machine."""
        return nearby_values(self.function, self.parameters, self.source, codes, GRID_BITS)

    def limited(self, values: Doubles) -> Doubles:
        """Values within the range of the result."""
        return np.clip(values, *self.ends)

    def pieces(self) -> Pieces:
        """The fewest segments that reach WANTED_ERROR, or as many as there may be."""
        low, high = self._edges()
        shift = (high.edge - low.edge).bit_length()
        best = self._pieces(low, high, shift)
        while shift > 0 and self._error(best) > WANTED_ERROR * self.result.resolution:
            shift -= 1
            if ((high.edge - 1) >> shift) - (low.edge >> shift) + 1 > MOST_SEGMENTS:
                break
            best = self._pieces(low, high, shift)
        return best

    def _edges(self) -> tuple[Line, Line]:
        """The tails: at either end, of the candidates the one that holds farthest."""
        codes = sampled_codes(self.source)
        first, last = self.source.min_code, self.source.max_code
        low = max((self._edge(tail, codes), tail) for tail in self._candidates(self.tails[0], first))
        below, low_tail = int(low[0]), low[1]
        below = min(below, last)
        rest = codes[codes >= below]
        high = min((self._edge(tail, rest[::-1]), tail) for tail in self._candidates(self.tails[1], last))
        above = max(int(high[0]) + 1, below + 1)
        return self._line(low_tail, below, first), self._line(high[1], above, last + 1)

    def _candidates(self, tail: Tail | None, end: int) -> list[Tail]:
        """The function's own tail, and the value that it has at the end of the range."""
        at_end = Tail(0.0, float(self.limited(self.of(np.array([end], object)))[0]))
        return [at_end] if tail is None else [tail, at_end]

    def _edge(self, tail: Tail, codes: Codes) -> int:
        """The first of `codes`, outermost first, for which `tail` does not hold; to the very code."""
        fails = np.flatnonzero(~self._holds(tail, codes))
        if not fails.size:
            return int(codes[-1])
        if not fails[0]:
            return int(codes[0])
        holding, failing = int(codes[fails[0] - 1]), int(codes[fails[0]])
        while abs(failing - holding) > 1:
            middle = (holding + failing) // 2
            if self._holds(tail, np.array([middle], object))[0]:
                holding = middle
            else:
                failing = middle
        return failing

    def _holds(self, tail: Tail, codes: Codes) -> NDArray[np.bool_]:
        values = tail.gain * self.source.decode(codes) + tail.offset
        off = np.abs(self.limited(values) - self.limited(self.of(codes)))
        return np.asarray(off <= TAIL_ERROR * self.result.resolution)

    def _line(self, tail: Tail, edge: int, end: int) -> Line:
        """`tail` beyond `edge` as far as `end`, in integers."""
        if edge == end:
            return Line(edge=edge)
        at_edge = tail.gain * np.ldexp(float(edge), -self.source.fraction) + tail.offset
        offset = _integer(at_edge, self.fraction)
        if tail.gain == 0:
            return Line(edge=edge, offset=offset)
        # With as many bits below as the distance has, its error stays below one code of the value.
        shift = abs(end - edge).bit_length()
        gain = _integer(tail.gain, self.fraction - self.source.fraction + shift)
        while shift > 0 and gain % 2 == 0:
            gain, shift = gain // 2, shift - 1
        if self.result.rounding is Rounding.TRN and abs(gain) != 1 and shift > 0:
            offset += 2  # what a rounded gain and the shift lose: see `_pieces`
        return Line(edge=edge, offset=offset, gain=gain, shift=shift)

    def _pieces(self, low: Line, high: Line, shift: int) -> Pieces:
        points = self._points(low.edge, high.edge, shift)
        exact = self.of(points.astype(object))
        # beyond float64 too the end of the result's range counts as the function
        exact = np.where(np.isfinite(exact), exact, self.limited(exact))
        values = np.ldexp(exact, self.fraction)
        length = np.maximum(points[:, -1] - points[:, 0], 1)
        rises = (values[:, -1] - values[:, 0]) / length.astype(np.float64)
        slopes = _integers(np.ldexp(rises, shift))
        rest = (points & ((1 << shift) - 1)).astype(object)
        residues = values - (slopes[:, None] * rest >> shift).astype(np.float64)
        most, least = residues.max(axis=1), residues.min(axis=1)
        # A result that is rounded down is best approached from above.
        centre = np.ceil(most) if self.result.rounding is Rounding.TRN else (most + least) / 2
        return Pieces(
            source=self.source,
            result=self.result,
            low=low,
            high=high,
            shift=shift,
            bases=tuple(_integers(centre)),
            slopes=tuple(slopes),
        )

    def _points(self, low: int, high: int, shift: int) -> Codes:
        """[segments, points]: codes of each segment between the edges, its first and last among them."""
        first = low >> shift
        starts = (np.arange(((high - 1) >> shift) - first + 1).astype(object) + first) << shift
        begins = np.maximum(starts, low)
        lengths = np.minimum(starts + (1 << shift), high) - 1 - begins
        count = min(1 << shift, POINTS + 1)
        steps = np.arange(count).astype(object)
        return np.asarray(begins[:, None] + lengths[:, None] * steps // max(1, count - 1))

    def _error(self, pieces: Pieces) -> float:
        """The pieces' largest distance from the function between the edges, before the cast."""
        codes = self._points(pieces.low.edge, pieces.high.edge, pieces.shift)
        values = np.ldexp(pieces.values(codes).astype(np.float64), -self.fraction)
        return float(np.abs(self.limited(values) - self.limited(self.of(codes))).max())


@lru_cache(maxsize=256)
def fitted(fit: Fit) -> Pieces:
    """The pieces that `fit` finds; networks have many layers with the same function and types."""
    return fit.pieces()


def sampled_codes(type_: FixedType) -> Codes:
    """Codes of a type, ascending: all of them, or of a wide type a dense choice with both ends."""
    if type_.width <= ALL_CODES_BITS:
        return np.arange(type_.min_code, type_.max_code + 1)
    count = 1 << (ALL_CODES_BITS - 4)
    evenly = np.arange(count + 1).astype(object)
    span = type_.max_code - type_.min_code
    near = NEAR_ZERO << max(0, type_.fraction)
    low, high = max(type_.min_code, -near), min(type_.max_code, near)
    codes = {*(type_.min_code + span * evenly // count), *(low + (high - low) * evenly // count)}
    codes |= set(range(max(type_.min_code, -64), min(type_.max_code, 64) + 1))
    return np.array(sorted(codes), object)


def _integer(value: float, fraction: int) -> int:
    """value * 2**fraction, to the nearest integer."""
    return round(float(np.ldexp(value, fraction)))


def _integers(values: Doubles) -> Codes:
    """The nearest integers, as Python integers."""
    return np.array([round(float(value)) for value in values], object)
