"""Keras' layers that resize: UpSampling and Resizing, computed as TensorFlow does."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from hlsgen.frontends.builder.builder import Value
from hlsgen.frontends.builder.resampling import Filter, Resampled, weights_at
from hlsgen.frontends.builder.sums import Array
from hlsgen.frontends.qkeras.weights import Net

CUBIC = Filter(cubic=Fraction(-1, 2))
TABLE = 1024
"""Places between two elements for which TensorFlow has weights of a cubic convolution."""


def upsampled(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """UpSampling1D and 2D, of the nearest pixel or between pixels."""
    x, way = inputs[0], getattr(layer, "interpolation", "nearest")
    times = [int(each) for each in np.reshape(layer.size, -1)]
    if way != "nearest":
        return _between(net, x, way, [size * by for size, by in zip(x.shape, times, strict=False)])
    for axis, by in enumerate(times):
        x = net.builder.repeat(x, axis, by)
    return x


def resized(net: Net, layer: Any, inputs: list[Value]) -> Value:
    """Resizing of images, the middle of the right shape cut out before where it keeps the aspect ratio."""
    x, sizes, builder = inputs[0], [int(layer.height), int(layer.width)], net.builder
    if getattr(layer, "pad_to_aspect_ratio", False) or x.rank != 3:
        raise builder.refusal(
            "it pads to the aspect ratio", "crop_to_aspect_ratio, or ZeroPadding2D before it"
        )
    if getattr(layer, "antialias", False):
        message = "it resizes with antialias"
        raise builder.refusal(message, "antialias=False, or an AveragePooling2D before it")
    if layer.crop_to_aspect_ratio:
        x = _middle(net, x, sizes)
    if layer.interpolation != "nearest":
        return _between(net, x, layer.interpolation, sizes)
    for axis, wanted in enumerate(sizes):
        size = x.shape[axis]
        # as TensorFlow computes it, in float32
        step = np.float32(size) / np.float32(wanted)
        places = np.floor((np.arange(wanted, dtype=np.float32) + np.float32(0.5)) * step).astype(np.int64)
        x = builder.nearest(x, axis, [int(place) for place in np.minimum(places, size - 1)])
    return x


def _middle(net: Net, x: Value, sizes: Sequence[int]) -> Value:
    """Rows and columns in the ratio of `sizes`, as many as there are."""
    height, width = x.shape[:2]
    wished = (int(width * sizes[0] / sizes[1]), int(height * sizes[1] / sizes[0]))
    for axis, (size, wish) in enumerate(zip((height, width), wished, strict=True)):
        kept = max(1, min(size, wish))
        x = net.builder.slice(x, axis, (size - kept) // 2, kept)
    return x


def _between(net: Net, x: Value, way: str, sizes: Sequence[int]) -> Value:
    if way not in ("bilinear", "bicubic"):
        message = f"its interpolation is {way}"
        raise net.builder.refusal(message, 'interpolation="bilinear", "bicubic" or "nearest"')
    plan: dict[int, Resampled | Array] = {}
    for axis, wanted in enumerate(sizes):
        line = Resampled.half_pixel(x.shape[axis], wanted)
        if wanted != line.size:
            plan[axis] = line if way == "bilinear" else _cubic(line)
    return net.builder.resized(x, plan)


def _cubic(line: Resampled) -> Array:
    """Weights of a cubic convolution, at the nearest of the places for which there are any."""
    exact = (line.first + number * line.step for number in range(line.wanted))
    places = [Fraction(round(place * TABLE), TABLE) for place in exact]
    return weights_at(places, line.size, CUBIC, inside=True)
