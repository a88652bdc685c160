"""Small networks in floating point that the tests of passes, types and foldings share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import FloatType
from hlsgen.layers.affine import Affine
from hlsgen.layers.base import Shape, Tensor
from hlsgen.layers.binary import Add
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.pool2d import Pool2d
from hlsgen.model.ir import Graph, Port

FLOAT = FloatType()


def tensor(shape: Shape) -> Tensor:
    return Tensor(shape=shape, type=FLOAT)


def convolution(
    name: str, source: str, shape: Shape, channels: int, *, seed: int, bias: bool = True
) -> Conv2d:
    """3 x 3, same, weights of a standard deviation that keeps the size of values."""
    generator = np.random.default_rng(seed)
    weights = generator.normal(0, (2 / (9 * shape[0])) ** 0.5, (channels, shape[0], 3, 3))
    return Conv2d(
        name=name,
        inputs=(source,),
        in_shape=shape,
        out_channels=channels,
        kernel=(3, 3),
        padding=(1, 1, 1, 1),
        input_type=FLOAT,
        weight_type=FLOAT,
        bias_type=FLOAT,
        accumulator=FLOAT,
        result_type=FLOAT,
        weights=weights,
        bias=generator.normal(0, 0.1, channels) if bias else np.zeros(0),
    )


def batch_norm(name: str, source: str, shape: Shape, *, seed: int) -> Affine:
    generator = np.random.default_rng(seed)
    channels = shape[0]
    return Affine(
        name=name,
        inputs=(source,),
        in_shape=shape,
        out_channels=channels,
        groups=channels,
        input_type=FLOAT,
        weight_type=FLOAT,
        bias_type=FLOAT,
        accumulator=FLOAT,
        result_type=FLOAT,
        weights=generator.uniform(0.5, 1.5, (channels, 1, 1, 1)),
        bias=generator.normal(0, 0.2, channels),
    )


def relu(name: str, source: str, shape: Shape) -> Clamp:
    return Clamp(name=name, inputs=(source,), source=tensor(shape), low=0.0, result_type=FLOAT)


def residual_network() -> Graph:
    """conv - bn - relu, (conv - bn - leaky - conv - bn) + skip, relu, max pool: one of every pass' cases."""
    shape = (4, 8, 8)
    layers = (
        convolution("conv1", "x", (3, 8, 8), 4, seed=1, bias=False),
        batch_norm("bn1", "conv1", shape, seed=2),
        relu("relu1", "bn1", shape),
        convolution("conv2", "relu1", shape, 4, seed=3),
        batch_norm("bn2", "conv2", shape, seed=4),
        Leaky(
            name="leaky2",
            inputs=("bn2",),
            source=tensor(shape),
            slopes=np.array([0.1]),
            slope_type=FLOAT,
            result_type=FLOAT,
        ),
        convolution("conv3", "leaky2", shape, 4, seed=5),
        batch_norm("bn3", "conv3", shape, seed=6),
        Add(name="add", inputs=("bn3", "relu1"), left=tensor(shape), right=tensor(shape), result_type=FLOAT),
        relu("relu3", "add", shape),
        Pool2d(
            name="pool",
            inputs=("relu3",),
            source=tensor(shape),
            function="max",
            kernel=(2, 2),
            stride=(2, 2),
            result_type=FLOAT,
        ),
    )
    return Graph(
        name="net",
        inputs=(Port.of("x", tensor((3, 8, 8))),),
        layers=layers,
        outputs=(Port.of("y", layers[-1].output, "pool"),),
    )


def frames(count: int, shape: Shape = (3, 8, 8)) -> NDArray[np.float64]:
    return np.random.default_rng(7).normal(0, 0.5, (count, *shape))
