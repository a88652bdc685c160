"""What every kind of layer has; a kind registers itself by `class Conv2d(Layer, kind="conv2d")`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from hlsgen.base.errors import Place, Problem
from hlsgen.base.fixed import Codes, FixedType, FloatType, NumberType
from hlsgen.base.floating import FLOAT32
from hlsgen.base.short_repr import Brief

if TYPE_CHECKING:
    from hlsgen.layers.stage import Fold, Stage

Shape = tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class Tensor:
    """A tensor of one frame. `shape` is (channels, height, width), the batch excluded."""

    shape: Shape
    type: NumberType

    @property
    def is_float(self) -> bool:
        return isinstance(self.type, FloatType)


@dataclass(frozen=True, kw_only=True, eq=False)
class Layer(Brief, ABC):
    """One layer of the graph: fields, shapes, golden result and work. Immutable.

    `inputs` are the names of what it reads: layers before it, or inputs of the graph.
    """

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Layer]]] = {}
    degrees: ClassVar[tuple[int, ...] | None] = None
    """The power in which a positive factor of each source comes out in front of the result.

    So a quantised model's scales stay beside the codes. None: no factor comes out, the values are needed.
    """

    name: str
    inputs: tuple[str, ...] = ("input",)
    place: Place | None = None

    def __init_subclass__(cls, *, kind: str | None = None, **rest: object) -> None:
        """A class without `kind` is the common part of several kinds."""
        super().__init_subclass__(**rest)
        if kind is not None:
            cls.kind = kind
            Layer.kinds[kind] = cls

    @property
    @abstractmethod
    def sources(self) -> tuple[Tensor, ...]:
        """The tensors that it reads, one for each of `inputs`."""

    @property
    @abstractmethod
    def output_shape(self) -> Shape:
        """(channels, height, width) of one output frame."""

    @property
    @abstractmethod
    def output_type(self) -> NumberType:
        """The type of an output element."""

    @property
    def geometry(self) -> Hashable:
        """Kind and fields but for names, its place and arrays of numbers; None: one of them has no hash."""
        values = tuple(
            value
            for one in fields(self)
            if one.name not in ("name", "inputs", "place", "weights_origin")
            and not isinstance(value := getattr(self, one.name), np.ndarray)
        )
        try:
            hash(values)
        except TypeError:
            return None
        return type(self), values

    @cached_property
    def hardware_key(self) -> Hashable:
        """What its streaming hardware depends on: layers with equal ones have the same foldings, each with
        the same cost and the same schedule. None: it cannot be said.
        """
        arrays = tuple(
            (value.shape, value.dtype.str, value.tobytes() if value.dtype != object else str(value.tolist()))
            for one in fields(self)
            if isinstance(value := getattr(self, one.name), np.ndarray)
        )
        return None if self.geometry is None else (self.geometry, arrays)

    @property
    def only_selects(self) -> bool:
        """Whether its results are values that it reads, or indices: their natural type is never too wide."""
        return False

    @property
    def computes_float32(self) -> bool:
        """Whether there is hardware for it in float32."""
        return False

    @property
    def macs(self) -> int:
        """Multiply-accumulates that one frame needs, those with padding zeros included."""
        return 0

    @abstractmethod
    def check(self) -> list[Problem]:
        """The rules of this kind that this layer breaks."""

    @abstractmethod
    def golden(self, *codes: Codes) -> Codes:
        """The result in NumPy: codes [frames, C, H, W] of each source -> codes [frames, M, OH, OW]."""

    @abstractmethod
    def retyped(self, sources: tuple[NumberType, ...], result: NumberType | None) -> Self:
        """The same layer reading tensors of these types and giving `result`; None: the natural exact type.

        Weights and slopes stay as they are: who changes the types encodes them anew beforehand.
        """

    def result_within(self, bits: int, *sources: FixedType) -> FixedType | None:
        """A type of `bits` bits for the results of these sources; None: `retyped` knows one, exact or nearly.

        For functions, whose results no type holds exactly, where no quantiser says what is wanted.
        """
        return None

    @abstractmethod
    def folds(self) -> Iterator[Fold]:
        """Every folding of its stage that the search may choose, the smallest first."""

    @abstractmethod
    def stage(self, fold: Fold) -> Stage:
        """The layer as a stage of a streaming kernel; `fold` is one of `folds`.

        Raises DesignError: there is no hardware for numbers as large as this layer's.
        """

    @property
    def output(self) -> Tensor:
        return Tensor(shape=self.output_shape, type=self.output_type)

    @property
    def is_float(self) -> bool:
        return isinstance(self.output_type, FloatType)

    def problem(self, message: str, fix: str) -> Problem:
        """A problem at this layer's place in the design."""
        return Problem(message=f"{self.name}: {message}", fix=fix, place=self.place)


def first_largest(left: Codes, right: Codes) -> Codes:
    """The larger of each two, the left one of equal ones: 0 and -0 are equal."""
    return np.where(left < right, right, left)


def pairwise_sum(terms: list[Codes], type_: FloatType = FLOAT32) -> Codes:
    """The sum in the order of a tree of adders: neighbours at each level, an odd last term passes through.

    type_: of the numbers, which lie in float32 arrays, and of each sum of two.
    """
    while len(terms) > 1:
        pairs = [type_.rounded(left + right) for left, right in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + ([terms[-1]] if len(terms) % 2 else [])
    return terms[0]


def float_reciprocals(counts: Codes) -> Codes:
    """The nearest float32 of 1 / count, by which hardware multiplies the sums that it averages."""
    return (1.0 / np.asarray(counts, np.float64)).astype(np.float32)


def limited(values: Codes, low: float | None, high: float | None) -> Codes:
    """Floating-point `values` from `low` to `high`; what equals a limit stays as it is, so that -0 does."""
    if low is not None:
        values = np.where(values < low, values.dtype.type(low), values)
    return values if high is None else np.where(values > high, values.dtype.type(high), values)


def floating_result(
    sums: Codes, source: NumberType, low: float | None, high: float | None, type_: FloatType
) -> Codes:
    """Sums, codes of `source`, within limits that are numbers of it, rounded to codes of `type_`."""
    assert isinstance(source, FloatType)
    limits = [None if one is None else source.nearest(one) for one in (low, high)]
    return rounded_as(type_, limited(sums, *limits))


def rounded_as(type_: FloatType, singles: Codes) -> Codes:
    """What operations in float32 give as codes of `type_`."""
    return type_.stored(type_.rounded(singles))


def frames_of(codes: Codes, shape: Shape) -> Codes:
    """`codes` as [frames, channels, height, width]; one frame may come without its batch axis."""
    array = np.asarray(codes)
    return array.reshape((-1, *shape))
