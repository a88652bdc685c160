"""Random graphs as quantised models and gates have them: exact sums times factors of each channel, products
and differences of tensors, slopes of each channel, values that are brought to a common scale and added.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.layers.affine import Affine
from hlsgen.layers.base import Tensor
from hlsgen.layers.binary import Add, Binary, Mul, Sub
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.rearrange import Rearrange
from hlsgen.model.ir import Graph
from tests.support.shared_graphs import Drawing

MULTIPLIER_BITS = 24


def exact(drawing: Drawing, source: str) -> str:
    """A convolution whose results are its sums, wider than a word."""
    name = drawing.conv(source, same=drawing.whole(0, 3) > 0)
    layer = drawing.layers[-1]
    assert isinstance(layer, Conv2d)
    bare = replace(layer, low=None, high=None).retyped((layer.input_type,), None)
    drawing.layers[-1], drawing.tensors[name] = bare, bare.output
    return name


def scaled(drawing: Drawing, source: str, *, uniform: bool = False, finer: int | None = None) -> str:
    """Factors of 24 bits and offsets that bring what is read to a word, or to 24 bits of so many behind
    the point.
    """
    tensor = drawing.tensors[source]
    channels, type_ = tensor.shape[0], tensor.type
    assert isinstance(type_, FixedType)
    result = drawing.result(0, (1 << drawing.processor.activation_bits) - 1)
    if finer is not None:
        result = FixedType(24, 24 - finer, True, Rounding.RND_CONV, Overflow.SAT)
    # the largest sum is about the largest result, whatever the types' binary points are
    fraction = type_.width + MULTIPLIER_BITS - result.width - type_.fraction + result.fraction
    count = 1 if uniform else channels
    signs = drawing.rng.choice([-1, 1, 1, 1], count)
    codes = drawing.rng.integers(1 << MULTIPLIER_BITS - 3, 1 << MULTIPLIER_BITS, count) * signs
    finest = result.fraction + drawing.pick([0, 3, 24])
    offsets = drawing.rng.integers(-(1 << 6), 1 << 6, count) << finest - result.fraction
    layer = Affine(
        name=drawing.fresh("affine"),
        inputs=(source,),
        in_shape=tensor.shape,
        out_channels=channels,
        groups=channels,
        input_type=type_,
        weight_type=FixedType(MULTIPLIER_BITS + 1, MULTIPLIER_BITS + 1 - fraction),
        bias_type=FixedType(40, 40 - finest),
        accumulator=type_,
        low=drawing.pick([None, None, 0.0]),
        result_type=result,
        weights=np.broadcast_to(codes, channels).astype(np.int64).reshape(-1, 1, 1, 1),
        bias=np.broadcast_to(offsets, channels).astype(np.int64)
        if drawing.whole(0, 2)
        else np.zeros(0, np.int64),
    )
    return drawing.add(layer.retyped((type_,), result))


def combined(drawing: Drawing, kind: type[Binary], left: str, right: str, *, wide: bool = False) -> str:
    """wide: exact, for factors behind it."""
    one, other = drawing.tensors[left], drawing.tensors[right]
    name = drawing.fresh(kind.__name__.lower())
    layer = kind(name=name, inputs=(left, right), left=one, right=other, result_type=one.type)
    type_ = layer.exact_type
    if not wide:
        type_ = drawing.result(type_.fraction, type_.max_code)
    return drawing.add(replace(layer, result_type=type_))


def prelu(drawing: Drawing, source: str, *, uniform: bool = False) -> str:
    tensor = drawing.tensors[source]
    slope = FixedType(8, 1)
    layer = Leaky(
        name=drawing.fresh("prelu"),
        inputs=(source,),
        source=tensor,
        slopes=drawing.rng.integers(
            slope.min_code, slope.max_code, 1 if uniform else tensor.shape[0], endpoint=True
        ),
        slope_type=slope,
        result_type=tensor.type,
    )
    return drawing.add(drawing.retyped(layer))


def beside(drawing: Drawing, source: str) -> str:
    """Another input of its shape, or one pixel of it."""
    channels, rows, columns = drawing.tensors[source].shape
    return drawing.port((channels, 1, 1) if drawing.whole(0, 1) else (channels, rows, columns))


def quantised(drawing: Drawing) -> Graph:
    """A layer of a quantised model, and what such models have behind it."""
    if not drawing.whole(0, 4):
        sums = exact(drawing, drawing.port(drawing.image()))
        wide = combined(drawing, Add, sums, beside(drawing, sums), wide=True)
        found = scaled(drawing, wide, uniform=True)
        return drawing.graph([prelu(drawing, found, uniform=True) if drawing.whole(0, 3) else found])
    found = scaled(drawing, exact(drawing, drawing.port(drawing.image())))
    match drawing.pick(["nothing", "mul", "sub", "common scale", "scaled product", "prelu", "whole"]):
        case "mul":
            found = combined(drawing, Mul, found, beside(drawing, found))
        case "sub":
            found = combined(drawing, Sub, found, beside(drawing, found))
        case "common scale":
            shape = drawing.tensors[found].shape
            wide = scaled(drawing, drawing.port(shape), uniform=True, finer=drawing.fraction(found) + 16)
            found = scaled(drawing, combined(drawing, Add, wide, found, wide=True), uniform=True)
        case "scaled product":
            wide = combined(drawing, Mul, found, beside(drawing, found), wide=True)
            found = scaled(drawing, wide, uniform=True)
        case "prelu":
            found = prelu(drawing, found)
        case "whole":
            found = scaled(drawing, drawing.global_pool(found), uniform=drawing.whole(0, 1) > 0)
    return drawing.graph([found])


def pixels_of_channels(source: str, tensor: Tensor, by: tuple[int, int]) -> Rearrange:
    """PyTorch's pixel shuffle: channel (c, i, j) becomes row i and column j of the pixels of channel c."""
    channels, height, width = tensor.shape
    plane, count = height * width, by[0] * by[1]
    axes = (
        ((channels // count, count * plane),),
        ((height, width), (by[0], by[1] * plane)),
        ((width, 1), (by[1], plane)),
    )
    return Rearrange(name="shuffled", inputs=(source,), source=tensor, axes=axes)
