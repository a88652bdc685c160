"""Number types as QKeras' quantizers: the same grid, rounding and ends, with straight-through gradients.

`quantized_bits` rounds halves to even and gives x + (q - x), which is not q to the last bit; its gradient
passes the ends. The quantizers here are its kin with the type's own rounding: they give q, and the gradient
of activations ends where the type does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.training.keras.packages import quantizers, tf

BIAS_BITS = 52
"""A bias has the grid of the products and is never limited; doubles tell so many bits apart."""
Rounded = Callable[[Any], Any]

ROUNDED: dict[Rounding, Rounded] = {
    Rounding.TRN: lambda x: tf.floor(x),
    Rounding.TRN_ZERO: lambda x: tf.where(x >= 0, tf.floor(x), tf.math.ceil(x)),
    Rounding.RND: lambda x: tf.floor(x + 0.5),
    Rounding.RND_ZERO: lambda x: tf.where(x >= 0, tf.math.ceil(x - 0.5), tf.floor(x + 0.5)),
    Rounding.RND_INF: lambda x: tf.where(x >= 0, tf.floor(x + 0.5), tf.math.ceil(x - 0.5)),
    Rounding.RND_MIN_INF: lambda x: tf.math.ceil(x - 0.5),
    Rounding.RND_CONV: lambda x: tf.round(x),
}
"""Numbers of steps -> whole numbers of steps."""


class FixedPoint(quantizers.quantized_bits):  # type: ignore[misc]
    """Values as `type_` rounds and limits them: quantized_bits whose results are the grid's numbers exactly.

    ends: whether gradients end where the type does; those of weights pass, so that one beyond can come back.
    """

    def __init__(self, type_: FixedType, rounding: Rounding, *, ends: bool) -> None:
        symmetric = type_.lowest_code != type_.min_code
        super().__init__(
            bits=type_.width,
            integer=type_.integer - type_.signed,
            symmetric=int(symmetric),
            keep_negative=int(type_.signed),
            alpha=1.0,
        )
        self.scale = 1.0
        self.step = type_.resolution
        self.lowest, self.highest = float(type_.lowest_code), float(type_.max_code)
        self.rounded, self.ends = ROUNDED[rounding], ends

    def __call__(self, x: Any) -> Any:
        def computed(x: Any) -> tuple[Any, Callable[[Any], Any]]:
            codes = self.rounded(x / self.step)
            inside = (codes >= self.lowest) & (codes <= self.highest)

            def gradient(above: Any) -> Any:
                return tf.where(inside, above, tf.zeros_like(above)) if self.ends else above

            return tf.clip_by_value(codes, self.lowest, self.highest) * self.step, gradient

        return tf.custom_gradient(computed)(x)


class Signs(quantizers.binary):  # type: ignore[misc]
    """Weights become -1 and 1 times `step`; 0 is as 1. Gradients pass."""

    def __init__(self, step: float) -> None:
        super().__init__(alpha=step)
        self.scale = step
        self.step = step

    def __call__(self, x: Any) -> Any:
        def computed(x: Any) -> tuple[Any, Callable[[Any], Any]]:
            steps = tf.fill(tf.shape(x), tf.constant(self.step, x.dtype))
            return tf.where(x >= 0, steps, -steps), lambda above: above

        return tf.custom_gradient(computed)(x)


def weight_quantiser(type_: FixedType) -> Any:
    """The quantizer of a QKeras layer whose weights go to the nearest code of `type_`, halves up."""
    return FixedPoint(type_, Rounding.RND, ends=False)


def bias_quantiser(fraction: int) -> Any:
    """The quantizer of biases that have so many fraction bits."""
    return FixedPoint(FixedType(BIAS_BITS, BIAS_BITS - fraction), Rounding.RND, ends=False)


def activation_quantiser(type_: FixedType, name: str) -> Any:
    """Values [...] as `type_` rounds and limits them, with no gradient beyond its ends.

    Raises DesignError: the type of `name` wraps, which no training can follow.
    """
    if type_.overflow not in (Overflow.SAT, Overflow.SAT_SYM):
        message = f"{name} is {type_}, which wraps values beyond its range: training cannot follow that"
        mended = FixedType(type_.width, type_.integer, type_.signed, Rounding.RND, Overflow.SAT)
        raise DesignError(Problem(message=message, fix=f"a type that saturates, such as {mended}"))
    return FixedPoint(type_, type_.rounding, ends=True)
