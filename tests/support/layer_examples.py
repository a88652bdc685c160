"""Some fixed-point layers of each kind, for what docs/layers.md says of foldings and cycles."""

from __future__ import annotations

from typing import Any

import numpy as np

from hlsgen.base.fixed import FixedType
from hlsgen.layers.adaptive_pool import AdaptivePool
from hlsgen.layers.affine import Affine
from hlsgen.layers.argmax import ArgMax
from hlsgen.layers.base import Layer, Shape, Tensor
from hlsgen.layers.binary import Add, Mul, Sub
from hlsgen.layers.cast import Cast
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.concat import Concat
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.crop import Crop
from hlsgen.layers.dense import Dense
from hlsgen.layers.global_pool import GlobalPool
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.log_softmax import LogSoftmax
from hlsgen.layers.pad import Pad
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.rearrange import Rearrange
from hlsgen.layers.row_blocks import RowBlocks
from hlsgen.layers.softmax import Softmax
from hlsgen.layers.steps import Steps
from hlsgen.layers.table import Table
from hlsgen.layers.thresholds import Thresholds

TYPE = FixedType(8, 4)
SMALL, WIDE = (6, 5, 4), (2, 1, 130)
"""WIDE has divisors on both sides of the most pixels of a word."""


def tensor(shape: Shape) -> Tensor:
    return Tensor(shape=shape, type=TYPE)


def convolution(kind: type[Conv2d], shape: Shape, channels: int, groups: int = 1, **fields: Any) -> Conv2d:
    kernel = fields.pop("kernel", (1, 1))
    return kind(
        name="layer",
        in_shape=shape,
        out_channels=channels,
        kernel=kernel,
        groups=groups,
        input_type=TYPE,
        weight_type=TYPE,
        bias_type=TYPE,
        accumulator=FixedType(40, 20),
        result_type=TYPE,
        weights=np.ones((channels, shape[0] // groups, *kernel), np.int64),
        bias=np.zeros(0, np.int64),
        **fields,
    )


def unary(kind: type[Any], *shapes: Shape, **fields: Any) -> list[Layer]:
    given = {"result_type": TYPE, **fields}
    return [kind(name="layer", source=tensor(shape), **given) for shape in shapes or (SMALL, WIDE)]


def pool(shape: Shape, function: str, kernel: tuple[int, int], **fields: Any) -> Layer:
    return Pool2d(
        name="layer", source=tensor(shape), function=function, kernel=kernel, result_type=TYPE, **fields
    )


def binary(kind: type[Any]) -> list[Layer]:
    shapes = ((SMALL, SMALL), (SMALL, (6, 1, 1)), (WIDE, WIDE))
    return [
        kind(name="layer", inputs=("a", "b"), left=tensor(left), right=tensor(right), result_type=TYPE)
        for left, right in shapes
    ]


def concat(axis: int, *shapes: Shape) -> Layer:
    parts = tuple(tensor(shape) for shape in shapes)
    names = tuple(f"part{number}" for number in range(len(parts)))
    return Concat(name="layer", inputs=names, parts=parts, axis=axis, result_type=TYPE)


def moved(kind: type[Any], shape: Shape, **fields: Any) -> Layer:
    layer: Layer = kind(name="layer", source=tensor(shape), **fields)
    return layer


BORDER = (1, 1, 1, 1)
EXAMPLES: dict[str, list[Layer]] = {
    "conv2d": [
        convolution(Conv2d, SMALL, 4, kernel=(3, 3), padding=BORDER),
        convolution(Conv2d, (4, 6, 8), 6, kernel=(3, 3), stride=(2, 2), padding=BORDER),
        convolution(
            Conv2d, (4, 5, 7), 2, kernel=(2, 3), stride=(1, 3), dilation=(2, 1), padding=(0, 2, 3, 0)
        ),
        convolution(Conv2d, (8, 4, 6), 12, 4, kernel=(3, 3), padding=BORDER),
        convolution(Conv2d, SMALL, 6, 6, kernel=(3, 3), padding=BORDER),
        convolution(Conv2d, SMALL, 12, 6, kernel=(1, 1), stride=(2, 1)),
        convolution(Conv2d, WIDE, 2, kernel=(1, 3), padding=BORDER),
        convolution(Conv2d, (32, 3, 4), 64, kernel=(3, 3), padding=BORDER),
    ],
    "dense": [
        convolution(Dense, (12, 1, 1), 10),
        convolution(Dense, (1, 1, 1), 7),
        convolution(Dense, SMALL, 4),
        convolution(Dense, WIDE, 2),
    ],
    "affine": [convolution(Affine, SMALL, 6, 6), convolution(Affine, WIDE, 2, 2)],
    "pool2d": [
        pool(SMALL, "average", (2, 2), stride=(2, 2)),
        pool(SMALL, "max", (3, 3), stride=(2, 1), padding=BORDER),
        pool(SMALL, "average", (3, 3), padding=BORDER),
        pool((3, 6, 9), "max", (2, 2), stride=(2, 3), dilation=(2, 1)),
        pool(WIDE, "max", (1, 3), padding=(0, 1, 0, 1)),
    ],
    "adaptive_pool": [
        layer
        for size in ((3, 3), (2, 7), (8, 131))
        for layer in unary(AdaptivePool, function="average", size=size)
    ],
    "global_pool": unary(GlobalPool, function="average"),
    "clamp": unary(Clamp, low=0.0),
    "leaky": unary(Leaky, slopes=np.array([1]), slope_type=TYPE),
    "steps": unary(Steps, thresholds=(0.0,), values=(-1.0, 1.0)),
    "thresholds": [
        *unary(Thresholds, (6, 5, 4), thresholds=np.arange(18.0).reshape(6, 3)),
        *unary(Thresholds, (2, 1, 130), thresholds=np.array([[0.0, 1.0]])),
    ],
    "table": unary(Table, function="sigmoid"),
    "softmax": unary(Softmax),
    "log_softmax": unary(LogSoftmax),
    "argmax": unary(ArgMax, result_type=FixedType(8, 8, signed=False)),
    "add": binary(Add),
    "sub": binary(Sub),
    "mul": binary(Mul),
    "concat": [
        concat(0, (4, 3, 6), (6, 3, 6)),
        concat(0, (2, 1, 130), (2, 1, 130), (1, 1, 130)),
        concat(1, (6, 2, 4), (6, 3, 4)),
        concat(2, (4, 3, 6), (4, 3, 9)),
        concat(2, (2, 1, 60), (2, 1, 20)),
    ],
    "crop": [
        moved(Crop, SMALL, begin=(1, 1, 0), size=(4, 3, 4)),
        moved(Crop, SMALL, begin=(0, 0, 1), size=(3, 5, 2), step=(2, 1, 2)),
        moved(Crop, (12, 4, 12), begin=(1, 0, 2), size=(6, 2, 4), step=(2, 2, 3)),
        moved(Crop, WIDE, begin=(0, 0, 0), size=(2, 1, 65), step=(1, 1, 2)),
    ],
    "pad": [
        moved(Pad, SMALL, padding=BORDER),
        moved(Pad, SMALL, padding=(0, 2, 1, 3), channels=(3, 6)),
        moved(Pad, SMALL, channels=(2, 0)),
        moved(Pad, WIDE, padding=(0, 26, 0, 0)),
        moved(Pad, (3, 2, 40), padding=(0, 0, 0, 20)),
    ],
    "row_blocks": [
        RowBlocks(name="layer", source=tensor(SMALL), rows=3, lanes=4, bits=8),
        RowBlocks(name="layer", source=tensor((5, 4, 3)), rows=1, lanes=8, bits=16),
        RowBlocks(name="layer", source=tensor((16, 7, 2)), rows=7, lanes=8, bits=8),
    ],
    "rearrange": [
        # a pixel shuffle, a transposition of rows and columns, an upsampling, channels backwards
        moved(Rearrange, (8, 3, 4), axes=(((2, 48),), ((3, 4), (2, 24)), ((4, 1), (2, 12)))),
        moved(Rearrange, (4, 3, 6), axes=(((4, 18),), ((6, 1),), ((3, 6),))),
        moved(Rearrange, (4, 3, 6), axes=(((4, 18),), ((3, 6), (2, 0)), ((6, 1), (2, 0)))),
        moved(Rearrange, (4, 3, 6), axes=(((4, -18),), ((3, 6),), ((6, 1),)), offset=54),
    ],
    "cast": unary(Cast),
}
"""By kind."""
