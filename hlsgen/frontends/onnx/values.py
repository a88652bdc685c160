"""What a name of an ONNX graph stands for while the graph is read: a constant, a real tensor, or codes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hlsgen.frontends.builder.views import Value

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Constant:
    """An array that does not depend on an input.

    If it came off a quantiser, `scale` is the step of each element, [*shape], and the codes values / scale
    lie from `low` to `high`; `bipolar`: they are -1 and 1. Integers that a Clip limited have these ends too.
    """

    values: Array
    scale: Array | None = None
    low: int = 0
    high: int = 0
    bipolar: bool = False


@dataclass(frozen=True, kw_only=True)
class Polynomial:
    """coefficients[0] + coefficients[1] * base + ... up to the third power."""

    base: Value
    coefficients: tuple[float, ...]

    def times(self, other: Polynomial) -> Polynomial | None:
        product = np.polynomial.polynomial.polymul(self.coefficients, other.coefficients)
        return Polynomial(base=self.base, coefficients=tuple(product)) if len(product) <= 4 else None

    def plus(self, other: Polynomial) -> Polynomial:
        total = np.polynomial.polynomial.polyadd(self.coefficients, other.coefficients)
        return Polynomial(base=self.base, coefficients=tuple(total))

    def moved(self, scale: float, shift: float) -> Polynomial:
        first, *rest = (scale * coefficient for coefficient in self.coefficients)
        return Polynomial(base=self.base, coefficients=(first + shift, *rest))

    def matches(self, *wanted: float) -> bool:
        """Whether it has these coefficients, to what float32 constants tell."""
        size = max(len(wanted), len(self.coefficients))
        mine, theirs = (np.pad(c, (0, size - len(c))) for c in (np.array(self.coefficients), wanted))
        return bool(np.allclose(mine, theirs, rtol=1e-4, atol=1e-6))

    @property
    def slope(self) -> float | None:
        """a of a * base; None: it is something else."""
        constant, *rest = self.coefficients
        return rest[0] if constant == 0 and rest and not any(rest[1:]) else None


@dataclass(frozen=True, kw_only=True)
class Gate:
    """factor * g(base) + offset, where base * g(base) is `function`(base), a name of a Table's functions.

    So exporters write SiLU, GELU, Mish and hard swish: base * gate.
    """

    base: Value
    function: str
    parameters: tuple[float, ...] = ()
    factor: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Applied:
    """`function` of base."""

    base: Value
    function: str


@dataclass(frozen=True, kw_only=True)
class Sum:
    """x times `weights` along an axis, to which a bias may still be added."""

    base: Value
    weights: Constant = field(compare=False)
    axis: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Real:
    """A float tensor; its axis 0, the batch, is not in the view.

    origin: what it is made of, if a larger operation may come of that. integral: its values are integers
    (an ArgMax), so a Cast changes nothing.
    """

    view: Value
    origin: Polynomial | Gate | Applied | Sum | None = None
    integral: bool = False

    @property
    def polynomial(self) -> Polynomial:
        """Itself, or what it is of another view."""
        if isinstance(self.origin, Polynomial):
            return self.origin
        return Polynomial(base=self.view, coefficients=(0.0, 1.0))


@dataclass(frozen=True, kw_only=True, eq=False)
class Integers:
    """A tensor of integers that stand for real values: real = scale * (integer - zero).

    scale and zero: [1], or along `axis` of the view; low, high: the range of its element type, or narrower.
    source: what was quantised to them.
    """

    real: Value
    scale: Array
    zero: Array
    axis: int
    low: int
    high: int
    source: Value | None = None


Known: TypeAlias = Constant | Real | Integers
