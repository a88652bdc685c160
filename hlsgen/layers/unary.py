"""What the kinds that read one tensor share: those that compute a value, and those that only move values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import FixedType, FloatType, NumberType
from hlsgen.layers.base import Layer, Shape, Tensor


@dataclass(frozen=True, kw_only=True, eq=False)
class OneSource(Layer):
    """A layer that reads one tensor, `source`."""

    source: Tensor

    @property
    def sources(self) -> tuple[Tensor, ...]:
        return (self.source,)


@dataclass(frozen=True, kw_only=True, eq=False)
class Unary(OneSource):
    """A layer that computes from its source values of `result_type`."""

    result_type: NumberType

    @property
    def output_shape(self) -> Shape:
        return self.source.shape

    @property
    def output_type(self) -> NumberType:
        return self.result_type

    @property
    def source_type(self) -> FixedType:
        """The type of the source; only a fixed-point layer has it."""
        assert isinstance(self.source.type, FixedType), f"{self.name} is not fixed point"
        return self.source.type

    @property
    def fixed_result(self) -> FixedType:
        """The type of the result; only a fixed-point layer has it."""
        assert isinstance(self.result_type, FixedType), f"{self.name} is not fixed point"
        return self.result_type

    @property
    def natural_type(self) -> FixedType:
        """The type that a fixed-point source's results have of their own accord; not every kind has one."""
        raise AssertionError(f"{self.kind} {self.name} has no natural type: the caller names one")

    def check(self) -> list[Problem]:
        return mixed_problems(self, source=self.source.type, output=self.result_type)

    def retyped(self, sources: tuple[NumberType, ...], result: NumberType | None) -> Self:
        fresh = replace(self, source=replace(self.source, type=sources[0]))
        if result is None:
            result = sources[0] if isinstance(sources[0], FloatType) else fresh.natural_type
        return replace(fresh, result_type=result)


@dataclass(frozen=True, kw_only=True, eq=False)
class Selection(OneSource):
    """A layer that moves elements of its source and computes nothing: it keeps the type."""

    @property
    def output_type(self) -> NumberType:
        return self.source.type

    @property
    def only_selects(self) -> bool:
        return True

    @property
    def computes_float32(self) -> bool:
        return True

    def retyped(self, sources: tuple[NumberType, ...], result: NumberType | None) -> Self:
        """Raises DesignError: `result` is another type than the source's."""
        if result is not None and result != sources[0]:
            message = f"a {self.kind} gives the type that it reads, {sources[0]}, not {result}"
            raise DesignError(self.problem(message, "that type, or a cast after it"))
        return replace(self, source=replace(self.source, type=sources[0]))


def mixed_problems(layer: Layer, **types: NumberType) -> list[Problem]:
    """The rule that float32 and fixed point do not mix in a layer; `types` by what they are the types of."""
    if len({isinstance(type_, FloatType) for type_ in types.values()}) <= 1:
        return []
    names = ", ".join(f"{what} {type_}" for what, type_ in types.items())
    return [
        layer.problem(
            f"float32 is mixed with fixed point ({names})", "make all of them float32, or all of them fixed"
        )
    ]
