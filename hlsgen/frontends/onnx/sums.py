"""ONNX operations with weights: convolutions, matrix products, batch normalisation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hlsgen.base.coded import by_filter
from hlsgen.frontends.builder.sums import same_padding
from hlsgen.frontends.builder.views import Value
from hlsgen.frontends.onnx.model import LARGEST_TENSOR, Node, few
from hlsgen.frontends.onnx.patterns import TWO_TENSORS
from hlsgen.frontends.onnx.reading import Handler, Reading, RecordingBuilder
from hlsgen.frontends.onnx.values import Array, Constant, Known, Real, Sum
from hlsgen.passes.quantisers import Grid

Sides = tuple[int, int, int, int]
Pair = tuple[int, int]
LARGEST_SIDE = 1 << 16
"""Rows or columns of a kernel, a stride, a dilation or a border."""
Builds = Callable[[RecordingBuilder, Array], Value]


def spatial(node: Node, name: str, default: int, rank: int) -> Pair:
    """An attribute with one number for each spatial axis of a view of `rank` axes, as (rows, columns)."""
    given = node.attribute(name)
    values = [default] * (rank - 1) if given is None else [int(value) for value in given]
    least = 0 if name == "output_padding" else 1
    if len(values) != rank - 1 or min(values) < least or max(values) > LARGEST_SIDE:
        message = f"{name} is {few(values)}, for {rank - 1} spatial axes"
        raise node.problem(message, f"one number from {least} to {LARGEST_SIDE} for each spatial axis")
    return (default, values[0]) if rank == 2 else (values[0], values[1])


def is_image(node: Node, x: Value) -> None:
    """Refuses what is neither an image nor a signal."""
    if x.rank not in (2, 3):
        message = f"its input has {x.rank - 1} spatial axes"
        raise node.problem(message, "one (a signal) or two (an image)")


def rows_columns(x: Value) -> Pair:
    """The spatial sizes of [C, H, W] or [C, L]."""
    return (1, x.shape[1]) if x.rank == 2 else (x.shape[1], x.shape[2])


def explicit_pads(node: Node, rank: int) -> Sides:
    """The attribute pads as (top, left, bottom, right)."""
    given = [int(pad) for pad in node.attribute("pads") or [0] * (2 * rank - 2)]
    if len(given) != 2 * rank - 2 or min(given) < 0 or max(given) > LARGEST_SIDE:
        fix = f"two numbers from 0 to {LARGEST_SIDE} for each spatial axis (a Slice cuts off)"
        raise node.problem(f"pads is {few(given)}", fix)
    return (0, given[0], 0, given[1]) if rank == 2 else (given[0], given[1], given[2], given[3])


def window_pads(node: Node, x: Value, kernel: Pair, stride: Pair, dilation: Pair) -> Sides:
    """Padding of a window operation, auto_pad included: (top, left, bottom, right)."""
    mode = node.attribute("auto_pad", "NOTSET")
    if mode in ("NOTSET", ""):
        return explicit_pads(node, x.rank)
    if mode == "VALID":
        return 0, 0, 0, 0
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        fix = "NOTSET, VALID, SAME_UPPER or SAME_LOWER"
        raise node.problem(f"auto_pad is {mode}", fix)
    sides = []
    for window in zip(rows_columns(x), kernel, stride, dilation, strict=True):
        less, more = same_padding(*window)
        sides.append((less, more) if mode == "SAME_UPPER" else (more, less))
    return sides[0][0], sides[1][0], sides[0][1], sides[1][1]


def _halves(total: int, more_at_end: bool) -> Pair:
    less = total // 2
    return (less, total - less) if more_at_end else (total - less, less)


def window_weights(node: Node, weights: Array, rank: int) -> Array:
    """Weights with two spatial axes. Raises DesignError: they do not fit the input or kernel_shape."""
    kernel = node.attribute("kernel_shape")
    if (
        weights.ndim != rank + 1
        or not weights.size
        or (kernel is not None and list(kernel) != list(weights.shape[2:]))
    ):
        message = f"its weights have the shape {list(weights.shape)}, kernel_shape is {kernel}"
        raise node.problem(message, f"weights with {rank - 1} spatial axes of the size kernel_shape")
    return weights[:, :, None, :] if rank == 2 else weights


def conv(reading: Reading, node: Node) -> Sequence[Known]:
    x, weights, bias = reading.view(node), reading.needed(node, 1), reading.constant(node, 2)
    return [Real(view=convolution(reading, node, x, weights, bias))]


def convolution(reading: Reading, node: Node, x: Value, weights: Constant, bias: Constant | None) -> Value:
    is_image(node, x)
    groups = int(node.attribute("group", 1))
    shaped = reshaped(weights, lambda array: window_weights(node, array, x.rank))
    members, channels = shaped.values.shape[:2]
    if groups < 1 or x.shape[0] != channels * groups or members % groups:
        message = (
            f"weights [{members}, {channels}, ...] in {groups} groups do not fit {x.shape[0]} input channels"
        )
        raise node.problem(message, "weights [M, C / group, ...] with a group that divides M")
    kernel = (shaped.values.shape[2], shaped.values.shape[3])
    stride, dilation = spatial(node, "strides", 1, x.rank), spatial(node, "dilations", 1, x.rank)
    padding = window_pads(node, x, kernel, stride, dilation)

    def build(builder: RecordingBuilder, array: Array) -> Value:
        given = _bias(node, bias, members)
        return builder.conv2d(
            x, array, given, stride=stride, padding=padding, dilation=dilation, groups=groups
        )

    return summed(reading, node, shaped, bias, build)


def conv_transpose(reading: Reading, node: Node) -> Sequence[Known]:
    x, weights, bias = reading.view(node), reading.needed(node, 1), reading.constant(node, 2)
    is_image(node, x)
    groups = int(node.attribute("group", 1))
    shaped = reshaped(weights, lambda array: window_weights(node, array, x.rank))
    channels, members = shaped.values.shape[:2]
    if groups < 1 or x.shape[0] != channels or channels % groups:
        message = f"weights [{channels}, {members}, ...] in {groups} groups do not fit {x.shape[0]} channels"
        raise node.problem(message, "weights [C, M / group, ...] with a group that divides C")
    stride, dilation = spatial(node, "strides", 1, x.rank), spatial(node, "dilations", 1, x.rank)
    extra = spatial(node, "output_padding", 0, x.rank)
    kernel = (shaped.values.shape[2], shaped.values.shape[3])
    full = [
        step * (size - 1) + (taps - 1) * spacing + 1 + more
        for size, taps, step, spacing, more in zip(
            rows_columns(x), kernel, stride, dilation, extra, strict=True
        )
    ]
    largest = max(members * groups * math.prod(full), shaped.values.size * math.prod(stride))
    if largest > LARGEST_TENSOR:
        message = f"its weights by phase, or its result, have {largest} elements"
        raise node.problem(message, f"at most {LARGEST_TENSOR}")
    padding = _transposed_pads(node, x, stride, (full[0], full[1]))

    def build(builder: RecordingBuilder, array: Array) -> Value:
        return builder.conv_transpose2d(
            x,
            array,
            _bias(node, bias, members * groups),
            stride=stride,
            padding=padding,
            output_padding=extra,
            dilation=dilation,
            groups=groups,
        )

    return [Real(view=summed(reading, node, shaped, bias, build))]


def _transposed_pads(node: Node, x: Value, stride: Pair, full: Pair) -> Sides:
    """What is cut off the full result: pads, or what output_shape or auto_pad leave over."""
    wanted, mode = node.attribute("output_shape"), node.attribute("auto_pad", "NOTSET")
    if wanted is None and mode in ("NOTSET", ""):
        return explicit_pads(node, x.rank)
    if wanted is None and mode == "VALID":
        return 0, 0, 0, 0
    if wanted is None:
        size = [side * step for side, step in zip(rows_columns(x), stride, strict=True)]
    else:
        size = [1] * (3 - x.rank) + [int(side) for side in wanted[-(x.rank - 1) :]]
        if len(size) != 2:
            raise node.problem(f"output_shape is {few(wanted)}", "one size for each spatial axis")
    sides = []
    for side, most in zip(size, full, strict=True):
        if side > most:
            message = f"its output shall have {side} elements along an axis, of which there are only {most}"
            raise node.problem(message, "a smaller output_shape, or output_padding")
        sides.append(_halves(most - side, mode != "SAME_LOWER" if wanted is None else mode == "SAME_UPPER"))
    return sides[0][0], sides[1][0], sides[0][1], sides[1][1]


def gemm(reading: Reading, node: Node) -> Sequence[Known]:
    x, weights, addend = reading.view(node), reading.needed(node, 1), reading.constant(node, 2)
    if node.flag("transA") or x.rank != 1:
        message = f"it multiplies a tensor of {x.rank + 1} axes, transA {node.attribute('transA', 0)}"
        raise node.problem(message, "a first input [N, F] with transA 0")
    alpha, beta = node.number("alpha", 1.0), node.number("beta", 1.0)
    if not node.flag("transB"):
        weights = reshaped(weights, lambda array: array.T)
    _fits(node, weights.values.shape, x.shape[0], 1)
    weights = multiplied(weights, alpha)
    bias = addend
    if addend is not None:
        row, members = reading.per_frame(node, addend.values, 1), weights.values.shape[0]
        if row.size not in (1, members):
            message = f"its third input has the shape {list(addend.values.shape)}"
            raise node.problem(message, f"a bias of {members} elements")
        row = np.broadcast_to(row.reshape(-1), (members,))
        bias = multiplied(replace(addend, values=row), beta)
    return [Real(view=product(reading, node, x, weights, bias, -1))]


def matmul(reading: Reading, node: Node) -> Sequence[Known]:
    left = reading.value(node, 0)
    if not isinstance(left, Constant) and not isinstance(reading.value(node, 1), Constant):
        message = "it multiplies two matrices that both depend on the model's inputs"
        raise node.problem(message, TWO_TENSORS)
    if isinstance(left, Constant):
        x = reading.view(node, 1)
        if left.values.ndim != 2 or x.rank < 2:
            message = f"it multiplies a constant of {left.values.ndim} axes by a tensor of {x.rank + 1}"
            raise node.problem(message, "a constant [M, F] by a tensor [N, ..., F, L]")
        _fits(node, left.values.shape, x.shape[-2], 1)
        return [_product(reading, node, x, left, x.rank - 2)]
    return product_of(reading, node, reading.view(node), reading.needed(node, 1))


def product_of(reading: Reading, node: Node, x: Value, right: Constant) -> Sequence[Known]:
    """x [..., F] times a constant [F, M] or [F]."""
    if right.values.ndim > 2:
        right = reshaped(right, lambda array: array.reshape(array.shape[-2:]) if _flat(array) else array)
    if right.values.ndim not in (1, 2):
        message = f"its constant has the shape {list(right.values.shape)}"
        raise node.problem(message, "a matrix [F, M] or a vector [F]")
    _fits(node, right.values.shape, x.shape[-1], 0)
    if right.values.ndim == 1:
        row = reshaped(right, lambda array: array[None])
        found = product(reading, node, x, row, None, x.rank - 1)
        return [Real(view=reading.builder.squeeze(found, (x.rank - 1,)))]
    return [_product(reading, node, x, reshaped(right, lambda array: array.T), x.rank - 1)]


def _flat(array: Array) -> bool:
    return math.prod(array.shape[:-2]) == 1


def _fits(node: Node, shape: tuple[int, ...], size: int, axis: int) -> None:
    if len(shape) <= axis or shape[axis] != size or not math.prod(shape):
        message = f"a constant of shape {list(shape)} does not fit an axis of {size} elements"
        raise node.problem(message, f"{size} elements along the axis that is summed")


def _product(reading: Reading, node: Node, x: Value, weights: Constant, axis: int) -> Real:
    view = product(reading, node, x, weights, None, axis)
    return Real(view=view, origin=Sum(base=x, weights=weights, axis=axis))


def product(
    reading: Reading, node: Node, x: Value, weights: Constant, bias: Constant | None, axis: int
) -> Value:
    """weights [M, F] times an axis of F elements of a view, plus a bias [M]."""

    def build(builder: RecordingBuilder, array: Array) -> Value:
        return builder.dense(x, array, _bias(node, bias, weights.values.shape[0]), axis)

    return summed(reading, node, weights, bias, build)


def summed(reading: Reading, node: Node, weights: Constant, bias: Constant | None, build: Builds) -> Value:
    """What `build` makes of the weights; and the grid of the layer's weights, if they have one.

    The builder may permute and spread weights: a builder that is thrown away does the same to their scales.
    """
    for what, constant in (("weights", weights), ("bias", bias)):
        if constant is not None and not np.isfinite(constant.values).all():
            raise node.problem(f"its {what} hold NaN or infinity", "finite numbers")
    view = build(reading.builder, weights.values.astype(np.float64))
    if weights.scale is None:
        if reading.has_thresholds and (weights.values == np.rint(weights.values)).all():
            _whole_weights(reading, weights)
        return view
    aside = RecordingBuilder("scales", channels_last=False)
    build(aside, np.broadcast_to(weights.scale, weights.values.shape).astype(np.float64))
    layer = reading.builder.convolution
    assert aside.convolution is not None and layer is not None, "both have made one"
    by_output = by_filter(aside.convolution.weights)
    if by_output is None:
        message = "the scale of its quantised weights differs within an output channel"
        raise node.problem(message, "one scale for each output channel, or one for all")
    reading.weight_grids[layer.name] = Grid(
        scale=np.where(by_output > 0, by_output, 1.0),
        low=weights.low,
        high=weights.high,
        bipolar=weights.bipolar,
    )
    if bias is not None and bias.scale is not None:
        reading.on_grid.add(layer.name)
    return view


def _whole_weights(reading: Reading, weights: Constant) -> None:
    """Takes weights beside thresholds for the integers that they look like: nothing quantises them."""
    assert reading.builder.convolution is not None, "a layer has just been made"
    low, high = int(weights.values.min()), int(weights.values.max())
    reading.plain_grids[reading.builder.convolution.name] = Grid(scale=np.ones(1), low=low, high=high)


def _bias(node: Node, bias: Constant | None, members: int) -> Array | None:
    if bias is None:
        return None
    if bias.values.shape != (members,):
        message = f"its bias has the shape {list(bias.values.shape)}"
        raise node.problem(message, f"a bias of {members} elements")
    return bias.values.astype(np.float64)


def reshaped(constant: Constant, move: Callable[[Array], Array]) -> Constant:
    """A constant whose elements are moved, and their scales with them."""
    scale = None if constant.scale is None else move(np.broadcast_to(constant.scale, constant.values.shape))
    return replace(constant, values=move(constant.values), scale=scale)


def multiplied(constant: Constant, factor: float) -> Constant:
    if factor == 1:
        return constant
    scale = None if constant.scale is None else constant.scale * abs(factor)
    fields: dict[str, Any] = {"values": constant.values * factor, "scale": scale}
    if factor < 0:
        fields |= {"low": -constant.high, "high": -constant.low}
    return replace(constant, **fields)


def batch_normalization(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    if node.flag("training_mode") or any(reading.is_read(node, i) for i in range(1, 5)):
        message = "it computes the statistics of the batch (training_mode)"
        raise node.problem(message, "a model exported in evaluation mode")
    if not node.flag("spatial", 1):
        raise node.problem("it normalises each element by numbers of its own (spatial 0)", "spatial 1")
    names = ("scale", "B", "input_mean", "input_var")
    arrays = [reading.needed(node, index + 1).values.astype(np.float64) for index in range(4)]
    for name, array in zip(names, arrays, strict=True):
        if array.shape != (x.shape[0],) or not np.isfinite(array).all():
            message = f"{name} has the shape {list(array.shape)} for {x.shape[0]} channels, or is not finite"
            raise node.problem(message, "one finite number for each channel")
    gamma, beta, mean, variance = (array.reshape(-1, *[1] * (x.rank - 1)) for array in arrays)
    epsilon = node.number("epsilon", 1e-5)
    if (variance + epsilon <= 0).any():
        raise node.problem("a variance is negative", "variances of at least 0")
    scale = gamma / np.sqrt(variance + epsilon)
    return [Real(view=reading.builder.affine(x, scale, beta - mean * scale))]


SUMS: dict[str, Handler] = {
    "BatchNormalization": batch_normalization,
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "Gemm": gemm,
    "MatMul": matmul,
}
