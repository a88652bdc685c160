"""aten operations that move elements: as views of the builder, concatenations and borders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hlsgen.frontends.builder.builder import Value
from hlsgen.frontends.torch.call import Call, converts

NO_END = (1 << 63) - 1
"""The end of a slice that has none."""


@converts("view", "_unsafe_view", "squeeze", "unsqueeze")
def reshaped(call: Call, self: object, size: object = None, dim: object = None) -> Value:
    """All of these keep the row-major order; the new shape is the result's."""
    return call.builder.reshape(call.value(self), call.shape)


@converts("clone", "detach", "alias")
def unchanged(call: Call, self: object, memory_format: object = None) -> Value:
    return call.value(self)


@converts("_to_copy")
def cast(
    call: Call,
    self: object,
    dtype: object = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
    non_blocking: object = False,
    memory_format: object = None,
) -> Value:
    call.keep_type(dtype)
    return call.value(self)


@converts("type_as")
def cast_as(call: Call, self: object, other: object) -> Value:
    """The types of results are checked for every operation."""
    return call.value(self)


@converts("permute")
def permute(call: Call, self: object, dims: object) -> Value:
    x = call.value(self)
    order = call.sizes(dims, "dims")
    if order[0] % len(order) != 0:
        raise call.refusal("it moves the batch from its place", "dim 0 stays first")
    return call.builder.permute(x, [call.axis(x, dim) for dim in order[1:]])


@converts("transpose")
def transpose(call: Call, self: object, dim0: object, dim1: object) -> Value:
    x = call.value(self)
    return call.builder.transpose(x, call.axis(x, dim0), call.axis(x, dim1))


@converts("expand")
def expand(call: Call, self: object, size: object, implicit: object = False) -> Value:
    return call.builder.expand(call.value(self), call.shape)


@converts("repeat", "tile")
def repeat(call: Call, self: object, repeats: object = None, dims: object = None) -> Value:
    x = call.value(self)
    times = call.sizes(repeats if repeats is not None else dims, "number of repetitions")
    times = (1,) * (x.rank + 1 - len(times)) + times
    if times[0] != 1:
        raise call.refusal("it repeats the frames of the batch", "a first repetition of 1")
    x = call.builder.reshape(x, (1,) * (len(times) - 1 - x.rank) + x.shape)
    for axis, count in enumerate(times[1:]):
        x = call.builder.tile(x, axis, count)
    return x


@converts("repeat_interleave")
def repeat_interleave(
    call: Call, self: object, repeats: object, dim: object = None, output_size: object = None
) -> Value:
    x = call.value(self)
    if dim is None:
        raise call.refusal("it repeats the elements of all frames in one row", "a dim of 1 or more")
    return call.builder.repeat(x, call.axis(x, dim), call.whole(repeats, "number of repetitions"))


@converts("flip")
def flip(call: Call, self: object, dims: object) -> Value:
    x = call.value(self)
    return call.builder.flip(x, call.axes(x, dims))


@converts("roll")
def roll(call: Call, self: object, shifts: object, dims: object = ()) -> Value:
    x = call.value(self)
    moved = call.sizes(shifts, "shift")
    axes = call.axes(x, list(call.sizes(dims, "dim")))
    for axis, shift in zip(axes, moved, strict=True):
        size = x.shape[axis]
        if shift % size:
            x = call.builder.concat(
                call.builder.split(x, axis, (size - shift % size, shift % size))[::-1], axis
            )
    return x


@converts("slice")
def slice_(
    call: Call, self: object, dim: object = 0, start: object = None, end: object = None, step: object = 1
) -> Value:
    x = call.value(self)
    every = call.whole(step, "step")
    if call.whole(dim, "dim") % (x.rank + 1) == 0:
        if start not in (None, 0) or end not in (None, NO_END) or every != 1:
            message = "it takes some frames of the batch, but each frame is computed by itself"
            raise call.refusal(message, "slices of the other axes")
        return x
    axis = call.axis(x, dim)
    first = call.whole(start or 0, "start")
    size = x.shape[axis]
    begin = min(max(first + size if first < 0 else first, 0), size)
    return call.builder.slice(x, axis, begin, call.shape[axis], every)


@converts("select")
def select(call: Call, self: object, dim: object, index: object) -> Value:
    x = call.value(self)
    axis = call.axis(x, dim)
    taken = call.builder.slice(x, axis, call.whole(index, "index") % x.shape[axis], 1)
    return call.builder.squeeze(taken, (axis,))


@converts("index_select")
def index_select(call: Call, self: object, dim: object, index: object) -> Value:
    x = call.value(self)
    return _indexed(call, x, call.axis(x, dim), index)


@converts("index")
def index_(call: Call, self: object, indices: Sequence[object]) -> Value:
    x = call.value(self)
    given = [dim for dim, index in enumerate(indices) if index is not None]
    if len(given) != 1:
        message = f"it indexes {len(given)} axes by tensors"
        raise call.refusal(message, "an index of one axis, or slices")
    return _indexed(call, x, call.axis(x, given[0]), indices[given[0]])


def _indexed(call: Call, x: Value, axis: int, index: object) -> Value:
    """The elements of an axis at constant indices."""
    positions = call.constant(index, "index").astype(np.int64)
    if positions.ndim != 1:
        raise call.refusal(f"its index has {positions.ndim} axes", "an index of one axis, or slices")
    return call.builder.take(x, axis, (positions % x.shape[axis]).tolist())


@converts("split", "unsafe_split")
def split(call: Call, self: object, split_size: object, dim: object = 0) -> list[Value]:
    x = call.value(self)
    axis = call.axis(x, dim)
    each = call.whole(split_size, "size of a part")
    begins = range(0, x.shape[axis], each)
    return call.builder.split(x, axis, [min(each, x.shape[axis] - begin) for begin in begins])


@converts("split_with_sizes", "unsafe_split_with_sizes")
def split_with_sizes(call: Call, self: object, split_sizes: object, dim: object = 0) -> list[Value]:
    x = call.value(self)
    return call.builder.split(x, call.axis(x, dim), call.sizes(split_sizes, "size of a part"))


@converts("unbind")
def unbind(call: Call, self: object, dim: object = 0) -> list[Value]:
    x = call.value(self)
    axis = call.axis(x, dim)
    parts = call.builder.split(x, axis, (1,) * x.shape[axis])
    return [call.builder.squeeze(part, (axis,)) for part in parts]


@converts("cat", "concat", "concatenate")
def cat(call: Call, tensors: Sequence[object], dim: object = 0, axis: object = None) -> Value:
    parts = [call.value(part, "part") for part in tensors]
    along = call.axis(parts[0], dim if axis is None else axis)
    return call.builder.concat(parts, along)


@converts("hstack")
def hstack(call: Call, tensors: Sequence[object]) -> Value:
    return cat(call, tensors, 1)


@converts("stack")
def stack(call: Call, tensors: Sequence[object], dim: object = 0) -> Value:
    parts = [call.value(part, "part") for part in tensors]
    axis = call.axis(call.builder.unsqueeze(parts[0], 0), dim)
    return call.builder.concat([call.builder.unsqueeze(part, axis) for part in parts], axis)


@converts("pad", "constant_pad_nd")
def pad(call: Call, self: object, pad: object, mode: str = "constant", value: object = None) -> Value:
    x = call.value(self)
    amounts = call.sizes(pad, "padding")
    pairs = list(zip(amounts[::2], amounts[1::2], strict=True))[::-1]
    if len(pairs) > x.rank:
        if any(pairs[0]):
            raise call.refusal("it pads the batch", "padding of the other axes")
        pairs = pairs[1:]
    pairs = [(0, 0)] * (x.rank - len(pairs)) + pairs
    modes: dict[str, Any] = {"replicate": "edge", "circular": "wrap"}
    fill = 0.0 if value is None else call.number(value, "value")
    return call.builder.pad(x, pairs, fill, modes.get(mode, mode))


@converts("pixel_shuffle")
def pixel_shuffle(call: Call, self: object, upscale_factor: object) -> Value:
    block = call.whole(upscale_factor, "factor")
    return call.builder.depth_to_space(_image(call, self), (block, block))


@converts("pixel_unshuffle")
def pixel_unshuffle(call: Call, self: object, downscale_factor: object) -> Value:
    block = call.whole(downscale_factor, "factor")
    return call.builder.space_to_depth(_image(call, self), (block, block))


@converts("channel_shuffle")
def channel_shuffle(call: Call, self: object, groups: object) -> Value:
    x = call.value(self)
    count = call.whole(groups, "number of groups")
    grouped = call.builder.reshape(x, (count, x.shape[0] // count, *x.shape[1:]))
    return call.builder.reshape(call.builder.transpose(grouped, 0, 1), x.shape)


def _image(call: Call, argument: object) -> Value:
    x = call.value(argument)
    if x.rank != 3:
        message = f"its input has {x.rank + 1} axes with the batch"
        raise call.refusal(message, "an input of 4 axes: batch, channels, rows, columns")
    return x
