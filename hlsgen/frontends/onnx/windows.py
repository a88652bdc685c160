"""ONNX operations over windows and whole axes: pooling, means, softmax and its logarithm, argmax."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from hlsgen.frontends.builder.views import Value
from hlsgen.frontends.onnx.model import Node
from hlsgen.frontends.onnx.reading import Handler, Reading
from hlsgen.frontends.onnx.sums import Pair, Sides, is_image, rows_columns, spatial, window_pads
from hlsgen.frontends.onnx.values import Known, Real

Function = Literal["max", "average", "sum"]
"""What the builder's `reduce` takes."""


def _overhang(node: Node, x: Value, stride: Pair, reach: Pair, pads: Sides) -> tuple[Sides, Pair]:
    """Padding and overhang such that exactly the windows that ceil_mode asks for are there."""
    if not node.flag("ceil_mode"):
        return pads, (0, 0)
    sides, over = list(pads), [0, 0]
    for axis, (size, step, span) in enumerate(zip(rows_columns(x), stride, reach, strict=True)):
        before, after = pads[axis], pads[2 + axis]
        count = math.ceil((size + before + after - span) / step) + 1
        if (count - 1) * step >= size + before:  # a window may not begin behind the image
            count -= 1
        missing = (count - 1) * step + span - (size + before + after)
        over[axis] = max(missing, 0)
        sides[2 + axis] = max(after + min(missing, 0), 0)
    return (sides[0], sides[1], sides[2], sides[3]), (over[0], over[1])


def _pool(reading: Reading, node: Node, function: Literal["max", "average"]) -> Sequence[Known]:
    x = reading.view(node)
    is_image(node, x)
    if reading.is_read(node, 1):
        message = "its second output, the indices of the largest values, is used"
        raise node.problem(message, "a model that uses the values only")
    kernel, stride = spatial(node, "kernel_shape", 1, x.rank), spatial(node, "strides", 1, x.rank)
    dilation = spatial(node, "dilations", 1, x.rank)
    if function == "average" and dilation != (1, 1):
        message = f"an average pool has the dilations {list(dilation)}"
        raise node.problem(message, "dilations of 1, or a depthwise convolution with equal weights")
    reach = ((kernel[0] - 1) * dilation[0] + 1, (kernel[1] - 1) * dilation[1] + 1)
    pads = window_pads(node, x, kernel, stride, dilation)
    pads, overhang = _overhang(node, x, stride, reach, pads)
    counts = node.flag("count_include_pad")
    view = reading.builder.pool2d(
        x,
        function,
        kernel,
        stride=stride,
        padding=pads,
        overhang=overhang,
        dilation=dilation,
        count_include_pad=counts,
    )
    return [Real(view=view)]


def max_pool(reading: Reading, node: Node) -> Sequence[Known]:
    return _pool(reading, node, "max")


def average_pool(reading: Reading, node: Node) -> Sequence[Known]:
    return _pool(reading, node, "average")


def _global(reading: Reading, node: Node, function: Function) -> Sequence[Known]:
    x = reading.view(node)
    return [Real(view=reading.builder.reduce(x, function, range(1, x.rank), keep=True))]


def global_average_pool(reading: Reading, node: Node) -> Sequence[Known]:
    return _global(reading, node, "average")


def global_max_pool(reading: Reading, node: Node) -> Sequence[Known]:
    return _global(reading, node, "max")


def _reduce(reading: Reading, node: Node, function: Function | Literal["min"]) -> Sequence[Known]:
    x = reading.view(node)
    axes = reading.integers(node, 1, "axes")
    if not axes:
        if node.flag("noop_with_empty_axes"):
            return [Real(view=x)]
        message = "it reduces all axes, the batch too"
        raise node.problem(message, "the axes that it reduces, without axis 0")
    chosen = reading.axes(node, axes, x.rank)
    keep = node.flag("keepdims", 1)
    if function == "min":
        return [Real(view=reading.builder.smallest(x, chosen, keep))]
    return [Real(view=reading.builder.reduce(x, function, chosen, keep))]


def reduce_mean(reading: Reading, node: Node) -> Sequence[Known]:
    return _reduce(reading, node, "average")


def reduce_max(reading: Reading, node: Node) -> Sequence[Known]:
    return _reduce(reading, node, "max")


def reduce_min(reading: Reading, node: Node) -> Sequence[Known]:
    return _reduce(reading, node, "min")


def reduce_sum(reading: Reading, node: Node) -> Sequence[Known]:
    return _reduce(reading, node, "sum")


def softmax(reading: Reading, node: Node) -> Sequence[Known]:
    x, builder = reading.view(node), reading.builder
    made = builder.log_softmax if node.op == "LogSoftmax" else builder.softmax
    if reading.opset >= 13:
        return [Real(view=made(x, reading.axis(node, int(node.attribute("axis", -1)), x.rank)))]
    # the axes from `axis` on are one
    axis = reading.axis(node, int(node.attribute("axis", 1)), x.rank)
    flat = made(builder.flatten(x, axis), axis)
    return [Real(view=builder.reshape(flat, x.shape))]


def arg_max(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    if node.flag("select_last_index"):
        message = "it takes the last of equal values (select_last_index)"
        raise node.problem(message, "select_last_index 0: the first of them")
    axis = reading.axis(node, int(node.attribute("axis", 0)), x.rank)
    first = reading.builder.argmin if node.op == "ArgMin" else reading.builder.argmax
    return [Real(view=first(x, axis, node.flag("keepdims", 1)), integral=True)]


WINDOWS: dict[str, Handler] = {
    "ArgMax": arg_max,
    "ArgMin": arg_max,
    "AveragePool": average_pool,
    "GlobalAveragePool": global_average_pool,
    "GlobalMaxPool": global_max_pool,
    "LogSoftmax": softmax,
    "MaxPool": max_pool,
    "ReduceMax": reduce_max,
    "ReduceMean": reduce_mean,
    "ReduceMin": reduce_min,
    "ReduceSum": reduce_sum,
    "Softmax": softmax,
}
