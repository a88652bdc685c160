"""Two tensors element by element: residual additions, differences, gates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes, FixedType, FloatType, NumberType, product_type, sum_type
from hlsgen.base.floating import HALF
from hlsgen.layers.base import Layer, Shape, Tensor, frames_of, rounded_as
from hlsgen.layers.delay_lines import delay_line
from hlsgen.layers.periodic_stage import PeriodicStage, whole
from hlsgen.layers.stage import Buffer, Fold, Stage, StreamFormat, Times, Work, pixel_folds
from hlsgen.layers.unary import mixed_problems


@dataclass(frozen=True, kw_only=True, eq=False)
class Binary(Layer):
    """left [C, H, W] and right [C, H, W], or [C, 1, 1] for every pixel -> out [C, H, W].

    Fixed point: the exact result of two codes, of `exact_type`, is cast to `result_type`.
    """

    left: Tensor
    right: Tensor
    result_type: NumberType

    @property
    def sources(self) -> tuple[Tensor, ...]:
        return self.left, self.right

    @property
    def output_shape(self) -> Shape:
        return self.left.shape

    @property
    def output_type(self) -> NumberType:
        return self.result_type

    @property
    def broadcasts(self) -> bool:
        """Whether one value a channel of `right` serves all pixels."""
        return self.right.shape != self.left.shape

    @property
    def operand_types(self) -> tuple[FixedType, FixedType]:
        """The types of left and right; only a fixed-point layer has them."""
        left, right = self.left.type, self.right.type
        assert isinstance(left, FixedType) and isinstance(right, FixedType), f"{self.name} is not fixed point"
        return left, right

    @property
    @abstractmethod
    def exact_type(self) -> FixedType:
        """The type that holds every result. Raises ValueError above 128 bits."""

    @abstractmethod
    def _combined(self, left: Codes, right: Codes) -> Codes:
        """The operation on values, or on codes as `_aligned` gives them."""

    @abstractmethod
    def _aligned(self, left: Codes, right: Codes) -> tuple[Codes, Codes]:
        """Codes of both operands such that the operation on them gives codes of `exact_type`."""

    def check(self) -> list[Problem]:
        problems = mixed_problems(self, left=self.left.type, right=self.right.type, output=self.result_type)
        if self.right.shape not in (self.left.shape, (self.left.shape[0], 1, 1)):
            left, right = (" x ".join(str(size) for size in tensor.shape) for tensor in self.sources)
            message = f"it takes a tensor of {left} and one of {right} (channels x rows x columns)"
            problems.append(self.problem(message, "two of the same shape, or the second of one pixel"))
        return problems if problems or self.is_float else self._width_problems()

    def _width_problems(self) -> list[Problem]:
        try:
            _ = self.exact_type
        except ValueError:
            left, right = self.operand_types
            message = f"the exact result of {left} and {right} needs more than 128 bits"
            return [self.problem(message, "narrower types, or types of a similar range")]
        return []

    def golden(self, *codes: Codes) -> Codes:
        left, right = frames_of(codes[0], self.left.shape), frames_of(codes[1], self.right.shape)
        if isinstance(self.result_type, FloatType):
            if left.dtype == np.float64:
                return self._combined(left, right)
            with np.errstate(over="ignore", invalid="ignore"):
                single = self._combined(left.astype(np.float32), right.astype(np.float32))
            return rounded_as(self.result_type, single)
        exact = self.exact_type
        if exact.width > 63:
            left, right = left.astype(object), right.astype(object)
        return self.result_type.cast(self._combined(*self._aligned(left, right)), exact)

    def retyped(self, sources: tuple[NumberType, ...], result: NumberType | None) -> Self:
        """Raises DesignError: without `result`, and the exact result needs more than 128 bits."""
        left, right = sources
        fresh = replace(self, left=replace(self.left, type=left), right=replace(self.right, type=right))
        if result is not None:
            return replace(fresh, result_type=result)
        if isinstance(left, FloatType) or isinstance(right, FloatType):
            return replace(fresh, result_type=left if isinstance(left, FloatType) else right)
        problems = fresh._width_problems()
        if problems:
            raise DesignError(problems)
        return replace(fresh, result_type=fresh.exact_type)

    @property
    def computes_float32(self) -> bool:
        return True

    def folds(self) -> Iterator[Fold]:
        yield from pixel_folds(self.left.shape)

    def stage(self, fold: Fold) -> Stage:
        return BinaryStage(layer=self, fold=fold)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Aligned(Binary):
    """Operands shifted to the same binary point."""

    @property
    def shifts(self) -> tuple[int, int]:
        """Bits that the codes of left and right are shifted up by, to the finer resolution of the two."""
        left, right = (type_.fraction for type_ in self.operand_types)
        return max(left, right) - left, max(left, right) - right

    def _aligned(self, left: Codes, right: Codes) -> tuple[Codes, Codes]:
        return left << self.shifts[0], right << self.shifts[1]


@dataclass(frozen=True, kw_only=True, eq=False)
class Add(_Aligned, kind="add"):
    """left + right."""

    @property
    def exact_type(self) -> FixedType:
        return sum_type(*self.operand_types)

    def _combined(self, left: Codes, right: Codes) -> Codes:
        return np.asarray(left + right)


@dataclass(frozen=True, kw_only=True, eq=False)
class Sub(_Aligned, kind="sub"):
    """left - right; the exact difference is signed."""

    @property
    def exact_type(self) -> FixedType:
        return replace(sum_type(*self.operand_types), signed=True)

    def _combined(self, left: Codes, right: Codes) -> Codes:
        return np.asarray(left - right)


@dataclass(frozen=True, kw_only=True, eq=False)
class Mul(Binary, kind="mul"):
    """left * right."""

    @property
    def exact_type(self) -> FixedType:
        return product_type(*self.operand_types)

    def _combined(self, left: Codes, right: Codes) -> Codes:
        return np.asarray(left * right)

    def _aligned(self, left: Codes, right: Codes) -> tuple[Codes, Codes]:
        return left, right


OPERATORS = {"add": "+", "sub": "-", "mul": "*"}


@dataclass(frozen=True, kw_only=True, eq=False)
class BinaryStage(PeriodicStage):
    """PX pixels x SIMD channels a cycle, each element by itself. Interval: the words of a frame, in cycles.

    A right operand of one pixel is read with the first pixels of its frame and kept for the others.
    """

    layer: Binary
    fold: Fold

    template = "binary"

    @property
    def inputs(self) -> tuple[StreamFormat, ...]:
        left = StreamFormat(tensor=self.layer.left, px=self.fold.px, channels=self.fold.simd)
        px = 1 if self.layer.broadcasts else self.fold.px
        return left, StreamFormat(tensor=self.layer.right, px=px, channels=self.fold.simd)

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, px=self.fold.px, channels=self.fold.simd)

    @property
    def frame_iterations(self) -> int:
        return self.output.frame_words

    @property
    def rhythm(self) -> Hashable:
        return BinaryStage, self.frame_iterations, self.inputs[1].frame_words

    def frame_times(self) -> tuple[tuple[Times, ...], Times]:
        words = whole(self.frame_iterations)
        return (words, words[: self.inputs[1].frame_words]), words

    def buffers(self) -> tuple[Buffer, ...]:
        if not self.layer.broadcasts:
            return ()
        bits = self.fold.simd * self.layer.right.type.width
        return (delay_line("kept", self.output.folds, bits),)

    def work(self) -> tuple[Work, ...]:
        operator = "mul" if self.layer.kind == "mul" else "add"
        if self.layer.is_float:
            kind = "half" if self.layer.result_type == HALF else "float"
            return (Work(operator=f"{kind}_{operator}", count=self.output.lanes),)
        widths = tuple(type_.width for type_ in self.layer.operand_types)
        return (Work(operator=operator, count=self.output.lanes, bits=widths),)

    def constants(self) -> dict[str, Any]:
        return {
            "operator": OPERATORS[self.layer.kind],
            "right_t": self.layer.right.type.cpp,
            "exact_t": self.layer.result_type.cpp if self.layer.is_float else self.layer.exact_type.cpp,
            "broadcasts": self.layer.broadcasts,
            "PX": self.fold.px,
            "SIMD": self.fold.simd,
            "FOLDS": self.output.folds,
            "FRAME_ITERATIONS": self.frame_iterations,
        }
