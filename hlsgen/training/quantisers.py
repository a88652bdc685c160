"""Number types as Brevitas quantisers: the same grid, rounding and ends, with straight-through gradients."""

from __future__ import annotations

from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.training.packages import (
    Int8ActPerTensorFixedPoint,
    Int8BiasPerTensorFixedPointInternalScaling,
    Int8WeightPerTensorFixedPoint,
    PowerOfTwoIntScaling,
    QuantType,
    RestrictValueType,
    ScalingImplType,
    ceil_ste,
    floor_ste,
    nn,
    qnn,
    round_ste,
    round_to_zero_ste,
    torch,
)

BIAS_BITS = 32
"""A bias has the grid of the products and is never limited; so many bits hold every one."""


class HalvesUp(nn.Module):
    """To the nearest integer, halves up: `rnd`, which Brevitas has not."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return floor_ste(x + 0.5)  # type: ignore[no-any-return]


class HalvesDown(nn.Module):
    """To the nearest integer, halves down: `rnd_min_inf`."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ceil_ste(x - 0.5)  # type: ignore[no-any-return]


class HalvesOutwards(nn.Module):
    """To the nearest integer, halves away from zero: `rnd_inf`."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.where(x >= 0, floor_ste(x + 0.5), ceil_ste(x - 0.5))


class HalvesInwards(nn.Module):
    """To the nearest integer, halves towards zero: `rnd_zero`."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.where(x >= 0, ceil_ste(x - 0.5), floor_ste(x + 0.5))


class HalvesEven(nn.Module):
    """To the nearest integer, halves to the even one: `rnd_conv`."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return round_ste(x)  # type: ignore[no-any-return]


class Down(nn.Module):
    """To the next integer below: `trn`."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return floor_ste(x)  # type: ignore[no-any-return]


class Inwards(nn.Module):
    """To the next integer towards zero: `trn_zero`."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return round_to_zero_ste(x)  # type: ignore[no-any-return]


ROUNDED: dict[Rounding, type[nn.Module]] = {
    Rounding.TRN: Down,
    Rounding.TRN_ZERO: Inwards,
    Rounding.RND: HalvesUp,
    Rounding.RND_ZERO: HalvesInwards,
    Rounding.RND_INF: HalvesOutwards,
    Rounding.RND_MIN_INF: HalvesDown,
    Rounding.RND_CONV: HalvesEven,
}


def weight_quantiser(type_: FixedType) -> Any:
    """The `weight_quant` of a Brevitas layer whose weights go to the nearest code of `type_`, halves up.

    Gradients pass the type's ends, so that a weight beyond them can come back.
    """
    return Int8WeightPerTensorFixedPoint.let(**_said(type_, Rounding.RND))


def sign_quantiser(type_: FixedType) -> Any:
    """The `weight_quant` of a Brevitas layer whose weights become -1 and 1 times the step of `type_`; 0 is as
    1.
    """
    said = _said(type_, Rounding.RND)
    said |= {"quant_type": QuantType.BINARY, "bit_width": 1, "scaling_init": float(type_.resolution)}
    return Int8WeightPerTensorFixedPoint.let(**said)


def bias_quantiser(fraction: int) -> Any:
    """The `bias_quant` of a Brevitas layer whose biases have so many fraction bits."""
    return Int8BiasPerTensorFixedPointInternalScaling.let(
        **_said(FixedType(BIAS_BITS, BIAS_BITS - fraction), Rounding.RND)
    )


def activation_quantiser(type_: FixedType, name: str) -> nn.Module:
    """Values [...] as `type_` rounds and limits them, with no gradient beyond its ends.

    Raises DesignError: the type of `name` wraps, which no training can follow.
    """
    if type_.overflow not in (Overflow.SAT, Overflow.SAT_SYM):
        message = f"{name} is {type_}, which wraps values beyond its range: training cannot follow that"
        raise DesignError(Problem(message=message, fix=f"a type that saturates, such as {_saturated(type_)}"))
    said = _said(type_, type_.rounding)
    said["scaling_init"] = torch.tensor(said["scaling_init"])
    found: nn.Module = qnn.QuantIdentity(act_quant=Int8ActPerTensorFixedPoint.let(**said))
    return found


def _said(type_: FixedType, rounding: Rounding) -> dict[str, Any]:
    """The type in Brevitas' words: its scale is a threshold over 2**(bits without the sign)."""
    whole = type_.width - type_.signed
    return {
        "bit_width": type_.width,
        "signed": type_.signed,
        "narrow_range": type_.lowest_code != type_.min_code,
        "scaling_impl_type": ScalingImplType.CONST,
        "scaling_init": float(2.0 ** (whole - type_.fraction)),
        "int_scaling_impl": PowerOfTwoIntScaling,
        "restrict_scaling_type": RestrictValueType.FP,
        "float_to_int_impl": ROUNDED[rounding],
    }


def _saturated(type_: FixedType) -> FixedType:
    return FixedType(type_.width, type_.integer, type_.signed, Rounding.RND, Overflow.SAT)
