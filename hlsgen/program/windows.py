"""What a layer makes of a window: weights and biases as integers, kernel and stride, and what its sums can
be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from hlsgen.base.fixed import Codes, FixedType, FloatType, NumberType
from hlsgen.hardware.processor import BIAS_BITS, TABLE_ENTRIES, Processor
from hlsgen.layers.adaptive_pool import AdaptivePool
from hlsgen.layers.affine import Affine
from hlsgen.layers.base import Layer, Shape
from hlsgen.layers.binary import Binary, Mul, Sub
from hlsgen.layers.cast import Cast
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.crop import Crop
from hlsgen.layers.dense import Dense
from hlsgen.layers.global_pool import GlobalPool
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.pad import Pad
from hlsgen.layers.pool import Pool
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.rearrange import Rearrange
from hlsgen.layers.steps import Steps
from hlsgen.layers.table import Table
from hlsgen.layers.thresholds import Thresholds
from hlsgen.layers.unary import Unary
from hlsgen.program.epilogue import Epilogue, NotFused
from hlsgen.program.float_epilogue import FloatEpilogue
from hlsgen.program.float_windows import float_weights, pooled_by
from hlsgen.program.tasks import Window
from hlsgen.program.unsupported import refused

ONE_BITS = 4
ONE = 1 << ONE_BITS
"""The weight of what stays as it is: so much finer than it a result may be."""
TABLE_BITS = (TABLE_ENTRIES - 1).bit_length()
"""Bits of what a table is read by."""
Rule = Callable[[Layer, Processor], "Computed"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Computed:
    """weights [M, C / groups, KH, KW], None: largest values; bias [M]; epilogue: behind its sums."""

    window: Window
    weights: Codes | None
    groups: int = 1
    bias: Codes | None = None
    epilogue: Epilogue | FloatEpilogue


def computed(layer: Layer, processor: Processor) -> Computed:
    """What the array computes of a layer. Raises DesignError: it cannot."""
    for kind, rule in RULES:
        if isinstance(layer, kind):
            try:
                return rule(layer, processor)
            except NotFused as failure:
                raise refused(layer, str(failure), "narrower types, or style: dataflow") from None
    raise refused(layer, f"it is of kind {layer.kind}", "style: dataflow, or leave it to the host")


def identity(shape: Shape, type_: NumberType, processor: Processor, window: Window | None = None) -> Computed:
    """Every value as it is."""
    channels = shape[0]
    if isinstance(type_, FloatType):
        ones = np.ones((channels, 1, 1, 1), np.float32)
        return Computed(window=window or Window(), weights=ones, groups=channels, epilogue=FloatEpilogue())
    weights = np.full((channels, 1, 1, 1), ONE)
    epilogue = Epilogue.of_sum(processor, type_.fraction, type_.min_code, type_.max_code, finer=ONE_BITS)
    return Computed(window=window or Window(), weights=weights, groups=channels, epilogue=epilogue)


def _conv(layer: Layer, processor: Processor) -> Computed:
    assert isinstance(layer, Conv2d)
    if layer.is_float:
        return _float_conv(layer)
    assert isinstance(layer.weight_type, FixedType)
    if not layer.accumulator_suffices():
        raise NotFused(f"its accumulator of {layer.accumulator} is narrower than its sums")
    finer = layer.sum_fraction - layer.product_fraction
    scale = _scale(layer, processor)
    weights = layer.weights
    shift, limit = finer + scale, 1 << (processor.weight_bits - 1)
    if weights.size and (int(weights.min()) << shift < -limit or int(weights.max()) << shift >= limit):
        raise NotFused(f"its weights of {layer.weight_type} need more than {processor.weight_bits} bits")
    if shift:
        weights = weights.astype(f"int{processor.weight_bits}") << shift
    bias = layer.bias_codes << scale
    if bias.size and max(abs(int(bias.min())), abs(int(bias.max()))) >= 1 << (BIAS_BITS - 1):
        raise NotFused(f"its biases need more than {BIAS_BITS} bits")
    top, left, _, _ = layer.padding
    kernel = layer.kernel
    if isinstance(layer, Dense):
        channels, height, width = layer.in_shape
        weights = weights.reshape(-1, height, width, channels).transpose(0, 3, 1, 2)
        kernel = (height, width)
    window = Window(kernel=kernel, stride=layer.stride, dilation=layer.dilation, top=top, left=left)
    epilogue = Epilogue.of_sum(processor, layer.sum_fraction, *layer.worst_case_sum, finer=scale)
    return Computed(window=window, weights=weights, groups=layer.groups, bias=bias, epilogue=epilogue)


def _float_conv(layer: Conv2d) -> Computed:
    weights, kernel = float_weights(layer)
    top, left, _, _ = layer.padding
    return Computed(
        window=Window(kernel=kernel, stride=layer.stride, dilation=layer.dilation, top=top, left=left),
        weights=weights,
        groups=layer.groups,
        bias=layer.bias if layer.bias.size else None,
        epilogue=FloatEpilogue().limited(layer.low, layer.high),
    )


def _scale(layer: Conv2d, processor: Processor) -> int:
    """Bits that weights and biases are shifted up by, where a factor alone would not make the result fine
    enough.
    """
    assert isinstance(layer.result_type, FixedType)
    held = processor.factor_bits - 2 - processor.factor_fraction
    return max(0, layer.result_type.fraction - layer.sum_fraction - held)


def _pool(layer: Layer, processor: Processor) -> Computed:
    assert isinstance(layer, Pool)
    _, height, width = layer.source.shape
    if isinstance(layer, Pool2d):
        top, left, _, _ = layer.padding
        window = Window(kernel=layer.kernel, stride=layer.stride, dilation=layer.dilation, top=top, left=left)
    elif isinstance(layer, GlobalPool):
        window = Window(kernel=(height, width))
    else:
        assert isinstance(layer, AdaptivePool)
        step = height // layer.size[0], width // layer.size[1]
        window = Window(kernel=step, stride=step)
    return of_windows(layer, window, layer.distinct_counts[0], processor)


def has_unlike_windows(layer: Pool) -> bool:
    """Whether its windows differ in size, or in how many pixels they average."""
    if isinstance(layer, AdaptivePool):
        _, height, width = layer.source.shape
        return height % layer.size[0] != 0 or width % layer.size[1] != 0
    return layer.function == "average" and len(layer.distinct_counts) > 1


def of_windows(layer: Pool, window: Window, count: int, processor: Processor) -> Computed:
    """What a pool makes of windows that are alike, of which it counts so many pixels."""
    channels = layer.source.shape[0]
    if layer.is_float:
        weights, behind = pooled_by(layer, window, count)
        return Computed(window=window, weights=weights, groups=channels, epilogue=behind)
    type_ = layer.source_type
    if layer.function == "max":
        epilogue = Epilogue.of_sum(processor, type_.fraction, type_.min_code, type_.max_code)
        return Computed(
            window=window, weights=None, groups=channels, epilogue=epilogue.cast(layer.fixed_result)
        )
    low, high = (window.taps * code for code in (type_.min_code, type_.max_code))
    epilogue = Epilogue.of_sum(processor, type_.fraction, low, high)
    if layer.function == "average":
        epilogue = epilogue.averaged(count, layer.fixed_result)
    else:
        epilogue = epilogue.cast(layer.fixed_result)
    ones = np.ones((channels, 1, *window.kernel), np.int64)
    return Computed(window=window, weights=ones, groups=channels, epilogue=epilogue)


def _values(layer: Layer, processor: Processor) -> Computed:
    """Of a layer that only finishes what another one would have computed."""
    return identity(layer.sources[0].shape, _type_of(layer), processor)


def _scaled(layer: Layer, processor: Processor) -> Computed:
    """Of a layer that scales channels: behind the identity, or by weights."""
    return _values(layer, processor) if processor.scales else _conv(layer, processor)


def _combined(layer: Layer, processor: Processor) -> Computed:
    """Of a layer with two sources; the second one joins."""
    if isinstance(layer, Mul | Sub) and not processor.scales:
        raise NotFused(f"it is of kind {layer.kind}, and the processor adds tensors only")
    return _values(layer, processor)


def _type_of(layer: Layer) -> NumberType:
    """The type of what a layer reads."""
    return layer.sources[0].type


def one_of(type_: NumberType) -> Codes:
    """The weight of what stays as it is."""
    return np.array(1, np.float32) if isinstance(type_, FloatType) else np.array(ONE, np.int64)


def _looked_up(layer: Layer, processor: Processor) -> Computed:
    """Of a function, whose results stand in a table."""
    why = why_no_table(layer, processor)
    if why:
        raise NotFused(why)
    return _values(layer, processor)


def why_no_table(layer: Layer, processor: Processor) -> str:
    """What keeps a layer from being looked up in a table of what it reads; empty: nothing."""
    if not processor.tables:
        return "its values would stand in a table, which the processor has none of"
    if _type_of(layer).width > TABLE_BITS:
        return f"it reads {_type_of(layer)}, and a table has {TABLE_ENTRIES} entries"
    if isinstance(layer, Leaky) and layer.slopes.size > 1:
        return "it has a slope for each channel"
    return ""


@lru_cache(maxsize=256)
def table_of(layer: Unary) -> Codes:
    """[256] the result of each code that a layer may read, at the place that its lowest 8 bits are."""
    type_ = _type_of(layer)
    assert isinstance(type_, FixedType), f"{layer.name} is in floating point"
    codes = np.arange(type_.min_code, type_.max_code + 1)
    small = replace(layer, source=replace(layer.source, shape=(1, 1, len(codes))))
    found = np.zeros(TABLE_ENTRIES, np.int64)
    found[codes & (TABLE_ENTRIES - 1)] = small.golden(codes.reshape(1, 1, 1, -1)).reshape(-1)
    return found


def _thresholds(layer: Layer, processor: Processor) -> Computed:
    """A table has one entry for each code, whatever the channel; alike for all they are `steps`."""
    raise NotFused("it has thresholds for each channel")


def _pad(layer: Layer, processor: Processor) -> Computed:
    assert isinstance(layer, Pad)
    if layer.channels != (0, 0) or layer.value_code != 0:
        raise NotFused("it pads channels, or with another value than 0")
    top, left, _, _ = layer.padding
    return identity(layer.source.shape, _type_of(layer), processor, Window(top=top, left=left))


def _crop(layer: Layer, processor: Processor) -> Computed:
    assert isinstance(layer, Crop)
    (_, row, column), (_, down, right) = layer.begin, layer.step
    channels = np.arange(layer.size[0]) * layer.step[0] + layer.begin[0]
    window = Window(stride=(down, right), top=-row, left=-column)
    found = identity(layer.source.shape, _type_of(layer), processor, window)
    if len(channels) == layer.source.shape[0]:
        return found
    chosen = (channels[:, None] == np.arange(layer.source.shape[0])).astype(np.int64)
    one = one_of(_type_of(layer))
    return Computed(window=window, weights=one * chosen[:, :, None, None], epilogue=found.epilogue)


def _rearrange(layer: Layer, processor: Processor) -> Computed:
    assert isinstance(layer, Rearrange)
    channels, height, width = layer.source.shape
    found, rows, columns = layer.output_shape
    source = np.arange(channels * height * width).reshape(layer.source.shape)
    if found == channels and rows % height == 0 and columns % width == 0:
        repeat = rows // height, columns // width
        if np.array_equal(layer.indices, source.repeat(repeat[0], 1).repeat(repeat[1], 2)):
            return identity(layer.source.shape, _type_of(layer), processor, Window(repeat=repeat))
    if (rows, columns) == (height, width):
        taken = layer.indices[:, 0, 0] // (height * width)
        if np.array_equal(layer.indices, source[taken]):
            chosen = (taken[:, None] == np.arange(channels)).astype(np.int64)
            plain, one = identity(layer.source.shape, _type_of(layer), processor), one_of(_type_of(layer))
            return Computed(window=Window(), weights=one * chosen[:, :, None, None], epilogue=plain.epilogue)
    if rows % height == 0 and columns % width == 0:
        shuffled = _shuffled(layer, source, (rows // height, columns // width), processor)
        if shuffled is not None:
            return shuffled
    raise NotFused(
        "it moves elements in another way than repeating pixels, choosing channels or making pixels of them"
    )


def _shuffled(layer: Rearrange, source: Codes, by: tuple[int, int], processor: Processor) -> Computed | None:
    """Pixels made of channels (pixel shuffle): a kernel over the source with zeros between its pixels, each
    tap of which takes the channels of one of the pixels; None: it does something else.
    """
    channels, height, width = source.shape
    found = layer.output_shape[0]
    one = one_of(_type_of(layer))
    weights = np.zeros((found, channels, *by), one.dtype)
    for row, column in np.ndindex(*by):
        part = layer.indices[:, row :: by[0], column :: by[1]]
        taken = part[:, 0, 0] // (height * width)
        if not np.array_equal(part, source[taken]):
            return None
        weights[np.arange(found), taken, by[0] - 1 - row, by[1] - 1 - column] = one
    window = Window(kernel=by, top=by[0] - 1, left=by[1] - 1, repeat=by, zeros=True)
    plain = identity(layer.source.shape, _type_of(layer), processor)
    return Computed(window=window, weights=weights, epilogue=plain.epilogue)


RULES: tuple[tuple[type[Layer], Rule], ...] = (
    (Affine, _scaled),
    (Conv2d, _conv),
    (Pool, _pool),
    (Pad, _pad),
    (Crop, _crop),
    (Rearrange, _rearrange),
    (Binary, _combined),
    (Clamp, _values),
    (Cast, _values),
    (Leaky, _values),
    (Table, _looked_up),
    (Steps, _looked_up),
    (Thresholds, _thresholds),
)
"""How each kind is computed."""
