"""Each kind of layer as a module of PyTorch that computes what golden does, with Brevitas' quantisers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import FixedType, NumberType, Overflow, Rounding
from hlsgen.cpu.torch_functions import MAKERS as VALUES
from hlsgen.cpu.values import limits_of
from hlsgen.layers.adaptive_pool import AdaptivePool
from hlsgen.layers.affine import Affine
from hlsgen.layers.base import Layer
from hlsgen.layers.binary import Add, Mul, Sub
from hlsgen.layers.cast import Cast
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.concat import Concat
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.crop import Crop
from hlsgen.layers.dense import Dense
from hlsgen.layers.global_pool import GlobalPool
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.pad import Pad
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.rearrange import Rearrange
from hlsgen.model.ir import Port
from hlsgen.model.precision import Floats
from hlsgen.training.packages import nn, qnn, torch
from hlsgen.training.quantisers import activation_quantiser, bias_quantiser, sign_quantiser, weight_quantiser

Tensor = torch.Tensor


class Stage(nn.Module):
    """A layer between tensors [N, C, H, W]: `computed`, then its type."""

    def __init__(self, layer: Layer, computed: Callable[..., Tensor] | nn.Module) -> None:
        super().__init__()
        self.name = layer.name
        self.computed = computed
        self.result = result_of(layer.output_type, layer.name)

    def forward(self, *sources: Tensor) -> Tensor:
        return self.result(self.computed(*sources))  # type: ignore[no-any-return]


class Products(nn.Module):
    """A convolution or a dense layer of Brevitas: what `conv2d` and `dense` of hlsgen add up, limited.

    weights [M, C / groups, KH, KW] and bias [M] (or of no elements) in floating point are what is trained.
    """

    def __init__(self, layer: Conv2d, weights: Floats, bias: Floats) -> None:
        super().__init__()
        assert isinstance(layer.weight_type, FixedType) and isinstance(layer.input_type, FixedType)
        self.name = layer.name
        self.weight_type = layer.weight_type
        self.bias_fraction = layer.input_type.fraction + layer.weight_type.fraction
        self.flat = isinstance(layer, Dense)
        # weights of one bit are -1 and 1 of a type of two, which no training shall make 0
        signs = layer.weight_type.width == 2 and layer.only_signs
        weight = (sign_quantiser if signs else weight_quantiser)(layer.weight_type)
        quantised: dict[str, Any] = {"weight_quant": weight}
        if bias.size:
            quantised["bias_quant"] = bias_quantiser(self.bias_fraction)
        self.around = tuple(layer.padding[at] for at in (1, 3, 0, 2))
        if self.flat:
            self.products = qnn.QuantLinear(
                layer.read_shape[0], layer.out_channels, bias=bool(bias.size), **quantised
            )
        else:
            self.products = qnn.QuantConv2d(
                layer.read_shape[0],
                layer.out_channels,
                layer.kernel,
                stride=layer.stride,
                dilation=layer.dilation,
                groups=layer.groups,
                bias=bool(bias.size),
                **quantised,
            )
        self.limits = limits_of(layer)
        with torch.no_grad():
            shape = self.products.weight.shape
            self.products.weight.copy_(torch.from_numpy(np.array(weights, np.float64)).reshape(shape))
            if bias.size:
                self.products.bias.copy_(torch.from_numpy(np.array(bias, np.float64)))

    def forward(self, x: Tensor) -> Tensor:
        if self.flat:
            # the order in which a stream brings the elements: row, column, channel
            x = self.products(x.permute(0, 2, 3, 1).flatten(1))[:, :, None, None]
        else:
            x = self.products(nn.functional.pad(x, self.around) if any(self.around) else x)
        return limited(x, *self.limits)

    def values(self, shape: Sequence[int]) -> tuple[Floats, Floats]:
        """The weights, of `shape`, and the bias that it computes with now, exactly."""
        weights = self.products.quant_weight().value.detach().double().numpy().reshape(shape)
        if self.products.bias is None:
            return weights, np.zeros(0)
        step = 2.0**self.bias_fraction
        # in doubles: float32 has no bits for the halves of the largest codes
        bias = np.floor(self.products.bias.detach().double().numpy() * step + 0.5) / step
        return weights, bias


class Input(nn.Module):
    """Frames in the framework's layout -> [N, C, H, W], as the input's type rounds and limits them."""

    def __init__(self, port: Port) -> None:
        super().__init__()
        self.laid_out = tuple(port.tensor.shape[axis] for axis in port.axes)
        self.back = tuple(int(axis) for axis in np.argsort(port.axes))
        type_ = port.tensor.type
        assert isinstance(type_, FixedType)
        self.result = activation_quantiser(
            FixedType(type_.width, type_.integer, type_.signed, type_.rounding, Overflow.SAT), port.name
        )

    def forward(self, x: Tensor) -> Tensor:
        found = x.reshape(x.shape[0], *self.laid_out).permute(0, *(1 + axis for axis in self.back))
        return self.result(found)  # type: ignore[no-any-return]


class Output(nn.Module):
    """[N, C, H, W] -> frames in the framework's layout."""

    def __init__(self, port: Port) -> None:
        super().__init__()
        self.axes, self.shape = port.axes, port.shape

    def forward(self, x: Tensor) -> Tensor:
        return x.permute(0, *(1 + axis for axis in self.axes)).reshape(x.shape[0], *self.shape)


def result_of(type_: NumberType, name: str) -> nn.Module:
    """What makes results ones of `type_`: nothing, where a layer's exact results have that type of their own.

    Raises DesignError: a type that training cannot follow.
    """
    assert isinstance(type_, FixedType)
    if type_.overflow is Overflow.WRAP and type_.rounding is Rounding.TRN:
        return nn.Identity()
    if type_.overflow is Overflow.WRAP and type_.rounding is Rounding.RND:
        # averages, whose own type has room for each
        type_ = FixedType(type_.width, type_.integer, type_.signed, type_.rounding, Overflow.SAT)
    return activation_quantiser(type_, name)


def stage_of(layer: Layer, weights: Floats | None = None, bias: Floats | None = None) -> Stage:
    """A layer of a network in fixed point as a module; weights and bias in floating point, of a convolution.

    Raises DesignError: a kind that has no module, a type that training cannot follow.
    """
    if isinstance(layer, Conv2d):
        assert weights is not None and bias is not None
        if type(layer) not in (Conv2d, Dense, Affine):
            raise DesignError(_unknown(layer))
        return Stage(layer, Products(layer, weights, bias))
    maker = MAKERS.get(type(layer))
    if maker is None:
        raise DesignError(_unknown(layer))
    return Stage(layer, maker(layer))


def _unknown(layer: Layer) -> Problem:
    message = f"{layer.name}: training has no module for a layer of kind {layer.kind}"
    fix = "a network that ends with the scores, without what is computed of them; or leave --train out"
    return Problem(message=message, fix=fix, place=layer.place)


def limited(x: Tensor, low: float | None, high: float | None) -> Tensor:
    """Values below `low` and above `high` become these."""
    if low == 0.0 and high is None:
        return torch.relu(x)
    return x if low is None and high is None else torch.clamp(x, low, high)


def _leaky(layer: Leaky) -> Callable[[Tensor], Tensor]:
    slopes = torch.from_numpy(layer.fixed_slope.decode(layer.slopes)).reshape(-1, 1, 1)
    return lambda x: torch.where(x >= 0, x, x * slopes.to(x.dtype))


def _pool2d(layer: Pool2d) -> Callable[[Tensor], Tensor]:
    top, left, bottom, right = layer.padding
    around = (left, right + layer.overhang[1], top, bottom + layer.overhang[0])
    if layer.function == "max":
        return lambda x: nn.functional.max_pool2d(
            nn.functional.pad(x, around, value=-torch.inf) if any(around) else x,
            layer.kernel,
            layer.stride,
            dilation=layer.dilation,
        )
    counts = torch.tensor(float(layer.divisor or 0))
    if layer.divisor is None:
        counts = torch.from_numpy(np.outer(*layer.window_counts).astype(np.float64))

    def average(x: Tensor) -> Tensor:
        padded = nn.functional.pad(x, around)
        sums = nn.functional.avg_pool2d(padded, layer.kernel, layer.stride, divisor_override=1)
        return sums / counts.to(x.dtype)

    return average


def _global_pool(layer: GlobalPool) -> Callable[[Tensor], Tensor]:
    if layer.function == "max":
        return lambda x: x.amax(dim=(2, 3), keepdim=True)
    if layer.function == "sum":
        return lambda x: x.sum(dim=(2, 3), keepdim=True)
    return lambda x: x.sum(dim=(2, 3), keepdim=True) / layer.pixels


MAKERS: dict[type[Layer], Callable[[Any], Callable[..., Tensor]]] = {
    **{
        kind: partial(VALUES[kind], torch)
        for kind in (AdaptivePool, Add, Cast, Clamp, Concat, Crop, Mul, Pad, Rearrange, Sub)
    },
    GlobalPool: _global_pool,
    Leaky: _leaky,
    Pool2d: _pool2d,
}
"""What computes a layer's values, by its kind; convolutions and dense layers have `Products`.

Averages and slopes are computed in the type of the tensors: float64, where a trained network is judged.
"""
