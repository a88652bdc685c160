"""Golden of a network in float32 on a shared processor: the sums of its layers in the order of the array.

Of a window the taps follow each other row by row; of each tap the words of LANES channels, whose products are
added as a tree of neighbours and then to the sum so far. The bias comes last. An average adds its pixels row
by row and takes the nearest float of 1 / count times that. A result has no zero below zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from hlsgen.base.fixed import Codes
from hlsgen.layers.adaptive_pool import AdaptivePool
from hlsgen.layers.base import Layer, float_reciprocals, frames_of, limited
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.dense import Dense
from hlsgen.layers.pool import Pool
from hlsgen.layers.pool2d import Pool2d

Tap = tuple[Codes, Codes]
"""The pixels of a tap [C, OH, OW], and its weights [M, C / groups]."""


@dataclass(frozen=True, kw_only=True)
class FloatGolden:
    """lanes: channels of a word. unfolded: convolutions whose columns the host has made channels."""

    lanes: int
    unfolded: frozenset[str] = frozenset()

    def __call__(self, layer: Layer, sources: Sequence[Codes]) -> Codes:
        """The layer's result [frames, C, H, W] in float32."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            found = self._result(layer, sources)
            return np.asarray(found, np.float32) + np.float32(0)

    def _result(self, layer: Layer, sources: Sequence[Codes]) -> Codes:
        if isinstance(layer, Conv2d):
            frames = frames_of(sources[0], layer.in_shape).astype(np.float32)
            sums = np.stack([self._convolved(layer, frame) for frame in frames])
            bias = layer.bias if layer.bias.size else np.zeros(layer.out_channels)
            return limited(sums + bias.astype(np.float32)[:, None, None], layer.low, layer.high)
        if isinstance(layer, Pool) and layer.function != "max":
            return _averaged(layer, frames_of(sources[0], layer.source.shape).astype(np.float32))
        return layer.golden(*sources)

    def _convolved(self, layer: Conv2d, frame: Codes) -> Codes:
        """The sums [M, OH, OW] of a frame."""
        total = np.zeros(layer.output_shape, np.float32)
        each, members = layer.in_shape[0] // layer.groups, layer.out_channels // layer.groups
        for pixels, weights in self._taps(layer, frame):
            if each == 1 and layer.groups > 1 and len(pixels) == layer.groups:
                total = total + np.repeat(pixels, members, axis=0) * weights[:, 0, None, None]
                continue
            channels = len(pixels) // layer.groups
            for group in range(layer.groups):
                outputs = slice(group * members, (group + 1) * members)
                for word in self._words(group * channels, (group + 1) * channels):
                    products = [
                        None
                        if channel is None
                        else pixels[channel] * weights[outputs, channel - group * channels, None, None]
                        for channel in word
                    ]
                    total[outputs] = total[outputs] + _tree(products)
        return total

    def _words(self, first: int, end: int) -> Iterator[list[int | None]]:
        """The channels of each word that has some from `first` to before `end`; None: not one of them."""
        for word in range(first // self.lanes, (end - 1) // self.lanes + 1):
            lanes = range(word * self.lanes, (word + 1) * self.lanes)
            yield [channel if first <= channel < end else None for channel in lanes]

    def _taps(self, layer: Conv2d, frame: Codes) -> Iterator[Tap]:
        for row in _tap_rows(layer, frame):
            if layer.name not in self.unfolded:
                yield from row
                continue
            # channel c * columns + k is channel c moved by k columns
            pixels, weights = (
                np.stack(parts, axis=1 + at) for at, parts in enumerate(zip(*row, strict=True))
            )
            yield pixels.reshape(-1, *pixels.shape[2:]), weights.reshape(len(weights), -1)


def _tap_rows(layer: Conv2d, frame: Codes) -> Iterator[list[Tap]]:
    """The taps of each row of the kernel; that of a dense layer is its image."""
    channels, height, width = frame.shape
    weights = np.asarray(layer.weights, np.float32)
    if isinstance(layer, Dense):
        by_pixel = weights.reshape(-1, height, width, channels)
        for row in range(height):
            yield [(frame[:, row, at, None, None], by_pixel[:, row, at]) for at in range(width)]
        return
    top, left, bottom, right = layer.padding
    padded = np.pad(frame, ((0, 0), (top, bottom), (left, right)))
    for row in range(layer.kernel[0]):
        yield [(_moved(padded, layer, row, at), weights[:, :, row, at]) for at in range(layer.kernel[1])]


def _moved(padded: Codes, layer: Conv2d, row: int, column: int) -> Codes:
    """The pixel of each window [C, OH, OW] that a tap takes."""
    _, rows, columns = layer.output_shape
    (down, right), (first, start) = layer.stride, (row * layer.dilation[0], column * layer.dilation[1])
    taken = padded[:, first : first + (rows - 1) * down + 1 : down]
    return taken[:, :, start : start + (columns - 1) * right + 1 : right]


def _tree(terms: Sequence[Codes | None]) -> Codes:
    """The sum of neighbours of neighbours; what is None is a zero."""
    while len(terms) > 1:
        pairs = [_both(*terms[at : at + 2]) for at in range(0, len(terms), 2)]
        terms = pairs
    assert terms[0] is not None
    return terms[0]


def _both(left: Codes | None, right: Codes | None = None) -> Codes | None:
    if left is None or right is None:
        return right if left is None else left
    return left + right


def _averaged(layer: Pool, frames: Codes) -> Codes:
    """Sums or averages of windows [frames, C, OH, OW], pixel by pixel."""
    if isinstance(layer, AdaptivePool):
        total = _of_unlike_windows(layer, frames)
    else:
        total = _of_like_windows(layer, frames)
    if layer.function == "sum":
        return total
    divisor = layer.divisor if isinstance(layer, Pool2d) else None
    counts = np.outer(*layer.window_counts) if divisor is None else np.asarray(divisor)
    return total * float_reciprocals(counts)


def _of_like_windows(layer: Pool, frames: Codes) -> Codes:
    _, height, width = layer.source.shape
    _, rows, columns = layer.output_shape
    kernel, stride, padded = (height, width), (1, 1), frames
    if isinstance(layer, Pool2d):
        kernel, stride = layer.kernel, layer.stride
        top, left, bottom, right = layer.padding
        sides = ((top, bottom + layer.overhang[0]), (left, right + layer.overhang[1]))
        padded = np.pad(frames, ((0, 0), (0, 0), *sides))
    total = np.zeros((len(frames), *layer.output_shape), np.float32)
    for row, column in product(range(kernel[0]), range(kernel[1])):
        taken = padded[:, :, row : row + (rows - 1) * stride[0] + 1 : stride[0]]
        total = total + taken[..., column : column + (columns - 1) * stride[1] + 1 : stride[1]]
    return total


def _of_unlike_windows(layer: AdaptivePool, frames: Codes) -> Codes:
    total = np.zeros((len(frames), *layer.output_shape), np.float32)
    rows, columns = layer.windows
    for (y, down), (x, right) in product(enumerate(rows), enumerate(columns)):
        for row, column in product(range(*down), range(*right)):
            total[..., y, x] = total[..., y, x] + frames[..., row, column]
    return total
