"""ONNX Resize and Upsample as ONNX Runtime computes them: nearest, linear, cubic, antialiased or not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hlsgen.frontends.builder.resampling import Filter, Resampled, weights_at
from hlsgen.frontends.builder.views import Value
from hlsgen.frontends.onnx.coordinates import MODES, NEAREST, Axis, nearest
from hlsgen.frontends.onnx.model import LARGEST_TENSOR, Node, few
from hlsgen.frontends.onnx.reading import Reading
from hlsgen.frontends.onnx.values import Array, Known, Real
from hlsgen.passes.quantisers import Grid

FINEST = 1 << 20
"""Steps of 1 that weights between elements have in a quantised model, where their own are finer."""
PLAIN = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": ""}
"""What operator sets before 11 do without saying it."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """The attributes of a node, checked. rounding: "" is that of operator sets before 11."""

    mode: str
    where: str
    rounding: str
    cubic: Fraction
    antialias: bool
    inside: bool
    outside: float

    def filter(self, scale: np.float32) -> Filter:
        shrunk = self.antialias and scale < 1
        stretch = 1 / Fraction(float(scale)).limit_denominator(1 << 20) if shrunk else Fraction(1)
        return Filter(cubic=self.cubic if self.mode == "cubic" else None, stretch=stretch)


def resize(reading: Reading, node: Node) -> Sequence[Known]:
    sampling = _sampling(reading, node)
    x = reading.view(node)
    axes = _axes(reading, node, x, sampling)
    if all(axis.wanted == axis.size for axis in axes):
        return [Real(view=x)]
    known = set(reading.builder.convolutions)
    changed = {
        number: axis
        for number, axis in enumerate(axes)
        if axis.scale != 1 and not (sampling.antialias and axis.wanted == axis.size)
    }
    if sampling.mode != "nearest":
        _refuse_axes(node, sampling, changed, x)
        view = _between(reading, x, changed, sampling, known)
    else:
        view = x
        for number, axis in changed.items():
            view = _nearest(reading, view, number, axis, sampling)
        for made in set(reading.builder.convolutions) - known:
            reading.plain_grids[made] = Grid(scale=np.ones(1), low=0, high=1)
    for number, axis in changed.items():
        view = _bordered(reading, node, view, number, axis, sampling)
    return [Real(view=view)]


def _sampling(reading: Reading, node: Node) -> Sampling:
    attributes = node.attributes | (PLAIN if node.op == "Upsample" or reading.opset < 11 else {})
    mode = str(attributes.get("mode", "nearest"))
    if mode not in ("nearest", "linear", "cubic"):
        raise node.problem(f"its mode is {mode}", 'mode "nearest", "linear" or "cubic"')
    where = str(attributes.get("coordinate_transformation_mode", "half_pixel"))
    if where not in MODES:
        fix = f"{', '.join(MODES[:-1])} or {MODES[-1]}"
        raise node.problem(f"coordinate_transformation_mode is {where}", fix)
    rounding = str(attributes.get("nearest_mode", "round_prefer_floor"))
    if rounding and rounding not in NEAREST:
        fix = "round_prefer_floor, round_prefer_ceil, floor or ceil"
        raise node.problem(f"nearest_mode is {rounding}", fix)
    return Sampling(
        mode=mode,
        where=where,
        rounding=rounding,
        cubic=Fraction(node.number("cubic_coeff_a", -0.75)).limit_denominator(1 << 20),
        antialias=node.flag("antialias"),
        inside=node.flag("exclude_outside"),
        outside=node.number("extrapolation_value", 0.0),
    )


def _refuse_axes(node: Node, sampling: Sampling, changed: dict[int, Axis], x: Value) -> None:
    """Refuses what ONNX Runtime does not compute, or not as it says: cubic along the channels."""
    if sampling.mode == "cubic" and x.rank == 3 and 0 in changed and not sampling.antialias:
        message = "it interpolates along axis 1, the channels, in mode cubic"
        raise node.problem(
            message, "rows and columns as the last axes (a Transpose before it), or mode linear"
        )


# positions


def _inner(axis: Axis, sampling: Sampling) -> tuple[int, int]:
    """The elements of the result, [from, to), whose place lies within the axis; all but of a crop."""
    if sampling.where != "tf_crop_and_resize":
        return 0, axis.wanted
    found = axis.positions(sampling.where)
    inner = np.flatnonzero((found >= 0) & (found <= axis.size - 1))
    return (int(inner[0]), int(inner[-1]) + 1) if inner.size else (0, 0)


def _nearest(reading: Reading, x: Value, number: int, axis: Axis, sampling: Sampling) -> Value:
    begin, end = _inner(axis, sampling)
    chosen = nearest(axis, sampling.where, sampling.rounding)[begin:end].tolist()
    if chosen and chosen[0] > chosen[-1]:  # a region that is cut out backwards
        backwards = reading.builder.nearest(x, number, chosen[::-1])
        return reading.builder.flip(backwards, (number,))
    return reading.builder.nearest(x, number, chosen) if chosen else x


def _between(
    reading: Reading, x: Value, changed: dict[int, Axis], sampling: Sampling, known: set[str]
) -> Value:
    plan = {number: _weighed(axis, sampling) for number, axis in changed.items()}
    view = reading.builder.resized(x, plan)
    steps = 1
    for one in plan.values():
        steps *= one.steps if isinstance(one, Resampled) and one.filter == Filter() else FINEST
    for made in set(reading.builder.convolutions) - known:
        fine = min(steps, FINEST)
        reading.plain_grids[made] = Grid(scale=np.array([1 / fine]), low=-2 * fine, high=2 * fine)
    return view


def _weighed(axis: Axis, sampling: Sampling) -> Resampled | Array:
    """How the elements of the result lie between those that there are, in turns where they do."""
    begin, end = _inner(axis, sampling)
    filter, line = sampling.filter(axis.scale), axis.line(sampling.where)
    if line is not None and not sampling.inside and line[1] >= 0:
        first = line[0] + begin * line[1]
        return Resampled(size=axis.size, wanted=end - begin, step=line[1], first=first, filter=filter)
    places = [Fraction(float(place)) for place in axis.positions(sampling.where)[begin:end]]
    return weights_at(places, axis.size, filter, sampling.inside)


def _bordered(reading: Reading, node: Node, x: Value, number: int, axis: Axis, sampling: Sampling) -> Value:
    """The elements of a region that lies partly outside, with the extrapolated ones around them."""
    begin, end = _inner(axis, sampling)
    if begin == end:
        raise node.problem("the region that it cuts out lies outside of its input", "a roi within 0 and 1")
    amounts = [(0, 0)] * x.rank
    amounts[number] = (begin, axis.wanted - end)
    return reading.builder.pad(x, amounts, sampling.outside) if any(amounts[number]) else x


# sizes


def _axes(reading: Reading, node: Node, x: Value, sampling: Sampling) -> list[Axis]:
    """The axes of the view, with the scale and the size that the result has along each."""
    shape = reading.shape(x)
    axes = [int(axis) % len(shape) for axis in node.attribute("axes") or range(len(shape))]
    old = node.op == "Upsample" or reading.opset < 11
    if old:
        given = reading.array(node, 1) if node.input(1) else node.attribute("scales")
        if given is None and len(shape) == 4:  # operator set 6
            given = [1.0, 1.0, node.number("height_scale", 1), node.number("width_scale", 1)]
        wanted = None
    else:
        given, wanted = reading.array(node, 2), reading.array(node, 3)
    by_size = given is None or np.size(given) == 0
    numbers = wanted if by_size else given
    if numbers is None or np.size(numbers) != len(axes):
        raise node.problem("it has no scale or size for each axis", "constant scales or sizes")
    if not np.isfinite(numbers).all():
        raise node.problem("a scale is infinite or no number", "finite scales")
    scales = np.ones(len(shape), np.float32)
    sizes = list(shape)
    for axis, number in zip(axes, np.asarray(numbers).reshape(-1), strict=True):
        exact = np.float32(shape[axis])
        scales[axis] = np.float32(number) / exact if by_size else np.float32(number)
        sizes[axis] = int(number) if by_size else int(scales[axis] * exact)  # in float32, as it is computed
    if by_size:
        _keep_aspect(node, shape, axes, scales, sizes)
    if (sizes[0], scales[0]) != (shape[0], 1):
        reading.axis(node, 0, x.rank)  # which refuses the batch
    if min(sizes) < 1 or min(scales) <= 0 or math.prod(sizes) > LARGEST_TENSOR:
        fix = f"sizes of at least 1, and at most {LARGEST_TENSOR} elements"
        raise node.problem(f"its result would have the sizes {few(sizes[1:])}", fix)
    return _with_regions(reading, node, sampling, shape, axes, scales, sizes)


def _keep_aspect(
    node: Node, shape: Sequence[int], axes: Sequence[int], scales: Array, sizes: list[int]
) -> None:
    """keep_aspect_ratio_policy: one scale for all of the axes, the sizes what it makes of them."""
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return
    if policy not in ("not_larger", "not_smaller"):
        fix = 'keep_aspect_ratio_policy "stretch", "not_larger" or "not_smaller"'
        raise node.problem(f"keep_aspect_ratio_policy is {policy}", fix)
    scale = (min if policy == "not_larger" else max)(scales[axis] for axis in axes)
    for axis in axes:
        scales[axis] = scale
        sizes[axis] = math.floor(float(scale * np.float32(shape[axis])) + 0.5)


def _with_regions(
    reading: Reading,
    node: Node,
    sampling: Sampling,
    shape: Sequence[int],
    axes: Sequence[int],
    scales: Array,
    sizes: Sequence[int],
) -> list[Axis]:
    """The axes but the batch; with the regions of a crop, which the input roi gives."""
    regions = {axis: (0.0, 1.0) for axis in range(len(shape))}
    given = reading.array(node, 1) if sampling.where == "tf_crop_and_resize" else None
    if given is not None and given.size:
        if given.size != 2 * len(axes) or not np.isfinite(given).all():
            raise node.problem(f"its roi has {given.size} numbers", "two finite numbers for each axis")
        ends = np.asarray(given, np.float64).reshape(2, -1).T
        regions |= {axis: (float(pair[0]), float(pair[1])) for axis, pair in zip(axes, ends, strict=True)}
    return [
        Axis(size=shape[axis], wanted=sizes[axis], scale=np.float32(scales[axis]), roi=regions[axis])
        for axis in range(1, len(shape))
    ]
