"""ONNX operations that move elements: shapes, slices, padding."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hlsgen.frontends.builder.views import Value
from hlsgen.frontends.onnx.joining import concat
from hlsgen.frontends.onnx.model import LARGEST_TENSOR, Node, few
from hlsgen.frontends.onnx.reading import Handler, Reading
from hlsgen.frontends.onnx.resampling import resize
from hlsgen.frontends.onnx.values import Constant, Known, Real


def identity(reading: Reading, node: Node) -> Sequence[Known]:
    return [reading.value(node, 0)]


def dropout(reading: Reading, node: Node) -> Sequence[Known]:
    training = reading.array(node, 2)
    if reading.is_read(node, 1) or (training is not None and bool(training.any())):
        raise node.problem("it drops elements (training_mode, or its mask is used)", "an evaluation model")
    return [reading.value(node, 0)]


def shape(reading: Reading, node: Node) -> Sequence[Known]:
    known = reading.value(node, 0)
    assert not isinstance(known, Constant), "constants are folded"
    sizes = reading.shape(known.view if isinstance(known, Real) else known.real)
    start, end = int(node.attribute("start", 0)), node.attribute("end")
    return [Constant(values=np.array(sizes[start : None if end is None else int(end)], np.int64))]


def size(reading: Reading, node: Node) -> Sequence[Known]:
    return [Constant(values=np.array(reading.batch * reading.view(node).size, np.int64))]


def flatten(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    axis = int(node.attribute("axis", 1))
    axis += x.rank + 1 if axis < 0 else 0
    alone = reading.batch == 1 if axis == 0 else axis <= x.rank and math.prod(x.shape[: axis - 1]) == 1
    if not alone:
        message = f"it joins the batch with other axes (axis {axis} of {x.rank + 1})"
        raise node.problem(message, "axis 1, or a batch of 1")
    return [Real(view=reading.builder.reshape(x, (-1,)))]


def reshape(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    wanted = reading.whole(node, 1)
    given = reading.shape(x)
    if not node.flag("allowzero"):
        wanted = [
            given[axis] if size == 0 and axis < len(given) else size for axis, size in enumerate(wanted)
        ]
    known = math.prod(size for size in wanted if size != -1)
    if -1 in wanted and known:
        wanted[wanted.index(-1)] = math.prod(given) // known
    if not wanted or wanted[0] != given[0] or math.prod(wanted) != math.prod(given) or min(wanted) < 1:
        message = f"it makes {few(wanted)} of {list(given)}, the batch first"
        raise node.problem(message, f"a shape that begins with the batch, {given[0]} or 0")
    return [Real(view=reading.builder.reshape(x, wanted[1:]))]


def transpose(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    order = [int(axis) for axis in node.attribute("perm") or range(x.rank, -1, -1)]
    if sorted(order) != list(range(x.rank + 1)) or order[0] != 0:
        message = f"it orders the axes {order}"
        raise node.problem(message, "a permutation that leaves the batch in front")
    return [Real(view=reading.builder.permute(x, [axis - 1 for axis in order[1:]]))]


def squeeze(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    given = reading.integers(node, 1, "axes")
    if given is None and reading.batch == 1:
        message = "it removes every axis of size 1, perhaps the batch"
        raise node.problem(message, "the axes that it removes")
    axes = range(x.rank) if given is None else reading.axes(node, given, x.rank)
    wide = [axis for axis in axes if x.shape[axis] != 1]
    if given is not None and wide:
        message = f"it removes axis {wide[0] + 1}, which has {x.shape[wide[0]]} elements"
        raise node.problem(message, "axes of one element")
    return [Real(view=reading.builder.squeeze(x, list(axes)))]


def unsqueeze(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    given = reading.integers(node, 1, "axes") or []
    rank = x.rank + len(given)
    for axis in sorted(reading.axes(node, given, rank)):
        x = reading.builder.unsqueeze(x, axis)
    return [Real(view=x)]


def expand(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    wanted = tuple(reading.whole(node, 1))
    try:
        found = np.broadcast_shapes(reading.shape(x), wanted)
    except ValueError:
        found = ()
    if len(found) != x.rank + 1 or found[0] != reading.batch:
        message = f"it makes {few(wanted)} of {list(reading.shape(x))}"
        raise node.problem(message, "as many axes, and the batch as it is")
    return [Real(view=reading.builder.expand(x, found[1:]))]


def tile(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    times = reading.whole(node, 1)
    if len(times) != x.rank + 1 or times[0] != 1 or min(times) < 1:
        raise node.problem(
            f"it repeats {few(times)} times", "once along the batch, at least once along each axis"
        )
    for axis, count in enumerate(times[1:]):
        x = reading.builder.tile(x, axis, count)
    return [Real(view=x)]


# parts


def gather(reading: Reading, node: Node) -> Sequence[Known]:
    x, indices = reading.view(node), reading.needed(node, 1).values.astype(np.int64)
    axis = reading.axis(node, int(node.attribute("axis", 0)), x.rank)
    chosen = np.where(indices < 0, indices + x.shape[axis], indices)
    flat = [int(index) for index in chosen.reshape(-1)]
    if not flat or not 0 <= min(flat) <= max(flat) < x.shape[axis]:
        message = f"it takes the elements {few(flat)} of an axis of {x.shape[axis]}"
        raise node.problem(message, "indices within the axis")
    view = reading.builder.take(x, axis, flat)
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    return [Real(view=reading.builder.reshape(view, shape))]


def slice_(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    names = ("starts", "ends", "axes", "steps")
    starts, ends, axes, steps = (reading.integers(node, n + 1, name) for n, name in enumerate(names))
    assert starts is not None and ends is not None, "the checker wants both"
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    if len({len(values) for values in (starts, ends, axes, steps)}) > 1:
        raise node.problem("its starts, ends, axes and steps differ in number", "one of each for each axis")
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if axis % (x.rank + 1) == 0 and start == 0 and end >= reading.batch and step == 1:
            continue
        x = _sliced(reading, node, x, (start, end, step), reading.axis(node, axis, x.rank))
    return [Real(view=x)]


def _sliced(reading: Reading, node: Node, x: Value, part: tuple[int, int, int], axis: int) -> Value:
    if part[2] == 0:
        raise node.problem("its step is 0", "a step other than 0")
    # NumPy's negative ends run over the front; ONNX clamps them to -1
    chosen = range(*slice(*part).indices(x.shape[axis]))
    if not chosen:
        message = f"it takes elements {part[0]} to {part[1]} of an axis of {x.shape[axis]}: none"
        raise node.problem(message, "at least one element")
    if part[2] > 0 or len(chosen) == 1:
        return reading.builder.slice(x, axis, chosen[0], len(chosen), max(part[2], 1))
    upwards = reading.builder.slice(x, axis, chosen[-1], len(chosen), -part[2])
    return reading.builder.flip(upwards, (axis,))


def split(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    axis = reading.axis(node, int(node.attribute("axis", 0)), x.rank)
    sizes = reading.integers(node, 1, "split")
    if sizes is None:
        # the last part of an uneven split is smaller
        each = -(-x.shape[axis] // len(node.outputs))
        sizes = [min(each, x.shape[axis] - begin) for begin in range(0, x.shape[axis], each)]
    if len(sizes) != len(node.outputs) or sum(sizes) != x.shape[axis] or min(sizes) < 1:
        message = (
            f"it splits {x.shape[axis]} elements into parts of {few(sizes)}, {len(node.outputs)} outputs"
        )
        raise node.problem(message, "parts of at least one element that make up the axis")
    return [Real(view=part) for part in reading.builder.split(x, axis, sizes)]


def pad(reading: Reading, node: Node) -> Sequence[Known]:
    x = reading.view(node)
    amounts = reading.integers(node, 1, "pads") or []
    value = node.attribute("value", 0.0) if reading.opset < 11 else reading.number(node, 2, "value")
    axes = reading.integers(node, 3, "axes") or list(range(x.rank + 1))
    if len(amounts) != 2 * len(axes):
        message = f"it has {len(amounts)} pads for {len(axes)} axes"
        raise node.problem(message, "two pads for each axis")
    borders = [(0, 0)] * x.rank
    for number, axis in enumerate(axes):
        border = amounts[number], amounts[number + len(axes)]
        if border == (0, 0):
            continue
        place = reading.axis(node, axis, x.rank)
        if sum(min(side, 0) for side in border) <= -x.shape[place]:
            raise node.problem(f"it cuts off all of axis {axis}", "pads that leave something")
        if max(border) > LARGEST_TENSOR:
            raise node.problem(f"it adds {max(border)} elements", f"at most {LARGEST_TENSOR}")
        borders[place] = border
    mode = node.attribute("mode", "constant")
    if mode not in ("constant", "reflect", "edge", "wrap"):
        raise node.problem(f"its mode is {mode}", "constant, reflect, edge or wrap")
    return [Real(view=reading.builder.pad(x, borders, float(value or 0.0), mode))]


def depth_to_space(reading: Reading, node: Node) -> Sequence[Known]:
    x, block = _image_and_block(reading, node)
    mode = node.attribute("mode", "DCR")
    if mode not in ("DCR", "CRD") or x.shape[0] % block**2:
        message = f"mode {mode}, blocks of {block} x {block} of {x.shape[0]} channels"
        raise node.problem(message, "mode DCR or CRD, and channels that the block divides")
    return [Real(view=reading.builder.depth_to_space(x, (block, block), column_first=mode == "CRD"))]


def space_to_depth(reading: Reading, node: Node) -> Sequence[Known]:
    x, block = _image_and_block(reading, node)
    if x.shape[1] % block or x.shape[2] % block:
        message = f"blocks of {block} x {block} do not make up an image of {x.shape[1]} x {x.shape[2]}"
        raise node.problem(message, "a blocksize that divides both")
    mode = node.attribute("mode", "DCR")
    if mode not in ("DCR", "CRD"):
        raise node.problem(f"its mode is {mode}", "mode DCR or CRD")
    return [Real(view=reading.builder.space_to_depth(x, (block, block), column_first=mode == "CRD"))]


def _image_and_block(reading: Reading, node: Node) -> tuple[Value, int]:
    x, block = reading.view(node), int(node.attribute("blocksize", 0))
    if x.rank != 3 or block < 1:
        message = f"it rearranges blocks of {block} of a tensor of {x.rank + 1} axes"
        raise node.problem(message, "an image [N, C, H, W] and a blocksize of at least 1")
    return x, block


SHAPES: dict[str, Handler] = {
    "Concat": concat,
    "DepthToSpace": depth_to_space,
    "Dropout": dropout,
    "Expand": expand,
    "Flatten": flatten,
    "Gather": gather,
    "Identity": identity,
    "Pad": pad,
    "Reshape": reshape,
    "Resize": resize,
    "Shape": shape,
    "Size": size,
    "Slice": slice_,
    "SpaceToDepth": space_to_depth,
    "Split": split,
    "Squeeze": squeeze,
    "Tile": tile,
    "Transpose": transpose,
    "Unsqueeze": unsqueeze,
    "Upsample": resize,
}
