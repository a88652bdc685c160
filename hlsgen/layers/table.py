"""Functions of one value by a table: sigmoid, tanh, GELU and the like."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from hlsgen.base.coded import code_type, fraction_bits, value_bits
from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import (
    MAX_TENSOR_WIDTH,
    MAX_WIDTH,
    Codes,
    FixedType,
    FloatType,
    Overflow,
    Rounding,
    tell_watcher,
    tight_accumulator,
    watching_casts,
)
from hlsgen.layers.base import frames_of
from hlsgen.layers.correct_rounding import GRID_BITS, PLAIN, Units, nearby_values, rounded_codes
from hlsgen.layers.elementwise_stage import ElementwiseStage
from hlsgen.layers.functions import FUNCTIONS, Doubles, Function, Tail
from hlsgen.layers.piecewise import Fit, Line, Pieces, fitted, sampled_codes
from hlsgen.layers.stage import Buffer, Fold, Stage, Work, pixel_folds
from hlsgen.layers.unary import Unary

__all__ = ["FUNCTIONS", "Function", "Table", "Tail"]

DIRECT_BITS = 11
"""The widest source whose table has an entry for each of its codes."""
EXACT_BITS = 14
"""The widest source whose codes have corrections that make the pieces exact: 2 BRAM18 at 14 bits."""
SELECTING = frozenset({"abs", "hardshrink", "threshold"})
"""Functions that give a value of the source, perhaps negated, or a number: of a type that holds them all."""
COARSEST_ERROR = 2.0**-8
"""The largest error by the function's largest value; pieces farther off, and by over 4 LSB, are refused."""
MOST_LITERAL_BITS = 63
"""Constants of the pieces stand in the source as numbers of this many bits and a sign."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Table(Unary, kind="table"):
    """in [C, H, W] -> out [C, H, W]: `function`, a name in FUNCTIONS, of each value, with its `parameters`.

    Parameters are in the function's order; those that are not given have its defaults. Fixed point: up to
    DIRECT_BITS the result is entries[bits of the code]: f(x), computed to all its digits, in `result_type`.
    Beyond, the pieces' value of the code (see Pieces) is cast to `result_type`; up to EXACT_BITS
    corrections[bits of the code] is added, which makes it the same number as an entry. A source of up to
    EXACT_BITS has entries too if those are no wider than corrections would be. Where f leaves the range of
    the result, it becomes the nearest end of that, whatever the overflow mode: a sigmoid of 1 never wraps
    to 0. units: f(scale * x + shift) in multiples of a unit, of sources of up to DIRECT_BITS.
    """

    function: str
    parameters: tuple[float, ...] = ()
    units: Units | None = None

    def result_within(self, bits: int, *sources: FixedType) -> FixedType:
        """Looked for at some thousand values of the source, and finely around zero.

        Of a function that only selects, the type of what it selects: of a source of up to GRID_BITS, to whose
        digits pieces are fitted.
        """
        (type_,) = sources
        if self.function in SELECTING and type_.width <= GRID_BITS:
            least, most, fraction = self._selected(bits, type_)
            if value_bits(least, most, 0) <= MAX_TENSOR_WIDTH:
                return code_type(least, most, fraction)
        span = type_.max_code - type_.min_code
        ends = [type_.min_code + span * step // 4096 for step in range(4097)]
        eighth = 3 - type_.fraction
        near = [step >> eighth if eighth > 0 else step << -eighth for step in range(-64, 65)]
        codes = np.array(sorted({*ends, *(code for code in near if ends[0] <= code <= ends[-1])}), object)
        values = nearby_values(self.function, self.parameters, type_, codes, GRID_BITS)
        low, high = float(values.min()), float(values.max())
        largest = max(high, -low)
        integer = math.frexp(largest)[1] if largest else 1
        signed = low < 0
        return FixedType(bits, integer + signed, signed, Rounding.RND_CONV, Overflow.SAT)

    def _selected(self, bits: int, source: FixedType) -> tuple[int, int, int]:
        """The least and the largest code that is selected of a source, and their fraction bits.

        A threshold's own value is to the nearest: of finer steps than the source's as far as `bits` bits do.
        """
        low, high = source.min_code, source.max_code
        if self.function == "abs":
            return 0, max(high, -low), source.fraction
        defaults = [default for _, default in FUNCTIONS[self.function].parameters]
        given = [*self.parameters, *defaults[len(self.parameters) :]]
        value = given[1] if self.function == "threshold" else 0.0
        finer = max(0, min(fraction_bits([value]) - source.fraction, bits - source.width))
        code = round(Fraction(value) * Fraction(2) ** (source.fraction + finer))
        return min(low << finer, code), max(high << finer, code), source.fraction + finer

    @property
    def is_direct(self) -> bool:
        """Whether the table has an entry for each code of the source."""
        if self.source_type.width <= DIRECT_BITS:
            return True
        return self.is_exact and self._correction_bits >= self.fixed_result.width

    @property
    def is_exact(self) -> bool:
        """Whether every result is the correctly rounded one."""
        return self.source_type.width <= EXACT_BITS

    @cached_property
    def entries(self) -> Codes:
        """[2**width] results; entries[i] is that of the code whose bits are i. Of an exact table."""
        codes = self.source_type.wrap(np.arange(1 << self.source_type.width))
        # the entries are no values of a frame, whichever frame they are first looked up for
        with watching_casts(None):
            return rounded_codes(
                self.function,
                self.parameters,
                self.source_type,
                self.fixed_result,
                codes,
                self.units or PLAIN,
            )

    @cached_property
    def corrections(self) -> Codes:
        """[2**width] what is added to the cast value of the pieces; by the bits of the code, as `entries`.

        Raises ValueError: the pieces need more than 128 bits.
        """
        codes = self.source_type.wrap(np.arange(1 << self.source_type.width))
        return np.asarray(self.entries - self.pieces.golden(codes))

    @property
    def correction_type(self) -> FixedType:
        """The type of `corrections`."""
        least, most = int(self.corrections.min()), int(self.corrections.max())
        return tight_accumulator(least, most, 0)

    @cached_property
    def _correction_bits(self) -> int:
        """MAX_WIDTH where there are no pieces to be corrected."""
        try:
            return self.correction_type.width if _fits(self.pieces) else MAX_WIDTH
        except ValueError:
            return MAX_WIDTH

    @cached_property
    def pieces(self) -> Pieces:
        """The straight pieces of a table that is not direct."""
        return fitted(self._fit)

    @property
    def _fit(self) -> Fit:
        return Fit(
            function=self.function,
            parameters=self.parameters,
            source=self.source_type,
            result=self.fixed_result,
        )

    @cached_property
    def max_error(self) -> float:
        """The largest |result - f(x)|, over all codes of the source, or densely chosen ones above 18 bits.

        Where f leaves the range of the result, the end of that counts as f.
        """
        codes = sampled_codes(self.source_type)
        errors = np.abs(self.fixed_result.decode(self._looked_up(codes)) - self._values(codes))
        return float(errors.max())

    def check(self) -> list[Problem]:
        problems = super().check()
        if self.function not in FUNCTIONS:
            message = f'there is no function "{self.function}"'
            return [*problems, self.problem(message, f"one of {', '.join(sorted(FUNCTIONS))}")]
        names = [name for name, _ in FUNCTIONS[self.function].parameters]
        if len(self.parameters) > len(names) or not np.isfinite(self.parameters).all():
            given = ", ".join(f"{value:g}" for value in self.parameters)
            wanted = f"{', '.join(names)}, finite numbers" if names else "no parameters"
            return [*problems, self.problem(f"{self.function} has the parameters {given}", wanted)]
        if not problems and isinstance(self.source.type, FixedType):
            problems += self._accuracy_problems()
        return problems

    def _accuracy_problems(self) -> list[Problem]:
        """The rules that it has values, needs no more than 128 bits for them, and comes near the function."""
        values = self._values(sampled_codes(self.source_type))
        if np.isnan(values).any():
            given = ", ".join(f"{value:g}" for value in self.parameters)
            message = f"{self.function} with the parameters {given} has no value for some inputs"
            return [self.problem(message, "other parameters; 0 divides in some functions")]
        if self.units is not None and self.source_type.width > DIRECT_BITS:
            message = f"{self.function} of scaled {self.source_type} has no table"
            return [self.problem(message, f"a source of at most {DIRECT_BITS} bits")]
        if self.is_exact:
            return []
        try:
            _ = self.pieces.value_type
        except ValueError:
            message = f"{self.function} of {self.source_type} as {self.result_type} needs more than 128 bits"
            return [self.problem(message, "narrower types")]
        if self.max_error > max(4 * self.fixed_result.resolution, COARSEST_ERROR * np.abs(values).max()):
            message = (
                f"{self.function} of {self.source_type} as {self.result_type} by {self.pieces.segments} "
                f"straight pieces is off by up to {self.max_error:.2g}"
            )
            return [self.problem(message, "fewer integer bits in the source, so that it has a smaller range")]
        return []

    def golden(self, *codes: Codes) -> Codes:
        frames = np.asarray(codes[0])
        if isinstance(self.result_type, FloatType):
            values = FUNCTIONS[self.function](frames.astype(np.float64), self.parameters)
            return frames_of(values.astype(frames.dtype), self.source.shape)
        results = self._looked_up(frames)
        if self.is_exact or self.pieces.limits is not None:
            # limited before it becomes a code: no cast sees what f was
            tell_watcher(self.fixed_result, lambda: self._unlimited(frames), results)
        return frames_of(results, self.source.shape)

    def _unlimited(self, codes: Codes) -> Codes:
        """f of codes of the source as codes of the result's resolution, whatever its range."""
        with np.errstate(over="ignore"):
            exact = self._fit.of(codes) if self.units is None else self._of(codes)
            return self.fixed_result.unlimited(exact)

    def _of(self, codes: Codes) -> Doubles:
        """f of codes of the source in float64."""
        units = self.units or PLAIN
        arguments = units.argument(self.source_type.decode(codes))
        return FUNCTIONS[self.function](arguments, self.parameters) / units.unit

    def _looked_up(self, codes: Codes) -> Codes:
        if self.is_exact:
            bits = codes.astype(np.int64) & ((1 << self.source_type.width) - 1)
            return np.asarray(self.entries[bits])
        return self.pieces.golden(codes)

    def _values(self, codes: Codes) -> Codes:
        """f of codes of the source in float64, limited to the range of the result."""
        return self._fit.limited(self._of(codes))

    def folds(self) -> Iterator[Fold]:
        return pixel_folds(self.source.shape)

    def stage(self, fold: Fold) -> Stage:
        return TableStage(layer=self, fold=fold)


@dataclass(frozen=True, kw_only=True, eq=False)
class TableStage(ElementwiseStage):
    """Each lane looks up a table of its own: the entry of the code, or base and slope of the code's segment.

    Raises DesignError: the straight pieces of so wide types need numbers that C++ types do not hold.
    """

    layer: Table

    template = "table"

    def __post_init__(self) -> None:
        if self.layer.is_direct or _fits(self.layer.pieces):
            return
        message = (
            f"{self.layer.function} of {self.layer.source_type} as {self.layer.fixed_result} "
            "needs numbers of more bits than are built"
        )
        raise DesignError(self.layer.problem(message, "narrower types; 32 bits always do"))

    def tables(self) -> Mapping[str, tuple[Codes, FixedType]]:
        if self.layer.is_direct:
            return {"ENTRIES": (self.layer.entries, self.layer.fixed_result)}
        pieces = self.layer.pieces
        tables = {"BASES": (np.array(pieces.bases, object), pieces.base_type)}
        if pieces.shift:
            tables["SLOPES"] = (np.array(pieces.slopes, object), pieces.slope_type)
        if self.layer.is_exact:
            tables["CORRECTIONS"] = (self.layer.corrections, self.layer.correction_type)
        return tables

    def buffers(self) -> tuple[Buffer, ...]:
        return tuple(
            Buffer(name=name.lower(), depth=len(codes), bits=type_.width, copies=self.lanes)
            for name, (codes, type_) in self.tables().items()
        )

    def work(self) -> tuple[Work, ...]:
        if self.layer.is_direct:
            return ()
        pieces, result = self.layer.pieces, self.layer.fixed_result
        products = [(pieces.slope_type.width, pieces.shift)] if pieces.shift else []
        products += [
            (line.gain.bit_length() + 1, pieces.source.width + 1)
            for line in (pieces.low, pieces.high)
            if abs(line.gain) > 1
        ]
        return (
            *(Work(operator="mul", count=self.lanes, bits=widths) for widths in products),
            Work(operator="add", count=self.lanes, bits=(pieces.value_type.width,)),
            Work(operator="compare", count=2 * self.lanes, bits=(pieces.source.width,)),
            *((Work(operator="add", count=self.lanes, bits=(result.width,)),) if self.layer.is_exact else ()),
        )

    def constants(self) -> dict[str, Any]:
        layer = self.layer
        given = ", ".join(f"{value:g}" for value in layer.parameters)
        name = f"{layer.function}({given})" if given else layer.function
        common = {
            **super().constants(),
            "function": name if layer.units is None else f"{name} of scaled values",
            "direct": layer.is_direct,
            "exact": layer.is_exact,
        }
        if layer.is_direct:
            return common
        corrections = {"CORRECTION_BITS": layer.correction_type.width} if layer.is_exact else {}
        return common | _pieces_constants(layer.pieces) | corrections


def _pieces_constants(pieces: Pieces) -> dict[str, Any]:
    type_ = pieces.value_type
    least, most = pieces.limits or (type_.min_code, type_.max_code)
    return {
        "code_t": f"ap_int<{pieces.source.width + 2}>",
        "value_t": type_.cpp,
        "VALUE_BITS": type_.width,
        "BASE_BITS": pieces.base_type.width,
        "SLOPE_BITS": pieces.slope_type.width,
        "SHIFT": pieces.shift,
        "FIRST": pieces.first,
        "SEGMENTS": pieces.segments,
        "signed": pieces.source.signed,
        "low": _line(pieces.low),
        "high": _line(pieces.high),
        "least": least if least > type_.min_code else None,
        "most": most if most < type_.max_code else None,
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "EDGE": line.edge,
        "OFFSET": line.offset,
        "GAIN": line.gain,
        "GAIN_BITS": line.gain.bit_length() + 1,
        "SHIFT": line.shift,
    }


def _fits(pieces: Pieces) -> bool:
    """Whether the constants have literals, the tables C++ types, and the products no more than 128 bits."""
    lines = (pieces.low, pieces.high)
    constants = [number for line in lines for number in (line.edge, line.offset, line.gain)]
    constants += [pieces.first, *(pieces.limits or ())]
    tables = (pieces.base_type.width, pieces.slope_type.width)
    products = [pieces.slope_type.width + pieces.shift + 1]
    products += [line.gain.bit_length() + 1 + pieces.source.width + 2 for line in lines]
    return (
        all(number.bit_length() <= MOST_LITERAL_BITS for number in constants)
        and max(tables) <= MAX_TENSOR_WIDTH
        and max(products) <= MAX_WIDTH
    )
