"""aten operations that resize images and signals, computed as PyTorch does, with or without antialias."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from hlsgen.frontends.builder.builder import Value
from hlsgen.frontends.builder.resampling import Filter, Resampled, simple_step, weights_at
from hlsgen.frontends.builder.sums import Array
from hlsgen.frontends.torch.call import Call, converts

CUBIC = Fraction(-3, 4)
"""The coefficient of PyTorch's cubic convolution; with antialias it is -1/2."""


def _scale_factors(together: object, *by_axis: object) -> list[Any]:
    """The factors by axis, as far as they are given: in one list, or each as an argument of its own."""
    given = together or [each for each in by_axis if each is not None]
    return list(given) if isinstance(given, list | tuple) else []


@converts(
    "upsample_nearest1d",
    "upsample_nearest2d",
    "_upsample_nearest_exact1d",
    "_upsample_nearest_exact2d",
    "upsample_linear1d",
    "upsample_bilinear2d",
    "upsample_bicubic2d",
    "_upsample_bilinear2d_aa",
    "_upsample_bicubic2d_aa",
)
def upsample(
    call: Call,
    self: object = None,
    output_size: object = None,
    align_corners: bool = False,
    scale_factors: object = None,
    scales: object = None,
    scales_h: object = None,
    scales_w: object = None,
    input: object = None,
) -> Value:
    x = call.value(input if input is not None else self)
    factors = _scale_factors(scale_factors, scales, scales_h, scales_w) or [None] * (x.rank - 1)
    if "nearest" in call.op:
        return _nearest(call, x, factors)
    sizes = zip(x.shape[1:], call.shape[1:], factors, strict=True)
    plan = {
        axis: _between(call.op, *one, align_corners)
        for axis, one in enumerate(sizes, start=1)
        if one[0] != one[1] or call.op == "upsample_bicubic2d"  # others leave it, whatever the factor says
    }
    return call.builder.resized(x, plan)


def _nearest(call: Call, x: Value, factors: list[Any]) -> Value:
    for axis, wanted in enumerate(call.shape[1:], start=1):
        size, factor = x.shape[axis], factors[axis - 1]
        if (
            "2d" in call.op and "exact" not in call.op and wanted in (size, 2 * size)
        ):  # whatever the factor is
            x = call.builder.repeat(x, axis, wanted // size)
            continue
        # as PyTorch computes it, in float32
        step = np.float32(1 / factor if factor else np.float32(size) / np.float32(wanted))
        places = (np.arange(wanted, dtype=np.float32) + np.float32(0.5 if "exact" in call.op else 0)) * step
        chosen = np.minimum(np.floor(places).astype(np.int64), size - 1)
        x = call.builder.nearest(x, axis, [int(index) for index in chosen])
    return x


def _between(op: str, size: int, wanted: int, factor: float | None, align_corners: bool) -> Resampled | Array:
    """An axis: by a factor that is given, else by the sizes; in turns where its elements come in turns."""
    simple = Fraction(size, wanted) if factor is None else simple_step(size, wanted, factor)
    step = simple if simple is not None else 1 / Fraction(factor or 1)
    if op.endswith("_aa"):
        if align_corners:
            step = Fraction(size - 1, wanted - 1) if wanted > 1 else Fraction(0)
        filter = Filter(cubic=Fraction(-1, 2) if "cubic" in op else None, stretch=max(step, Fraction(1)))
        places = [(number + Fraction(1, 2)) * step - Fraction(1, 2) for number in range(wanted)]
        return weights_at(places, size, filter, inside=True)
    filter = Filter(cubic=CUBIC if "cubic" in op else None)
    if align_corners:
        return Resampled.aligned_corners(size, wanted, filter)
    axis = Resampled.half_pixel(size, wanted, step, filter)
    return axis if simple is not None else axis.weights
