"""ONNX Resize and Upsample: nearest, linear, by whole factors and by parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from hlsgen.frontends.builder.resampling import Resampled, is_whole, simple_step
from hlsgen.frontends.builder.views import Value
from hlsgen.frontends.onnx.model import LARGEST_TENSOR, Node, few
from hlsgen.frontends.onnx.reading import Reading
from hlsgen.frontends.onnx.values import Array, Known, Real
from hlsgen.passes.quantisers import Grid


def resize(reading: Reading, node: Node) -> Sequence[Known]:
    if node.op == "Upsample" or reading.opset < 11:  # which have no such attributes
        plain = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        node = replace(node, attributes={**node.attributes, **plain})
    x = reading.view(node)
    scales, sizes = _scales_and_sizes(reading, node, x)
    mode = node.attribute("mode", "nearest")
    if mode == "linear":
        return [Real(view=_interpolated(reading, node, x, scales, sizes))]
    for axis, (scale, size) in enumerate(zip(scales, sizes, strict=True)):
        if size == x.shape[axis] and scale == 1:
            continue
        if mode != "nearest":
            message = f"it interpolates (mode {mode})"
            raise node.problem(message, 'mode "nearest" or "linear", or a transposed convolution')
        chosen = _nearest(node, x.shape[axis], size, scale)
        x = reading.builder.nearest(x, axis, [int(index) for index in chosen])
    return [Real(view=x)]


def _interpolated(reading: Reading, node: Node, x: Value, scales: list[float], sizes: list[int]) -> Value:
    """Mode linear, along rows and columns."""
    if node.flag("antialias") and any(scale < 1 for scale in scales):
        message = "it interpolates with antialias, which reads more elements the smaller the result is"
        raise node.problem(message, "antialias 0, or an AveragePool before it")
    if x.rank not in (2, 3) or sizes[0] != x.shape[0]:
        message = f"it interpolates {few(sizes)} elements between {few(list(x.shape))}"
        raise node.problem(message, "rows and columns of an image, or a signal")
    axes = [_between(node, *one) for one in zip(x.shape[1:], sizes[1:], scales[1:], strict=True)]
    for part in reading.builder.steps_of(axes):
        before = reading.builder.convolution
        x = reading.builder.resampled(x, part)
        made = reading.builder.convolution
        if made is not None and made is not before:
            steps = math.prod(axis.steps for axis in part if axis.size > 1)
            reading.plain_grids[made.name] = Grid(scale=np.array([1 / steps]), low=0, high=steps)
    return x


def _between(node: Node, size: int, wanted: int, scale: float) -> Resampled:
    """A resized axis: how its elements lie between those that there are."""
    step = simple_step(size, wanted, scale)
    if step is None:
        message = f"its scale {scale} is no simple fraction, so that each element has weights of its own"
        raise node.problem(message, "a scale such as 1.5, or sizes")
    where = _coordinates(node, is_whole(size, wanted, scale))
    if where == "align_corners":
        return Resampled.aligned_corners(size, wanted)
    if where == "pytorch_half_pixel" and wanted == 1:
        return Resampled(size=size, wanted=1, step=Fraction(0), first=Fraction(0))
    if where == "asymmetric":
        return Resampled(size=size, wanted=wanted, step=step, first=Fraction(0))
    plain = Resampled.half_pixel(size, wanted, step)
    cut = (size - wanted * step) / 2 if where == "half_pixel_symmetric" else Fraction(0)
    return replace(plain, first=plain.first + cut)


def _coordinates(node: Node, whole: bool) -> str:
    """The attribute coordinate_transformation_mode; `whole`: the scaled size is one."""
    where = str(node.attribute("coordinate_transformation_mode", "half_pixel"))
    accepted = ("asymmetric", "half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "align_corners")
    if where not in accepted:
        fix = f"{', '.join(accepted[:-1])} or {accepted[-1]}"
        raise node.problem(f"coordinate_transformation_mode is {where}", fix)
    if where == "align_corners" and not whole:
        message = (
            "it aligns corners by scales that give no whole size, which ONNX and ONNX Runtime compute apart"
        )
        raise node.problem(message, "sizes in place of the scales")
    return where


def _scales_and_sizes(reading: Reading, node: Node, x: Value) -> tuple[list[float], list[int]]:
    """The scale and the size of the result, by axis of the view."""
    if node.op == "Upsample" or reading.opset < 11:
        given = reading.array(node, 1) if node.input(1) else node.attribute("scales")
        wanted = None
    else:
        given, wanted = reading.array(node, 2), reading.array(node, 3)
        if node.attribute("keep_aspect_ratio_policy", "stretch") != "stretch":
            raise node.problem("it keeps the aspect ratio", 'keep_aspect_ratio_policy "stretch"')
    axes = [int(axis) for axis in node.attribute("axes") or range(x.rank + 1)]
    scales, sizes = [1.0] * x.rank, list(x.shape)
    by_size = given is None or np.size(given) == 0
    numbers = wanted if by_size else given
    if numbers is None or np.size(numbers) != len(axes):
        raise node.problem("it has no scale or size for each axis", "constant scales or sizes")
    if not np.isfinite(numbers).all():
        raise node.problem("a scale is infinite or no number", "finite scales")
    for axis, number in zip(axes, np.asarray(numbers).reshape(-1), strict=True):
        if axis % (x.rank + 1) == 0 and float(number) == (reading.batch if by_size else 1):
            continue
        place = reading.axis(node, axis, x.rank)
        size = x.shape[place]
        sizes[place] = int(number) if by_size else math.floor(size * float(number))
        scales[place] = float(number) / size if by_size else float(number)
    if min(sizes) < 1 or math.prod(sizes) > LARGEST_TENSOR:
        fix = f"sizes of at least 1, and at most {LARGEST_TENSOR} elements"
        raise node.problem(f"its result would have the sizes {few(sizes)}", fix)
    return scales, sizes


def _nearest(node: Node, size: int, wanted: int, scale: float) -> Array:
    """Which input element each output element is, as ONNX defines it."""
    where = _coordinates(node, is_whole(size, wanted, scale))
    rounding = node.attribute("nearest_mode", "round_prefer_floor")
    out = np.arange(wanted, dtype=np.float64)
    if where == "asymmetric":
        found = out / scale
    elif where == "align_corners":
        found = out * (size - 1) / max(wanted - 1, 1)
    elif where == "pytorch_half_pixel" and wanted == 1:
        found = out * 0
    else:
        found = (out + 0.5) / scale - 0.5
        if where == "half_pixel_symmetric":
            found += size / 2 * (1 - wanted / (scale * size))
    rounded = {
        "round_prefer_floor": np.ceil(found - 0.5),
        "round_prefer_ceil": np.floor(found + 0.5),
        "floor": np.floor(found),
        "ceil": np.ceil(found),
    }.get(rounding)
    if rounded is None:
        fix = "round_prefer_floor, round_prefer_ceil, floor or ceil"
        raise node.problem(f"nearest_mode is {rounding}", fix)
    chosen: Array = np.clip(rounded, 0, size - 1).astype(np.int64)
    return chosen
