"""The graph builder with types of its own: each layer gives its exact result, until a cast says otherwise.

In a fixed-point graph QKeras' layers have the types that their operands need; only quantizers of activations
make results narrower. What has no exact type (a sigmoid, an average over 9 pixels) gets the type of the
quantizer that follows it, so that it is rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.base.coded import SIGN, SIGNIFICANT_BITS, Coded, Doubles, on_grid
from hlsgen.base.fixed import (
    MAX_TENSOR_WIDTH,
    FixedType,
    FloatType,
    NumberType,
    Overflow,
    Rounding,
    product_type,
)
from hlsgen.frontends.builder.builder import GraphBuilder, SumTypes, Value
from hlsgen.frontends.builder.choosing import Comparison, Numbers, Part
from hlsgen.frontends.builder.sums import FLOAT, FLOATS
from hlsgen.frontends.qkeras.quantizers import (
    UnsupportedQuantizerError,
    each_real,
    real,
)
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.passes.requantise import SURE_BITS
from hlsgen.passes.threshold_codes import signs_of

SHORT_BITS = 18
"""Numbers up to this width are meant: products with them stay exact. Longer ones come from real numbers."""
PRODUCT_BITS = 32
"""Bits of a product with a longer number, if no quantizer follows: 8 more than float32 has."""
NARROWER = "a quantizer (QActivation) after this layer or one before it"


class TypedBuilder(GraphBuilder):
    """Float layers if `fixed` is False, else layers with exact types and weights as `Coded`."""

    def __init__(self, name: str, *, fixed: bool, fallback: FixedType | None = None) -> None:
        """fallback: of results that no quantizer gives a type to."""
        super().__init__(name, channels_last=True)
        self.fixed = fixed
        self._wanted: FixedType | None = None
        self._rounded = False
        self.fallback = fallback
        self.fallback_used = False

    @contextmanager
    def followed_by(self, type_: FixedType | None) -> Iterator[None]:
        """What is made inside is cast to `type_` afterwards; None: it is not, or not alike by all readers."""
        self._wanted = type_
        try:
            yield
        finally:
            self._wanted = None

    @property
    def wanted(self) -> FixedType | None:
        """The type of the quantiser that follows, for a layer that rounds to it itself; None: no type."""
        self._rounded |= self._wanted is not None
        return self._wanted

    def rounded_ahead(self) -> bool:
        """Whether a layer since the last call rounded as the quantiser after it does."""
        rounded, self._rounded = self._rounded, False
        return rounded

    def layer(self, kind: Callable[..., Layer], *values: Value, suffix: str = "", **fields: Any) -> Layer:
        """The layer as GraphBuilder adds it; a fixed-point layer whose result type is not said gets its exact
        one.

        Raises DesignError: that has more than 64 bits, or `check` finds problems.
        """
        if self.fixed and "result_type" in fields:
            fields |= self._exact_types(kind, values, fields)
        made = super().layer(kind, *values, suffix=suffix, **fields)
        if (
            self.fixed
            and isinstance(made.output_type, FixedType)
            and made.output_type.width > MAX_TENSOR_WIDTH
        ):
            message = f"its exact results need {made.output_type.width} bits ({made.output_type})"
            raise self.refusal(message, f"at most {MAX_TENSOR_WIDTH} bits: {NARROWER}")
        return made

    def _exact_types(
        self, kind: Callable[..., Layer], values: Sequence[Value], fields: dict[str, Any]
    ) -> dict[str, NumberType]:
        given: NumberType = fields["result_type"]
        open_result = isinstance(given, FloatType)
        if not open_result and "accumulator" not in fields:
            return {}
        names = tuple(value.source for value in values)
        draft = kind(name=self._wish, inputs=names, place=self._place, **fields)
        try:
            exact = draft.retyped(tuple(v.tensor.type for v in values), None if open_result else given)
        except ValueError:  # no type is that wide
            raise self.refusal("its exact results need more than 128 bits", NARROWER) from None
        types = {"result_type": exact.output_type}
        if isinstance(exact, Conv2d):
            types["accumulator"] = exact.accumulator
        return types

    def type_of(self, x: Value) -> FixedType:
        """The type of a value of a fixed-point graph."""
        assert isinstance(x.tensor.type, FixedType)
        return x.tensor.type

    # numbers

    @contextmanager
    def quantizing(self) -> Iterator[None]:
        """An UnsupportedQuantizerError inside becomes an error about the layer that is being built."""
        try:
            yield
        except UnsupportedQuantizerError as error:
            raise self.refusal(str(error), error.fix) from None

    def parameters(self, weights: Coded | Doubles, bias: Coded | Doubles | None) -> dict[str, Any]:
        """Weights and bias as arguments of `conv2d` and the like: numbers, or codes and their types."""
        if isinstance(weights, Coded):
            assert bias is None or isinstance(bias, Coded)
            types = SumTypes(weights=weights.type, bias=weights.type if bias is None else bias.type)
            return {"weights": weights.codes, "bias": None if bias is None else bias.codes, "types": types}
        assert not isinstance(bias, Coded)
        return {"weights": weights, "bias": bias}

    def affine(
        self, x: Value, scale: ArrayLike = 1.0, shift: ArrayLike | None = None, types: SumTypes = FLOATS
    ) -> Value:
        """The affine layer as GraphBuilder adds it; real numbers in fixed point as `scaled`."""
        if self.fixed and types is FLOATS:
            return self.scaled(x, scale, shift)
        return super().affine(x, scale, shift, types)

    def conv2d(
        self,
        x: Value,
        weights: Doubles,
        bias: Doubles | None = None,
        *,
        types: SumTypes = FLOATS,
        **window: Any,
    ) -> Value:
        """The convolution as GraphBuilder adds it; real weights without a bias keep 24 significant bits in
        fixed point.
        """
        if self.fixed and types is FLOATS and bias is None:
            with self.quantizing():
                return super().conv2d(x, **self.parameters(real(weights), None), **window)
        return super().conv2d(x, weights, bias, types=types, **window)

    def dense(
        self,
        x: Value,
        weights: Doubles,
        bias: Doubles | None = None,
        axis: int = -1,
        types: SumTypes = FLOATS,
    ) -> Value:
        """The product as GraphBuilder adds it; real weights without a bias as `conv2d` has them."""
        if self.fixed and types is FLOATS and bias is None:
            with self.quantizing():
                return super().dense(x, axis=axis, **self.parameters(real(weights), None))
        return super().dense(x, weights, bias, axis, types)

    def table(
        self, x: Value, function: str, parameters: tuple[float, ...] = (), result_type: NumberType = FLOAT
    ) -> Value:
        """The table as GraphBuilder adds it; what is kept above a threshold keeps its type in fixed point."""
        if self.fixed and function == "threshold" and isinstance(result_type, FloatType):
            result_type = self.type_of(x)
        return super().table(x, function, parameters, result_type)

    def _limited(self, origin: Comparison, chosen: Part, other: Part) -> Value | None:
        """A choice as a limit, as GraphBuilder's; in fixed point only if the value's type has the number."""
        constants = [part for part in (chosen, other) if not isinstance(part, Value)]
        if self.fixed and not all(self._holds(origin.x, part) for part in constants):
            return None
        return super()._limited(origin, chosen, other)

    def _holds(self, x: Value, numbers: Numbers) -> bool:
        codes = np.ldexp(numbers, self.type_of(x).fraction)
        least, most = self.type_of(x).min_code, self.type_of(x).max_code
        return bool(np.all((codes == np.rint(codes)) & (least <= codes) & (codes <= most)))

    def scaled(
        self,
        x: Value,
        scale: ArrayLike = 1.0,
        shift: ArrayLike | None = None,
        result_type: FixedType | None = None,
    ) -> Value:
        """scale * x + shift, real numbers that broadcast to `x`.

        Fixed point: numbers that need more than 25 bits together keep 24 significant bits each, small ones
        only what can move a result by 2**-(SURE_BITS + 1) steps; a shift no fraction bits beyond those of the
        products and beyond 24. Where a sign follows, `x` is compared with each channel's exact threshold.
        """
        if not self.fixed:
            return self.affine(x, scale, shift)
        if result_type is None and self.wanted == SIGN:
            return self._signs_of(x, scale, 0.0 if shift is None else shift)
        with self.quantizing():
            source, result = self.type_of(x), result_type or self.wanted
            steps = PRODUCT_BITS - source.integer if result is None else result.fraction
            factors = each_real(scale, source.integer + steps + SURE_BITS)
            finest = max(source.fraction + factors.type.fraction, SIGNIFICANT_BITS)
            offsets = None if shift is None else each_real(shift, finest)
        return self.affine_of(x, factors, offsets, result_type)

    def _signs_of(self, x: Value, scale: ArrayLike, shift: ArrayLike) -> Value:
        """Whether scale * x + shift is negative, as SIGN has it."""
        lines = np.broadcast_arrays(np.asarray(scale, np.float64), np.asarray(shift, np.float64))
        source, shape = self.type_of(x), lines[0].shape
        scales, shifts = (part.reshape(-1) for part in lines)
        found = signs_of(scales, shifts, source, either_sign=True)
        coded = [replace(one, codes=one.codes.astype(np.int64).reshape(shape)) for one in found]
        return self.affine_of(x, coded[0], coded[1], SIGN)

    def affine_of(
        self, x: Value, factors: Coded, offsets: Coded | None, result_type: FixedType | None = None
    ) -> Value:
        """factors * x + offsets, of codes; exact if the factors have up to SHORT_BITS bits."""
        types = SumTypes(
            weights=factors.type,
            bias=factors.type if offsets is None else offsets.type,
            result=result_type or self._product_type(x, factors, offsets),
        )
        return self.affine(x, factors.codes, None if offsets is None else offsets.codes, types)

    def _product_type(self, x: Value, factors: Coded, offsets: Coded | None) -> NumberType:
        """Float: the exact type, of short factors. Else the following quantizer's, or one of PRODUCT_BITS."""
        if factors.type.width <= SHORT_BITS:
            return FloatType()
        if self.wanted is not None:
            return self.wanted
        integer = product_type(self.type_of(x), factors.type).integer
        if offsets is not None:
            integer = 1 + max(integer, offsets.type.integer)
        return FixedType(PRODUCT_BITS, integer, True, Rounding.RND_CONV, Overflow.SAT)

    def converted(self, x: Value, type_: FixedType) -> Value:
        """`x` cast to `type_`; as it is if it has that type."""
        return x if x.tensor.type == type_ else self.cast(x, type_)

    def limited(self, x: Value, low: float | None, high: float | None) -> Value:
        """`x` between limits. Raises DesignError: a limit is no multiple of the resolution of `x`."""
        if self.fixed:
            type_ = self.type_of(x)
            for limit in (low, high):
                if limit is not None and not on_grid(limit, type_.fraction):
                    raise self.refusal(
                        f"its limit {limit:g} is no multiple of its input's resolution {type_.resolution:g}",
                        "a limit that is one, or a quantizer with more fraction bits before it",
                    )
        return self.clamp(x, low, high)

    def leaked(self, x: Value, slopes: ArrayLike) -> Value:
        """x where it is not negative, else slopes * x."""
        if not self.fixed:
            return self.leaky(x, slopes)
        with self.quantizing():
            codes = each_real(slopes)
        return self.leaky(x, codes.codes, codes.type)

    def without_exact_type(self, what: str, default: FixedType | None = None) -> NumberType:
        """The type of a result that no type holds exactly: the following quantizer's, or the default.

        Raises DesignError: there is neither in a fixed-point graph.
        """
        if not self.fixed:
            return FloatType()
        type_ = self.wanted or default or self.fallback
        if type_ is None:
            raise self.refusal(
                f"{what} has no exact fixed-point result, and nothing says its type",
                "a QActivation with quantized_bits or quantized_relu right after it, or "
                'precision={"default": "fixed<16,6>"}',
            )
        self.fallback_used |= type_ is self.fallback
        return type_

    def averaged_as(self) -> NumberType:
        """The type of an average: the following quantizer's; else open, so the exact one if there is one."""
        return self.wanted if self.fixed and self.wanted else FloatType()
