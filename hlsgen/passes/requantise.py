"""Requantisation: integer codes in the graph, the real scales of a quantised model beside it.

A quantised model computes with real numbers scale * code. Where the scale is a power of two, the type says
it. Any other scale is kept here, as a number on the side: a convolution of codes gives exact integer sums
with the scale s_x * s_w, batch normalisation and biases change scale and shift, a ReLU limits. Only where a
quantiser (or a join, or a function) needs the value itself, one `Affine` makes the codes that it wants:

    y = round(x * M + B), M = scale / s_y, B = shift / s_y, limited to the codes of the quantiser

M has MULTIPLIER_BITS significant bits in each channel, B at least BIAS_BITS fraction bits below a step of y.
A small M may have fewer, if y is rounded to nearest and they move no result by 2**-(SURE_BITS + 1) steps. So
y differs from the exact requantisation only where that lies within |x * M| * 2**(1 - MULTIPLIER_BITS) +
2**-(SURE_BITS + 1) + 2**-(BIAS_BITS + 1) steps of a tie, and then by one code. A sign is exact: each channel
has its own threshold (threshold_codes.signs_of).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hlsgen.base.coded import (
    SIGN,
    Coded,
    Doubles,
    code_type,
    fraction_bits,
    held,
    on_grid,
    power_of_two,
    trailing_zeros,
    value_bits,
)
from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.base.fixed import MAX_INTEGER, FixedType, Rounding
from hlsgen.designfile.names import Names
from hlsgen.layers.affine import Affine
from hlsgen.layers.base import Layer, Tensor
from hlsgen.layers.cast import Cast
from hlsgen.layers.clamp import Clamp
from hlsgen.model.ir import Graph
from hlsgen.model.precision import binade
from hlsgen.passes.quantisers import Direction, Grid, rounded
from hlsgen.passes.scaled import (
    ONE,
    WIDEST_EXACT,
    ZERO,
    Scaled,
    compressed,
    exact_fraction,
    holds,
    limits_of,
    multipliers,
    scale_and_fraction,
    without_sign,
)
from hlsgen.passes.threshold_codes import signs_of

BIAS_BITS = 24
SURE_BITS = 16
"""Products of small multipliers may be off by 2**-(SURE_BITS + 1) steps."""
DIRECTED = (Rounding.TRN, Rounding.TRN_ZERO)
"""Modes that ask on which side of a step a value is, so that a small multiplier must not become 0."""
SAME_STEP = 1e-6
"""Share of a step by which a quotient of doubles may be off it."""


@dataclass(frozen=True)
class Fineness:
    """How a value that no quantiser follows is rounded where it is not exact: to steps of at most 2**-finer
    of its own, coarser if it needs more than `widest` bits.
    """

    finer: int
    widest: int


INNER = Fineness(finer=6, widest=32)
"""The rounding of what layers read."""
SLOPED = Fineness(finer=16, widest=32)
"""The rounding of what slopes multiply, so that products have up to 64 bits."""
OUTPUT = Fineness(finer=16, widest=48)
"""The rounding of the network's outputs."""
ARGUMENT_BITS = 12
"""Fraction bits of what a function reads, at least, where it is rounded at all."""
JOIN_BITS = 16
"""Operands of a join are brought to a common scale in steps of at most 2**-JOIN_BITS of their own."""
MOST_STEPS = 2.0**32


class Emitter:
    """The layers of the fixed-point graph, in order, and those that put a real value on a grid of codes."""

    def __init__(self, graph: Graph) -> None:
        taken = [graph.name, *graph.tensors(), *(port.name for port in graph.outputs)]
        self._names = Names(taken)
        self.layers: list[Layer] = []

    def emit(self, layer: Layer) -> Tensor:
        """Adds a layer. Raises DesignError: its problems."""
        problems = layer.check()
        if problems:
            raise DesignError(problems)
        self.layers.append(layer)
        return layer.output

    def _after(self, kind: type[Layer], x: Scaled, suffix: str, place: Place | None, **fields: Any) -> Scaled:
        """The plain result of a new layer that reads the tensor of `x`."""
        layer = kind(name=self._names.unique(f"{x.name}{suffix}"), inputs=(x.name,), place=place, **fields)
        return Scaled(name=layer.name, tensor=self.emit(layer))

    # onto a grid

    def quantised(self, x: Scaled, grid: Grid, place: Place | None = None) -> Scaled:
        """`x` as the codes of a quantiser."""
        if grid.bipolar:
            return self._bipolar(x, grid, place)
        if grid.zero % 2 and grid.direction is Direction.ROUND:
            return self._with_odd_zero(x, grid, place)
        scale, fraction = scale_and_fraction(grid.scale)
        if x.is_limited and scale.size > 1:
            x = self.unlimited(x, place)
        # rounding keeps the order: limits before it are rounded limits after it
        step = math.ldexp(float(scale[0]), -fraction)
        limits = (
            None if limit is None else int(np.clip(rounded(np.array(limit / step), grid.direction), *ends))
            for limit, ends in ((x.low, (grid.low, grid.high)), (x.high, (grid.low, grid.high)))
        )
        least, most = limits
        low, high = grid.low if least is None else least, grid.high if most is None else most
        rounding = Rounding.TRN if grid.direction is Direction.CEIL else grid.direction.rounding
        if rounding is None:
            message = f"{x.name} is quantised with rounding mode {grid.direction.value}"
            modes = ", ".join(mode.value for mode in Direction if mode is not Direction.UP)
            raise DesignError(Problem(message=message, fix=f"one of {modes}", place=place))
        target = code_type(low, high, fraction, rounding)
        ceil = grid.direction is Direction.CEIL
        free = replace(x, low=None, high=None)
        return replace(self.onto(free, scale, target, low, high, ceil, place), scale=scale)

    def _with_odd_zero(self, x: Scaled, grid: Grid, place: Place | None) -> Scaled:
        """Halves to even with a zero point of one more: it is added before rounding and subtracted beside."""
        shift = grid.zero * grid.scale
        moved = self.unlimited(x, place).moved(ONE, shift)
        integers = replace(grid, low=grid.low + grid.zero, high=grid.high + grid.zero, zero=0)
        made = self.quantised(moved, integers, place)
        return replace(made, shift=made.shift - shift)

    def onto(
        self,
        x: Scaled,
        scale: Doubles,
        target: FixedType,
        low: int,
        high: int,
        ceil: bool = False,
        place: Place | None = None,
    ) -> Scaled:
        """The codes of `x / scale` in `target`, limited to the codes `low` to `high`; scale 1 on the side."""
        multiplier, shift = x.scale / scale, x.shift / scale
        # a product and quotient of the same factors may be one ulp from 1
        multiplier = np.where(np.abs(multiplier - 1) < 1e-12, 1.0, multiplier)
        _refuse_far(x, multiplier, shift, place)
        limits = limits_of(target, low, high)
        rounds = x.type.fraction > target.fraction
        # a clamp rounds its limits to codes of its source
        off_grid = bool(limits) and x.type.fraction < target.fraction
        if not shift.any() and (multiplier == 1).all() and not (ceil and rounds or off_grid):
            if not limits and holds(target, x.type):
                return replace(x, scale=ONE, shift=ZERO)
            kind: type[Layer] = Clamp if limits else Cast
            fields = {**limits, "source": x.tensor, "result_type": target}
            made = self._after(kind, x, "_quant", place, **fields)
            return replace(made, ends=(low, high))
        made = self._affine(x, compressed(multiplier), compressed(shift), target, limits, ceil, place)
        return replace(made, ends=(low, high))

    def _affine(
        self,
        x: Scaled,
        multiplier: Doubles,
        shift: Doubles,
        target: FixedType,
        limits: dict[str, float],
        ceil: bool,
        place: Place | None,
    ) -> Scaled:
        channels = x.tensor.shape[0]
        finest = math.inf if target.rounding in DIRECTED else x.type.integer + target.fraction + SURE_BITS
        factors = multipliers(np.broadcast_to(multiplier, channels), finest)
        finer = target.fraction - x.type.fraction - factors.type.fraction
        if limits and finer > 0:  # which become codes of the sums
            codes = factors.codes << finer
            factors = Coded(codes=codes, type=held(codes, factors.type.fraction + finer))
        fraction = target.fraction + BIAS_BITS
        if ceil:
            fraction = max(factors.type.fraction + x.type.fraction, target.fraction)
        steps = np.ldexp(np.broadcast_to(shift, channels), fraction)
        if ceil:  # of products on this grid and a shift between its steps: that rounds up as well
            steps = np.where(np.abs(steps - np.rint(steps)) < SAME_STEP, steps, np.ceil(steps))
        codes = np.rint(steps).astype(np.int64)
        if ceil:  # ceil(v) = floor(v + 1 - the last bit of v)
            codes += (1 << (fraction - target.fraction)) - 1
        spare = trailing_zeros(codes)
        codes, fraction = codes >> spare, fraction - spare
        offsets = Coded(codes=codes, type=held(codes, fraction))
        return self._scaled_by(x, factors, offsets, target, limits, place)

    def _scaled_by(
        self,
        x: Scaled,
        factors: Coded,
        offsets: Coded,
        target: FixedType,
        limits: dict[str, float],
        place: Place | None,
    ) -> Scaled:
        """The tensor of `x` by factors and offsets [C], as `target`."""
        channels = x.tensor.shape[0]
        layer = Affine(
            name=self._names.unique(f"{x.name}_scale"),
            inputs=(x.name,),
            place=place,
            in_shape=x.tensor.shape,
            out_channels=channels,
            groups=channels,
            input_type=x.type,
            weight_type=factors.type,
            bias_type=offsets.type,
            accumulator=x.type,
            result_type=target,
            weights=factors.codes.reshape(-1, 1, 1, 1),
            bias=offsets.codes if offsets.codes.any() else np.zeros(0, np.int64),
            **limits,  # type: ignore[arg-type]
        )
        layer = layer.retyped((x.type,), target)
        return Scaled(name=layer.name, tensor=self.emit(layer))

    def _bipolar(self, x: Scaled, grid: Grid, place: Place | None) -> Scaled:
        """-1 or 1 as 2 * code + 1 with the code -1 or 0, which is all that a one-bit type holds."""
        if x.is_limited and not ((x.low is None or x.low < 0) and (x.high is None or x.high >= 0)):
            x = self.unlimited(x, place)
        channels = x.tensor.shape[0]
        scale, shift = (np.broadcast_to(part, channels) for part in (x.scale, x.shift))
        factors, offsets = signs_of(scale, shift, x.type)
        if (factors.codes == 1).all() and not offsets.codes.any():
            plain = replace(x, scale=ONE, shift=ZERO, low=None, high=None)
            made = self.onto(plain, ONE, SIGN, -1, 0, place=place)
        else:
            made = self._scaled_by(x, factors, offsets, SIGN, {}, place)
        return replace(made, scale=2 * grid.scale, shift=grid.scale, ends=None)

    # what layers can read

    def materialised(
        self, x: Scaled, place: Place | None = None, finest: int = -MAX_INTEGER, fine: Fineness = INNER
    ) -> Scaled:
        """`x` as the value of a tensor: exact if WIDEST_EXACT bits do, else rounded as `fine` says.

        finest: fraction bits that it has at least, unless it is exact with fewer.
        """
        least, most = x.bounds()
        fraction = exact_fraction(x)
        if fraction is None or value_bits(least, most, fraction) > WIDEST_EXACT:
            steps = np.abs(x.scale[x.scale != 0]) * x.type.resolution
            step = float(steps.min()) if steps.size else max(abs(least), abs(most), 1.0)
            fraction = max(fine.finer - binade(step), finest)
            fraction -= max(0, value_bits(least, most, fraction) - fine.widest)
        low, high = math.floor(math.ldexp(least, fraction)), math.ceil(math.ldexp(most, fraction))
        limit_low = None if x.low is None else round(math.ldexp(x.low, fraction))
        limit_high = None if x.high is None else round(math.ldexp(x.high, fraction))
        target = code_type(low, high, fraction)
        low = target.lowest_code if limit_low is None else limit_low
        high = target.max_code if limit_high is None else limit_high
        low, high = max(low, target.lowest_code), min(high, target.max_code)
        return self.onto(replace(x, low=None, high=None), ONE, target, low, high, place=place)

    def holding(self, x: Scaled, value: float, place: Place | None = None) -> Scaled:
        """`x`, linear, in a type that also has `value`, rounded if that takes over JOIN_BITS bits more.

        Raises DesignError: it is so far from the others that no type of WIDEST_EXACT bits holds both.
        """
        if not value or not math.isfinite(value):  # the layer that reads it refuses what is not finite
            return x
        fraction = max(x.type.fraction, min(fraction_bits(value), x.type.fraction + JOIN_BITS))
        code = round(math.ldexp(value, fraction))
        finer = fraction - x.type.fraction
        least, most = x.type.lowest_code << finer, x.type.max_code << finer
        if not finer and least <= code <= most:
            return x
        if abs(code) >> WIDEST_EXACT:
            padded = value * float(x.scale[0])
            message = f"{x.name} is padded with {padded:g}, but its values lie within {x.bounds()}"
            fix = "a value near the others; before max pooling, its own padding"
            raise DesignError(Problem(message=message, fix=fix, place=place))
        target = code_type(min(least, code), max(most, code), fraction)
        made = self._after(Cast, x, "_wide", place, source=x.tensor, result_type=target)
        return replace(made, scale=x.scale)

    def unlimited(self, x: Scaled, place: Place | None = None, fine: Fineness = INNER) -> Scaled:
        """`x` without limits on the side."""
        if not x.is_limited:
            return x
        if x.rises and x.scale.size == 1 and not x.shift.any():
            limits = [None if limit is None else limit / float(x.scale[0]) for limit in (x.low, x.high)]
            if all(limit is None or on_grid(limit, x.type.fraction) for limit in limits):
                fields = {"source": x.tensor, "low": limits[0], "high": limits[1]}
                made = Clamp(name="limits", result_type=x.type, **fields)  # type: ignore[arg-type]
                natural = without_sign(made.natural_type, limits[0])
                clamped = self._after(Clamp, x, "_clamp", place, **fields, result_type=natural)
                return replace(clamped, scale=x.scale)
        return self.materialised(x, place, fine=fine)

    def linear(self, x: Scaled, place: Place | None = None, fine: Fineness = INNER) -> Scaled:
        """`x` as scale * value."""
        x = self.unlimited(x, place, fine)
        if x.is_linear:
            return x
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = x.shift / x.scale
        lifts = power_of_two(x.scale) is None
        if x.rises and lifts and on_grid(steps, x.type.fraction + 1):
            fraction = x.type.fraction + (not on_grid(steps, x.type.fraction))
            least, most = replace(x, scale=ONE, shift=steps).bounds()
            low, high = round(math.ldexp(least, fraction)), round(math.ldexp(most, fraction))
            target = code_type(low, high, fraction)
            moved = replace(x, scale=ONE, shift=steps)
            made = self.onto(moved, ONE, target, target.lowest_code, target.max_code, place=place)
            return replace(made, scale=x.scale)
        return self.materialised(x, place, fine=fine)

    def uniform(self, x: Scaled, place: Place | None = None, fine: Fineness = INNER) -> Scaled:
        """`x` as scale * value with one positive scale."""
        x = self.linear(x, place, fine)
        return x if x.is_uniform else self.materialised(x, place, fine=fine)

    def result(self, x: Scaled, target: FixedType | None) -> Scaled:
        """`x` as the network gives it: with one positive scale, or as a value of the type `target`."""
        if target is None:
            return self.uniform(x, fine=OUTPUT)
        low, high = (
            end if limit is None else int(target.encode(limit))
            for limit, end in ((x.low, target.lowest_code), (x.high, target.max_code))
        )
        return self.onto(replace(x, low=None, high=None), ONE, target, low, high)

    def rising(self, x: Scaled, place: Place | None = None) -> Scaled:
        """`x` with positive scales alone: codes of the other channels change their sign, those of scale 0
        become 0.
        """
        if x.rises:
            return x
        signs = np.sign(x.scale)
        least, most = sorted((x.type.lowest_code, x.type.max_code))
        target = code_type(min(least, -most), max(most, -least), x.type.fraction)
        flipped = replace(x, scale=signs, shift=ZERO, low=None, high=None)
        made = self.onto(flipped, ONE, target, target.lowest_code, target.max_code, place=place)
        return replace(x.at(made), scale=np.where(signs == 0, 1.0, np.abs(x.scale)))

    def argument(self, x: Scaled, place: Place | None = None) -> Scaled:
        """`x` as the value of a tensor that a function reads: exact, or see ARGUMENT_BITS."""
        return x if x.is_plain else self.materialised(x, place, ARGUMENT_BITS)

    def common(self, values: list[Scaled], place: Place | None = None) -> list[Scaled]:
        """Values that are linear with one scale, that of the coarsest; the others are multiplied to it."""
        values = [self.linear(x, place) for x in values]
        if all(np.array_equal(x.scale, values[0].scale) for x in values):
            return values
        values = [self.uniform(x, place) for x in values]
        scale = max(float(x.scale[0]) for x in values)
        return [self._rescaled(x, scale, place) for x in values]

    def _rescaled(self, x: Scaled, scale: float, place: Place | None) -> Scaled:
        ratio = float(x.scale[0]) / scale
        if ratio == 1:
            return x
        exponent = power_of_two(np.array([ratio]))
        finer = JOIN_BITS - binade(ratio) if exponent is None else -int(exponent[0])
        fraction = x.type.fraction + finer
        least, most = (value / scale for value in x.bounds())
        low, high = math.floor(math.ldexp(least, fraction)), math.ceil(math.ldexp(most, fraction))
        target = code_type(low, high, fraction)
        low, high = target.lowest_code, target.max_code
        made = self.onto(x, np.array([scale]), target, low, high, place=place)
        return replace(made, scale=np.array([scale]))


def _refuse_far(x: Scaled, multiplier: Doubles, shift: Doubles, place: Place | None) -> None:
    """Refuses scales that no quantiser in use has: they would overflow what follows."""
    with np.errstate(over="ignore"):
        largest = max(float(np.abs(multiplier).max()), float(np.abs(shift).max()))
    if not largest < MOST_STEPS:
        message = f"{x.name}: a step before a quantiser is {largest:g} steps behind it"
        raise DesignError(
            Problem(message=message, fix=f"scales that differ by less than {MOST_STEPS:g}", place=place)
        )
